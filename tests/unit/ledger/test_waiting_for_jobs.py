"""How long a job's phase that fails waits before it is tried again."""

from datetime import timedelta
from typing import Any
from unittest.mock import Mock

from autotune_platform.ledger.batching.creating import turn_wait
from autotune_platform.ledger.batching.stepping import LONGEST_WAIT_SECONDS, Desk
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.job_states import JobState
from autotune_platform.ledger.models import Batch


def test_what_fails_for_weeks_is_tried_as_often_as_what_fails_for_a_day() -> None:
    anything: Any = Mock()
    desk = Desk(
        batches=anything, connections=anything, keys=anything, roles=anything, exchanges=anything
    )
    batch = Batch.model_construct(id="lbt_1", phase="polling", job=JobState(nonce="n", tries=1_100))
    failed = desk.failed(batch, Refusal("account", "the key was deleted"))
    assert failed.wait_seconds is not None
    assert failed.wait_seconds <= LONGEST_WAIT_SECONDS * 1.15


def test_batches_that_wait_for_creations_of_others_look_ever_more_seldom() -> None:
    waits = [turn_wait(timedelta(minutes=minutes)) for minutes in (0, 2, 10, 40, 600)]
    assert waits == [15, 15, 60, 240, 300]
    # Of a hundred batches that come at once and are created one by one, in ten seconds each.
    looks, at = 0, 0.0
    while at < 1_000:
        looks, at = looks + 1, at + turn_wait(timedelta(seconds=at))
    assert looks < 1_000 / 15 / 2
