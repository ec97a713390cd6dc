"""What may be shown of a version on samples that are held out, and what that spends.

A person may make versions without an edit, and read how far each agrees with people. So each
version that is looked at has a look of its own: the first of a grader costs nothing, and each one
after it makes intervals wider (ADR 0063). It is spent before there is a figure.
"""

from collections.abc import Callable

from autotune_platform.decks.look_repository import Look, LookRepository, Looks
from autotune_platform.decks.models import DeckGrader, GraderVersion
from autotune_platform.decks.shared_looks import SharedLooks
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY

_ATTEMPTS = 5


@part
class HeldOut:
    """Spends looks at held-out labels, and knows of which versions results may be shown."""

    repository: LookRepository
    shared: SharedLooks
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

    def require_spent(self, grader: DeckGrader, version: GraderVersion) -> Look:
        """Return the look of a version that was read before; none is spent.

        The look of an edit that nobody read is none: it sees labels from before it alone, and
        whoever reads the version sees later ones, too.

        Raises:
            ConflictError: the version was not read yet, or is of an edit that is not accepted.
        """
        require_shown(version)
        looks = self.shared.with_others(grader.deck_id, self.looks(grader))
        look = looks.of(version.version)
        if look is None or not look.is_read:
            raise ConflictError(
                f"version {version.version} has no look at the held-out labels: this figure spends "
                "one, which POST to the same address does"
            )
        return self._read_now(looks, version.version)

    def looking(self, *, spend: bool) -> Callable[[DeckGrader, GraderVersion], Look]:
        """Return what gives a version's look: with ``spend`` also one that has none yet."""
        return self.spend if spend else self.require_spent

    def spend_measured(self, grader: DeckGrader, version: int, measured: str) -> Look:
        """Return the look at which a version is published by some labels and judgements.

        The first time it is the version's own. By other labels it is one more each time: who
        publishes until the bound reaches the threshold would reach it by chance.

        Args:
            version: one that has a look.
            measured: digest of these labels and judgements.

        Raises:
            UnavailableError: others look at the same labels right now.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            looks = self.shared.with_others(grader.deck_id, self.looks(grader))
            own, known = looks.of(version), looks.of_measurement(version, measured)
            assert own is not None, "a version that was measured has a look"
            if known is not None:
                after = known if known.edit_id else looks.renumbered(known)
            elif own.measured is None:
                after = own.model_copy(update={"measured": measured})
            else:
                number, others = looks.next_number(), len(looks.others)
                after = Look(
                    at=self.clock.now(),
                    version=version,
                    number=number,
                    others=others,
                    measured=measured,
                    is_again=True,
                )
            if after == known or self.repository.store(
                [self.repository.spent(grader.deck_id, looks, looks.after(after))]
            ):
                return after
        raise UnavailableError("others look at the same labels", retry_after_seconds=1)

    def may_show(self, grader: DeckGrader, version: int, *, is_candidate: bool) -> bool:
        """Return whether results of a version on held-out samples may be shown, which is free.

        Where nothing was looked at yet, they may: it is the first.
        """
        looks = self.looks(grader)
        if looks.spent:
            return version in self.shown(grader)
        return not (is_candidate or self.shared.with_others(grader.deck_id, looks).others)

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
            if only_first and looks.spent and (look is None or look.is_read):
                return look
            shared = self.shared.with_others(grader.deck_id, looks)
            if only_first and look is None and shared.others:
                return None
            after = self._read_now(shared, version)
            if after == look or self.repository.store(
                [self.repository.spent(grader.deck_id, looks, looks.after(after))]
            ):
                return after
        raise UnavailableError("others look at the same labels", retry_after_seconds=1)

    def _read_now(self, looks: Looks, version: int) -> Look:
        """Return the look of a version that is read, with the number that it has by now."""
        look = looks.of(version)
        if look is None:
            number, others = looks.next_number(), len(looks.others)
            look = Look(at=self.clock.now(), version=version, number=number, others=others)
        elif look.edit_id is None:
            look = looks.renumbered(look)
        return look.model_copy(update={"is_read": True})


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
