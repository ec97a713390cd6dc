"""Timelines on the wire: a completion's whole way, as far as it is stored."""

from typing import Literal

from autotune.protocol.completions import CompletionState, DecidedBy, ReasonCode, VerdictState
from autotune.protocol.explanations import WaitsFor
from autotune.protocol.types import Generation, ResponseModel, Timestamp

TimelineKind = Literal[
    "submitted",
    "scored_again",
    "redriven",
    "run_began",
    "run_waited",
    "run_ended",
    "asked",
    "answered",
    "opinion",
    "review_requested",
    "review_answered",
    "verdict",
    "text_gone",
]
"""What happened.

``redriven``: what was pending of the batch was queued anew, for the last time. ``run_began``,
``run_waited`` and ``run_ended`` are of a run that had the completion, with up to 99 others;
``asked`` and ``answered`` are of a grader that may answer later. ``text_gone``: prompt and response
were deleted, or have expired.
"""


class TimelineEntry(ResponseModel):
    """One thing that happened to a completion; what is not about it is absent.

    ``waits_for`` is what a run waited for from then on. ``until`` is when the answer of a grader,
    or of a person, had to be there. ``event_id`` is the event ``score.completed`` of a verdict, by
    which its deliveries are found. Failures have codes, and never a grader's own words.
    """

    at: Timestamp
    kind: TimelineKind
    generation: Generation = 0
    grader_id: str | None = None
    grader_version: str | None = None
    run_id: str | None = None
    waits_for: WaitsFor | None = None
    until: Timestamp | None = None
    state: VerdictState | None = None
    value: float | None = None
    confidence: float | None = None
    reason_code: ReasonCode | None = None
    attempts: int | None = None
    decided_by: DecidedBy | None = None
    review_id: str | None = None
    source_request_id: str | None = None
    event_id: str | None = None


class Forgotten(ResponseModel):
    """What is not stored any more of what happened before a time.

    ``runs`` go 30 days after they began, and each keeps the ends of its last 20 rounds. ``calls``
    to graders that may answer later go a week after the answer was due.
    """

    what: Literal["runs", "calls"]
    before: Timestamp


class CompletionTimeline(ResponseModel):
    """What happened to a completion, oldest first, and what comes next.

    While it is pending, ``waits_for`` is what is waited for, and ``until`` until when at most;
    without ``waits_for`` it is queued, or asked about right now, and ``until`` is its deadline.
    """

    completion_id: str
    batch_id: str
    state: CompletionState
    timeline: list[TimelineEntry]
    waits_for: WaitsFor | None = None
    until: Timestamp | None = None
    forgotten: list[Forgotten]
