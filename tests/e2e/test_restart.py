"""The stack is stopped and started again: what was there is there, and what ran is driven again.

It is stopped once for all tests here, with something in it for each of them.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from autotune import AutotuneClient
from autotune.protocol.completions import CompletionVerdict
from autotune.protocol.reviews import ReviewSummary
from autotune.protocol.runs import RunSummary
from autotune.protocol.tasks import Task
from local.records import LocalProfile
from local.stack import LocalStack
from tests.e2e.conftest import CommandLine, until, verified
from tests.e2e.due import make_due
from tests.e2e.test_async_graders import Deferred, deferred_batch, send
from tests.e2e.test_reviewing import asked, run_in
from tests.support.graders import Callback, Exchange, LoopbackGrader, healthy, loopback_grader

PATIENCE = 180


@dataclass(frozen=True)
class Kept:
    """A task, and what became of its first completion."""

    task: Task
    completion_id: str
    verdict: CompletionVerdict


@dataclass(frozen=True)
class Deferring:
    """What waits for a grader's answer, and the answer."""

    batch: Deferred
    callback: Callback


@dataclass(frozen=True)
class Reviewed:
    """What waits for a person."""

    grader: LoopbackGrader
    grader_id: str
    completion_id: str
    review: ReviewSummary
    run: RunSummary


@dataclass(frozen=True)
class RateLimited:
    """What sleeps because its grader has too much to do."""

    grader: LoopbackGrader
    batch_id: str


@dataclass(frozen=True)
class Restarted:
    """A stack that was started again, and what was in it before."""

    profile: LocalProfile
    client: AutotuneClient
    kept: Kept
    deferring: Deferring
    reviewed: Reviewed
    limited: RateLimited


@pytest.fixture(scope="module")
def restarted(stack: LocalStack, profile: LocalProfile) -> Iterator[Restarted]:
    with ExitStack() as opened:
        before = opened.enter_context(
            AutotuneClient(base_url=profile.base_url, api_key=profile.api_key)
        )
        kept = scored(before, opened.enter_context(loopback_grader()))
        batch = opened.enter_context(deferred_batch(before))
        deferring = Deferring(batch, batch.grader.callback())
        reviewed = unsure(before, opened.enter_context(loopback_grader()))
        limited = rate_limited(before, opened.enter_context(loopback_grader()))

        assert stack.down()
        again = stack.up()
        client = opened.enter_context(
            AutotuneClient(base_url=again.base_url, api_key=again.api_key)
        )
        yield Restarted(again, client, kept, deferring, reviewed, limited)


def scored(client: AutotuneClient, grader: LoopbackGrader) -> Kept:
    task = client.tasks.create(name="kept", grader_id=verified(client, grader))
    first = client.completions.submit(task_id=task.id, model_id="m", prompt="p", response="r")
    verdict = client.completions.wait_for_score(first.completion.id, timeout=PATIENCE)
    return Kept(task, first.completion.id, verdict)


def unsure(client: AutotuneClient, grader: LoopbackGrader) -> Reviewed:
    def of_little_confidence(exchange: Exchange) -> None:
        for item in exchange.items:
            item["score"]["confidence"] = 0.25

    grader_id = verified(client, grader, maxBatchSize=10)
    task = client.tasks.create(name="unsure", grader_id=grader_id, review={"confidenceBelow": 0.5})
    grader.disease = of_little_confidence
    submitted = client.completions.submit(
        task_id=task.id, model_id="m", prompt="p", response="r", metadata={"value": 0.125}
    )
    [review] = asked(client, task.id, 1)
    run = run_in(client, grader_id, "waiting")
    return Reviewed(grader, grader_id, submitted.completion.id, review, run)


def rate_limited(client: AutotuneClient, grader: LoopbackGrader) -> RateLimited:
    """Have a batch whose run sleeps for a quarter of an hour."""

    def later(exchange: Exchange) -> None:
        exchange.status = 429
        exchange.headers["retry-after"] = "900"

    task = client.tasks.create(name="lost", grader_id=verified(client, grader, maxBatchSize=10))
    grader.disease = later
    (batch,) = client.completions.submit_many(
        {"taskId": task.id, "modelId": "m", "prompt": str(n), "response": "r"} for n in range(10)
    )
    while not grader.requests:
        assert client.batches.get(batch.batch_id).counts.pending == 10
    return RateLimited(grader, batch.batch_id)


def test_what_ran_when_the_stack_stopped_is_driven_again(
    restarted: Restarted, command_line: CommandLine
) -> None:
    again, batch_id = restarted.client, restarted.limited.batch_id
    command_line.environment["AUTOTUNE_BASE_URL"] = restarted.profile.base_url
    command_line.environment["AWS_ENDPOINT_URL"] = restarted.profile.aws_endpoint_url
    assert again.batches.get(batch_id).counts.pending == 10

    def stuck() -> Any:
        # Its schedule has the sweeper look seconds after a start: what it took is due later.
        make_due(restarted.profile.aws_endpoint_url, batch_id)
        found = command_line.read("ops", "stuck")
        return next((one for one in found if one["batchId"] == batch_id), None)

    assert until(stuck, seconds=PATIENCE)["pending"] == 10
    restarted.limited.grader.disease = healthy
    make_due(restarted.profile.aws_endpoint_url, batch_id)
    command_line.run("ops", "sweep")
    counts = again.batches.wait(batch_id, timeout=PATIENCE).counts
    assert counts.scored == counts.expected == 10


def test_everything_survives_a_restart(restarted: Restarted) -> None:
    again, kept = restarted.client, restarted.kept
    assert again.tasks.get(kept.task.id) == kept.task
    assert again.completions.verdict(kept.completion_id) == kept.verdict
    second = again.completions.submit(
        task_id=kept.task.id, model_id="m", prompt="p", response="after"
    )
    verdict = again.completions.wait_for_score(second.completion.id, timeout=PATIENCE)
    assert verdict.state == "scored"


def test_an_answer_counts_although_its_execution_is_gone(restarted: Restarted) -> None:
    deferred, callback = restarted.deferring.batch, restarted.deferring.callback
    deferred.client = restarted.client
    assert restarted.client.batches.get(deferred.batch_id).counts.pending == 3
    assert callback.url.startswith(restarted.profile.base_url)
    assert send(callback) == 200
    assert deferred.states == [("scored", None)] * 3
    deferred.wait_for_run("completed")


def test_a_person_decides_although_the_execution_that_waits_is_gone(restarted: Restarted) -> None:
    again, reviewed = restarted.client, restarted.reviewed
    assert again.completions.verdict(reviewed.completion_id).state == "pending"
    seen = again.reviews.get(reviewed.review.id, include_preliminary=True)
    assert seen.preliminary is not None
    assert (seen.preliminary.value, seen.preliminary.confidence) == (0.125, 0.25)
    again.reviews.answer(reviewed.review.id, value=0.75, explanation="It is right.")
    verdict = again.completions.wait_for_score(reviewed.completion_id, timeout=PATIENCE)
    assert verdict.score is not None
    assert (verdict.score.value, verdict.decided_by) == (0.75, "person")
    [opinion] = verdict.opinions or []
    assert (opinion.grader_id, opinion.value) == (reviewed.grader_id, 0.125)
    assert run_in(again, reviewed.grader_id, "completed").id == reviewed.run.id
    assert len(reviewed.grader.requests) == 1
