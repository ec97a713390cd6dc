"""A trainer learns why there is no reward, and never gets a number in its place."""

from datetime import UTC, datetime

import pytest

from autotune_platform.rewards.answering import _scores
from autotune_platform.rewards.models import Question
from autotune_platform.runtime.errors import AutotuneError
from autotune_platform.verdicts.models import Verdict

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("state", "reason", "said"),
    [
        ("abstained", "uncalibrated", "abstained (uncalibrated)"),
        ("abstained", None, "abstained"),
        ("failed", "item_failed", "failed (item_failed)"),
    ],
)
def test_the_state_is_named_with_its_reason(state: str, reason: str | None, said: str) -> None:
    question = Question("p", "r", {}, "response", "prompt", "metadata")
    verdict = Verdict.model_validate(
        {
            "organization_id": "org_1",
            "batch_id": "bat_1",
            "task_id": "task_1",
            "model_id": "m",
            "grader_id": "grd_1",
            "grader_version": "1",
            "completion_id": "cmp_1",
            "state": state,
            "reason_code": reason,
            "submitted_at": NOW,
            "decided_at": NOW,
        }
    )
    with pytest.raises(AutotuneError) as refused:
        _scores([question], [verdict])
    assert refused.value.fields[0].expected == f"a score, where this one is {said}"
