"""Requests to graders that may be answered later."""

from datetime import datetime, timedelta
from typing import Literal

from autotune_platform.gateway.calls import Path
from autotune_platform.judging.judge import Asker
from autotune_platform.verdicts.models import VerdictKey

Asked = VerdictKey
"""A completion with its generation, and the grader and its version that were asked about it."""

CallState = Literal["open", "answered", "expired"]

_FEWEST_BETWEEN_LOOKS = timedelta(minutes=10)


class Call(Asker):
    """One request to a grader that may answer it later: to know its id is to be allowed to.

    Attributes:
        run_id: the run that its answer wakes.
        batch_ids: batches of those completions, whose sweeps a heartbeat postpones.
        path: what was asked; an answer is read accordingly.
        request_sha256: of the request's body, which the answer's signature binds it to.
        attempts: passes over the completions that it took, this one included.
        due_at: when the answer has to be there.
        heartbeat_seconds: how often the grader has to give a sign of life; None for never.
        heartbeat_by: when the next one has to be there.
        answer_sha256: of the answer's body, so that a repeated answer is recognised.
        answer_parts: in how many items the answer is stored; 0 once it is applied.
    """

    id: str
    completion_ids: list[str]
    batch_ids: list[str]
    path: Path
    request_id: str
    request_sha256: str
    attempts: int
    state: CallState = "open"
    created_at: datetime
    due_at: datetime
    heartbeat_seconds: int | None = None
    heartbeat_by: datetime | None = None
    answered_at: datetime | None = None
    answer_sha256: str | None = None
    answer_parts: int = 0

    @property
    def until(self) -> datetime:
        """When it expires: without an answer, or without a sign of life."""
        return min(self.due_at, self.heartbeat_by or self.due_at)

    def looked_at(self, now: datetime) -> datetime:
        """When a run that waits looks again whether it still may wait.

        For a sign of life not oftener than every ten minutes: each look is steps of the execution,
        whose history ends at 25,000.
        """
        if self.heartbeat_by is None:
            return self.due_at
        return min(self.due_at, max(self.heartbeat_by, now + _FEWEST_BETWEEN_LOOKS))
