"""The completions of a batch, by where they stand.

Their ids and what finds their verdicts follow from the batch itself, so a page reads verdicts by
their keys: no index, and never more than the batch has.
"""

from dataclasses import dataclass
from itertools import islice

from autotune.protocol.completions import CompletionState
from autotune_platform.access.models import Caller
from autotune_platform.completions.models import Batch
from autotune_platform.completions.repository import CompletionRepository
from autotune_platform.completions.service import CompletionStatus
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.runtime.parts import part
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.verdicts.models import CompletionHeader, Verdict
from autotune_platform.verdicts.service import VerdictService

_AT_A_TIME = 100


@dataclass(frozen=True)
class _Place:
    """A completion of a batch, and its verdict if it has one."""

    index: int
    header: CompletionHeader
    verdict: Verdict | None

    @property
    def state(self) -> CompletionState:
        return self.verdict.state if self.verdict else "pending"


@part
class BatchCompletions:
    """Lists the completions of the caller's batches, in the order of the request."""

    repository: CompletionRepository
    verdicts: VerdictService
    clock: Clock = SYSTEM_CLOCK

    def page(
        self,
        caller: Caller,
        batch_id: str,
        *,
        state: CompletionState | None,
        grader_id: str | None,
        limit: int,
        next_token: str | None,
    ) -> tuple[list[CompletionStatus], str | None]:
        """Return a page of completions with their latest verdicts.

        Args:
            grader_id: only those that this grader, or this panel, decides.

        Raises:
            NotFoundError: there is no such batch in the caller's organisation.
            InvalidRequestError: ``next_token`` is not from this list.
        """
        batch = self.repository.get_batch(batch_id)
        if batch is None or batch.organization_id != caller.organization_id:
            raise NotFoundError(f"no batch {batch_id}")
        wanted = [
            (index, segment)
            for index, segment in enumerate(batch.by_completion())
            if grader_id in (None, segment.grader_id)
        ]
        all_keys = batch.verdict_keys
        first = _first(batch, next_token)
        left = iter([(index, segment) for index, segment in wanted if index >= first])
        found: list[_Place] = []
        while some := list(islice(left, _AT_A_TIME if state else limit - len(found) + 1)):
            headers = [batch.header(index, segment) for index, segment in some]
            verdicts = self.verdicts.find_many(all_keys[index] for index, _ in some)
            for (index, _), header in zip(some, headers, strict=True):
                place = _Place(index, header, verdicts.get(header.id))
                if state in (None, place.state):
                    # One more than is shown says that there is more, and where it begins.
                    if len(found) == limit:
                        return self._shown(batch, found), encode_cursor(batch.id, str(index))
                    found.append(place)
        return self._shown(batch, found), None

    def _shown(self, batch: Batch, found: list[_Place]) -> list[CompletionStatus]:
        """Return completions with what their runs sleep for, and the models of pending ones."""
        models = self.repository.models_of(one.header.id for one in found if one.verdict is None)
        now = self.clock.now()
        shown = []
        for one in found:
            header = one.header
            if one.verdict is not None:
                shown.append(CompletionStatus(header, one.verdict))
                continue
            named = header.model_copy(update={"model_id": models.get(header.id, "")})
            sleep = batch.sleep_of(header.id, header.grader_id, now)
            shown.append(CompletionStatus(named, None, sleep))
        return shown


def _first(batch: Batch, token: str | None) -> int:
    """Return the index that a page begins at."""
    if token is None:
        return 0
    batch_id, index = decode_cursor(token, parts=2)
    if batch_id != batch.id or not (index.isascii() and index.isdigit() and len(index) < 6):
        raise invalid_cursor()
    return int(index)
