"""Traces: segments of X-Ray for calls that leave the platform. Nothing else knows the tracer.

Lambda decides for each invocation whether it is traced, and says so in its environment. The tracer
is imported by the first invocation of a process that is; without a daemon, as in tests and on the
local stack, never. It patches no library: what a patched client tells of a request is its address,
and of an error its message.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from aws_lambda_powertools import Logger, Tracer

logger = Logger()

Trouble = Literal["error", "throttle", "fault"]
"""How X-Ray colours a call that went wrong: refused, refused as too many, or failed."""

_FLAGS: Mapping[Trouble, tuple[str, ...]] = {
    "error": ("add_error_flag",),
    "throttle": ("add_throttle_flag", "add_error_flag"),
    "fault": ("add_fault_flag",),
}
_NEEDED = ("LAMBDA_TASK_ROOT", "AWS_XRAY_DAEMON_ADDRESS")


@dataclass
class Segment:
    """What the trace has of a call, once it is over.

    Attributes:
        annotations: what traces are searched by: ids, numbers and fixed words, and never a text.
        trouble: what went wrong, if anything.
    """

    annotations: dict[str, str | int] = field(default_factory=dict)
    trouble: Trouble | None = None


def is_traced() -> bool:
    """Return whether this invocation is one whose trace is kept."""
    # Lambda sets it anew for each invocation: "Root=1-...;Parent=...;Sampled=1;Lineage=...".
    header = os.environ.get("_X_AMZN_TRACE_ID", "")
    return "Sampled=1" in header.split(";") and all(map(os.environ.get, _NEEDED))


def prepare() -> None:
    """Import the tracer where this invocation is traced, before what is timed begins."""
    if is_traced():
        _recorder()


@contextmanager
def segment(name: str) -> Iterator[Segment]:
    """Have a call that is made inside be a segment of the invocation's trace, if it has one.

    What the call raises passes through, and nothing of it is recorded. No failure of the tracer is
    ever raised. Segments are not nested, and may be of several threads.

    Args:
        name: what is called, as the map of traces shows it.
    """
    filled = Segment()
    opened = _open(name) if is_traced() else None
    try:
        yield filled
    finally:
        if opened is not None:
            _close(*opened, filled)


Opened = tuple[AbstractContextManager[Any], Any]


def _open(name: str) -> Opened | None:
    recorder = _recorder()
    if recorder is None:
        return None
    try:
        # The tracer remembers the invocation by thread, and takes another one of the same trace for
        # it: all rounds of a run are of one trace, and a process may have several of them.
        recorder.clear_trace_entities()
        context = recorder.in_subsegment(name=name, namespace="remote")
        return context, context.__enter__()
    except Exception as error:  # noqa: BLE001 - a trace is never worth a call
        _lost(error)
        return None


def _close(context: AbstractContextManager[Any], subsegment: Any, filled: Segment) -> None:
    try:
        for key, value in filled.annotations.items():
            subsegment.put_annotation(key, value)
        for flag in _FLAGS[filled.trouble] if filled.trouble else ():
            getattr(subsegment, flag)()
        # Never what the call raised: its message and its stack would be recorded.
        context.__exit__(None, None, None)
    except Exception as error:  # noqa: BLE001 - as in _open
        _lost(error)


def _lost(error: Exception) -> None:
    logger.warning("call not traced", error=type(error).__name__)


@cache
def _recorder() -> Any | None:
    """Return what records segments; None, reported once, in a process that cannot have it."""
    try:
        # It imports the tracer when it is made.
        return Tracer(auto_patch=False).provider
    except Exception as error:  # noqa: BLE001 - as in _open
        _lost(error)
        return None
