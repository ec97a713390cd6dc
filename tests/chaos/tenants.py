"""Runs of one organisation are lost while another's completions trickle through the same queue.

A queue that is never empty says nothing of what was queued long ago: that has to be found and
redriven all the same, and the trickle must not wait for it. What is lost was queued two hours ago,
as its table is made to say.
"""

import json
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

import boto3
from rich.console import Console

from autotune import AutotuneClient
from autotune.protocol.access import CreateOrganizationResponse
from local.endpoint import REGION, lambda_client
from local.records import LocalProfile
from local.stack import LocalStack
from tests.chaos import invariants
from tests.chaos.deciding import decided
from tests.chaos.invariants import Finding
from tests.chaos.leaving import search
from tests.chaos.operator import Operator
from tests.chaos.permissions import permissions_finding
from tests.chaos.tables import Tables
from tests.chaos.texts import TEXT
from tests.support.graders import LoopbackGrader, answering, healthy, loopback_grader

BATCHES = 5
BATCH_SIZE = 80
QUEUED_AGO = timedelta(hours=2)
TRICKLE_SECONDS = 0.5
SWEEP_SECONDS = 10
RUNS_WITHIN_SECONDS = 240


def lose(console: Console) -> list[Finding]:
    """Lose every run of one organisation beside another's trickle; return what was found."""
    with (
        TemporaryDirectory(prefix="autotune-tenants-") as folder,
        loopback_grader() as of_loser,
        loopback_grader() as of_other,
        LocalStack(directory=Path(folder)) as profile,
        AutotuneClient(base_url=profile.base_url, api_key=profile.api_key) as loser,
        ExitStack() as opened,
    ):
        _, other_key = another_organization(profile)
        other = opened.enter_context(AutotuneClient(base_url=profile.base_url, api_key=other_key))
        executions = _Executions(profile)
        operator, tables = Operator(profile.aws_endpoint_url), Tables(profile.aws_endpoint_url)
        batches = _submitted_to_one_that_is_down(loser, of_loser)
        lost = [id_ for ids in batches.values() for id_ in ids]
        stopped = executions.stop(BATCHES)
        of_loser.disease = healthy
        _queued_long_ago(tables, batches)
        ended = Event()
        with ThreadPoolExecutor(1) as thread:
            trickle = thread.submit(_trickle, other, of_other, ended)
            decided(
                tables, lost, sweep=lambda: operator.sweep(batches), sweep_seconds=SWEEP_SECONDS
            )
            ended.set()
        trickled = trickle.result()
        verdicts = decided(tables, [*lost, *trickled])
        console.print(
            f"tenants: {stopped} runs lost, {len(lost)} completions; {len(trickled)} beside them"
        )
        items = list(tables.items("Completions"))
        return [
            invariants.every_fault_happened({"runs lost": stopped, "trickled": len(trickled)}),
            invariants.nothing_accepted_is_lost([*lost, *trickled], items),
            invariants.everything_is_decided([*lost, *trickled], verdicts),
            invariants.no_completion_has_two_verdicts([*lost, *trickled], verdicts),
            invariants.all_are_scored(
                "what was lost beside another's trickle is scored", lost, verdicts
            ),
            invariants.all_are_scored(
                "a trickle waits for nobody's lost batch", trickled, verdicts
            ),
            search(profile, api_keys=[other_key], secrets=[of_loser.secret, of_other.secret]),
            permissions_finding(Path(folder), suite="tenants", console=console),
        ]


def another_organization(profile: LocalProfile) -> tuple[str, str]:
    """Create an organisation; return its id and the credential of its first key."""
    answer = operate(profile, "CreateOrganization", name="other")
    created = CreateOrganizationResponse.model_validate(answer)
    return created.organization.id, created.api_key


def operate(profile: LocalProfile, function: str, **event: Any) -> Any:
    """Invoke a function of operators; return its answer."""
    session = boto3.Session("test", "test", region_name=REGION)
    stacks = session.client("cloudformation", endpoint_url=profile.aws_endpoint_url)
    (stack,) = stacks.describe_stacks(StackName="autotune")["Stacks"]
    outputs = {one["OutputKey"]: one["OutputValue"] for one in stack["Outputs"]}
    answer = lambda_client(profile.aws_endpoint_url).invoke(
        FunctionName=outputs[f"{function}FunctionName"], Payload=json.dumps(event).encode()
    )
    assert "FunctionError" not in answer, answer["Payload"].read()
    return json.loads(answer["Payload"].read())


class _Executions:
    """Runs as Step Functions has them."""

    def __init__(self, profile: LocalProfile) -> None:
        session = boto3.Session("test", "test", region_name=REGION)
        self._steps = session.client("stepfunctions", endpoint_url=profile.aws_endpoint_url)
        machines = self._steps.list_state_machines()["stateMachines"]
        (self._scoring,) = [
            one["stateMachineArn"] for one in machines if "ScoreCompletions" in one["name"]
        ]

    def stop(self, wanted: int) -> int:
        """Stop every execution once there are so many; return how many were stopped."""
        until = time.monotonic() + RUNS_WITHIN_SECONDS
        while True:
            running = self._steps.list_executions(
                stateMachineArn=self._scoring, statusFilter="RUNNING"
            )["executions"]
            if len(running) >= wanted or time.monotonic() > until:
                break
            time.sleep(0.2)
        for one in running:
            self._steps.stop_execution(executionArn=one["executionArn"], cause="lost")
        return len(running)


def _submitted_to_one_that_is_down(
    client: AutotuneClient, grader: LoopbackGrader
) -> dict[str, list[str]]:
    """Return the completions of each batch; none of them can be scored as long as it is down."""
    task_id = new_task(client, grader)
    grader.disease = answering(status=503)
    completions = [
        {"taskId": task_id, "modelId": "m", "prompt": f"p{n}", "response": TEXT}
        for n in range(BATCH_SIZE)
    ]
    batches: dict[str, list[str]] = {}
    for number in range(BATCHES):
        for batch in client.completions.submit_many(completions, idempotency_key=f"lost-{number}"):
            batches[batch.batch_id] = list(batch.completion_ids)
    return batches


def new_task(client: AutotuneClient, grader: LoopbackGrader) -> str:
    registered = client.graders.register(
        name="loopback", endpoint=grader.url, capabilities={"maxBatchSize": 50}
    )
    assert registered.credentials is not None
    grader.secret = registered.credentials.shared_secret
    assert client.graders.verify(registered.grader.id).verified
    return client.tasks.create(name="t", grader_id=registered.grader.id).id


def _queued_long_ago(tables: Tables, batch_ids: Collection[str]) -> None:
    at = (datetime.now(UTC) - QUEUED_AGO).isoformat()
    for batch_id in batch_ids:
        item = {"pk": batch_id, "sk": "batch"}
        tables.set("Completions", item, while_it_has="open_shard", attempted_at=at)


def _trickle(client: AutotuneClient, grader: LoopbackGrader, ended: Event) -> list[str]:
    """Submit one completion after the other; return their ids."""
    task_id, accepted = new_task(client, grader), []
    while not ended.wait(TRICKLE_SECONDS):
        submitted = client.completions.submit(
            task_id=task_id, model_id="m", prompt=f"p{len(accepted)}", response=TEXT
        )
        accepted.append(submitted.completion.id)
    return accepted
