"""Executions of state machines that were started, asked of moto itself and not over the wire.

Tests ask after each step that they do, and an answer of moto takes as long as many a step.
"""

import json
from typing import Any

from moto.core import DEFAULT_ACCOUNT_ID
from moto.stepfunctions.models import stepfunctions_backends


def inputs_of(state_machine: str) -> dict[str, Any]:
    """Return the input of each execution by its ARN, that of the latest first."""
    (machine,) = [
        one
        for one in stepfunctions_backends[DEFAULT_ACCOUNT_ID]["us-east-1"].state_machines
        if one.name == state_machine
    ]
    latest_first = sorted(machine.executions, key=lambda one: one.start_date, reverse=True)
    return {one.execution_arn: json.loads(one.execution_input) for one in latest_first}
