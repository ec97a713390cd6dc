"""What callers ask of edits, one by one and in lists."""

from autotune.protocol import deck_edits as wire
from autotune_platform.access.models import Caller
from autotune_platform.decks.fixing.deciding import EditDeciding
from autotune_platform.decks.fixing.repository import EditRepository
from autotune_platform.decks.fixing.settling import EditSettling
from autotune_platform.decks.fixing.wire import edit_on_wire
from autotune_platform.decks.held_out import HeldOut
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.runtime.parts import part
from autotune_platform.statistics.looks import alpha_of_look


@part
class EditService:
    """Reads edits; one whose replay has just ended is measured by whoever comes first."""

    graders: LabelledGraders
    edits: EditRepository
    settling: EditSettling
    deciding: EditDeciding
    held_out: HeldOut

    def get(self, caller: Caller, deck_id: str, grader_id: str, edit_id: str) -> wire.DeckEdit:
        """Return an edit.

        Raises:
            NotFoundError: there is no such deck, grader or edit, or it is another organisation's.
        """
        self.graders.require(caller, deck_id, grader_id)
        edit = self.edits.require(deck_id, grader_id, edit_id)
        return edit_on_wire(self.settling.settled(edit))

    def page(
        self, caller: Caller, deck_id: str, grader_id: str, *, limit: int, next_token: str | None
    ) -> wire.DeckEditList:
        """Return a page of a grader's edits, newest first, as they were measured so far.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
            InvalidRequestError: ``next_token`` is not from this list.
        """
        grader = self.graders.require(caller, deck_id, grader_id)
        found, token = self.edits.page(deck_id, grader_id, limit=limit, next_token=next_token)
        looks = self.held_out.looks(grader).counted
        return wire.DeckEditList(
            edits=[edit_on_wire(one) for one in found],
            looks=looks,
            next_alpha=alpha_of_look(looks + 1),
            next_token=token,
        )

    def accept(
        self, caller: Caller, deck_id: str, grader_id: str, edit_id: str, *, consent: bool
    ) -> wire.DeckEdit:
        """Accept an edit, which is measured before where its replay has ended.

        Raises:
            NotFoundError: there is no such deck, grader or edit, or it is another organisation's.
            ConflictError: the figures do not allow it, or something changed at the same time.
        """
        self.get(caller, deck_id, grader_id, edit_id)
        accepted = self.deciding.accept(caller, deck_id, grader_id, edit_id, consent=consent)
        return edit_on_wire(accepted)
