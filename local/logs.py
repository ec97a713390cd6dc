"""The functions' logs, of all log groups in order of time."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from local.endpoint import logs_client

FOLLOW_SECONDS = 1.0
_RUNTIME_LINE = re.compile(r"(START|END|REPORT) RequestId: ")
_LOGICAL_ID_SUFFIX = re.compile(r"Logs[0-9A-F]{8}$")


@dataclass(frozen=True, kw_only=True)
class LogLine:
    """One line of one function.

    Attributes:
        timestamp: Milliseconds since 1970.
        source: The function's construct, such as ``GradeChunk``, or else the log group's name.
        text: What the function wrote.
    """

    timestamp: int
    source: str
    text: str

    @property
    def is_of_runtime(self) -> bool:
        """Whether Lambda wrote it about an invocation, and not the function."""
        return _RUNTIME_LINE.match(self.text) is not None


def read_logs(endpoint: str, *, since: int) -> list[LogLine]:
    """Lines of every log group from a moment on, in order of time.

    Args:
        endpoint: Where CloudWatch Logs answers.
        since: Milliseconds since 1970.
    """
    client = logs_client(endpoint)
    groups = [
        group["logGroupName"]
        for page in client.get_paginator("describe_log_groups").paginate()
        for group in page["logGroups"]
    ]
    lines = [
        LogLine(
            timestamp=event["timestamp"],
            source=source_of(group),
            text=event["message"].rstrip(),
        )
        for group in groups
        for page in client.get_paginator("filter_log_events").paginate(
            logGroupName=group, startTime=since
        )
        for event in page["events"]
    ]
    # A stable sort by time alone keeps the lines of one invocation as they were written.
    return sorted(lines, key=lambda line: line.timestamp)


def source_of(log_group: str) -> str:
    """The construct that a log group belongs to, read from the end of the group's name."""
    return _LOGICAL_ID_SUFFIX.sub("", log_group.rsplit("/", 1)[-1])


def follow_logs(endpoint: str, *, since: int) -> Iterator[LogLine]:
    """Lines as they come, without end."""
    seen: set[LogLine] = set()
    while True:
        fresh = [line for line in read_logs(endpoint, since=since) if line not in seen]
        yield from fresh
        if fresh:
            # Lines of the last millisecond may still come, so it is asked for again.
            since = fresh[-1].timestamp
            seen = {line for line in (*seen, *fresh) if line.timestamp >= since}
        time.sleep(FOLLOW_SECONDS)
