"""Pairs are those that the plainest program would make, whatever the order of the candidates."""

import random
from collections import defaultdict
from contextlib import closing
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.protocol.exports import PreferenceOptions
from autotune_platform.exports import pairing
from autotune_platform.exports.models import ExportTooLargeError
from autotune_platform.exports.pairing import (
    Candidate,
    Pair,
    Paired,
    RowFile,
    pair_candidates,
    read_pairs,
    tie_break,
)

LIMIT = 4


def candidates(number: int, *, seed: int = 0) -> list[Candidate]:
    """Return candidates of few prompts, few responses and few values, so that many are equal."""
    chance = random.Random(number)
    return [
        Candidate(
            task_id=f"task{chance.randrange(2)}",
            prompt=f"prompt{chance.randrange(3)}",
            response=f"response{chance.randrange(4)}",
            grader_id=f"grader{chance.randrange(2)}",
            grader_version=f"{chance.randrange(2)}",
            completion_id=f"cmp{n:03}",
            model_id="m\n\u0000\"'ü",
            value=chance.randrange(5) / 4,
            confidence=chance.randrange(3) / 2,
            tie=tie_break(f"cmp{n:03}", seed),
        )
        for n in range(chance.randrange(1, 40))
    ]


def paired(rows: list[Candidate], options: PreferenceOptions) -> tuple[list[Pair], Paired]:
    with TemporaryDirectory() as directory:
        files = []
        for place, some in enumerate((rows[::2], rows[1::2])):
            files.append(Path(directory, f"candidates-{place}.jsonl.gz"))
            with closing(RowFile(files[-1])) as file:
                for row in some:
                    file.write(row)
        work = Path(directory, "work")
        work.mkdir()
        made = pair_candidates(files, options, directory=work)
        pairs = [pair for path, _ in made.files for pair in read_pairs(path, after=0)]
        assert [count for _, count in made.files] == [
            len(list(read_pairs(path, after=0))) for path, _ in made.files
        ]
        return pairs, made


def oracle(rows: list[Candidate], options: PreferenceOptions) -> set[tuple[str, str]]:
    groups = defaultdict(list)
    for row in rows:
        groups[row.task_id, row.prompt, row.grader_id, row.grader_version].append(row)
    found: set[tuple[str, str]] = set()
    for group in groups.values():
        if options.pairing == "all_pairs":
            kept = sorted(group, key=lambda row: (row.tie, row.completion_id))[:LIMIT]
            sides = list(permutations(kept, 2))
        else:
            best = min(
                group, key=lambda row: (-row.value, -row.confidence, row.tie, row.completion_id)
            )
            others = [row for row in group if row.response != best.response]
            sides = (
                [
                    (
                        best,
                        min(
                            others,
                            key=lambda row: (
                                row.value,
                                -row.confidence,
                                row.tie,
                                row.completion_id,
                            ),
                        ),
                    )
                ]
                if others
                else []
            )
        found |= {
            (chosen.completion_id, rejected.completion_id)
            for chosen, rejected in sides
            if chosen.response != rejected.response
            and chosen.value > rejected.value
            and chosen.value - rejected.value >= (options.min_score_delta or 0) - 1e-9
        }
    return found


def sides(pairs: list[Pair]) -> list[tuple[str, str]]:
    return [(pair.chosen_id, pair.rejected_id) for pair in pairs]


@pytest.fixture(autouse=True)
def _few_of_a_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing, "MAX_PAIRED_COMPLETIONS", LIMIT)


@settings(max_examples=15, deadline=None)
@given(
    number=st.integers(0, 10_000),
    kind=st.sampled_from(["best_worst", "all_pairs"]),
    delta=st.sampled_from([None, 0.25, 0.6]),
)
def test_pairs_are_those_of_the_plainest_program(
    number: int, kind: str, delta: float | None
) -> None:
    options = PreferenceOptions.model_validate({"pairing": kind, "minScoreDelta": delta})
    rows = candidates(number)
    pairs, made = paired(rows, options)
    expected = oracle(rows, options)
    assert sorted(sides(pairs)) == sorted(expected)
    used = {id_ for pair in expected for id_ in pair}
    assert made.unpaired + made.over_limit + len(used) == len(rows)
    shuffled = random.Random(number).sample(rows, len(rows))
    assert paired(shuffled, options)[0] == pairs


def rows_of(*values: float, responses: str | None = None) -> list[Candidate]:
    return [
        Candidate(
            *("t", "p", (responses or "abcdefghij")[n], "g", "1", f"c{n}", "m", value, 1.0),
            tie_break(f"c{n}", 0),
        )
        for n, value in enumerate(values)
    ]


def test_a_difference_of_decimal_fractions_is_taken_as_written() -> None:
    pairs, _ = paired(rows_of(0.9, 0.8), PreferenceOptions(min_score_delta=0.1))
    assert sides(pairs) == [("c0", "c1")]


def test_equal_scores_and_identical_responses_never_pair() -> None:
    assert paired(rows_of(0.5, 0.5), PreferenceOptions())[0] == []
    same = rows_of(0.9, 0.1, responses="aa")
    assert paired(same, PreferenceOptions(pairing="all_pairs"))[0] == []


def test_a_sample_is_drawn_by_its_seed_and_keeps_its_order() -> None:
    rows = [
        row._replace(prompt=f"p{n}", completion_id=f"{row.completion_id}-{n}")
        for n in range(30)
        for row in rows_of(0.9, 0.1)
    ]
    every = paired(rows, PreferenceOptions())[0]
    drawn = [paired(rows, PreferenceOptions(sample_size=10, seed=seed))[0] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert [pair for pair in every if pair in drawn[0]] == drawn[0]
    assert len(drawn[0]) == 10
    assert paired(rows, PreferenceOptions(sample_size=100))[0] == every


def test_a_sample_is_uniform() -> None:
    rows = [
        row._replace(prompt=f"p{n}", completion_id=f"{row.completion_id}-{n}")
        for n in range(40)
        for row in rows_of(0.9, 0.1)
    ]
    times: dict[str, int] = defaultdict(int)
    for seed in range(20):
        for pair in paired(rows, PreferenceOptions(sample_size=10, seed=seed))[0]:
            times[pair.chosen_id] += 1
    # 20 draws of a quarter: 5 times each, and by far all within four standard deviations.
    assert all(times[f"c0-{n}"] <= 13 for n in range(40))
    assert sum(times.values()) == 200


def test_more_pairs_than_an_export_holds_need_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing, "MAX_EXPORT_PAIRS", 2)
    rows = rows_of(0.1, 0.2, 0.3)
    with pytest.raises(ExportTooLargeError) as raised:
        paired(rows, PreferenceOptions(pairing="all_pairs"))
    limit = raised.value.limit
    assert (limit.name, limit.maximum, limit.actual) == ("pairs of an export", 2, 3)
    assert len(paired(rows, PreferenceOptions(pairing="all_pairs", sample_size=2))[0]) == 2
