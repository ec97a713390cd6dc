"""An answer that comes when it is all decided is dropped and counted, and changes nothing."""

from datetime import timedelta
from typing import Any

import boto3
import pytest

from functions.scoring import grade_chunk
from tests.support.clock import TurnedClock
from tests.support.graders import Exchange, LoopbackGrader, answering
from tests.support.platform import Platform


@pytest.fixture
def grader_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_grader(grader, capabilities={"maxBatchSize": 10})


def start(platform: Platform, grader_id: str, *completions: Any, **task: Any) -> tuple[str, Any]:
    """Submit and dispatch; return the batch, and the state of its run."""
    accepted = platform.submit(platform.new_task(grader_id, **task), *(completions or ({},)))
    platform.dispatch(platform.queued())
    (progress,) = platform.runs()
    return accepted.json["batchId"], progress


def states(platform: Platform, batch_id: str) -> list[tuple[str, str | None]]:
    verdicts = platform.batch(batch_id)["verdicts"]
    return [(verdict["state"], verdict["reasonCode"]) for verdict in verdicts]


def late_of_run(platform: Platform, progress: Any) -> int:
    run = platform.call("GET", f"/api/v1/runs/{progress['run_id']}").json["run"]
    late: int = run["lateAnswers"]
    return late


def late_of_grader(grader_id: str, version: str = "1.0.0") -> int:
    table = boto3.resource("dynamodb").Table("registry")
    key = {"pk": grader_id, "sk": f"statistics#{version}#late"}
    item = table.get_item(Key=key).get("Item", {})
    return int(str(item.get("late_answers", 0)))


def test_what_is_canceled_while_the_grader_thinks_stays_canceled(
    platform: Platform, grader: LoopbackGrader, grader_id: str
) -> None:
    batch_id, progress = start(platform, grader_id, {}, {}, {})
    (first, *_) = progress["completion_ids"]

    def overtaken(_: Exchange) -> None:
        platform.call("POST", f"/api/v1/completions/{first}/cancel")

    grader.disease = overtaken
    assert platform.grade(progress)["remaining"] == 0

    assert states(platform, batch_id) == [("canceled", None), ("scored", None), ("scored", None)]
    assert late_of_run(platform, progress) == late_of_grader(grader_id) == 1


def test_a_run_that_is_canceled_while_the_grader_thinks_stays_canceled(
    platform: Platform, grader: LoopbackGrader, grader_id: str
) -> None:
    batch_id, progress = start(platform, grader_id, {}, {})
    path = f"/api/v1/runs/{progress['run_id']}"
    grader.disease = lambda _: platform.call("POST", f"{path}/cancel") and None
    platform.grade(progress)
    assert states(platform, batch_id) == [("canceled", None)] * 2
    assert platform.call("GET", path).json["run"]["state"] == "canceled"
    assert late_of_run(platform, progress) == late_of_grader(grader_id) == 2


def test_the_slower_of_two_runs_is_late(
    platform: Platform, grader: LoopbackGrader, grader_id: str
) -> None:
    batch_id, progress = start(platform, grader_id)

    def overtaken(_: Exchange) -> None:
        grader.disease = answering()
        platform.grade(progress)

    grader.disease = overtaken
    platform.grade(progress)
    assert states(platform, batch_id) == [("scored", None)]
    assert late_of_grader(grader_id) == 1


@pytest.mark.parametrize(
    ("seconds", "verdict", "late"),
    [(59, ("scored", None), 0), (61, ("failed", "deadline_exceeded"), 1)],
)
def test_an_answer_after_the_deadline_is_no_score(
    platform: Platform,
    grader: LoopbackGrader,
    grader_id: str,
    seconds: int,
    verdict: tuple[str, str | None],
    late: int,
) -> None:
    batch_id, progress = start(platform, grader_id, deadlineSeconds=60)
    decisions = grade_chunk.parts().writer

    def think(_: Exchange) -> None:
        decisions.clock = TurnedClock(timedelta(seconds=seconds))

    grader.disease = think
    assert platform.grade(progress)["remaining"] == 0
    assert states(platform, batch_id) == [verdict]
    assert late_of_run(platform, progress) == late_of_grader(grader_id) == late


def test_what_a_grader_refuses_after_the_deadline_is_told_as_it_was(
    platform: Platform, grader: LoopbackGrader, grader_id: str
) -> None:
    batch_id, progress = start(platform, grader_id, deadlineSeconds=60)
    grade_chunk.parts().writer.clock = TurnedClock(timedelta(seconds=61))
    grader.disease = answering(status=400)
    platform.grade(progress)
    assert states(platform, batch_id) == [("failed", "grader_rejected")]
    assert late_of_run(platform, progress) == 0


def test_what_an_answer_leaves_out_is_not_late(
    platform: Platform, grader: LoopbackGrader, grader_id: str
) -> None:
    batch_id, progress = start(platform, grader_id, {}, {})
    second = progress["completion_ids"][1]

    def forgetful(exchange: Exchange) -> None:
        platform.call("POST", f"/api/v1/completions/{second}/cancel")
        exchange.answer["scores"] = exchange.items[:1]

    grader.disease = forgetful
    platform.grade(progress)
    assert states(platform, batch_id) == [("scored", None), ("canceled", None)]
    assert late_of_run(platform, progress) == 0


def test_late_answers_that_cannot_be_counted_cost_no_verdict(
    platform: Platform,
    grader: LoopbackGrader,
    grader_id: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from botocore.exceptions import ClientError

    from autotune_platform.storage.table import Table

    batch_id, progress = start(platform, grader_id, {}, {})
    first = progress["completion_ids"][0]
    grader.disease = lambda _: platform.call("POST", f"/api/v1/completions/{first}/cancel") and None

    def refused(*_: object, **__: object) -> None:
        raise ClientError({"Error": {"Code": "ThrottlingException"}}, "UpdateItem")

    monkeypatch.setattr(Table, "count", refused)
    assert platform.grade(progress)["remaining"] == 0
    assert states(platform, batch_id) == [("canceled", None), ("scored", None)]


def test_a_late_answer_counts_for_the_version_that_gave_it(
    platform: Platform, grader: LoopbackGrader, grader_id: str
) -> None:
    _, progress = start(platform, grader_id)
    path = f"/api/v1/runs/{progress['run_id']}/cancel"

    def overtaken(exchange: Exchange) -> None:
        exchange.answer["graderVersion"] = "2.0.0"
        platform.call("POST", path)

    grader.disease = overtaken
    platform.grade(progress)
    assert (late_of_grader(grader_id, "2.0.0"), late_of_grader(grader_id)) == (1, 0)
