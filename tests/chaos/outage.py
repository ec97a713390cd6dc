"""A grader that is down for longer than all early attempts last, and one that a text breaks.

Runs sleep a fiftieth of what they say, so that a minute and a half is an outage of over an hour.
"""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from autotune import AutotuneClient
from local.stack import LocalStack
from tests.chaos import invariants
from tests.chaos.deciding import decided
from tests.chaos.invariants import Finding, Verdicts, state_of
from tests.chaos.leaving import search
from tests.chaos.permissions import permissions_finding
from tests.chaos.tables import Tables
from tests.chaos.texts import TEXT
from tests.support.graders import (
    Exchange,
    LoopbackGrader,
    answering,
    healthy,
    loopback_grader,
)

BATCHES = 3
BATCH_SIZE = 100
SINGLES = 20
DOWN_SECONDS = 90
POISON = "the text that breaks its grader"
POISON_DEADLINE_SECONDS = 240
MOST_LOOKS_OF_A_RUN = 30
"""While it is down: eight attempts, then one in an eighth of the outage, or in five seconds."""


def break_down(console: Console) -> list[Finding]:
    """Submit while a grader is down, and to one that is broken by a text; return what was found."""
    with (
        TemporaryDirectory(prefix="autotune-outage-") as folder,
        loopback_grader() as down,
        loopback_grader() as poisoned,
        LocalStack(directory=Path(folder), environment={"SFN_WAIT_SCALE": "0.02"}) as profile,
        AutotuneClient(base_url=profile.base_url, api_key=profile.api_key) as client,
    ):
        down_task = _task(client, down)
        poisoned_task = _task(client, poisoned, deadline_seconds=POISON_DEADLINE_SECONDS)
        down.disease, poisoned.disease = answering(status=503), _broken_by_poison
        down.requests.clear()
        waiting = _submit(client, down_task, BATCHES * BATCH_SIZE)
        for number in range(SINGLES):
            waiting += _submit(client, down_task, 1, first=f"single {number}")
        neighbours = _submit(client, poisoned_task, BATCH_SIZE, first=POISON)
        poison = neighbours.pop(0)
        console.print(f"outage: {len(waiting)} completions, down for {DOWN_SECONDS} s")
        time.sleep(DOWN_SECONDS)
        looks = len(down.requests)
        down.disease = healthy
        tables = Tables(profile.aws_endpoint_url)
        verdicts = decided(
            tables, [*waiting, *neighbours, poison], quiet_seconds=POISON_DEADLINE_SECONDS + 60
        )
        console.print(f"{looks} requests while it was down")
        return [
            invariants.everything_is_decided([*waiting, *neighbours, poison], verdicts),
            invariants.all_are_scored(
                "what waited for a grader that was down is scored", waiting, verdicts
            ),
            invariants.all_are_scored("a poisonous text holds no neighbour", neighbours, verdicts),
            _ended_failed(poison, verdicts),
            _looks_are_few(looks, runs=BATCHES + SINGLES),
            search(profile, secrets=[down.secret, poisoned.secret]),
            permissions_finding(Path(folder), suite="outage", console=console),
        ]


def _task(client: AutotuneClient, grader: LoopbackGrader, **fields: int) -> str:
    registered = client.graders.register(
        name="loopback", endpoint=grader.url, capabilities={"maxBatchSize": 50}
    )
    assert registered.credentials is not None
    grader.secret = registered.credentials.shared_secret
    assert client.graders.verify(registered.grader.id).verified
    return client.tasks.create(name="t", grader_id=registered.grader.id, **fields).id


def _submit(client: AutotuneClient, task_id: str, count: int, *, first: str = "p0") -> list[str]:
    prompts = [first, *(f"p{number}" for number in range(1, count))]
    completions = [
        {"taskId": task_id, "modelId": "m", "prompt": prompt, "response": TEXT}
        for prompt in prompts
    ]
    return [
        id_ for batch in client.completions.submit_many(completions) for id_ in batch.completion_ids
    ]


def _broken_by_poison(exchange: Exchange) -> None:
    if POISON.encode() in exchange.request_body:
        exchange.status = 500


def _ended_failed(poison: str, verdicts: Verdicts) -> Finding:
    state = state_of(poison, verdicts)
    wrong = [] if state == "failed" else [f"{poison} is {state}"]
    return Finding("a poisonous text ends failed", 1, wrong)


def _looks_are_few(looks: int, *, runs: int) -> Finding:
    most = runs * MOST_LOOKS_OF_A_RUN
    wrong = [] if looks <= most else [f"{looks} requests, at most {most}"]
    return Finding("a grader that is down is asked rarely", looks, wrong)
