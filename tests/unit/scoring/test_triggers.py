"""A person is asked where the task's policy says so, and the same is said to whoever asks again."""

from typing import Any

import pytest

from autotune.protocol.ids import new_id
from autotune.protocol.tasks import ReviewPolicy
from autotune_platform.scoring.aggregation import outcome_of
from autotune_platform.scoring.resolving import reason_for_review
from autotune_platform.verdicts.panels import Panel, PanelMember
from tests.unit.scoring.test_aggregation import said


def reason(policy: dict[str, Any] | None, *opinions: Any, completion_id: str = "cmp_1") -> Any:
    members = [
        PanelMember(grader_id=f"grd_{n}", grader_version="1", weight=1)
        for n, _ in enumerate(opinions)
    ]
    panel = Panel.of(
        "org_1",
        members,
        aggregation="mean",
        quorum=None,
        review=None if policy is None else ReviewPolicy.model_validate(policy),
        is_human=False,
    )
    return reason_for_review(panel, completion_id, outcome_of(panel, opinions), opinions)


@pytest.mark.parametrize(
    ("policy", "opinions", "expected"),
    [
        (None, [said("scored", 0, 0.1), said("scored", 1, 0.1)], None),
        ({}, [said("scored", 0, 0.1), said("scored", 1, 0.1)], None),
        ({"confidenceBelow": 0.6}, [said("scored", 1, 0.5)], "low_confidence"),
        ({"confidenceBelow": 0.6}, [said("scored", 1, 0.6)], None),
        ({"confidenceBelow": 0.6}, [said("abstained")], "low_confidence"),
        ({"confidenceBelow": 0.6}, [said("failed")], None),
        ({"confidenceBelow": 0.0}, [said("scored", 1, 0.0)], None),
        ({"disagreementAbove": 0.3}, [said("scored", 0.6), said("scored", 0.9)], None),
        ({"disagreementAbove": 0.3}, [said("scored", 0.5), said("scored", 0.9)], "disagreement"),
        ({"disagreementAbove": 0.0}, [said("abstained"), said("failed")], None),
        ({"sampledShare": 1.0}, [said("failed")], "sampled"),
        ({"sampledShare": 0.0}, [said("scored", 1)], None),
        (
            {"sampledShare": 1.0, "disagreementAbove": 0.1, "confidenceBelow": 0.9},
            [said("scored", 0), said("scored", 1)],
            "low_confidence",
        ),
    ],
)
def test_what_has_a_person_asked(policy: Any, opinions: list[Any], expected: str | None) -> None:
    assert reason(policy, *opinions) == expected


def test_about_the_share_is_sampled_and_always_the_same() -> None:
    ids = [new_id("cmp") for _ in range(4_000)]
    for share in (0.05, 0.3):
        drawn = [
            id_
            for id_ in ids
            if reason({"sampledShare": share}, said("scored", 1), completion_id=id_)
        ]
        again = [
            id_
            for id_ in ids
            if reason({"sampledShare": share}, said("scored", 1), completion_id=id_)
        ]
        assert drawn == again
        assert abs(len(drawn) / len(ids) - share) < 0.03
