"""What a call to a grader brings, for those who read it and call nobody."""

from dataclasses import dataclass
from typing import Literal

from autotune.protocol.completions import ReasonCode

_UNREACHED = frozenset({"certificate_mismatch", "grader_timeout", "grader_unreachable"})

Path = Literal["/score", "/score/batch", "/health"]


class GraderCallError(Exception):
    """A call that brought no trustworthy answer.

    Attributes:
        reason_code: what a trainer gets if the call is not repeated.
        retryable: whether the same call may succeed later.
        retry_after_seconds: how long the grader asked us to wait, at most 15 minutes.
        status: the HTTP status that the grader answered, if any.
    """

    def __init__(
        self,
        reason_code: ReasonCode,
        *,
        retryable: bool = False,
        retry_after_seconds: int = 0,
        status: int | None = None,
    ) -> None:
        super().__init__(reason_code)
        self.reason_code: ReasonCode = reason_code
        self.retryable = retryable
        self.retry_after_seconds = retry_after_seconds
        self.status = status

    @property
    def grader_is_down(self) -> bool:
        """Whether the grader would have failed whatever it was asked: not reached, or 5xx."""
        return self.reason_code in _UNREACHED or (self.status or 0) >= 500


@dataclass(frozen=True)
class GraderAnswer:
    """An answer whose signature binds it to the request that was sent.

    It is ``deferred`` where the grader answered 202: what was asked is answered later.
    """

    request_id: str
    body: bytes
    elapsed_ms: int
    deferred: bool = False
