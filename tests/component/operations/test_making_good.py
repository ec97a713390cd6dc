"""Where decisions came to no list, or the stream lost them, a sweep publishes and counts them."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.runtime.environment.completions import SubmissionEnvironment
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.verdicts.listing import DecisionLists
from autotune_platform.wiring.completions import CompletionParts
from functions.scoring import sweep_batches
from tests.component.operations.sweeping import NOTHING, in_two_rounds, opened, past_the_deadline
from tests.support.clock import TurnedClock
from tests.support.killing import Killed
from tests.support.platform import Platform
from tests.support.projected import checkpoints, events, everything, forget, subscribe

pytestmark = pytest.mark.usefixtures("due_at_once")


def test_what_the_stream_lost_is_made_good_before_a_batch_is_closed(
    platform: Platform, task_id: str
) -> None:
    webhook_id = subscribe(platform.me()["organizationId"])
    in_two_rounds(platform, task_id)
    platform.project(platform.verdict_records()[:1])
    assert platform.operate("sweep_batches") == {**NOTHING, "closed": 1}
    healed = everything(webhook_id)
    assert len(events(webhook_id)) == 4

    forget()
    platform.project()
    assert everything(webhook_id) == healed


def test_what_no_list_had_is_made_good_while_others_of_its_batch_wait(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = platform.submit(task_id, {}, {}, {}).json
    platform.dispatch(platform.queued())
    (run,) = platform.runs()
    some = run["completion_ids"][:2]

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr(DecisionLists, "write", die)
        with pytest.raises(Killed):
            platform.grade({**run, "completion_ids": some, "remaining": 2})
    platform.project()
    assert checkpoints() == {}
    assert platform.operate("sweep_batches") == {**NOTHING, "redriven": 1}
    assert checkpoints() == {accepted["batchId"]: {"scored": {0, 1}}}
    platform.operate("sweep_batches")
    assert len(opened()) == 1


def test_a_list_that_was_lost_for_good_is_made_good_as_the_batch_is_closed(
    platform: Platform, task_id: str
) -> None:
    webhook_id = subscribe(platform.me()["organizationId"])
    in_two_rounds(platform, task_id)
    *_, last = platform.verdict_records()
    platform.project([last])
    assert len(opened()) == 1
    assert platform.operate("sweep_batches") == {**NOTHING, "closed": 1}
    assert opened() == []
    (checkpoint,) = checkpoints().values()
    assert checkpoint == {"scored": {0, 2}, "abstained": {1}}
    assert len(events(webhook_id)) == 4


def test_a_batch_is_told_complete_by_the_sweeper_should_nobody_else_have(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform.submit(task_id, {}, {})
    platform.score_everything()
    with monkeypatch.context() as broken:
        broken.setattr(OpenBatches, "close", lambda *_: None)
        platform.project()
    assert len(opened()) == 1
    late = subscribe(platform.me()["organizationId"])
    assert platform.operate("sweep_batches") == {**NOTHING, "closed": 1}
    assert [event["event"] for event in events(late).values()] == ["batch.completed"]


def test_what_ends_failed_at_the_sweepers_hand_is_counted(platform: Platform, task_id: str) -> None:
    accepted = platform.submit(task_id, {}, {}).json
    past_the_deadline()
    assert platform.operate("sweep_batches") == {**NOTHING, "failed": 1}
    assert checkpoints() == {accepted["batchId"]: {"failed": {0, 1}}}


def test_a_batch_that_cannot_be_made_good_stays_open_and_holds_up_no_other(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autotune_platform.webhooks.publisher import EventPublisher

    def refuse(*_: object, **__: object) -> None:
        raise UnavailableError("the queue is busy")

    platform.submit(task_id, {})
    platform.score_everything()
    with monkeypatch.context() as broken:
        broken.setattr(EventPublisher, "publish", refuse)
        assert platform.operate("sweep_batches") == {**NOTHING, "postponed": 1}
    assert platform.operate("sweep_batches") == {**NOTHING, "closed": 1}


def test_a_cancellation_that_was_not_listed_is_made_good_by_a_sweep(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = platform.submit(task_id, {}, {}).json
    far = datetime.now(UTC) + timedelta(hours=6)
    CompletionParts(SubmissionEnvironment.parse()).open_batches.postpone(accepted["batchId"], far)

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as dying:
        dying.setattr(DecisionLists, "write", die)
        with suppress(Killed):
            platform.call("POST", f"/api/v1/batches/{accepted['batchId']}/cancel")
    platform.project()
    assert checkpoints() == {}
    # Although it was not to be looked at for hours.
    sweep_batches.parts().sweeper.clock = TurnedClock(timedelta(minutes=4))
    assert platform.operate("sweep_batches") == {**NOTHING, "closed": 1}
    assert checkpoints() == {accepted["batchId"]: {"canceled": {0, 1}}}
