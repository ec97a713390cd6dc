"""The course of a call without a network: what is sent, when, and when no more."""

import dataclasses
import time
from email.utils import formatdate

import httpx
import pytest

from autotune import AutotuneError, ConnectionFailedError, RequestTimeoutError, ServerError
from autotune.client.batches import cancel_batch
from autotune.client.calls import nothing
from autotune.client.completions import cancel_completion
from autotune.client.exchange import Attempt, Pause, open_session
from autotune.client.graders import rotate_grader_secret, verify_grader
from autotune.client.keys import revoke_key
from autotune.client.reviews import (
    answer_review,
    assign_review,
    claim_review,
    create_review_link,
    next_review,
    release_review,
)
from autotune.client.runs import cancel_run
from autotune.client.submissions import submit_completion
from autotune.client.tasks import create_task, delete_task, get_task, update_task
from autotune.client.webhooks import replay_delivery, rotate_webhook_secret
from autotune.protocol.signing import verify_api_request

TASK_ID = "task_" + "0" * 26
READ = get_task(TASK_ID)
DELETE = delete_task(TASK_ID)
PATCH = update_task(TASK_ID, name="x")
CREATE = create_task(name="x", grader_id="grd_" + "0" * 26)
SUBMIT = submit_completion(task_id=TASK_ID, model_id="m", prompt="p", response="r")
ANSWER = answer_review("rev_" + "0" * 26, value=0.5)

LATEST = dataclasses.replace(
    open_session(base_url="https://a.example/v", api_key="key_1.cafe", timeout=3, max_retries=3),
    jitter=lambda _, ceiling: ceiling,
)


class Follower:
    """Answers attempts from a script and notes what was asked for."""

    def __init__(self, call, *replies, session=LATEST):
        self.attempts: list[Attempt] = []
        self.pauses: list[float] = []
        course = session.course(call)
        remaining = list(replies)
        step = next(course)
        self.result = self.error = None
        try:
            while True:
                if isinstance(step, Pause):
                    self.pauses.append(step.seconds)
                    step = course.send(None)
                    continue
                self.attempts.append(step)
                reply = remaining.pop(0)
                request = httpx.Request(step.method, step.url, headers=step.headers)
                reply.request = request
                step = course.send(reply)
        except StopIteration as finished:
            self.result = finished.value
        except AutotuneError as error:
            self.error = error
        assert not remaining


def status(code, **headers):
    return httpx.Response(code, headers={k.replace("_", "-"): v for k, v in headers.items()})


@pytest.mark.parametrize(
    "call",
    [READ, DELETE, PATCH, SUBMIT, ANSWER],
    ids=lambda call: f"{call.method} {call.path.split('/')[3]}",
)
@pytest.mark.parametrize(
    "failure",
    [408, 425, 429, 500, 502, 503, 504, httpx.ReadTimeout, httpx.ReadError, httpx.ConnectError],
)
def test_a_repeatable_call_is_repeated_until_retries_are_over(call, failure):
    def reply():
        return status(failure) if isinstance(failure, int) else failure("broken")

    follower = Follower(call, *(reply() for _ in range(4)))
    assert len(follower.attempts) == 4
    assert follower.pauses == [0.5, 1.0, 2.0]
    assert follower.error is not None


@pytest.mark.parametrize(
    "call",
    [
        cancel_completion("cmp_1"),
        cancel_batch("bat_1"),
        cancel_run("run_1"),
        claim_review("rev_1"),
        release_review("rev_1"),
        assign_review("rev_1", assignee_id=None),
        ANSWER,
    ],
    ids=lambda call: call.path.removeprefix("/api/v1/"),
)
def test_a_post_that_says_how_things_shall_be_is_repeatable(call):
    assert call.method == "POST"
    assert call.repeatable


@pytest.mark.parametrize(
    "call",
    [
        next_review(),
        create_review_link(reviewer_id="anna"),
        verify_grader("grd_1"),
        rotate_webhook_secret("whk_1"),
        rotate_grader_secret("grd_1"),
        replay_delivery("whk_1", "evt_1"),
    ],
    ids=lambda call: call.path.removeprefix("/api/v1/"),
)
def test_a_post_that_may_do_something_else_the_second_time_is_not_repeatable(call):
    assert not call.repeatable


@pytest.mark.parametrize("failure", [500, 503, httpx.ReadTimeout, httpx.RemoteProtocolError])
def test_a_create_without_idempotency_key_is_not_repeated_once_it_may_have_been_done(failure):
    reply = status(failure) if isinstance(failure, int) else failure("broken")
    assert len(Follower(CREATE, reply).attempts) == 1


@pytest.mark.parametrize("failure", [429, 425, httpx.ConnectError, httpx.ConnectTimeout])
def test_a_create_is_repeated_where_nothing_can_have_been_done(failure):
    def reply():
        return status(failure) if isinstance(failure, int) else failure("broken")

    assert len(Follower(CREATE, *(reply() for _ in range(4))).attempts) == 4


@pytest.mark.parametrize("code", [400, 401, 403, 404, 409, 413, 422, 301])
def test_a_refusal_is_not_repeated(code):
    assert len(Follower(READ, status(code)).attempts) == 1


@pytest.mark.parametrize("failure", [httpx.UnsupportedProtocol, httpx.LocalProtocolError])
def test_what_can_never_work_is_not_repeated(failure):
    follower = Follower(READ, failure("no"))
    assert len(follower.attempts) == 1
    assert isinstance(follower.error, ConnectionFailedError)


def test_every_attempt_is_signed_anew_and_keeps_the_idempotency_key():
    attempts = Follower(SUBMIT, *(status(503) for _ in range(4))).attempts
    assert len({attempt.headers["x-autotune-request-id"] for attempt in attempts}) == 4
    assert len({attempt.headers["idempotency-key"] for attempt in attempts}) == 1
    for attempt in attempts:
        verify_api_request(
            attempt.headers,
            secrets=["cafe"],
            method="POST",
            path="/api/v1/completions",
            query="",
            body=attempt.content,
        )


def test_a_submission_without_a_key_gets_a_fresh_one():
    other = submit_completion(task_id=TASK_ID, model_id="m", prompt="p", response="r")
    assert SUBMIT.idempotency_key != other.idempotency_key


def test_retry_after_is_honoured_and_jitter_comes_on_top():
    follower = Follower(READ, *(status(429, retry_after="7") for _ in range(4)))
    assert follower.pauses == [7.5, 8.0, 9.0]
    assert follower.error.retry_after == 7


def test_retry_after_may_be_a_date():
    later = formatdate(time.time() + 30, usegmt=True)
    follower = Follower(READ, *(status(503, retry_after=later) for _ in range(4)))
    assert 28 < follower.pauses[0] < 31


def test_an_unreadable_retry_after_is_no_retry_after():
    follower = Follower(READ, *(status(503, retry_after="soon") for _ in range(4)))
    assert follower.pauses == [0.5, 1.0, 2.0]


def test_a_long_retry_after_is_left_to_the_caller():
    follower = Follower(READ, status(429, retry_after="3600"))
    assert len(follower.attempts) == 1
    assert follower.error.retry_after == 3600


def test_back_off_has_full_jitter_and_a_ceiling():
    session = dataclasses.replace(LATEST, max_retries=8, jitter=lambda low, high: (low, high)[1])
    pauses = Follower(READ, *(status(500) for _ in range(9)), session=session).pauses
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0]
    drawn = []
    session = dataclasses.replace(LATEST, jitter=lambda low, high: drawn.append(low) or 0.0)
    Follower(READ, *(status(500) for _ in range(4)), session=session)
    assert drawn == [0.0, 0.0, 0.0]


def test_no_retries_means_one_attempt():
    session = dataclasses.replace(LATEST, max_retries=0)
    follower = Follower(READ, status(500), session=session)
    assert isinstance(follower.error, ServerError)


def test_a_deletion_whose_answer_was_lost_is_done():
    lost = Follower(DELETE, httpx.ReadError("lost"), status(404))
    assert (lost.result, lost.error) == (None, None)
    assert Follower(DELETE, status(404)).error.status == 404


def test_a_lost_revocation_still_reports_what_came():
    assert revoke_key("key_1").read is not nothing
    assert Follower(revoke_key("key_1"), httpx.ReadError("lost"), status(404)).error.status == 404


def test_a_long_poll_outlasts_the_ordinary_timeout():
    held = dataclasses.replace(READ, hold_seconds=20)
    timeout = Follower(held, *(status(500) for _ in range(4))).attempts[0].timeout
    assert (timeout.read, timeout.connect) == (30.0, 3)
    assert Follower(READ, status(404)).attempts[0].timeout.read == 3


def test_the_last_failure_names_the_call_and_its_cause():
    error = Follower(READ, *(httpx.ReadTimeout("") for _ in range(4))).error
    assert isinstance(error, RequestTimeoutError)
    assert f"GET https://a.example/v/api/v1/tasks/{TASK_ID}" in str(error)
    assert isinstance(error.__cause__, httpx.ReadTimeout)
