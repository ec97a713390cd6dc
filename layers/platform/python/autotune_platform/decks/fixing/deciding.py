"""What becomes of edits: accepted, rejected, or taken back; nothing is overwritten."""

from collections.abc import Mapping
from typing import Any

from autotune.protocol.deck_effects import EditEffect
from autotune_platform.access.models import Caller
from autotune_platform.decks.fixing.models import Edit
from autotune_platform.decks.fixing.repository import EditRepository
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.models import DeckGrader
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError
from autotune_platform.runtime.parts import part

_WHY_NOT: Mapping[str, str] = {
    "refused": "its replay speaks against it",
    "no_evidence": "the difference that it makes may be chance",
    "insufficient": "labels are too few to claim anything",
}


def _asked(effect: EditEffect) -> str:
    """Return what a person has to consent to."""
    apart = effect.inapplicable
    more = apart.new - apart.old if apart is not None else 0
    asked = []
    if effect.newly_positive:
        asked.append(f"{effect.newly_positive} samples at -3 or -2 are newly called positive")
    if more > 0:
        asked.append(f"{more} more samples get a level to which the question does not apply")
    return ", and ".join(asked)


@part
class EditDeciding:
    """Accepts edits by one rule, whoever asks for it."""

    graders: LabelledGraders
    grader_repository: DeckGraderRepository
    edits: EditRepository
    clock: Clock = SYSTEM_CLOCK

    def accept(
        self, caller: Caller, deck_id: str, grader_id: str, edit_id: str, *, consent: bool
    ) -> Edit:
        """Make the edited version the current one, with its effect named in it.

        Raises:
            NotFoundError: there is no such deck, grader or edit, or it is another organisation's.
            ConflictError: the figures do not allow it, or it needs consent; or another version is
                the current one, or something changed at the same time.
        """
        grader = self.graders.require(caller, deck_id, grader_id)
        edit = self.edits.require(deck_id, grader_id, edit_id)
        if edit.status == "accepted" and grader.version == edit.candidate_version:
            return edit
        return self._accept(grader, edit, consent=consent, by=caller.principal_id)

    def accepted_beforehand(self, edit: Edit) -> Edit:
        """Return a measured edit, accepted where a person consented to that before.

        What is newly called positive is not consented to so. Where another version is the current
        one by then, the consent has ended: that one may go later, and nobody would expect it.
        """
        acceptable = edit.effect is not None and edit.effect.outcome == "acceptable"
        if not (edit.accept_if_better and acceptable):
            return edit
        grader = self.grader_repository.get(edit.deck_id, edit.grader_id)
        if grader.version != edit.base_version:
            after = edit.model_copy(
                update={"accept_if_better": False, "revision": edit.revision + 1}
            )
            is_stored = self.edits.store([self.edits.changed(edit, after)])
            return after if is_stored else self._again(edit)
        try:
            return self._accept(grader, edit, consent=False, by=edit.accept_by or edit.created_by)
        except ConflictError:  # something changed at the same time
            return self._again(edit)

    def reject(
        self, caller: Caller, deck_id: str, grader_id: str, edit_id: str, *, reason: str
    ) -> Edit:
        """Reject an edit that is not accepted; a replay that is under way goes on.

        Raises:
            NotFoundError: there is no such deck, grader or edit, or it is another organisation's.
            ConflictError: it is decided, or changed at the same time.
        """
        self.graders.require(caller, deck_id, grader_id)
        edit = self.edits.require(deck_id, grader_id, edit_id)
        if edit.status == "rejected":
            return edit
        if edit.status not in {"proposed", "replaying", "measured"}:
            raise ConflictError(f"edit {edit.id} is {edit.status.replace('_', ' ')}")
        after = self._decided(edit, "rejected", caller.principal_id, {"reason": reason})
        if not self.edits.store([self.edits.changed(edit, after)]):
            raise ConflictError(f"edit {edit.id} changed at the same time; read it again")
        return after

    def roll_back(
        self, caller: Caller, deck_id: str, grader_id: str, edit_id: str, *, reason: str
    ) -> Edit:
        """Make the version from before an accepted edit the current one again.

        Raises:
            NotFoundError: there is no such deck, grader or edit, or it is another organisation's.
            ConflictError: it is not accepted, its version is not the current one any more, or
                something changed at the same time.
        """
        grader = self.graders.require(caller, deck_id, grader_id)
        edit = self.edits.require(deck_id, grader_id, edit_id)
        if edit.status == "rolled_back":
            return edit
        if edit.status != "accepted":
            raise ConflictError(f"edit {edit.id} is {edit.status}, and not accepted")
        if grader.version != edit.candidate_version:
            raise ConflictError(
                f"version {edit.candidate_version} of the edit is not the current one any more, "
                f"which is {grader.version}"
            )
        base = self.graders.version(grader, edit.base_version)
        after = self._decided(edit, "rolled_back", caller.principal_id, {"reason": reason})
        repointed = self._pointing(grader, base.version, base.digest)
        writes = [
            self.grader_repository.changed(grader, repointed),
            self.edits.changed(edit, after),
        ]
        if not self.edits.store(writes):
            raise ConflictError("grader or edit changed at the same time; read them again")
        return after

    def _accept(self, grader: DeckGrader, edit: Edit, *, consent: bool, by: str) -> Edit:
        effect = edit.effect
        if edit.status != "measured" or effect is None or edit.candidate_version is None:
            said = "is not measured on labels that are held out"
            if edit.status in {"accepted", "rejected", "rolled_back"}:
                said = f"is {edit.status.replace('_', ' ')}"
            raise ConflictError(f"edit {edit.id} {said}")
        if effect.outcome in _WHY_NOT:
            raise ConflictError(f"edit {edit.id} cannot be accepted: {_WHY_NOT[effect.outcome]}")
        if effect.outcome == "needs_consent" and not consent:
            raise ConflictError(f"{_asked(effect)}; accept it with consent if that is right")
        if grader.version != edit.base_version:
            raise ConflictError(
                f"edit {edit.id} changes version {edit.base_version}, and the current one is "
                f"{grader.version}"
            )
        candidate = self.graders.version(grader, edit.candidate_version)
        settled = candidate.model_copy(update={"candidate": False, "effect": effect})
        needed = effect.outcome == "needs_consent"
        after = self._decided(edit, "accepted", by, {"consented": needed and consent})
        repointed = self._pointing(grader, candidate.version, candidate.digest)
        writes = [
            self.grader_repository.changed(grader, repointed),
            self.grader_repository.settled(settled),
            self.edits.changed(edit, after),
        ]
        if not self.edits.store(writes):
            raise ConflictError("grader or edit changed at the same time; read them again")
        return after

    def _again(self, edit: Edit) -> Edit:
        return self.edits.require(edit.deck_id, edit.grader_id, edit.id)

    def _pointing(self, grader: DeckGrader, version: int, digest: str) -> DeckGrader:
        return grader.model_copy(
            update={
                "version": version,
                "digest": digest,
                "updated_at": self.clock.now(),
                "revision": grader.revision + 1,
            }
        )

    def _decided(self, edit: Edit, status: str, by: str, more: Mapping[str, Any]) -> Edit:
        return edit.model_copy(
            update={
                **more,
                "status": status,
                "decided_at": self.clock.now(),
                "decided_by": by,
                "revision": edit.revision + 1,
            }
        )
