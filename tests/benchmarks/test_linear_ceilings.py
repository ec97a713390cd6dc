"""What a student takes at its ceilings is measured by cases that are what they say."""

from autotune_platform.apprentice.students import linear
from autotune_platform.apprentice.students.features import counted
from benchmarks import linear_ceilings
from benchmarks.linear_ceilings import CASES, Case, measure, rows_of


def test_rows_are_as_many_and_as_long_as_their_case_says():
    for case in (Case(rows=40, classes=3, characters=300), Case(40, 3, 300, symbols=60)):
        rows = list(rows_of(case))
        assert rows == list(rows_of(case))
        assert len(rows) == 40
        assert {one["label"] for _, one in rows} == {"l0", "l1", "l2"}
        assert all(200 < len(one["text"]) <= 300 for one, _ in rows)


def test_each_case_is_within_what_is_looked_at():
    for case in CASES.values():
        assert case.rows * case.characters <= 30_000_000


def test_what_ceilings_of_time_take_is_measured_on_a_tenth_of_each():
    """What a function has no time for ends four tries later, and tells nobody why."""
    assert 10 * max(one.rows * one.classes for one in CASES.values()) >= linear.MOST_MARGINS
    case = CASES["kinds"]
    texts = [one for one, _ in rows_of(Case(rows=20, classes=2, characters=300, symbols=3_000))]
    # Words and runs of letters, which all are known: of pairs few are.
    known = len(counted(texts, most_characters=300).text) / 20 * 2 / 3
    assert 500 < known < 600
    assert 10 * known * case.rows * case.classes >= linear.MOST_PRODUCTS


def test_a_case_is_trained_or_refused_and_says_so(monkeypatch, capsys):
    small = {"few": Case(rows=60, classes=2, characters=50), "one": Case(60, 1, 50)}
    monkeypatch.setattr(linear_ceilings, "CASES", small)
    for name in small:
        measure(name)
    trained, refused = capsys.readouterr().out.splitlines()
    assert trained.endswith("; trained")
    assert "60 rows" in trained
    assert "; refused: outputs of 60 rows are of 1 kinds" in refused
