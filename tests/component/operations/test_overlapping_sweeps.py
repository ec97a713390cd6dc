"""Two sweeps at once do everything once."""

from typing import Any

import pytest

from autotune_platform.completions.models import Batch
from autotune_platform.scoring.recovery import BatchRecovery
from tests.component.operations.sweeping import NOTHING, past_the_deadline
from tests.support.platform import Platform
from tests.support.projected import checkpoints, events, subscribe

pytestmark = pytest.mark.usefixtures("due_at_once")


@pytest.fixture(params=["before it looks", "after it looked"])
def overlapping(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> list[Any]:
    """Have one whole sweep happen while another has read a batch and not yet acted on it."""
    examine = BatchRecovery.examine
    reports: list[Any] = []

    def examine_beside_another(self: BatchRecovery, batch: Batch) -> Any:
        monkeypatch.setattr(BatchRecovery, "examine", examine)
        found = examine(self, batch) if request.param == "after it looked" else None
        reports.append(platform.operate("sweep_batches"))
        return found or examine(self, batch)

    monkeypatch.setattr(BatchRecovery, "examine", examine_beside_another)
    return reports


def test_of_two_sweeps_at_once_one_drives_a_batch_again(
    platform: Platform, task_id: str, overlapping: list[Any]
) -> None:
    accepted = platform.submit(task_id, {}, {}).json
    platform.queued()
    assert platform.operate("sweep_batches")["redriven"] == 0
    assert [report["redriven"] for report in overlapping] == [1]
    (chunk,) = platform.queued()
    platform.dispatch([chunk])
    (run,) = platform.runs()
    assert sorted(run["completion_ids"]) == sorted(accepted["completionIds"])


def test_two_sweeps_at_once_close_a_batch_and_publish_its_events_once(
    platform: Platform, task_id: str, overlapping: list[Any]
) -> None:
    webhook_id = subscribe(platform.me()["organizationId"])
    accepted = platform.submit(task_id, {}, {}).json
    platform.score_everything()
    platform.operate("sweep_batches")
    assert [report["closed"] for report in overlapping] == [1]
    published = sorted(event["event"] for event in events(webhook_id).values())
    assert published == ["batch.completed", "score.completed", "score.completed"]
    assert checkpoints() == {accepted["batchId"]: {"scored": {0, 1}}}
    assert platform.operate("sweep_batches") == NOTHING


def test_two_sweeps_at_once_end_what_is_lost_for_good_once(
    platform: Platform, task_id: str, overlapping: list[Any]
) -> None:
    accepted = platform.submit(task_id, {}, {}).json
    platform.queued()
    past_the_deadline()
    platform.operate("sweep_batches")
    assert [report["failed"] for report in overlapping] == [1]
    assert checkpoints() == {accepted["batchId"]: {"failed": {0, 1}}}
    assert platform.batch(accepted["batchId"])["counts"]["failed"] == 2
    assert platform.operate("sweep_batches") == NOTHING
