"""Several scores become one that they could stand for, whatever their order and scale."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.protocol.grading import ScoreDimension
from autotune.protocol.tasks import Aggregation
from autotune_platform.scoring.aggregation import Outcome, Vote, aggregate, outcome_of
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.panels import Panel, PanelMember

AGGREGATIONS: tuple[Aggregation, ...] = get_args(Aggregation)
UNIT = st.floats(min_value=0, max_value=1)
DIMENSION = st.builds(
    ScoreDimension,
    name=st.sampled_from(["clarity", "depth", "style"]),
    value=UNIT,
    weight=st.floats(min_value=0, max_value=1.7e308),
)
VOTE = st.builds(
    Vote,
    weight=st.floats(min_value=0, max_value=1000, exclude_min=True),
    value=UNIT,
    confidence=UNIT,
    dimensions=st.lists(DIMENSION, max_size=4),
)
VOTES = st.lists(VOTE, min_size=1, max_size=10)
NOW = datetime(2026, 11, 21, tzinfo=UTC)


def vote(value: float, *, weight: float = 1.0, confidence: float = 0.5) -> Vote:
    return Vote(weight=weight, value=value, confidence=confidence)


def said(state: str, value: float | None = None, confidence: float = 0.5) -> Verdict:
    scored = {"value": value, "confidence": confidence} if state == "scored" else {}
    return Verdict.model_validate(
        {
            "completion_id": "cmp_1",
            "organization_id": "org_1",
            "batch_id": "bat_1",
            "task_id": "task_1",
            "model_id": "m",
            "grader_id": "grd_1",
            "grader_version": "1",
            "state": state,
            "submitted_at": NOW,
            "decided_at": NOW,
            **scored,
        }
    )


def panel(*weights: float, aggregation: Aggregation = "mean", quorum: int | None = None) -> Panel:
    members = [
        PanelMember(grader_id=f"grd_{n}", grader_version="1", weight=weight)
        for n, weight in enumerate(weights)
    ]
    return Panel.of(
        "org_1", members, aggregation=aggregation, quorum=quorum, review=None, is_human=False
    )


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@given(votes=VOTES)
def test_values_and_confidences_stay_within_what_was_given(
    aggregation: Aggregation, votes: list[Vote]
) -> None:
    outcome = aggregate(aggregation, votes)
    assert outcome.value is not None
    assert outcome.confidence is not None
    values = [0.0, 1.0] if aggregation == "majority" else [vote.value for vote in votes]
    assert min(values) <= outcome.value <= max(values)
    if aggregation == "majority":
        assert 0.5 <= outcome.confidence <= 1
    else:
        sure = [vote.confidence for vote in votes]
        assert min(sure) <= outcome.confidence <= max(sure)
    for dimension in outcome.dimensions or []:
        given_values = [
            one.value for vote in votes for one in vote.dimensions if one.name == dimension.name
        ]
        assert min(given_values) <= dimension.value <= max(given_values)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@given(votes=VOTES, data=st.data())
def test_the_order_of_graders_makes_no_difference(
    aggregation: Aggregation, votes: list[Vote], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(votes))
    assert aggregate(aggregation, shuffled) == aggregate(aggregation, votes)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@given(votes=VOTES, factor=st.integers(min_value=-20, max_value=20))
def test_only_ratios_of_weights_count(
    aggregation: Aggregation, votes: list[Vote], factor: int
) -> None:
    scaled = [
        Vote(math.ldexp(vote.weight, factor), vote.value, vote.confidence, vote.dimensions)
        for vote in votes
    ]
    # A power of two scales without rounding, unless the weight is next to nothing.
    if all(vote.weight > 1e-290 for vote in votes):
        assert aggregate(aggregation, scaled) == aggregate(aggregation, votes)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@given(value=UNIT, confidence=UNIT, weight=st.floats(min_value=0.001, max_value=1000))
def test_a_panel_of_one_says_what_its_member_says(
    aggregation: Aggregation, value: float, confidence: float, weight: float
) -> None:
    alone = panel(weight, aggregation=aggregation)
    assert outcome_of(alone, [said("scored", value, confidence)]) == Outcome(
        "scored", value, confidence
    )


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@given(value=UNIT, confidence=UNIT, weights=st.lists(st.floats(0.01, 1000), min_size=2, max_size=5))
def test_graders_that_agree_are_one(
    aggregation: Aggregation, value: float, confidence: float, weights: list[float]
) -> None:
    votes = [vote(value, weight=weight, confidence=confidence) for weight in weights]
    outcome = aggregate(aggregation, votes)
    if aggregation == "majority":
        assert (outcome.value, outcome.confidence) == (float(value >= 0.5), 1.0)
    else:
        assert (outcome.value, outcome.confidence) == (value, confidence)


@pytest.mark.parametrize(
    ("aggregation", "votes", "value", "confidence"),
    [
        ("mean", [vote(1, weight=3), vote(0)], 0.75, 0.5),
        ("mean", [vote(1, confidence=1, weight=3), vote(0, confidence=0)], 0.75, 0.75),
        ("median", [vote(0.1), vote(0.9), vote(0.3)], 0.3, 0.5),
        ("median", [vote(0.1), vote(0.9), vote(0.3), vote(0.5)], 0.4, 0.5),
        ("median", [vote(0.1, weight=2), vote(0.9, weight=2), vote(0.3, weight=5)], 0.3, 0.5),
        ("median", [vote(0.2, weight=0.1), vote(0.4, weight=0.2), vote(1, weight=0.3)], 0.7, 0.5),
        ("min", [vote(0.4, weight=0.001), vote(0.9, weight=1000)], 0.4, 0.5),
        ("confidence_weighted", [vote(1, confidence=0.9), vote(0, confidence=0.1)], 0.9, 0.5),
        ("confidence_weighted", [vote(1, confidence=0), vote(0.5, confidence=0)], 0.75, 0.0),
        ("majority", [vote(0.5), vote(0.6), vote(0.1)], 1.0, 2 / 3),
        ("majority", [vote(0.9), vote(0.2, weight=3)], 0.0, 0.75),
        ("majority", [vote(0.9), vote(0.2)], 0.5, 0.5),
        ("majority", [vote(0, weight=0.1), vote(0, weight=0.2), vote(1, weight=0.3)], 0.5, 0.5),
    ],
)
def test_what_each_aggregation_comes_to(
    aggregation: Aggregation, votes: Sequence[Vote], value: float, confidence: float
) -> None:
    outcome = aggregate(aggregation, votes)
    assert outcome.value == pytest.approx(value)
    assert outcome.confidence == pytest.approx(confidence)


def test_dimensions_are_averaged_over_those_who_gave_them() -> None:
    one = Vote(3, 1, 1, [ScoreDimension(name="depth", value=1.0, weight=2)])
    two = Vote(1, 1, 1, [ScoreDimension(name="depth", value=0.0, weight=1)])
    silent = Vote(50, 1, 1, [ScoreDimension(name="style", value=0.25)])
    assert aggregate("mean", [one, two, silent]).dimensions == [
        ScoreDimension(name="depth", value=0.75, weight=1.75),
        ScoreDimension(name="style", value=0.25),
    ]
    assert aggregate("mean", [vote(1)]).dimensions is None


def test_of_many_dimensions_those_that_most_gave_are_kept() -> None:
    first = [ScoreDimension(name=f"a{n:02}", value=0.5) for n in range(50)]
    second = [ScoreDimension(name=name, value=0.5) for name in ("a49", "b")]
    kept = aggregate("mean", [Vote(1, 1, 1, first), Vote(1, 1, 1, second)]).dimensions
    assert kept is not None
    assert [one.name for one in kept] == [f"a{n:02}" for n in [*range(49), 49]]


@pytest.mark.parametrize(
    ("states", "quorum", "expected"),
    [
        (["scored", "scored", "failed"], 2, ("scored", None)),
        (["scored", "scored", "failed"], 3, ("failed", "quorum_missed")),
        (["scored", "abstained", "failed"], 2, ("failed", "quorum_missed")),
        (["scored", "abstained", "abstained"], 2, ("abstained", None)),
        (["scored", "abstained", "failed"], 1, ("scored", None)),
        (["failed", "failed", "failed"], 1, ("failed", "quorum_missed")),
    ],
)
def test_a_quorum_has_to_score(
    states: list[str], quorum: int, expected: tuple[str, str | None]
) -> None:
    opinions = [said(state, 0.25) for state in states]
    outcome = outcome_of(panel(1, 1, 1, quorum=quorum), opinions)
    assert (outcome.state, outcome.reason_code) == expected
    assert outcome.value == (0.25 if expected[0] == "scored" else None)


def test_who_failed_weighs_nothing() -> None:
    outcome = outcome_of(
        panel(1, 1000, 3, quorum=1),
        [said("scored", 0.0), said("failed"), said("scored", 1.0)],
    )
    assert outcome.value == 0.75
