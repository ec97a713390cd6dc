"""Erasing captured samples and prompts whose time is over."""

from collections.abc import Callable

from aws_lambda_powertools import Logger

from autotune_platform.decks.expiring import EXPIRY, due_index, expiry_key
from autotune_platform.decks.sample_repository import SampleRepository
from autotune_platform.decks.samples import SampleService
from autotune_platform.decks.telemetry.unmatched import OF_UNMATCHED, UnmatchedPrompts
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.storage.table import Table

logger = Logger()

_OF_A_SHARD = 25
AT_A_TIME = 16
"""Erased at once: as much as can be captured (docs/scaling.md)."""

HasTime = Callable[[], bool]


@part
class ExpirySweep:
    """Erases what expired of all organisations, in passes that may end anywhere."""

    table: Table
    samples: SampleService
    repository: SampleRepository
    unmatched: UnmatchedPrompts
    clock: Clock = SYSTEM_CLOCK

    def sweep(self, *, has_time: HasTime) -> int:
        """Erase what is due, as far as there is time; return how many were looked at.

        Raises:
            ExceptionGroup: some could not be erased; all others were.
        """
        seen: set[str] = set()
        errors: list[Exception] = []

        def look(pk: str) -> None:
            try:
                self._look(pk)
            except Exception as error:
                logger.warning("not erased", item=pk, exc_info=True)
                errors.append(error)

        while has_time():
            due = due_index(self.table).due(self.clock.now(), limit=_OF_A_SHARD)
            new = [pk for pk in due if pk not in seen]
            if not new:  # what is left failed, or the index is behind
                break
            in_parallel(look, new, at_most=AT_A_TIME)
            seen.update(new)
        if errors:
            raise ExceptionGroup("captured calls that could not be erased", errors)
        return len(seen)

    def _look(self, pk: str) -> None:
        """Erase one that is due, or have it due later where it is kept for longer by now."""
        item = self.table.get(pk, EXPIRY)
        if item is None:
            return
        if pk.startswith(OF_UNMATCHED):
            self._erase_prompt(item["organization_id"], pk)
            return
        sample = self.repository.headers(item["deck_id"], [pk]).get(pk)
        if sample is None:
            self.table.delete(*expiry_key(pk))
        else:
            self.samples.erase(sample)

    def _erase_prompt(self, organization_id: str, unmatched_id: str) -> None:
        prompt = self.unmatched.get(organization_id, unmatched_id)
        if prompt is None:
            return  # its time goes with it, and was read before
        if prompt.keep_until > self.clock.now():
            due_index(self.table).move(unmatched_id, prompt.keep_until)
        else:
            self.unmatched.erase(prompt)
