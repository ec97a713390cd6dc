"""Runs state machines on MiniStack, with functions that do what a script says."""

import io
import json
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest

from local.endpoint import REGION, endpoint_url, free_port
from local.ministack import MiniStack

# A worker that raised may be replaced by a new process, so the place in the script is in a file.
# Each function is a process of its own, and boto3 takes longer than all else that one does.
_SCRIPTED = """
import json, os, pathlib, tempfile
script = json.loads(os.environ["SCRIPT"])
place = pathlib.Path(tempfile.gettempdir(), os.environ["AWS_LAMBDA_FUNCTION_NAME"] + ".place")
def client():
    import boto3
    return boto3.client("stepfunctions")
def lambda_handler(event, context):
    at = int(place.read_text()) if place.exists() else 0
    place.write_text(str(at + 1))
    line = script[min(at, len(script) - 1)]
    if "raise" in line:
        raise RuntimeError(line["raise"])
    if "succeed" in line:
        steps = client()
        return steps.send_task_success(taskToken=event["token"], output=line["succeed"]) and None
    if "fail" in line:
        steps = client()
        return steps.send_task_failure(taskToken=event["token"], error=line["fail"]) and None
    return {**event, **line["return"]}
"""


@dataclass
class Run:
    """A finished execution: its status, what it returned, and the states that it entered."""

    status: str
    output: Any
    error: str | None
    entered: list[str]


class StateMachines:
    """Deploys a definition of ours with scripted functions and runs it."""

    def __init__(self, endpoint: str) -> None:
        session = boto3.Session("test", "test", region_name=REGION)
        self._lambda = session.client("lambda", endpoint_url=endpoint)
        self._stepfunctions = session.client("stepfunctions", endpoint_url=endpoint)
        self._count = 0

    def run(self, file: str, document: Any, **scripts: list[dict[str, Any]]) -> Run:
        """Run a definition.

        Each script belongs to the function of the state of its name, and its last line repeats.
        """
        self._count += 1
        definition = Path("statemachines", file).read_text()
        for state, script in scripts.items():
            arn = self._function(f"{state}-{self._count}", script)
            definition = definition.replace(f"${{{state}FunctionArn}}", arn)
        machine = self._stepfunctions.create_state_machine(
            name=f"machine-{self._count}",
            definition=definition,
            roleArn="arn:aws:iam::000000000000:role/any",
        )
        execution = self._stepfunctions.start_execution(
            stateMachineArn=machine["stateMachineArn"], input=json.dumps(document)
        )["executionArn"]
        deadline = time.monotonic() + 120
        while True:
            described = self._stepfunctions.describe_execution(executionArn=execution)
            if described["status"] != "RUNNING" or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        history = self._stepfunctions.get_execution_history(executionArn=execution)["events"]
        return Run(
            status=described["status"],
            output=json.loads(described.get("output") or "null"),
            error=described.get("error"),
            entered=[
                event["stateEnteredEventDetails"]["name"]
                for event in history
                if "stateEnteredEventDetails" in event
            ],
        )

    def _function(self, name: str, script: list[dict[str, Any]]) -> str:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("scripted.py", _SCRIPTED)
        created = self._lambda.create_function(
            FunctionName=name,
            Runtime="python3.13",
            Role="arn:aws:iam::000000000000:role/any",
            Handler="scripted.lambda_handler",
            Code={"ZipFile": packed.getvalue()},
            Environment={"Variables": {"SCRIPT": json.dumps(script)}},
            Timeout=10,
        )
        return created["FunctionArn"]


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StateMachines]:
    """State machines on a MiniStack of their own, whose waits and back-offs take no time."""
    directory = tmp_path_factory.mktemp("ministack")
    ministack = MiniStack(directory=directory, environment={"SFN_WAIT_SCALE": "0"})
    port = free_port()
    pid = ministack.start(port=port)
    try:
        yield StateMachines(endpoint_url(port))
    finally:
        ministack.stop(pid)
