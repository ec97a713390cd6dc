"""What may be shown of a version on samples that are held out, and what that spends.

A person may make versions without an edit, and read how far each agrees with people. So each
version that is looked at has a look of its own: the first of a grader costs nothing, and each one
after it makes intervals wider (ADR 0063). It is spent before there is a figure.
"""

from autotune_platform.decks.look_repository import Look, LookRepository, Looks
from autotune_platform.decks.models import DeckGrader, GraderVersion
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY

_ATTEMPTS = 5


@part
class HeldOut:
    """Spends looks at held-out labels, and knows of which versions results may be shown."""

    repository: LookRepository
    clock: Clock = SYSTEM_CLOCK

    def looks(self, grader: DeckGrader) -> Looks:
        """Return the looks that were spent."""
        return self.repository.looks(grader.organization_id, grader.deck_id, grader.id)

    def spend(self, grader: DeckGrader, version: GraderVersion) -> Look:
        """Return the look of a version, which is spent where it has none; again spends nothing.

        Raises:
            ConflictError: the version is of an edit that is not accepted.
            UnavailableError: others look at the same labels right now.
        """
        require_shown(version)
        look = self._noted(grader, version.version, only_first=False)
        assert look is not None, "whoever may spend has a look"
        return look

    def may_show(self, grader: DeckGrader, version: int, *, is_candidate: bool) -> bool:
        """Return whether results of a version on held-out samples may be shown, which is free.

        Where nothing was looked at yet, they may: it is the first.
        """
        spent = self.looks(grader).spent
        return version in self.shown(grader) if spent else not is_candidate

    def show(self, grader: DeckGrader, version: int, *, is_candidate: bool = False) -> bool:
        """Note that results on held-out samples are shown; return whether they may be.

        Raises:
            UnavailableError: others look at the same labels right now.
        """
        if is_candidate and version not in self.shown(grader):
            return False
        return self._noted(grader, version, only_first=True) is not None

    def shown(self, grader: DeckGrader) -> set[int]:
        """Return the versions whose results on held-out samples may be shown.

        Of an edit's version only once the edit is measured or decided.
        """
        spent = self.looks(grader).spent
        edits = [one.edit_id for one in spent if one.edit_id and not one.is_read]
        measured = self.repository.measured(grader.deck_id, grader.id, edits) if edits else set()
        return {
            one.version
            for one in spent
            if one.edit_id is None or one.is_read or one.edit_id in measured
        }

    def _noted(self, grader: DeckGrader, version: int, *, only_first: bool) -> Look | None:
        """Return the look of a version, stored as one that was read; None where it has none.

        Args:
            only_first: store no look but the first, which costs nothing.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            looks = self.looks(grader)
            look = looks.of(version)
            if look is not None and look.is_read:
                return look
            if look is None:
                if looks.spent and only_first:
                    return None
                look = Look(at=self.clock.now(), version=version, number=looks.next_number())
            look = look.model_copy(update={"is_read": True})
            if self.repository.store(
                [self.repository.spent(grader.deck_id, looks, looks.after(look))]
            ):
                return look
        raise UnavailableError("others look at the same labels", retry_after_seconds=1)


def require_shown(version: GraderVersion) -> None:
    """Require that figures of a version are shown, which those of a candidate are by its edit.

    Raises:
        ConflictError: the version is of an edit that is not accepted.
    """
    if version.candidate:
        raise ConflictError(
            f"version {version.version} is of edit {version.edit_id}, which says what it changes: "
            "each look at the held-out labels is counted"
        )
