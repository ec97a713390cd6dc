"""What models answered of a proposal of edits: names of disagreements, and edits of patches.

All of it is read at once, or answer by answer where readers were killed: then each is noted before
it is read, and how far that is with the next note (``guarding.py``).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from autotune.protocol.deck_edits import EditChange
from autotune.protocol.ids import derived_id
from autotune_platform.decks.fixing.answers import read_code, read_patch
from autotune_platform.decks.fixing.asking import EditAsking
from autotune_platform.decks.fixing.guarding import RESERVED_SECONDS, ProposalGuard
from autotune_platform.decks.fixing.proposals import Cited, Proposal, Question, Refused
from autotune_platform.decks.fixing.writing import EditWriting
from autotune_platform.decks.models import DeckGrader
from autotune_platform.ledger.ordering import Ordered, RowOrders
from autotune_platform.runtime.errors import InvalidRequestError, NotFoundError, UnavailableError
from autotune_platform.runtime.parts import part

NO_PATCH: Final = "the answer has no patch"
KILLED: Final = "step_killed: functions were killed while they read the answer"


@dataclass
class Read:
    """How far answers of a stage are read.

    Attributes:
        proposal: as it is stored.
        changes: what follows from the answers that were read, those before included.
        is_whole: whether all of them are.
    """

    proposal: Proposal
    changes: dict[str, Any] = field(default_factory=dict)
    is_whole: bool = True


@part
class ProposalReading:
    """Reads answers, and stores what is made of them."""

    asking: EditAsking
    writing: EditWriting
    orders: RowOrders
    guard: ProposalGuard

    def codes(self, proposal: Proposal, seconds_left: Callable[[], float]) -> Read:
        """Return what disagreements were named.

        Raises:
            ChangedError: the proposal is not any more as it was read.
        """
        codes = dict(proposal.codes)

        def keep(one: Question, code: str | None) -> dict[str, Any]:
            if code is not None:
                codes[one.about] = code
            return {"codes": dict(codes)}

        return self._each(proposal, seconds_left, lambda _, raw: read_code(raw), keep)

    def answer(self, proposal: Proposal, seconds_left: Callable[[], float]) -> tuple[Read, str]:
        """Return what was answered to the one question of a stage; it is at hand still.

        Raises:
            ChangedError: the proposal is not any more as it was read.
        """
        (one,) = proposal.questions
        if proposal.is_killer(one.row_id):
            return Read(proposal), ""
        if not proposal.is_careful:
            return Read(proposal), _raw(self.orders.look([one.row_id]), one)
        if seconds_left() < RESERVED_SECONDS:
            return Read(proposal, is_whole=False), ""
        proposal = self.guard.note(proposal, one.row_id, {})
        return Read(proposal), _raw(self.orders.look([one.row_id]), one)

    def edits(
        self,
        proposal: Proposal,
        grader: DeckGrader,
        costs: Mapping[str, int],
        seconds_left: Callable[[], float],
    ) -> Read:
        """Store an edit for each patch that is not refused; storing it again changes nothing.

        Args:
            costs: what was paid for each row, by its id; those that are missing were not asked.

        Raises:
            ChangedError: the proposal is not any more as it was read.
        """
        share = proposal.spent // len(proposal.patterns)
        rubric = self.asking.rubric(proposal)
        made, refused = list(proposal.edit_ids), list(proposal.refused)

        def read(one: Question, raw: str) -> tuple[list[EditChange], str] | str:
            found = read_patch(raw)
            if found is None:
                return NO_PATCH
            patch, why = found
            try:
                named = _pattern(proposal, one).sample_ids
                self.writing.checked(grader, rubric, patch, named=named)
            except InvalidRequestError as error:
                return error.detail[:500]
            return list(patch), why

        def keep(one: Question, drawn: Any) -> dict[str, Any]:
            cited = _pattern(proposal, one)
            if drawn is None or isinstance(drawn, str):
                refused.append(Refused(pattern=cited.pattern.name, because=drawn or KILLED))
            else:
                patch, why = drawn
                edit_id = edit_id_of(proposal, one)
                if edit_id not in made:
                    self._add(
                        grader, proposal, cited, patch, why, edit_id, share + costs[one.row_id]
                    )
                    made.append(edit_id)
            return {"edit_ids": list(made), "refused": list(refused)}

        return self._each(proposal, seconds_left, read, keep, asked=costs)

    def stored(self, proposal: Proposal) -> list[str]:
        """Return the edits that somebody stored who was killed behind it; no answer is read."""
        found = []
        for one in proposal.questions:
            edit_id = edit_id_of(proposal, one)
            try:
                self.writing.edits.require(proposal.deck_id, proposal.grader_id, edit_id)
            except NotFoundError:
                continue
            found.append(edit_id)
        return found

    def _each(
        self,
        proposal: Proposal,
        seconds_left: Callable[[], float],
        read: Callable[[Question, str], Any],
        keep: Callable[[Question, Any], dict[str, Any]],
        *,
        asked: Mapping[str, int] | None = None,
    ) -> Read:
        """Read each answer, and keep what it says; of one that kills readers, that it says nothing.

        Args:
            asked: those that there are; None for all.
        """
        careful, changes, taken = proposal.is_careful, dict[str, Any](), list(proposal.taken)
        todo = [
            one
            for one in proposal.questions
            if one.row_id not in taken and (asked is None or one.row_id in asked)
        ]
        found = {} if careful else self.orders.look([one.row_id for one in todo])
        for one in todo:
            drawn = None
            if not proposal.is_killer(one.row_id):
                if careful:
                    if seconds_left() < RESERVED_SECONDS:
                        return Read(proposal, changes, is_whole=False)
                    proposal = self.guard.note(proposal, one.row_id, changes)
                    found = self.orders.look([one.row_id])
                drawn = read(one, _raw(found, one))
                if careful:
                    proposal = self.guard.release(proposal)
            taken.append(one.row_id)
            changes = {**changes, **keep(one, drawn), "taken": list(taken)}
        return Read(proposal, changes)

    def _add(
        self,
        grader: DeckGrader,
        proposal: Proposal,
        cited: Cited,
        patch: list[EditChange],
        why: str,
        edit_id: str,
        cost: int,
    ) -> None:
        try:
            self.writing.add(
                grader,
                origin="model",
                patch=patch,
                pattern=cited.pattern,
                sample_ids=cited.sample_ids,
                note=why,
                author=proposal.created_by,
                edit_id=edit_id,
                cost=cost,
            )
        except UnavailableError as error:
            # It is there already, where somebody was killed behind it.
            try:
                self.writing.edits.require(grader.deck_id, grader.id, edit_id)
            except NotFoundError:
                raise error from None


def edit_id_of(proposal: Proposal, one: Question) -> str:
    """Return the id of the edit that is made of an answer."""
    return derived_id("edt", proposal.grader_id, str(proposal.number), one.about)


def _pattern(proposal: Proposal, one: Question) -> Cited:
    return proposal.patterns[int(one.about)]


def _raw(found: Mapping[str, Ordered], one: Question) -> str:
    ordered = found.get(one.row_id)
    answered = None if ordered is None else ordered.answered
    return "" if answered is None else answered.raw_output
