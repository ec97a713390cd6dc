"""How proposals of edits go on: what was answered is read, and what follows is asked.

What is asked next is stored, with its rows, before it is enqueued under a key of its own: whoever
is killed is followed by one who asks the same. What it may cost altogether is never above its cap.
"""

import math
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from autotune.protocol import deck_edit_proposals as wire
from autotune.protocol.ids import new_id
from autotune_platform.decks.fixing.answers import read_patterns
from autotune_platform.decks.fixing.asking import EditAsking
from autotune_platform.decks.fixing.guarding import (
    FREE,
    RESERVED_SECONDS,
    TEXTS,
    UNSUSPECTED,
    ChangedError,
    ProposalGuard,
    as_taken,
)
from autotune_platform.decks.fixing.proposals import Proposal, ProposalRepository
from autotune_platform.decks.fixing.reading import ProposalReading, Read
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.models import DeckGrader
from autotune_platform.decks.runs.looks import next_look
from autotune_platform.decks.runs.work import RunStep
from autotune_platform.ledger.ordering import Ordered, RowOrders
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError, NotFoundError
from autotune_platform.runtime.parts import part

_MOST_STEPS = 20
_CAREFUL = timedelta(seconds=5)
_MOST_UNSTORED, _UNSTORED_SECONDS = 12, 10


def _soon_over() -> float:
    """Return the time that a request has, in which nothing is read answer by answer."""
    return 0


@part
class ProposalAdvancing:
    """Goes on with proposals of edits, whoever asks for it."""

    graders: DeckGraderRepository
    proposals: ProposalRepository
    reading: ProposalReading
    guard: ProposalGuard
    asking: EditAsking
    orders: RowOrders
    clock: Clock = SYSTEM_CLOCK

    def advance(
        self,
        deck_id: str,
        grader_id: str,
        number: int,
        *,
        steps: int,
        seconds_left: Callable[[], float],
    ) -> RunStep:
        """Go on with a proposal, and say when to come again.

        Args:
            number: of the proposal; another one that came since has an execution of its own.
            steps: how often this was done before.
            seconds_left: until the function is ended.

        Raises:
            UnavailableError: the table is busy.
        """
        try:
            grader = self.graders.get(deck_id, grader_id)
            proposal = self.proposals.get(deck_id, grader_id)
            if proposal is None or proposal.number < number:
                # It is stored after its execution was started, or never.
                return RunStep(done=steps >= _MOST_UNSTORED, wait_seconds=_UNSTORED_SECONDS)
            if proposal.number > number:
                return RunStep(done=True)
            proposal = self.gone_on(proposal, grader, seconds_left)
        except NotFoundError:  # the deck or the organisation was deleted
            return RunStep(done=True)
        now = self.clock.now()
        again = next_look(proposal.created_at, now)
        if proposal.reading_until is not None:
            again = max(now, proposal.reading_until)
        elif proposal.is_careful:
            again = now + _CAREFUL
        wait = math.ceil((again - now).total_seconds())
        return RunStep(done=not proposal.is_open, wait_seconds=max(1, wait))

    def gone_on(
        self, proposal: Proposal, grader: DeckGrader, seconds_left: Callable[[], float] = _soon_over
    ) -> Proposal:
        """Return a proposal as it stands once all that was answered is taken.

        What is read answer by answer is left to the function that has the time.
        """
        reader = new_id("req")
        with self.guard.taking_back(proposal, reader):
            for _ in range(_MOST_STEPS):
                try:
                    reached = self._next(proposal, grader, reader, seconds_left)
                    if reached is None:
                        return self._left(proposal, reader)
                    proposal = reached
                except ChangedError:
                    proposal = self.proposals.get(proposal.deck_id, proposal.grader_id) or proposal
        return self._left(proposal, reader)

    def _left(self, proposal: Proposal, reader: str) -> Proposal:
        """Return a proposal that is not read any more by who has read it."""
        while proposal.reader == reader:
            try:
                return self.guard.store(proposal, FREE)
            except ChangedError:
                found = self.proposals.get(proposal.deck_id, proposal.grader_id)
                if found is None:
                    break
                proposal = found
        return proposal

    def _next(
        self,
        proposal: Proposal,
        grader: DeckGrader,
        reader: str,
        seconds_left: Callable[[], float],
    ) -> Proposal | None:
        """Do the next thing; None where there is none now, or it is another's to do."""
        if proposal.erasing:
            self.orders.erase(proposal.erasing)
        if not proposal.is_open:
            return None
        is_changed = grader.version != proposal.base_version
        is_over = is_changed or proposal.ends_early
        found: Mapping[str, Ordered] = {}
        if proposal.is_asked:
            ended = self._ended(proposal, is_over=is_over)
            if ended is None:
                return None
            found = ended
        if proposal.reader != reader:
            return self._taken(proposal, reader, is_over=is_over, seconds_left=seconds_left)
        if not proposal.is_asked:
            return self._ordered(proposal, is_over=is_over, seconds_left=seconds_left)
        if is_over:
            changes = self._over(proposal, found, grader, is_changed=is_changed)
        else:
            proposal, read = self._read(proposal, found, grader, seconds_left)
            if read is None:
                return None
            changes = read
        paid = {**changes, **self._paid(proposal, found), "unread": _unread(proposal)}
        return self.guard.store(proposal, {**paid, **UNSUSPECTED})

    def _over(
        self,
        proposal: Proposal,
        found: Mapping[str, Ordered],
        grader: DeckGrader,
        *,
        is_changed: bool,
    ) -> dict[str, Any]:
        """Return the changes that end a proposal of which nothing more is asked."""
        if is_changed:
            return {"status": "failed", "failed_because": "grader_changed"}
        if proposal.cancel_requested_at is not None:
            return self._canceled(proposal, found, grader)
        return {"status": "failed", "failed_because": "step_killed", **self._kept(proposal)}

    def _taken(
        self,
        proposal: Proposal,
        reader: str,
        *,
        is_over: bool,
        seconds_left: Callable[[], float],
    ) -> Proposal | None:
        """Note who goes on with a proposal, unless another one does, or there is no time."""
        if self.guard.is_read_by_another(proposal, reader):
            return None
        changes = as_taken(proposal, reader, self.clock.now())
        has_time = is_over or seconds_left() >= RESERVED_SECONDS
        if proposal.model_copy(update=changes).is_careful and not has_time:
            return None
        return self.guard.store(proposal, changes)

    def _ordered(
        self, proposal: Proposal, *, is_over: bool, seconds_left: Callable[[], float]
    ) -> Proposal | None:
        """Have asked what is asked next."""
        if proposal.is_careful and not is_over:
            if seconds_left() < RESERVED_SECONDS:
                return None
            proposal = self.guard.note(proposal, TEXTS, {})
        if not self.asking.order(proposal, is_over=is_over):
            return None
        asked = {"is_asked": True, "rows": None}
        return self.guard.store(proposal, {**asked, **FREE, **UNSUSPECTED})

    def _ended(self, proposal: Proposal, *, is_over: bool) -> dict[str, Ordered] | None:
        """Return what is asked once all of it has ended; where nothing more is, it is canceled."""
        ids = [one.row_id for one in proposal.questions]
        if is_over:
            self.orders.cancel(ids)
        found = self.orders.look(ids, with_texts=False)
        is_there = is_over or len(found) == len(ids)
        return found if is_there and all(one.row.has_ended for one in found.values()) else None

    def _read(
        self,
        proposal: Proposal,
        found: Mapping[str, Ordered],
        grader: DeckGrader,
        seconds_left: Callable[[], float],
    ) -> tuple[Proposal, dict[str, Any] | None]:
        """Return what follows from the answers of a stage; None where more time is needed."""
        if proposal.status == "coding":
            read = self.reading.codes(proposal, seconds_left)
            changes = {"status": "merging", **read.changes}
        elif proposal.status == "merging":
            read, raw = self.reading.answer(proposal, seconds_left)
            changes = {"status": "patching", "patterns": read_patterns(raw, proposal.codes)}
        else:
            read = self.reading.edits(proposal, grader, _costs(found), seconds_left)
            changes = {"status": "completed", **read.changes}
        if not read.is_whole:
            return self.guard.store(read.proposal, {**read.changes, "at_hand": None}), None
        if proposal.status == "patching":
            return read.proposal, changes
        return self._planned(read, found, changes, seconds_left)

    def _canceled(
        self, proposal: Proposal, found: Mapping[str, Ordered], grader: DeckGrader
    ) -> dict[str, Any]:
        """Return the changes that end a proposal; patches that were answered become edits.

        They were paid, and somebody who did not know of the end may have stored some of them.
        Where readers were killed, none is read any more.
        """
        answered = {id_: one for id_, one in found.items() if one.row.status == "completed"}
        if proposal.lost_readers or proposal.suspects:
            return {"status": "canceled", **self._kept(proposal)}
        if proposal.status != "patching" or not answered:
            return {"status": "canceled"}
        read = self.reading.edits(proposal, grader, _costs(answered), _soon_over)
        is_whole = len(answered) == len(proposal.questions)
        return {**read.changes, "status": "completed" if is_whole else "canceled"}

    def _kept(self, proposal: Proposal) -> dict[str, Any]:
        """Return what is stored of a proposal whose answers are not read any more."""
        return {"edit_ids": self.reading.stored(proposal)} if proposal.status == "patching" else {}

    def _planned(
        self,
        read: Read,
        found: Mapping[str, Ordered],
        changes: dict[str, Any],
        seconds_left: Callable[[], float],
    ) -> tuple[Proposal, dict[str, Any] | None]:
        """Return the changes that begin the next stage, or that end the proposal."""
        proposal = read.proposal
        after = proposal.model_copy(update=changes)
        if not (after.codes if after.status == "merging" else after.patterns):
            return proposal, {"status": "failed", "failed_because": _why_nothing(proposal)}
        if proposal.is_careful:
            if seconds_left() < RESERVED_SECONDS:
                return self.guard.store(proposal, {**read.changes, "at_hand": None}), None
            proposal = self.guard.note(proposal, TEXTS, read.changes)
        planned = self.asking.plan(after, self.asking.texts(after))
        if isinstance(planned, InvalidRequestError):
            return proposal, {**changes, "status": "failed", "failed_because": "not_askable"}
        questions, rows = planned
        spent = proposal.spent + _cost(found)
        if spent + sum(one.most for one in questions) > proposal.cap:
            return proposal, {**changes, "status": "stopped"}
        return proposal, {**changes, **after.asking(questions, rows)}

    def request_cancel(self, proposal: Proposal, grader: DeckGrader) -> Proposal:
        """Return a proposal that asks nothing more; one that has ended stays so.

        What is being asked may be paid. It is ``canceled`` once nothing of it is under way.
        """
        number = proposal.number
        for _ in range(_MOST_STEPS):
            is_open = proposal.is_open and proposal.cancel_requested_at is None
            if proposal.number != number or not is_open:
                break
            try:
                now = self.clock.now()
                proposal = self.guard.store(proposal, {"cancel_requested_at": now})
            except ChangedError:
                proposal = self.proposals.get(proposal.deck_id, proposal.grader_id) or proposal
        return self.gone_on(proposal, grader)

    def _paid(self, proposal: Proposal, found: Mapping[str, Ordered]) -> dict[str, Any]:
        """Return what was paid for rows that have ended, and which texts are to go."""
        gone = [id_ for one in found.values() for id_ in one.ids]
        return {"spent": proposal.spent + _cost(found), "erasing": gone}


def _cost(found: Mapping[str, Ordered]) -> int:
    return sum(one.row.cost_nano_usd or 0 for one in found.values())


def _costs(found: Mapping[str, Ordered]) -> dict[str, int]:
    return {id_: one.row.cost_nano_usd or 0 for id_, one in found.items()}


def _unread(proposal: Proposal) -> int:
    return proposal.unread + proposal.killers


def _why_nothing(proposal: Proposal) -> wire.EditProposalFailure:
    if proposal.killers:
        return "step_killed"
    return "no_codes" if proposal.status == "coding" else "no_patterns"
