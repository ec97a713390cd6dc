"""Explaining where completions and batches stand, from what the tables hold.

It is read-only, and reads nothing that a trainer may not know: codes, times and ids.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from autotune.protocol.completions import ReasonCode
from autotune.protocol.explanations import (
    BatchExplanation,
    BatchGrader,
    CompletionExplanation,
    OpenReview,
    WaitingRun,
    WaitsFor,
)
from autotune_platform.access.models import Caller, Scope
from autotune_platform.completions.models import Batch
from autotune_platform.completions.service import CompletionService
from autotune_platform.completions.wire import status_on_wire
from autotune_platform.judging.http.calls import Asked, Call
from autotune_platform.judging.http.waiting import CallWaits
from autotune_platform.judging.human.models import Review, review_id
from autotune_platform.judging.human.records import ReviewRecords
from autotune_platform.judging.rubric.waiting import RowWaits
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.scoring.asked_grader import asked_grader
from autotune_platform.verdicts.models import Verdict, counts_of
from autotune_platform.verdicts.panels import Panel, PanelMember, PanelRecords
from autotune_platform.verdicts.service import VerdictService


@part
class Explanations:
    """Explains a completion or a batch of the caller's organisation."""

    completions: CompletionService
    verdicts: VerdictService
    panels: PanelRecords
    calls: CallWaits
    rows: RowWaits
    reviews: ReviewRecords
    clock: Clock = SYSTEM_CLOCK

    def of_completion(
        self, caller: Caller, scope: Scope, completion_id: str
    ) -> CompletionExplanation:
        """Return why a completion stands where it does, and what comes next.

        Raises:
            NotFoundError: there is none, it is another organisation's, or in ``own`` another
                principal's grader scores it.
        """
        status = self.completions.status(caller, scope, completion_id, wait_seconds=0)
        known = status.completion or status.verdict
        assert known is not None, "what has neither is not found"
        batch = self.completions.batches([known.batch_id])[known.batch_id]
        verdict = status.verdict
        panel = self.panels.get_many([known.grader_id]).get(known.grader_id)
        if panel is not None:
            given = self.verdicts.opinions_of(
                [(completion_id, panel)], {completion_id: known.generation}
            ).get(completion_id, [])
        else:
            given = [verdict] if verdict else []
        asked = panel.members if panel else [_alone(known.grader_id, known.grader_version)]
        answers = {(one.grader_id, one.grader_version): one for one in given}
        calls: Mapping[Asked, Call] = {}
        review = None
        questions = {
            one: Asked(completion_id, one.grader_id, one.grader_version, known.generation)
            for one in asked
        }
        unanswered = [
            questions[one] for one in asked if (one.grader_id, one.grader_version) not in answers
        ]
        if verdict is None:
            calls = self.calls.open_calls(unanswered)
        # Of what nobody waited for any longer, the verdict does not know the request.
        given_up = [
            questions[one]
            for one in asked
            if (answer := answers.get((one.grader_id, one.grader_version))) is not None
            and answer.reason_code == "deadline_exceeded"
        ]
        rows = self.rows.asked([*unanswered, *given_up], batch.organization_id)
        if panel is not None and verdict is None:
            later = {completion_id: known.generation}
            review = self._open_reviews([(completion_id, panel)], later).get(completion_id)
        return CompletionExplanation(
            verdict=status_on_wire(status, scope),
            batch_id=batch.id,
            deadline_at=batch.headers([completion_id])[completion_id].deadline,
            redrives=batch.sweeps,
            graders=[
                asked_grader(
                    batch,
                    completion_id,
                    one,
                    answers.get((one.grader_id, one.grader_version)),
                    calls.get(questions[one]),
                    rows.get(questions[one]),
                    now=self.clock.now(),
                    weight=one.weight if panel else None,
                    is_over=verdict is not None,
                )
                for one in asked
                # A panel of one person asks no grader.
                if not (panel and panel.is_human)
            ],
            review=OpenReview(
                review_id=review.id,
                assignee_id=review.assignee_id,
                expires_at=review.expires_at,
                correctable_until=review.correctable_until,
            )
            if review
            else None,
        )

    def of_batch(self, caller: Caller, batch_id: str) -> BatchExplanation:
        """Return what is pending in a batch, and which graders and runs it waits for.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        batch, verdicts = self._decided(caller, batch_id)
        pending = [id_ for id_ in batch.completion_ids if id_ not in verdicts]
        headers = batch.headers(pending)
        panels = self.panels.get_many(segment.grader_id for segment in batch.segments)
        in_panels = [
            (id_, panels[one.grader_id]) for id_, one in headers.items() if one.grader_id in panels
        ]
        later = batch.later_generations
        given = self.verdicts.opinions_of(in_panels, later)
        failures: Counter[ReasonCode] = Counter(
            verdict.reason_code
            for verdict in verdicts.values()
            if verdict.reason_code and verdict.state == "failed"
        )
        asked: dict[tuple[str, str, str | None], list[str]] = defaultdict(list)
        for id_, header in headers.items():
            panel = panels.get(header.grader_id)
            answered = {(one.grader_id, one.grader_version) for one in given.get(id_, [])}
            if panel is None:
                asked[header.grader_id, header.grader_version, None].append(id_)
                continue
            for one in () if panel.is_human else panel.members:
                if (one.grader_id, one.grader_version) not in answered:
                    asked[one.grader_id, one.grader_version, panel.id].append(id_)
        return BatchExplanation(
            batch_id=batch.id,
            generation=batch.generation,
            created_at=batch.created_at,
            queued_at=batch.queued_at,
            redrives=batch.sweeps,
            counts=counts_of(verdicts.values(), expected=batch.size),
            failures=failures,
            deadline_at=min((one.deadline for one in headers.values()), default=None),
            graders=[
                self._waiting(batch, grader_id, version, panel_id, ids)
                for (grader_id, version, panel_id), ids in asked.items()
            ],
            reviews=len(self._open_reviews(in_panels, later)),
        )

    def _decided(self, caller: Caller, batch_id: str) -> tuple[Batch, Mapping[str, Verdict]]:
        status = self.completions.batch_status(caller, batch_id, wait_seconds=0)
        return status.batch, status.verdicts

    def _waiting(
        self, batch: Batch, grader_id: str, version: str, panel_id: str | None, pending: list[str]
    ) -> BatchGrader:
        """Return who waits for one grader: first for callbacks, else as their run sleeps."""
        now = self.clock.now()
        later = batch.later_generations
        asked = {id_: Asked(id_, grader_id, version, later.get(id_, 0)) for id_ in pending}
        calls = self.calls.open_calls(asked.values())
        rows = self.rows.asked(asked.values(), batch.organization_id)
        runs: dict[tuple[str, WaitsFor], list[WaitingRun]] = defaultdict(list)
        for id_ in pending:
            one = asked_grader(
                batch,
                id_,
                _alone(grader_id, version),
                None,
                calls.get(asked[id_]),
                rows.get(asked[id_]),
                now=now,
            )
            if one.run_id and one.waits_for and one.next_attempt_at:
                waits = WaitingRun(
                    run_id=one.run_id,
                    waits_for=one.waits_for,
                    completions=1,
                    attempts=one.attempts,
                    reason_code=one.reason_code,
                    next_attempt_at=one.next_attempt_at,
                )
                runs[one.run_id, one.waits_for].append(waits)
        waiting = [
            # Calls of one run may be due at different times.
            min(some, key=lambda one: one.next_attempt_at).model_copy(
                update={"completions": len(some)}
            )
            for some in runs.values()
        ]
        return BatchGrader(
            grader_id=grader_id,
            grader_version=version,
            panel_id=panel_id,
            pending=len(pending),
            queued=len(pending) - sum(one.completions for one in waiting),
            runs=sorted(waiting, key=lambda one: one.next_attempt_at),
        )

    def _open_reviews(
        self, completions: Iterable[tuple[str, Panel]], later: Mapping[str, int]
    ) -> dict[str, Review]:
        ids = {review_id(id_, panel.id, later.get(id_, 0)): id_ for id_, panel in completions}
        found = self.reviews.find_many(ids)
        return {ids[one.id]: one for one in found.values() if one.is_awaited}


def _alone(grader_id: str, version: str) -> PanelMember:
    return PanelMember(grader_id=grader_id, grader_version=version, weight=1)
