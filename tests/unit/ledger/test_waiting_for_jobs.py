"""How long a job's phase that fails waits before it is tried again."""

from typing import Any
from unittest.mock import Mock

from autotune_platform.ledger.batching.stepping import LONGEST_WAIT_SECONDS, Desk
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.models import Batch, JobState


def test_what_fails_for_weeks_is_tried_as_often_as_what_fails_for_a_day() -> None:
    anything: Any = Mock()
    desk = Desk(
        batches=anything, connections=anything, keys=anything, roles=anything, exchanges=anything
    )
    batch = Batch.model_construct(id="lbt_1", phase="polling", job=JobState(nonce="n", tries=1_100))
    failed = desk.failed(batch, Refusal("account", "the key was deleted"))
    assert failed.wait_seconds is not None
    assert failed.wait_seconds <= LONGEST_WAIT_SECONDS * 1.15
