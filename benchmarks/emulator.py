"""The emulator's own counts of a period of work: invocations, transitions, logs."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import boto3
from botocore.config import Config

from local.endpoint import REGION
from local.logs import read_logs

_REPORT = re.compile(r"REPORT .*\bBilled Duration: (\d+) ms\s+Memory Size: (\d+) MB")
_POLL_SECONDS = 0.25


@dataclass
class Worked:
    """What functions and state machines did from a moment on.

    Attributes:
        invocations: by function.
        milliseconds: wall time of invocations, by function.
        gigabyte_seconds: what Lambda bills for time: seconds times memory.
        transitions: state transitions as they are billed: each step that ran, each repetition of
            one too.
        log_bytes: what functions wrote; Lambda's own lines are switched off on AWS.
    """

    invocations: Counter[str] = field(default_factory=Counter)
    milliseconds: Counter[str] = field(default_factory=Counter)
    gigabyte_seconds: float = 0.0
    transitions: int = 0
    log_bytes: int = 0


class Emulator:
    """One running MiniStack, asked past the proxy that counts."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        session = boto3.Session("test", "test", region_name=REGION)
        config = Config(proxies={}, read_timeout=120)
        self._states: Any = session.client("stepfunctions", endpoint_url=endpoint, config=config)

    def worked(self, since: datetime) -> Worked:
        """Return what was done from a moment on."""
        worked = Worked(transitions=sum(map(self._steps, self._executions(since))))
        for line in read_logs(self._endpoint, since=int(since.timestamp() * 1000)):
            reported = _REPORT.match(line.text)
            if reported:
                milliseconds, megabytes = map(int, reported.groups())
                worked.invocations[line.source] += 1
                worked.milliseconds[line.source] += milliseconds
                worked.gigabyte_seconds += milliseconds / 1000 * megabytes / 1024
            elif not line.is_of_runtime:
                worked.log_bytes += len(line.text.encode())
        return worked

    def _executions(self, since: datetime) -> Iterator[str]:
        for page in self._states.get_paginator("list_state_machines").paginate():
            for machine in page["stateMachines"]:
                arn = machine["stateMachineArn"]
                for listed in self._states.get_paginator("list_executions").paginate(
                    stateMachineArn=arn
                ):
                    for execution in listed["executions"]:
                        if execution["startDate"] >= since:
                            yield execution["executionArn"]

    def _steps(self, execution: str) -> int:
        events: Counter[str] = Counter()
        history = self._states.get_paginator("get_execution_history")
        for page in history.paginate(executionArn=execution, includeExecutionData=False):
            events.update(event["type"] for event in page["events"])
        entered = sum(count for kind, count in events.items() if kind.endswith("StateEntered"))
        # A task that is tried again is billed again, and enters its state once.
        scheduled = events["LambdaFunctionScheduled"] + events["TaskScheduled"]
        return entered + max(0, scheduled - events["TaskStateEntered"])


def until_quiet(quantity: Callable[[], int], *, seconds: float, limit_seconds: float) -> None:
    """Wait until a quantity that only grows has stood still for a while, or the limit is over."""
    deadline = time.monotonic() + limit_seconds
    last, since = quantity(), time.monotonic()
    while time.monotonic() < deadline and time.monotonic() - since < seconds:
        time.sleep(_POLL_SECONDS)
        now = quantity()
        if now != last:
            last, since = now, time.monotonic()
