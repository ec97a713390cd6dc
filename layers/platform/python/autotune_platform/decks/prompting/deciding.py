"""What becomes of edits of system prompts: a person's act, and nothing is overwritten."""

from typing import Any

from autotune_platform.access.models import Caller
from autotune_platform.decks.models import Deck
from autotune_platform.decks.prompting.models import PromptEdit
from autotune_platform.decks.prompting.repository import PromptEditRepository
from autotune_platform.decks.service import DeckService
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError
from autotune_platform.runtime.parts import part


@part
class PromptDeciding:
    """Accepts, rejects and takes back edits."""

    decks: DeckService
    edits: PromptEditRepository
    clock: Clock = SYSTEM_CLOCK

    def accept(self, caller: Caller, deck_id: str, edit_id: str, *, consent: bool) -> PromptEdit:
        """Make the edited prompt the current one; doing it again changes nothing.

        Without consent, a grader has to say that it is better, and none that it is worse, by what
        was measured last.

        Raises:
            NotFoundError: there is no such deck or edit, or it is another organisation's.
            ConflictError: it needs consent or is decided, its base is not the current version, or
                something changed at the same time.
        """
        deck, edit = self._read(caller, deck_id, edit_id)
        if edit.status == "accepted" and deck.version == edit.candidate_version:
            return edit
        self._require(edit, "proposed", "generating", "generated")
        if deck.version != edit.base_version:
            raise ConflictError(
                f"edit {edit.id} replaces version {edit.base_version}, and the current one is "
                f"{deck.version}"
            )
        why = _speaks_against(edit)
        if why is not None and not consent:
            raise ConflictError(f"{why}; accept it with consent if that is right")
        after = self._decided(caller, edit, "accepted", consented=why is not None)
        self.decks.point(deck, edit.candidate_version, self.edits.changed(edit, after))
        return after

    def reject(self, caller: Caller, deck_id: str, edit_id: str, *, reason: str) -> PromptEdit:
        """Reject an edit that is not accepted; a run that is under way goes on.

        Raises:
            NotFoundError: there is no such deck or edit, or it is another organisation's.
            ConflictError: it is decided, or changed at the same time.
        """
        _, edit = self._read(caller, deck_id, edit_id)
        if edit.status == "rejected":
            return edit
        self._require(edit, "proposed", "generating", "generated")
        after = self._decided(caller, edit, "rejected", reason=reason)
        if not self.edits.change(edit, after):
            raise ConflictError(f"edit {edit.id} changed at the same time; read it again")
        return after

    def roll_back(self, caller: Caller, deck_id: str, edit_id: str, *, reason: str) -> PromptEdit:
        """Make the prompt from before an accepted edit the current one again.

        Raises:
            NotFoundError: there is no such deck or edit, or it is another organisation's.
            ConflictError: it is not accepted, its version is not the current one any more, or
                something changed at the same time.
        """
        deck, edit = self._read(caller, deck_id, edit_id)
        if edit.status == "rolled_back":
            return edit
        self._require(edit, "accepted")
        if deck.version != edit.candidate_version:
            raise ConflictError(
                f"version {edit.candidate_version} of the edit is not the current one any more, "
                f"which is {deck.version}"
            )
        after = self._decided(caller, edit, "rolled_back", reason=reason)
        self.decks.point(deck, edit.base_version, self.edits.changed(edit, after))
        return after

    def _read(self, caller: Caller, deck_id: str, edit_id: str) -> tuple[Deck, PromptEdit]:
        return self.decks.require(caller, deck_id), self.edits.require(deck_id, edit_id)

    def _require(self, edit: PromptEdit, *statuses: str) -> None:
        if edit.status not in statuses:
            raise ConflictError(f"edit {edit.id} is {edit.status.replace('_', ' ')}")

    def _decided(self, caller: Caller, edit: PromptEdit, status: str, **more: Any) -> PromptEdit:
        changes = {
            **more,
            "status": status,
            "decided_at": self.clock.now(),
            "decided_by": caller.principal_id,
            "revision": edit.revision + 1,
        }
        return edit.model_copy(update=changes)


def _speaks_against(edit: PromptEdit) -> str | None:
    """Return why the figures do not speak for an edit; None where they do."""
    worse = [one.grader_name for one in edit.effects if one.outcome == "worse"]
    if worse:
        return f"responses are worse by {', '.join(worse)}"
    missing = [one for one in edit.effects if one.insufficient_because is not None]
    if missing:
        one = missing[0]
        if one.insufficient_because == "other_model":
            return f"another model answered under the new prompt in {one.other_model} pairs"
        return (
            f"of {one.inputs} inputs, {one.old.answered} have a response under the old prompt and "
            f"{one.new.answered} under the new one: {one.insufficient_because}"
        )
    if not any(one.outcome == "better" for one in edit.effects):
        return "no grader shows that responses are better"
    return None
