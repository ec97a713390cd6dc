"""Folding pairs anew where a task's rules changed: a few at once, many outside the stream.

The stream's consumer holds up runs of all tasks while it folds. So it folds as many pairs as take a
part of a second, and opens what is more for the sweep, which folds it in steps. Each step is stored
with what follows from it, so that whoever is killed leaves the next one to be done.
"""

from itertools import islice
from typing import Final

from autotune_platform.apprentice.evidence import UnusableEvidenceError
from autotune_platform.apprentice.folding.advancing import Advance, rebuilt
from autotune_platform.apprentice.folding.caching import EvidenceCache, evidence_by
from autotune_platform.apprentice.folding.known_tasks import KnownTask, KnownTasks
from autotune_platform.apprentice.folding.models import StoredEvidence
from autotune_platform.apprentice.folding.refolds import Refold, RefoldRepository
from autotune_platform.apprentice.folding.repository import (
    SWEPT_AFTER,
    EvidenceRepository,
    OpenEntry,
)
from autotune_platform.apprentice.folding.tails import Tails
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY

FEW_PAIRS: Final = 5_000
"""As many of a task are folded in the stream, at once: a third of a second."""

STEP_PAIRS: Final = 20_000
"""As many are folded before that is stored: a second and a half."""

_ATTEMPTS = 12


def version_of(entry: OpenEntry) -> tuple[str, int]:
    """Return which version's pairs are folded anew: its task's id, and its number."""
    task_id, key = entry.key
    return task_id, int(key.rpartition("#")[2])


@part
class Refolding:
    """Has evidence be of the present rules."""

    repository: EvidenceRepository
    refolds: RefoldRepository
    tasks: KnownTasks
    tails: Tails
    cache: EvidenceCache
    clock: Clock = SYSTEM_CLOCK

    def follow(self, task_id: str) -> None:
        """Have evidence of all versions be of a task's present rules: now, or by the sweep.

        A version that serves by now is published.

        Raises:
            UnavailableError: others kept writing the same evidence; follow it again.
        """
        room = FEW_PAIRS
        for stored in self.repository.all_of(task_id):
            room -= self._at_once(stored, room)

    def go_on(self, task_id: str, version: int) -> bool:
        """Fold some more pairs of a version that is open; return whether nothing is left of it.

        Of several that go on with the same one, one does, and the others have nothing left.
        """
        refold = self.refolds.find(task_id, version)
        if refold is None:
            return True
        taken = refold.model_copy(update={"revision": refold.revision + 1})
        if not self.refolds.write(taken, due_at=self.clock.now()):
            return True
        known, before = self._read(taken.organization_id, taken.task_name, task_id, version)
        if known is None or before is None or self._pairs_to_read(known, before) == 0:
            self.refolds.end(taken)
            return True
        advance = self._some(known, taken, before)
        is_all = advance.evidence.sequence == before.sequence
        if is_all and self._is_stored(known, taken, before, advance):
            self.refolds.end(taken)
            return True
        # Not yet, or others wrote more pairs meanwhile.
        due_at = self.clock.now() - SWEPT_AFTER
        return not self.refolds.write(taken.after(advance), due_at=due_at)

    def _at_once(self, stored: StoredEvidence, room: int) -> int:
        """Fold a version's pairs anew unless they are too many; return how many were."""
        for _ in BUSY.attempts(_ATTEMPTS):
            known, before = self._read(
                stored.organization_id, stored.task_name, stored.task_id, stored.version
            )
            if known is None or before is None:
                return 0
            pairs = self._pairs_to_read(known, before)
            if pairs > room:
                self.refolds.open(before, due_at=self.clock.now() - SWEPT_AFTER)
                return 0
            if self._is_present(known, before):
                return pairs
        raise UnavailableError("others fold the same pairs", retry_after_seconds=1)

    def _is_present(self, known: KnownTask, before: StoredEvidence) -> bool:
        """Store evidence of present rules; return False where others wrote it meanwhile."""
        rules, window = known.rules(before.version), known.window(before.version)
        evidence = evidence_by(before, rules)
        if before.sequence and evidence is None:
            pairs = self.repository.pairs(before.task_id, before.version)
            through = (pair for pair in pairs if pair.sequence <= before.sequence)
            advance = rebuilt(through, rules, window)
            _tell_of_news(advance, before, known_through=before.sequence)
        elif self._has_window(known, before) and not self.cache.is_news(known, before, evidence):
            return True
        else:
            advance = self.cache.advance(known, before)
        writes, after = self.cache.told(known, before, advance)
        if after.model_copy(update={"revision": before.revision}) == before:
            return True
        return self.repository.write([self.repository.kept(known.task), *writes]) is None

    def _some(self, known: KnownTask, refold: Refold, before: StoredEvidence) -> Advance:
        """Fold the next pairs of a version, as many as one step has."""
        rules, window = known.rules(before.version), known.window(before.version)
        if evidence_by(before, rules) is not None:
            return self.cache.advance(known, before)  # the window alone is another one
        try:
            advance = refold.advance(rules, window)
        except UnusableEvidenceError:
            advance = Advance(rules, window)
        done = advance.evidence.sequence
        pairs = self.repository.pairs(before.task_id, before.version, after=done)
        for pair in islice(pairs, min(STEP_PAIRS, before.sequence - done)):
            advance.add(pair)
        return advance

    def _is_stored(
        self, known: KnownTask, refold: Refold, before: StoredEvidence, advance: Advance
    ) -> bool:
        """Store evidence whose pairs are all folded; return False where others added some."""
        advance.tail = self.tails.get(
            before.task_id, before.version, through=before.sequence, window=advance.window
        )
        _tell_of_news(advance, before, known_through=refold.known_through)
        writes = self.cache.writes(known, before, advance)
        return self.repository.write([self.repository.kept(known.task), *writes]) is None

    def _read(
        self, organization_id: str, name: str, task_id: str, version: int
    ) -> tuple[KnownTask | None, StoredEvidence | None]:
        """Return a task with its present rules, and a version's evidence."""
        self.tasks.forget_versions(task_id)
        known = self.tasks.get(organization_id, name, task_id, versions=[version])
        before = self.repository.find(task_id, [version]).get(version)
        if known is not None and version not in known.versions:
            return None, before
        return known, before

    def _pairs_to_read(self, known: KnownTask, before: StoredEvidence) -> int:
        """Return how many pairs it takes to have evidence of the present rules; 0 where it is."""
        if evidence_by(before, known.rules(before.version)) is None:
            return before.sequence
        if self._has_window(known, before):
            return 0
        return min(before.sequence, known.window(before.version).pairs_needed)

    def _has_window(self, known: KnownTask, before: StoredEvidence) -> bool:
        """Return whether the figures of a version's last pairs are of the present window."""
        then = self.tasks.as_of(known, before.configuration_version)
        return then is not None and then.window(before.version) == known.window(before.version)


def _tell_of_news(advance: Advance, before: StoredEvidence, *, known_through: int) -> None:
    """Leave alarms out that were none when they happened, and what was published before.

    Args:
        known_through: the last pair that was folded by other rules.
    """
    advance.raised = [
        one
        for one in advance.raised
        if (one.pair.sequence > known_through if one.kind == "alarm" else not before.told_emergency)
    ]
