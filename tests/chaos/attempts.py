"""Why attempts of runs failed, for whoever reads a violation."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import boto3

from local.endpoint import REGION

_CHARACTERS = 100


def failed_attempts(endpoint: str) -> Counter[str]:
    """Return the errors of all attempts that failed in runs which MiniStack still knows."""
    session = boto3.Session("test", "test", region_name=REGION)
    runs = session.client("stepfunctions", endpoint_url=endpoint)
    return Counter(_told(event) for event in _events(runs) if event["type"] == "TaskFailed")


def _events(runs: Any) -> Iterator[dict[str, Any]]:
    for machine in runs.list_state_machines()["stateMachines"]:
        listed = runs.get_paginator("list_executions")
        for page in listed.paginate(stateMachineArn=machine["stateMachineArn"]):
            for run in page["executions"]:
                history = runs.get_paginator("get_execution_history")
                for events in history.paginate(executionArn=run["executionArn"]):
                    yield from events["events"]


def _told(event: dict[str, Any]) -> str:
    failure = event["taskFailedEventDetails"]
    cause = failure.get("cause", "")
    message = json.loads(cause).get("errorMessage", "") if cause.startswith("{") else cause
    return f"{failure['error']}: {message}"[:_CHARACTERS]
