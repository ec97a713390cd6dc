"""Runs on the wire: how far the grading of some completions has come."""

from typing import Literal

from autotune.protocol.completions import ReasonCode, VerdictCounts
from autotune.protocol.types import Generation, ResponseModel, Timestamp

RunState = Literal["pending", "running", "sleeping", "waiting", "completed", "failed", "canceled"]
"""``pending`` until the first round is over, ``waiting`` for a callback or a person; three ends."""

RunStep = Literal[
    "grade",
    "retry",
    "wait_for_limit",
    "wait_for_circuit",
    "wait_for_callback",
    "wait_for_person",
    "done",
    "give_up",
]
"""What a run is at.

``retry`` sleeps before it asks again about what failed for a passing reason, ``wait_for_limit``
until the grader's limits allow a call, ``wait_for_circuit`` until a grader that is down may be
probed; ``give_up`` leaves what is pending to a new run.
"""


class RunEvent(ResponseModel):
    """Where a run stood at a moment; ``remaining`` completions were without a verdict then."""

    at: Timestamp
    state: RunState
    step: RunStep
    remaining: int


class RunSummary(ResponseModel):
    """Where a run stood after its last round; a run serves up to 100 completions of one grader.

    ``attempt`` counts passes over its completions that are over, ``remaining`` the completions
    that were without a verdict, ``late_answers`` the grader's answers that came too late and were
    dropped. ``sleep_until`` is there only where ``state`` is ``sleeping``, or ``waiting``: it is
    then when the run goes on without the answer that it waits for. ``reason_code`` is why the last
    completion failed that is tried again, at ``sleep_until``, for the ``attempt + 1``th time; or
    what calls of others found the grader down with.
    """

    id: str
    grader_id: str
    grader_version: str
    state: RunState
    step: RunStep
    attempt: int
    completions: int
    remaining: int
    late_answers: int
    sleep_until: Timestamp | None = None
    reason_code: ReasonCode | None = None
    started_at: Timestamp
    updated_at: Timestamp


class Run(RunSummary):
    """A run with its completions; ``counts`` are those of their verdicts at this moment.

    ``panel_id`` is there where the run's grader is one of several, or a person may have the last
    word: the verdicts are the panel's then, and may come after the run's end. ``history`` is what
    the run went through, oldest first: its last 20 rounds, and how it ended. ``generation`` is that
    of its completions, from 1 on where they are scored again.
    """

    history: list[RunEvent] = []
    panel_id: str | None = None
    generation: Generation = 0
    completion_ids: list[str]
    counts: VerdictCounts


class RunResponse(ResponseModel):
    """One run."""

    run: Run


class RunList(ResponseModel):
    """A page of runs, the youngest first within each state."""

    runs: list[RunSummary]
    next_token: str | None = None
