"""Scoring completions again in place: a later generation, with its own deadline and verdicts."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from autotune.protocol.ids import derived_id, is_id, new_id
from autotune.protocol.limits import MAX_GENERATIONS, MAX_RESCORED_COMPLETIONS
from autotune.protocol.problems import FieldProblem, LimitProblem
from autotune.protocol.rescoring import RescoreRequest, RescoreResponse
from autotune_platform.access.models import Caller
from autotune_platform.completions.batch_rescoring import Asked, BatchRescoring, Outcome
from autotune_platform.completions.models import Batch
from autotune_platform.completions.repository import CompletionRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, InvalidRequestError, NotFoundError
from autotune_platform.runtime.parts import part
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.tasks.service import TaskService
from autotune_platform.verdicts.filters import ScoreFilters
from autotune_platform.verdicts.service import VerdictService

_VERDICTS_AT_A_TIME = 100
_MOST_FAULTS = 20
_LONGEST_SECONDS = 10.0
"""A call that has taken so long begins no further batch: API Gateway ends it at 29 s."""


@part
class RescoringService:
    """Finds the completions that a request is about, and has their batches score them again."""

    repository: CompletionRepository
    verdicts: VerdictService
    batches: BatchRescoring
    tasks: TaskService
    clock: Clock = SYSTEM_CLOCK

    def rescore(
        self, caller: Caller, request: RescoreRequest, *, idempotency_key: str | None
    ) -> RescoreResponse:
        """Score completions again, at most a thousand of them and for some ten seconds.

        Raises:
            NotFoundError: there is no such batch or task, or it is another organisation's.
            InvalidRequestError: a completion is not one of the organisation's, or the token is not
                from an answer to such a request.
            ConflictError: the one batch was scored again as often as a batch may be.
            TooManyOpenCompletionsError: too many of the organisation's are undecided.
            IdempotencyKeyReusedError: the key came before with another body.
            UnavailableError: a store refused work; the same request with its idempotency key
                finishes it.
        """
        asked = _asked(caller, request, idempotency_key)
        if request.batch_id is not None:
            if request.next_token is not None:
                raise invalid_cursor()  # a batch is done in one call
            return self._batch(caller, request.batch_id, asked)
        if request.task_id is not None:
            return self._task(caller, request.task_id, request.next_token, asked)
        return self._completions(caller, request, asked)

    def _batch(self, caller: Caller, batch_id: str, asked: Asked) -> RescoreResponse:
        batch = self.repository.get_batch(batch_id)
        if batch is None or batch.organization_id != caller.organization_id:
            raise NotFoundError(f"no batch {batch_id}")
        self.repository.open_counts.require_room(caller, 1)
        outcome = Outcome()
        self.batches.rescore(batch, range(batch.size), asked, outcome)
        if outcome.skipped["too_many_generations"] and not outcome.batches:
            raise ConflictError(
                f"batch {batch_id} was scored again {MAX_GENERATIONS} times, which is the most",
                limit=LimitProblem(
                    name="generations of a batch", maximum=MAX_GENERATIONS, unit="generations"
                ),
            )
        return outcome.on_wire()

    def _task(
        self, caller: Caller, task_id: str, token: str | None, asked: Asked
    ) -> RescoreResponse:
        """Score again what was decided before the walk began: it meets nothing of its own.

        Each call gets on: the next one begins behind the last verdict that this one was through
        with.
        """
        if not self.tasks.is_known(caller, task_id):
            raise NotFoundError(f"no task {task_id}")
        self.repository.open_counts.require_room(caller, 1)
        began_at, position = self.clock.now(), None
        if token is not None:
            began_at, position = _walk_at(token)
        asked = replace(asked, before=began_at)
        # The index is asked for one state or for any.
        state = next(iter(asked.states)) if len(asked.states) == 1 else None
        filters = ScoreFilters.model_validate({"end": began_at, "state": state})
        outcome, seen = Outcome(), set[str]()
        ends_at = self.clock.monotonic() + _LONGEST_SECONDS
        while True:
            verdicts, following = self.verdicts.matching(
                task_id, filters, limit=_VERDICTS_AT_A_TIME, next_token=position
            )
            for verdict in verdicts:
                if asked.wants(verdict) and verdict.batch_id not in seen:
                    # All that the batch has of the task at once: a batch has few generations.
                    batch = self._stored(verdict.batch_id)
                    segments = enumerate(batch.by_completion())
                    places = [at for at, segment in segments if segment.task_id == task_id]
                    if seen and (
                        self._is_enough(caller, outcome, ends_at)
                        or self._begins_too_many(caller, outcome, batch, places)
                    ):
                        return outcome.of_task(_walk_token(began_at, position))
                    seen.add(verdict.batch_id)
                    self.batches.rescore(batch, places, asked, outcome)
                position = self.verdicts.token_behind(verdict)
            if following is None:
                return outcome.of_task()
            position = following
            if self._is_enough(caller, outcome, ends_at):
                return outcome.of_task(_walk_token(began_at, position))

    def _is_enough(self, caller: Caller, outcome: Outcome, ends_at: float) -> bool:
        """Return whether to go on in another call."""
        return (
            outcome.again >= MAX_RESCORED_COMPLETIONS
            or outcome.runs >= caller.limits.runs_per_request
            or self._is_late(ends_at)
        )

    def _begins_too_many(
        self, caller: Caller, outcome: Outcome, batch: Batch, places: Sequence[int]
    ) -> bool:
        """Return whether another batch may begin more runs than are left to one request.

        The first batch of a request is scored again in any case: it was accepted as a whole.
        """
        runs = outcome.runs + self.batches.most_runs(batch, places)
        return runs > caller.limits.runs_per_request

    def _is_late(self, ends_at: float) -> bool:
        return self.clock.monotonic() > ends_at

    def _stored(self, batch_id: str) -> Batch:
        batch = self.repository.get_batch(batch_id)
        assert batch is not None, "a stored completion has its batch"
        return batch

    def _completions(
        self, caller: Caller, request: RescoreRequest, asked: Asked
    ) -> RescoreResponse:
        outcome, ends_at = Outcome(), self.clock.monotonic() + _LONGEST_SECONDS
        wanted = list(dict.fromkeys(request.completion_ids or ()))
        batch_of = self.repository.batches_of(wanted, organization_id=caller.organization_id)
        gone = self._require_known(caller, wanted, batch_of)
        # Only now: what it costs to find that there is room tells nobody what others have.
        self.repository.open_counts.require_room(caller, 1)
        grouped: dict[str, list[str]] = {}
        for id_, batch_id in batch_of.items():
            grouped.setdefault(batch_id, []).append(id_)
        done = _last_batch_done(request.next_token)
        if gone and not done:
            outcome.skipped["text_gone"] += gone
        first = done
        for batch_id in sorted(id_ for id_ in grouped if id_ > first):
            batch = self._stored(batch_id)
            places = [batch.place_of(id_) for id_ in grouped[batch_id]]
            if done != first and (
                self._is_enough(caller, outcome, ends_at)
                or self._begins_too_many(caller, outcome, batch, places)
            ):
                return outcome.on_wire(encode_cursor(done))
            self.batches.rescore(batch, places, asked, outcome)
            done = batch_id
        return outcome.on_wire()

    def _require_known(
        self, caller: Caller, wanted: Sequence[str], stored: Mapping[str, str]
    ) -> int:
        """Return how many have a verdict and nothing else any more, because their text expired.

        Raises:
            InvalidRequestError: there is no such completion in the caller's organisation.
        """
        known, faults = 0, []
        for place, id_ in enumerate(wanted):
            if id_ in stored:
                continue
            verdict = self.verdicts.first(id_)
            if verdict is not None and verdict.organization_id == caller.organization_id:
                known += 1
                continue
            expected = "a completion of this organisation"
            faults.append(FieldProblem(field=f"completionIds[{place}]", expected=expected))
            if len(faults) == _MOST_FAULTS:
                break  # each is a query of its own
        if faults:
            raise InvalidRequestError(
                f"{faults[0].field}: no such completion in this organisation", fields=faults
            )
        return known


def _asked(caller: Caller, request: RescoreRequest, idempotency_key: str | None) -> Asked:
    is_named = request.completion_ids is not None
    body = request.model_dump_json(exclude={"next_token"}, exclude_none=True)
    id_ = new_id("req")
    if idempotency_key is not None:
        id_ = derived_id("req", "rescore", caller.organization_id, idempotency_key)
    return Asked(
        id=id_,
        fingerprint=hashlib.sha256(body.encode()).hexdigest()[:32],
        states=frozenset(request.states or (() if is_named else ("failed",))),
        reason_codes=frozenset(request.reason_codes or ()),
        deadline_seconds=request.deadline_seconds,
    )


def _last_batch_done(token: str | None) -> str:
    """Return the batch behind which a request by ids goes on; nothing at its begin."""
    if token is None:
        return ""
    (done,) = decode_cursor(token, parts=1)
    if not is_id("bat", done):
        raise invalid_cursor()
    return done


def _walk_token(began_at: datetime, position: str | None) -> str:
    return encode_cursor(began_at.isoformat(), position or "")


def _walk_at(token: str) -> tuple[datetime, str | None]:
    began, position = decode_cursor(token, parts=2)
    try:
        began_at = datetime.fromisoformat(began)
    except ValueError as error:
        raise invalid_cursor() from error
    if began_at.tzinfo is None:
        raise invalid_cursor()
    return began_at, position or None
