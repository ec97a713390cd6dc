"""What is recorded of each call to a grader: a segment of its trace, and a line in the log."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from aws_lambda_powertools import Logger

from autotune.protocol.completions import ReasonCode
from autotune.protocol.graders import HealthReason
from autotune_platform.gateway.calls import GraderCallError
from autotune_platform.runtime.traces import Segment, Trouble, segment

logger = Logger()

CALLED = "grader called"
FAILED = "grader call failed"


@dataclass
class TracedCall:
    """A call to a grader, as its trace and its line have it.

    Attributes:
        outcome: ``answered``, ``deferred``, why it brought nothing, or the class of an error of
            ours.
        trouble: what went wrong, if anything.
        logged: what else the line has: ids and numbers, and never a text.
    """

    outcome: str = "answered"
    trouble: Trouble | None = None
    logged: dict[str, str | float | None] = field(default_factory=dict)

    def failed(self, reason_code: ReasonCode | HealthReason, trouble: Trouble = "error") -> None:
        """Note that the call brought nothing that can be used, and why."""
        self.outcome, self.trouble = reason_code, trouble


@contextmanager
def traced_call(
    grader_id: str, *, request_id: str, attempt: int = 1, **logged: str | int
) -> Iterator[TracedCall]:
    """Record a call to a grader that is made inside; what it raises passes through.

    Trace, line and request have the same request id. Of an error that is no ``GraderCallError``
    only the class is recorded: its message may hold anything.

    Args:
        attempt: passes over what is asked about, this one included.
        logged: what else the line has: ids and numbers, and never a text.
    """
    call = TracedCall(logged={**logged})
    with segment(grader_id) as traced:
        try:
            yield call
        except GraderCallError as error:
            call.failed(error.reason_code, _trouble(error))
            call.logged["status"] = error.status
            raise
        except BaseException as error:
            call.outcome, call.trouble = type(error).__name__, "fault"
            raise
        finally:
            _record(call, traced, grader_id=grader_id, request_id=request_id, attempt=attempt)


def _record(
    call: TracedCall, traced: Segment, *, grader_id: str, request_id: str, attempt: int
) -> None:
    traced.trouble = call.trouble
    traced.annotations.update(
        grader_id=grader_id, outcome=call.outcome, attempt=attempt, request_id=request_id
    )
    write = logger.info if call.trouble is None else logger.warning
    message = CALLED if call.trouble is None else FAILED
    write(message, extra={**traced.annotations, **call.logged})


def _trouble(error: GraderCallError) -> Trouble:
    if error.reason_code == "grader_rate_limited":
        return "throttle"
    return "fault" if error.grader_is_down else "error"
