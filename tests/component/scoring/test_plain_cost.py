"""What a task with one grader costs: panels must not make it dearer by a single call."""

from collections import Counter

from autotune.protocol.ids import new_id
from tests.support.graders import LoopbackGrader
from tests.support.killing import Killer
from tests.support.platform import Platform

# Counted before there were panels.
SUBMIT = {
    "GetItem": 1,
    "PutItem": 2,
    "BatchGetItem": 1,
    "BatchWriteItem": 1,
    "SendMessageBatch": 1,
    # How many are undecided is read once in ten seconds, and changes as the batch is accepted.
    "Query": 1,
    "TransactWriteItems": 1,
}
# One of the puts comes once a minute: up to when the messages of the queue were received.
DISPATCH = {"PutItem": 2, "StartExecution": 1}
# The batch write lists the verdicts for the projection.
GRADE = {"GetItem": 2, "BatchGetItem": 2, "PutItem": 3, "BatchWriteItem": 1, "UpdateItem": 1}
PROJECT = {"BatchGetItem": 2, "Query": 1, "TransactWriteItems": 1, "UpdateItem": 1}
READ_BATCH = {"PutItem": 1, "GetItem": 1, "BatchGetItem": 1}
READ_SCORE = {"PutItem": 1, "GetItem": 1, "BatchGetItem": 1}
LIST_SCORES = {"PutItem": 1, "BatchGetItem": 1, "Query": 4}
READ_RUN = {"PutItem": 1, "GetItem": 1, "BatchGetItem": 1}


def test_one_grader_costs_what_it_did_before_there_were_panels(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = platform.new_task(platform.new_grader(grader, capabilities={"maxBatchSize": 5}))
    killer = Killer()

    def calls() -> dict[str, int]:
        counted = dict(Counter(killer.called))
        killer.called.clear()
        return counted

    # Functions keep keys and organisations for half a minute, and note the use of a key once an
    # hour: those that serve these paths have seen this one.
    for path in (
        f"batches/{new_id('bat')}",
        f"completions/{new_id('cmp')}",
        "scores/none",
        "runs/none",
    ):
        assert platform.call("GET", f"/api/v1/{path}").status == 404
    calls()

    accepted = platform.submit(task_id, {}, {}, {}).json
    assert calls() == SUBMIT
    platform.dispatch(platform.queued())
    assert calls() == DISPATCH
    (progress,) = platform.runs()
    platform.grade(progress)
    assert calls() == GRADE
    platform.project()
    assert calls() == PROJECT
    platform.call("GET", f"/api/v1/batches/{accepted['batchId']}")
    assert calls() == READ_BATCH
    platform.call("GET", f"/api/v1/completions/{accepted['completionIds'][0]}/score")
    assert calls() == READ_SCORE
    listed = platform.call("GET", "/api/v1/scores", query={"taskId": task_id}).json["scores"]
    assert calls() == LIST_SCORES
    assert [score["state"] for score in listed] == ["scored"] * 3
    (run,) = platform.call("GET", "/api/v1/runs").json["runs"]
    calls()
    platform.call("GET", f"/api/v1/runs/{run['id']}")
    assert calls() == READ_RUN
