"""What a student takes at its ceilings is measured by cases that are what they say."""

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


def test_a_case_is_trained_or_refused_and_says_so(monkeypatch, capsys):
    small = {"few": Case(rows=60, classes=2, characters=50), "one": Case(60, 1, 50)}
    monkeypatch.setattr(linear_ceilings, "CASES", small)
    for name in small:
        measure(name)
    trained, refused = capsys.readouterr().out.splitlines()
    assert trained.endswith("; trained")
    assert "60 rows" in trained
    assert "; refused: outputs of 60 rows are of 1 kinds" in refused
