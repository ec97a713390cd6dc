"""Runs as the platform sees them."""

from datetime import datetime, timedelta
from typing import Self

from autotune.protocol.completions import ReasonCode
from autotune.protocol.runs import RunState, RunStep
from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.verdicts.models import GradedBy

ENDS: tuple[RunState, ...] = ("completed", "failed", "canceled")
"""States that a run never leaves."""


class RunStatus(FrozenModel):
    """Where a run stands after a round."""

    state: RunState
    step: RunStep
    attempt: int
    remaining: int
    sleep_until: datetime | None = None
    reason_code: ReasonCode | None = None
    updated_at: datetime

    @classmethod
    def after_round(cls, progress: ChunkProgress, now: datetime) -> Self:
        """Return what a round left: nothing, a signal or a time to wait for, or more to do."""
        state, step, seconds = _after_round(progress)
        return cls(
            state=state,
            step=step,
            attempt=progress.attempt,
            remaining=progress.remaining + progress.waiting,
            sleep_until=now + timedelta(seconds=seconds) if seconds else None,
            reason_code=progress.reason_code
            if progress.remaining or not progress.waiting
            else None,
            updated_at=now,
        )

    @classmethod
    def ended(cls, state: RunState, now: datetime, *, step: RunStep, attempt: int) -> Self:
        """Return the end of a run: none of its completions is without a verdict any more."""
        return cls(state=state, step=step, attempt=attempt, remaining=0, updated_at=now)


def _after_round(progress: ChunkProgress) -> tuple[RunState, RunStep, int]:
    """Return state, step and seconds to sleep, as the state machine's choice has it."""
    if progress.remaining and progress.sleep_seconds:
        step: RunStep = "retry"
        if progress.is_down:
            step = "wait_for_circuit"
        elif progress.waits or progress.turn_at:
            step = "wait_for_limit"
        return "sleeping", step, progress.sleep_seconds
    if progress.remaining:
        return "running", "grade", 0
    if progress.waiting:
        is_for_people = progress.people == progress.waiting
        step = "wait_for_person" if is_for_people else "wait_for_callback"
        return "waiting", step, progress.wait_seconds
    return "completed", "done", 0


class Event(FrozenModel):
    """Where a run stood at a moment."""

    at: datetime
    state: RunState
    step: RunStep
    remaining: int

    @classmethod
    def of(cls, status: RunStatus) -> Self:
        """Return what a status leaves in the history."""
        return cls(
            at=status.updated_at, state=status.state, step=status.step, remaining=status.remaining
        )


class RunSummary(RunStatus):
    """A run without the completions that it serves, whose number is ``completions``."""

    id: str
    organization_id: str
    grader_id: str
    grader_version: str
    completions: int
    late_answers: int = 0
    started_at: datetime


class Run(RunSummary, GradedBy):
    """A run with the ids of the completions that it serves, and its history, oldest first.

    ``panel_id`` is the panel that its grader judges in, whose verdicts are counted.
    """

    completion_ids: list[str]
    history: list[Event] = []

    @classmethod
    def of(cls, progress: ChunkProgress, run_id: str, now: datetime) -> Self:
        """Return a run that is about to start."""
        return cls(
            id=run_id,
            organization_id=progress.organization_id,
            **progress.model_dump(include=set(GradedBy.model_fields)),
            state="pending",
            step="grade",
            attempt=progress.attempt,
            completions=len(progress.completion_ids),
            remaining=progress.remaining,
            completion_ids=progress.completion_ids,
            started_at=now,
            updated_at=now,
        )
