"""Reading completions and batches, and where they stand."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from autotune_platform.access.models import Caller, Scope
from autotune_platform.completions.models import (
    FIRST_SWEEP_AFTER,
    Batch,
    Completion,
    CompletionText,
    PackedText,
)
from autotune_platform.completions.repository import CompletionRepository
from autotune_platform.completions.sleeps import Sleep
from autotune_platform.graders.directory import GraderDirectory
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.runtime.long_poll import LongPoll
from autotune_platform.runtime.parts import part
from autotune_platform.verdicts.judgements import Judgement, verdict_of
from autotune_platform.verdicts.models import CompletionHeader, Verdict, VerdictKey
from autotune_platform.verdicts.service import VerdictService

_POLL = LongPoll(first_seconds=0.1, usual_seconds=1, longest_seconds=1)


@dataclass(frozen=True)
class CompletionStatus:
    """A completion and its verdict, None while it is pending.

    ``completion`` is None where the text expired and nothing but the verdict is left; ``sleep`` is
    what its run last slept for, where it is pending.
    """

    completion: CompletionHeader | None
    verdict: Verdict | None
    sleep: Sleep | None = None


@dataclass(frozen=True)
class BatchVerdicts:
    """A batch and the verdicts there are, by completion, at a time."""

    batch: Batch
    verdicts: dict[str, Verdict]
    read_at: datetime

    @property
    def pending(self) -> int:
        """Completions without a verdict."""
        return self.batch.size - len(self.verdicts)


@part
class CompletionService:
    """Reads completions of the caller's organisation, and cancels what is pending of them."""

    repository: CompletionRepository
    verdicts: VerdictService
    graders: GraderDirectory
    clock: Clock = SYSTEM_CLOCK

    def get(self, caller: Caller, completion_id: str) -> Completion:
        """Return a completion of the caller's organisation.

        Raises:
            NotFoundError: there is none, its text was deleted or has expired, or it is another
                organisation's.
        """
        completion = self.repository.get(completion_id, organization_id=caller.organization_id)
        if completion is None:
            raise NotFoundError(f"no completion {completion_id}")
        return completion

    def load(self, completion_ids: Iterable[str]) -> dict[str, Completion]:
        """Return those completions that exist, of any organisation, by id; for grading them."""
        return self.repository.get_many(completion_ids)

    def load_packed(self, completion_ids: Iterable[str]) -> dict[str, PackedText]:
        """Return the packed texts of those completions that exist, of any organisation, by id."""
        return self.repository.get_packed(completion_ids)

    def unpack(self, packed: PackedText) -> CompletionText | None:
        """Return a text; None if it was deleted since it was loaded."""
        return self.repository.unpack(packed)

    def headers(self, completion_ids: Iterable[str]) -> dict[str, CompletionHeader]:
        """Return what is known of completions beside their text, of any organisation, by id."""
        return self.repository.get_headers(completion_ids)

    def headers_in(
        self, batch_id: str, completion_ids: Sequence[str]
    ) -> dict[str, CompletionHeader]:
        """Return the same of a batch's completions, also of those whose items have expired.

        Of these the model is not known any more.
        """
        known = self.repository.get_headers(completion_ids)
        if len(known) == len(completion_ids):
            return known
        batch = self.repository.get_batch(batch_id)
        return {**(batch.headers(completion_ids) if batch else {}), **known}

    def batches(self, batch_ids: Iterable[str]) -> dict[str, Batch]:
        """Return those batches that exist, of any organisation, by id; for counting them."""
        return self.repository.get_batches(batch_ids)

    def cancel(self, caller: Caller, completion_id: str) -> CompletionStatus:
        """Cancel a completion unless it has a verdict, which then stands; return where it stands.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        status = self.status(caller, "organization", completion_id, wait_seconds=0)
        if status.verdict is not None or status.completion is None:
            return status
        self._cancel([status.completion])
        return self.status(caller, "organization", completion_id, wait_seconds=0)

    def cancel_batch(self, caller: Caller, batch_id: str) -> BatchVerdicts:
        """Cancel what is pending in a batch; return where it stands.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        before = self.batch_status(caller, batch_id, wait_seconds=0)
        pending = [id_ for id_ in before.batch.completion_ids if id_ not in before.verdicts]
        self._cancel(before.batch.current(self.headers(pending)).values())
        return self.batch_status(caller, batch_id, wait_seconds=0)

    def cancel_in(self, batch_id: str, completion_ids: Sequence[str]) -> None:
        """Cancel those completions of a batch that have no verdict of their latest generation."""
        batch = self.repository.get_batch(batch_id)
        if batch is None:
            return
        wanted = frozenset(completion_ids)
        keys = [key for key in batch.verdict_keys if key.completion_id in wanted]
        decided = self.verdicts.find_many(keys)
        pending = [key.completion_id for key in keys if key.completion_id not in decided]
        if pending:
            self._cancel(batch.current(self.headers(pending)).values())

    def cancel_all(self, completion_ids: Iterable[str]) -> None:
        """Cancel those completions, of any organisation, that have no verdict."""
        self._cancel(self.headers(completion_ids).values())

    def _cancel(self, completions: Iterable[CompletionHeader]) -> None:
        listed = list(completions)
        # First, so that the sweeper comes soon if this process ends before the verdicts are listed.
        for batch_id in {completion.batch_id for completion in listed if not completion.alone}:
            due_at = self.clock.now() + FIRST_SWEEP_AFTER
            self.repository.due.move(batch_id, due_at, only_earlier=True)
        with self.verdicts.listing():
            for completion in listed:
                canceled = verdict_of(completion, Judgement(canceled=True), at=self.clock.now())
                self.verdicts.add(canceled)

    def status(
        self,
        caller: Caller,
        scope: Scope,
        completion_id: str,
        *,
        wait_seconds: float,
        generation: int | None = None,
    ) -> CompletionStatus:
        """Return where a completion stands, waiting up to ``wait_seconds`` for its verdict.

        A verdict stays when the text of its completion is deleted or has expired, without its
        reasoning: that may quote the text. The table removes what has expired days later.

        Args:
            generation: an earlier one, whose verdict stays as it is; the latest by default.

        Raises:
            NotFoundError: there is none, it is another organisation's, or in ``own`` another
                principal's grader scores it; or it has no such generation.
        """
        found = self._status(
            caller, scope, completion_id, wait_seconds=wait_seconds, generation=generation
        )
        verdict = found.verdict
        if verdict and verdict.reasoning and not self.has_text(completion_id):
            return replace(found, verdict=verdict.model_copy(update={"reasoning": None}))
        return found

    def has_text(self, completion_id: str) -> bool:
        """Return whether a completion's text is neither deleted nor expired."""
        return bool(self.repository.get_packed([completion_id]))

    def text_gone_at(self, batch: Batch, completion_id: str) -> datetime | None:
        """Return when the text of a batch's completion was deleted or expired; None if neither."""
        header = batch.headers([completion_id])[completion_id]
        return self.repository.text_gone_at(header, self.clock.now())

    def _status(
        self,
        caller: Caller,
        scope: Scope,
        completion_id: str,
        *,
        wait_seconds: float,
        generation: int | None,
    ) -> CompletionStatus:
        completion = self.repository.get_headers([completion_id]).get(completion_id)
        if completion is None or completion.organization_id != caller.organization_id:
            # Another's is looked for as far as one that is gone, so that both take as long.
            return self._left_of(caller, scope, completion_id, generation)
        if scope == "own" and not self.graders.managed(caller, scope, [completion.grader_id]):
            raise NotFoundError(f"no completion {completion_id}")

        key = VerdictKey(
            completion.id, completion.grader_id, completion.grader_version, completion.generation
        )
        if generation not in (None, completion.generation):
            return self._earlier(completion, key._replace(generation=generation))
        verdict = self.verdicts.find(key)
        if verdict is None:
            for _ in _POLL.looks(self.clock, seconds=wait_seconds):
                if verdict := self.verdicts.find(key):
                    break
        if verdict is None and (batch := self.repository.get_batch(completion.batch_id)):
            sleep = batch.sleep_of(completion_id, completion.grader_id, self.clock.now())
            return CompletionStatus(completion, None, sleep)
        return CompletionStatus(completion, verdict)

    def _earlier(self, completion: CompletionHeader, key: VerdictKey) -> CompletionStatus:
        verdict = self.verdicts.find(key)
        if verdict is None:
            raise NotFoundError(
                f"completion {key.completion_id} has no generation {key.generation}; "
                f"its latest is {completion.generation}"
            )
        return CompletionStatus(completion, verdict)

    def _left_of(
        self, caller: Caller, scope: Scope, completion_id: str, generation: int | None
    ) -> CompletionStatus:
        verdict = self.verdicts.first(completion_id, generation=generation)
        if verdict is None or verdict.organization_id != caller.organization_id:
            raise NotFoundError(f"no completion {completion_id}")
        if scope == "own" and not self.graders.managed(caller, scope, [verdict.grader_id]):
            raise NotFoundError(f"no completion {completion_id}")
        return CompletionStatus(None, verdict)

    def batch_status(self, caller: Caller, batch_id: str, *, wait_seconds: float) -> BatchVerdicts:
        """Return where a batch stands, waiting up to ``wait_seconds`` until nothing is pending.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        batch = self.repository.get_batch(batch_id)
        if batch is None or batch.organization_id != caller.organization_id:
            raise NotFoundError(f"no batch {batch_id}")
        verdicts = self.verdicts.find_many(batch.verdict_keys)
        status = BatchVerdicts(batch, verdicts, self.clock.now())
        if not status.pending:
            return status
        for is_last in _POLL.looks(self.clock, seconds=wait_seconds):
            # A verdict never changes, so only what was pending is read again. Most wait until all
            # are decided: one verdict shows that, and costs a unit where all cost hundreds.
            pending = [key for key in batch.verdict_keys if key[0] not in status.verdicts]
            if is_last or self.verdicts.find_many(pending[-1:]):
                status.verdicts.update(self.verdicts.find_many(pending))
            if not status.pending:
                break
        if status.pending and wait_seconds:
            # What its runs sleep for may have changed meanwhile. Of a generation that began since,
            # no verdict was read.
            latest = self.repository.get_batch(batch_id)
            batch = latest if latest and latest.generation == batch.generation else batch
        return BatchVerdicts(batch, status.verdicts, self.clock.now())
