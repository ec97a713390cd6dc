"""Ten functions for everything: the API, grading, the streams, and clients that wait beside them.

What gets no function is throttled, for longer than its retries last. That is trouble of ours and
passes: no completion may end with it.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import TypeVar

from rich.console import Console

from autotune import AutotuneClient
from autotune.client.errors import APIError, ConnectionFailedError, WaitTimeoutError
from local.records import LocalProfile
from local.stack import LocalStack
from tests.chaos import invariants
from tests.chaos.deciding import decided
from tests.chaos.invariants import Finding, Verdicts
from tests.chaos.leaving import search
from tests.chaos.operator import Operator
from tests.chaos.permissions import permissions_finding
from tests.chaos.tables import Tables
from tests.chaos.texts import TEXT
from tests.support.graders import LoopbackGrader, answering, loopback_grader

FUNCTIONS = 10
BATCHES = 12
BATCH_SIZE = 100
WAITING_CLIENTS = 6
GRADER_SECONDS = 1.0
INSISTS_SECONDS = 300
SWEEP_SECONDS = 20
QUIET_SECONDS = 480
"""A batch whose function was throttled for good waits until the sweep takes it for lost."""

T = TypeVar("T")


def starve(console: Console) -> list[Finding]:
    """Have a thousand completions scored by ten functions; return what was found."""
    with (
        TemporaryDirectory(prefix="autotune-starved-") as folder,
        loopback_grader() as grader,
        _stack(Path(folder)) as profile,
        AutotuneClient(base_url=profile.base_url, api_key=profile.api_key) as client,
    ):
        started = time.monotonic()
        batches = _submitted(client, grader)
        accepted = [id_ for ids in batches.values() for id_ in ids]
        console.print(f"starved: {len(accepted)} completions, {FUNCTIONS} functions")
        ended = Event()
        with ThreadPoolExecutor(WAITING_CLIENTS) as clients:
            waiting = [
                clients.submit(_wait_for, client, list(batches), ended)
                for _ in range(WAITING_CLIENTS)
            ]
            decided(
                Tables(profile.aws_endpoint_url),
                accepted,
                quiet_seconds=QUIET_SECONDS,
                sweep=Operator(profile.aws_endpoint_url).close_batches,
                sweep_seconds=SWEEP_SECONDS,
            )
            ended.set()
        polls = sum(one.result() for one in waiting)
        items = list(Tables(profile.aws_endpoint_url).items("Completions"))
        console.print(
            f"ended after {time.monotonic() - started:.0f} s, {polls} long polls beside it"
        )
        verdicts = invariants.verdicts_by_completion(items)
        return [
            invariants.everything_was_accepted(accepted, BATCHES * BATCH_SIZE),
            invariants.nothing_accepted_is_lost(accepted, items),
            invariants.everything_is_decided(accepted, verdicts),
            invariants.no_completion_has_two_verdicts(accepted, verdicts),
            trouble_of_ours_is_no_verdict(accepted, verdicts),
            search(profile, secrets=[grader.secret]),
            permissions_finding(Path(folder), suite="starved", console=console),
        ]


def trouble_of_ours_is_no_verdict(accepted: list[str], verdicts: Verdicts) -> Finding:
    """The grader is well: whatever is not scored failed because of the platform."""
    violations = [
        f"{one} is {verdict['state']} with {verdict.get('reason_code')}"
        for one in accepted
        for verdict in verdicts.get(one, ())
        if verdict["state"] != "scored"
    ]
    return Finding("trouble of the platform is never a verdict", len(accepted), violations)


@contextmanager
def _stack(folder: Path) -> Iterator[LocalProfile]:
    limits = {"LAMBDA_ACCOUNT_CONCURRENCY": str(FUNCTIONS), "SFN_WAIT_SCALE": "0.1"}
    with LocalStack(directory=folder, environment=limits) as profile:
        yield profile


def _submitted(client: AutotuneClient, grader: LoopbackGrader) -> dict[str, list[str]]:
    """Return the completions of each batch."""
    registered = insisting(
        lambda: client.graders.register(
            name="well", endpoint=grader.url, capabilities={"maxBatchSize": 50}
        )
    )
    assert registered.credentials is not None
    grader.secret = registered.credentials.shared_secret
    insisting(lambda: client.graders.verify(registered.grader.id))
    task = insisting(lambda: client.tasks.create(name="t", grader_id=registered.grader.id))
    grader.disease = answering(delay_seconds=GRADER_SECONDS)
    completions = [
        {"taskId": task.id, "modelId": "m", "prompt": f"p{n}", "response": TEXT}
        for n in range(BATCH_SIZE)
    ]
    batches: dict[str, list[str]] = {}
    for number in range(BATCHES):
        key = f"starved-{number}"
        (batch,) = insisting(
            lambda key=key: list(client.completions.submit_many(completions, idempotency_key=key))
        )
        batches[batch.batch_id] = list(batch.completion_ids)
    return batches


def insisting(call: Callable[[], T]) -> T:
    """Call until there is an answer: what is throttled is asked again, as any pipeline does."""
    deadline = time.monotonic() + INSISTS_SECONDS
    while True:
        try:
            return call()
        except (APIError, ConnectionFailedError):
            if time.monotonic() > deadline:
                raise
            time.sleep(1)


def _wait_for(client: AutotuneClient, batch_ids: list[str], ended: Event) -> int:
    """Ask with long polls, one after the other; return how many."""
    polls = 0
    while not ended.is_set():
        with suppress(APIError, ConnectionFailedError, WaitTimeoutError):
            client.batches.wait(batch_ids[polls % len(batch_ids)], timeout=5)
        polls += 1
    return polls
