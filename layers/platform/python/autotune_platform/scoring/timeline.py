"""A completion's whole way, put together from what is stored of it.

Nothing is kept for it: verdicts, opinions, runs, calls and reviews are found by their keys, so that
a timeline is a constant number of reads. What has gone since is said, and never made up.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from autotune.protocol.explanations import CompletionExplanation, WaitsFor
from autotune.protocol.runs import RunStep
from autotune.protocol.timelines import (
    CompletionTimeline,
    Forgotten,
    TimelineEntry,
)
from autotune_platform.access.models import Caller, Scope
from autotune_platform.completions.models import Batch
from autotune_platform.completions.service import CompletionService
from autotune_platform.judging.http.calls import Call
from autotune_platform.judging.http.waiting import CallWaits
from autotune_platform.judging.human.models import Review, review_id
from autotune_platform.judging.human.records import ReviewRecords
from autotune_platform.projections.publishing import score_event_id
from autotune_platform.runs.models import ENDS, Run
from autotune_platform.runs.service import RunService
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.scoring.explaining import Explanations
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.service import VerdictService

_WAITED_FOR: Mapping[RunStep, WaitsFor] = {
    "retry": "next_attempt",
    "wait_for_limit": "limit",
    "wait_for_circuit": "circuit",
    "wait_for_callback": "callback",
    "wait_for_person": "person",
}
_RUNS_KEPT = timedelta(days=30)
_CALLS_KEPT = timedelta(days=7)
_MOST_RUNS = 100


@part
class Timelines:
    """Tells what happened to a completion of the caller's organisation."""

    explanations: Explanations
    completions: CompletionService
    verdicts: VerdictService
    runs: RunService
    calls: CallWaits
    reviews: ReviewRecords
    clock: Clock = SYSTEM_CLOCK

    def of_completion(self, caller: Caller, scope: Scope, completion_id: str) -> CompletionTimeline:
        """Return what happened to a completion, oldest first.

        Raises:
            NotFoundError: there is none, it is another organisation's, or in ``own`` another
                principal's grader scores it.
        """
        explained = self.explanations.of_completion(caller, scope, completion_id)
        batch = self.completions.batches([explained.batch_id])[explained.batch_id]
        given = self.verdicts.story_of(completion_id)
        calls = self.calls.of_completion(completion_id)
        reviews = self._reviews(batch, completion_id, explained.verdict.grader_id)
        runs = self._runs(batch, completion_id, explained, given, calls, reviews)
        entries = [
            *_submissions(batch, completion_id),
            *(entry for run in runs for entry in _of_run(run, given)),
            *(entry for call in calls for entry in _of_call(call)),
            *(entry for review in reviews for entry in _of_review(review)),
            *map(_of_verdict, given),
            *self._text_gone(batch, completion_id),
        ]
        waits_for, until = _next(explained)
        return CompletionTimeline(
            completion_id=completion_id,
            batch_id=batch.id,
            state=explained.verdict.state,
            timeline=sorted(entries, key=lambda entry: entry.at),
            waits_for=waits_for,
            until=until,
            forgotten=self._forgotten(batch),
        )

    def _reviews(self, batch: Batch, completion_id: str, grader_id: str) -> list[Review]:
        ids = [
            review_id(completion_id, grader_id, generation)
            for generation in range(batch.generation + 1)
        ]
        found = self.reviews.find_many(ids)
        return [found[id_] for id_ in ids if id_ in found]

    def _runs(
        self,
        batch: Batch,
        completion_id: str,
        explained: CompletionExplanation,
        given: Sequence[Verdict],
        calls: Sequence[Call],
        reviews: Sequence[Review],
    ) -> list[Run]:
        place = batch.place_of(completion_id)
        named = [
            *(one.run_id for one in given),
            *(one.run_id for one in explained.graders),
            *(one.run_id for one in calls),
            *(one.run_id for one in reviews),
            *(sleep.run_id for sleep in batch.sleeps if sleep.serves(place)),
        ]
        ids = list(dict.fromkeys(run_id for run_id in named if run_id is not None))
        found = self.runs.with_ids(ids[:_MOST_RUNS])
        return [
            run
            for run in found
            if run.organization_id == batch.organization_id and completion_id in run.completion_ids
        ]

    def _text_gone(self, batch: Batch, completion_id: str) -> Iterator[TimelineEntry]:
        gone_at = self.completions.text_gone_at(batch, completion_id)
        if gone_at is not None:
            yield TimelineEntry(at=gone_at, kind="text_gone")

    def _forgotten(self, batch: Batch) -> list[Forgotten]:
        now = self.clock.now()
        return [
            Forgotten(what=what, before=now - kept)
            for what, kept in (("runs", _RUNS_KEPT), ("calls", _CALLS_KEPT))
            if batch.created_at < now - kept
        ]


def _submissions(batch: Batch, completion_id: str) -> Iterator[TimelineEntry]:
    yield TimelineEntry(at=batch.created_at, kind="submitted")
    place = batch.place_of(completion_id)
    for generation in batch.generations:
        if generation.has(place):
            yield TimelineEntry(
                at=generation.requested_at, kind="scored_again", generation=generation.number
            )
    if batch.redriven_at is not None:
        yield TimelineEntry(at=batch.redriven_at, kind="redriven")


def _of_run(run: Run, given: Sequence[Verdict]) -> Iterator[TimelineEntry]:
    """Yield what became of a run until this completion was decided; others may take longer."""
    decided = [
        one.decided_at
        for one in given
        if one.generation == run.generation and one.grader_id in {run.grader_id, run.panel_id}
    ]
    over_at = min(decided, default=None)
    known: dict[str, Any] = {
        "generation": run.generation,
        "grader_id": run.grader_id,
        "grader_version": run.grader_version,
        "run_id": run.id,
    }
    yield TimelineEntry(at=run.started_at, kind="run_began", **known)
    for event in run.history:
        if event.state in ENDS:
            yield TimelineEntry(at=event.at, kind="run_ended", **known)
        elif event.step in _WAITED_FOR and (over_at is None or event.at <= over_at):
            waits_for = _WAITED_FOR[event.step]
            yield TimelineEntry(at=event.at, kind="run_waited", waits_for=waits_for, **known)


def _of_call(call: Call) -> Iterator[TimelineEntry]:
    known: dict[str, Any] = {
        "generation": call.generation,
        "grader_id": call.grader_id,
        "grader_version": call.grader_version,
        "run_id": call.run_id,
        "attempts": call.attempts,
    }
    yield TimelineEntry(at=call.created_at, kind="asked", until=call.until, **known)
    if call.answered_at is not None:
        yield TimelineEntry(at=call.answered_at, kind="answered", **known)


def _of_review(review: Review) -> Iterator[TimelineEntry]:
    known: dict[str, Any] = {"generation": review.generation, "review_id": review.id}
    yield TimelineEntry(
        at=review.created_at, kind="review_requested", until=review.expires_at, **known
    )
    if review.answer is not None:
        yield TimelineEntry(
            at=review.answer.answered_at,
            kind="review_answered",
            value=review.answer.value,
            confidence=review.answer.confidence,
            **known,
        )


def _of_verdict(one: Verdict) -> TimelineEntry:
    return TimelineEntry(
        at=one.decided_at,
        kind="opinion" if one.is_opinion else "verdict",
        generation=one.generation,
        grader_id=one.grader_id,
        grader_version=one.answered_version,
        run_id=one.run_id,
        state=one.state,
        value=one.value,
        confidence=one.confidence,
        reason_code=one.reason_code,
        attempts=one.attempts,
        decided_by=None if one.is_opinion or one.state == "canceled" else one.decided_by,
        review_id=one.review_id,
        source_request_id=one.source_request_id,
        event_id=None if one.is_opinion else score_event_id(one),
    )


def _next(explained: CompletionExplanation) -> tuple[WaitsFor | None, datetime | None]:
    """Return what is waited for first, and until when; nothing of what is decided."""
    if explained.verdict.state != "pending":
        return None, None
    waits = [
        (one.next_attempt_at, one.waits_for)
        for one in explained.graders
        if one.waits_for is not None and one.next_attempt_at is not None
    ]
    if waits:
        until, waits_for = min(waits, key=lambda one: one[0])
        return waits_for, until
    if explained.review is not None:
        return "person", explained.review.expires_at
    return None, explained.deadline_at
