"""How proposals of edits go on: what was answered is read, and what follows is asked.

What is asked next is stored, with its rows, before it is enqueued under a key of its own: whoever
is killed is followed by one who asks the same. What it may cost altogether is never above its cap.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from autotune.protocol import deck_edit_proposals as wire
from autotune.protocol.ids import derived_id
from autotune_platform.decks.fixing.answers import read_code, read_patch, read_patterns
from autotune_platform.decks.fixing.asking import MERGING, EditAsking
from autotune_platform.decks.fixing.proposals import (
    Cited,
    Proposal,
    ProposalRepository,
    Refused,
)
from autotune_platform.decks.fixing.writing import EditWriting
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.models import DeckGrader
from autotune_platform.decks.runs.looks import next_look
from autotune_platform.decks.runs.work import RunStep
from autotune_platform.ledger.ordering import Ordered, RowOrders
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError, NotFoundError, UnavailableError
from autotune_platform.runtime.parts import part

_MOST_STEPS = 10
_MOST_UNSTORED, _UNSTORED_SECONDS = 12, 10


@part
class ProposalAdvancing:
    """Goes on with proposals of edits, whoever asks for it."""

    graders: DeckGraderRepository
    proposals: ProposalRepository
    writing: EditWriting
    asking: EditAsking
    orders: RowOrders
    clock: Clock = SYSTEM_CLOCK

    def advance(self, deck_id: str, grader_id: str, number: int, *, steps: int) -> RunStep:
        """Go on with a proposal, and say when to come again.

        Args:
            number: of the proposal; another one that came since has an execution of its own.
            steps: how often this was done before.

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
            proposal = self.gone_on(proposal, grader)
        except NotFoundError:  # the deck or the organisation was deleted
            return RunStep(done=True)
        now = self.clock.now()
        wait = math.ceil((next_look(proposal.created_at, now) - now).total_seconds())
        return RunStep(done=not proposal.is_open, wait_seconds=max(1, wait))

    def gone_on(self, proposal: Proposal, grader: DeckGrader) -> Proposal:
        """Return a proposal as it stands once all that was answered is taken."""
        for _ in range(_MOST_STEPS):
            if proposal.erasing:
                self.orders.erase(proposal.erasing)
            if not proposal.is_open:
                return proposal
            is_changed = grader.version != proposal.base_version
            is_over = is_changed or proposal.cancel_requested_at is not None
            if not proposal.is_asked:
                if not self.asking.order(proposal, is_over=is_over):
                    return proposal
                proposal = self._stored(proposal, {"is_asked": True, "rows": None})
                continue
            found = self._ended(proposal, is_over=is_over)
            if found is None:
                return proposal
            if is_changed:
                changes: dict[str, Any] = {"status": "failed", "failed_because": "grader_changed"}
            elif is_over:
                changes = self._canceled(proposal, found, grader)
            else:
                changes = self._read(proposal, found, grader)
            proposal = self._stored(proposal, {**changes, **self._paid(proposal, found)})
        return proposal

    def _ended(self, proposal: Proposal, *, is_over: bool) -> dict[str, Ordered] | None:
        """Return what is asked once all of it has ended; where nothing more is, it is canceled."""
        ids = [one.row_id for one in proposal.questions]
        if is_over:
            self.orders.cancel(ids)
        found = self.orders.look(ids)
        is_there = is_over or len(found) == len(ids)
        return found if is_there and all(one.row.has_ended for one in found.values()) else None

    def _read(
        self, proposal: Proposal, found: Mapping[str, Ordered], grader: DeckGrader
    ) -> dict[str, Any]:
        """Return what follows from the answers of a stage."""
        said = {one.about: _raw(found[one.row_id]) for one in proposal.questions}
        if proposal.status == "coding":
            named = {id_: read_code(raw) for id_, raw in said.items()}
            codes = {id_: code for id_, code in named.items() if code is not None}
            return self._next(proposal, found, {"status": "merging", "codes": codes}, "no_codes")
        if proposal.status == "merging":
            patterns = read_patterns(said[MERGING], proposal.codes)
            changes = {"status": "patching", "patterns": patterns}
            return self._next(proposal, found, changes, "no_patterns")
        return self._edits(proposal, found, grader)

    def _canceled(
        self, proposal: Proposal, found: Mapping[str, Ordered], grader: DeckGrader
    ) -> dict[str, Any]:
        """Return the changes that end a proposal; patches that were answered become edits.

        They were paid, and somebody who did not know of the end may have stored some of them.
        """
        answered = {id_: one for id_, one in found.items() if one.row.status == "completed"}
        if proposal.status != "patching" or not answered:
            return {"status": "canceled"}
        changes = self._edits(proposal, answered, grader)
        is_whole = len(answered) == len(proposal.questions)
        return changes if is_whole else {**changes, "status": "canceled"}

    def _next(
        self,
        proposal: Proposal,
        found: Mapping[str, Ordered],
        changes: dict[str, Any],
        otherwise: wire.EditProposalFailure,
    ) -> dict[str, Any]:
        """Return the changes that begin the next stage, or that end the proposal."""
        after = proposal.model_copy(update=changes)
        if not (after.codes if after.status == "merging" else after.patterns):
            return {"status": "failed", "failed_because": otherwise}
        planned = self.asking.plan(after, self.asking.texts(after))
        if isinstance(planned, InvalidRequestError):
            return {**changes, "status": "failed", "failed_because": "not_askable"}
        questions, rows = planned
        spent = proposal.spent + _cost(found)
        if spent + sum(one.most for one in questions) > proposal.cap:
            return {**changes, "status": "stopped"}
        return {**changes, **after.asking(questions, rows)}

    def _edits(
        self, proposal: Proposal, found: Mapping[str, Ordered], grader: DeckGrader
    ) -> dict[str, Any]:
        """Store an edit for each patch that is not refused; storing it again changes nothing."""
        answers = {
            one.about: found[one.row_id] for one in proposal.questions if one.row_id in found
        }
        share = proposal.spent // len(proposal.patterns)
        rubric = self.asking.rubric(proposal)
        made, refused = [], []
        for place, cited in enumerate(proposal.patterns):
            answer = answers.get(str(place))
            if answer is None:
                continue  # nobody asked, and nothing was paid
            name, read = cited.pattern.name, read_patch(_raw(answer))
            if read is None:
                refused.append(Refused(pattern=name, because="the answer has no patch"))
                continue
            patch, why = read
            try:
                self.writing.checked(grader, rubric, patch, named=cited.sample_ids)
            except InvalidRequestError as error:
                refused.append(Refused(pattern=name, because=error.detail[:500]))
                continue
            edit_id = derived_id("edt", proposal.grader_id, str(proposal.number), str(place))
            try:
                cost = share + (answer.row.cost_nano_usd or 0)
                self._add(grader, proposal, cited, patch, why, edit_id, cost)
            except UnavailableError:
                # It is there already, where somebody was killed behind it.
                self.writing.edits.require(grader.deck_id, grader.id, edit_id)
            made.append(edit_id)
        return {"status": "completed", "edit_ids": made, "refused": refused}

    def _add(
        self,
        grader: DeckGrader,
        proposal: Proposal,
        cited: Cited,
        patch: Sequence[Any],
        why: str,
        edit_id: str,
        cost: int,
    ) -> None:
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

    def request_cancel(self, proposal: Proposal, grader: DeckGrader) -> Proposal:
        """Return a proposal that asks nothing more; one that has ended stays so.

        What is being asked may be paid. It is ``canceled`` once nothing of it is under way.
        """
        number = proposal.number
        for _ in range(_MOST_STEPS):
            is_open = proposal.is_open and proposal.cancel_requested_at is None
            if proposal.number != number or not is_open:
                break
            proposal = self._stored(proposal, {"cancel_requested_at": self.clock.now()})
        return self.gone_on(proposal, grader)

    def _paid(self, proposal: Proposal, found: Mapping[str, Ordered]) -> dict[str, Any]:
        """Return what was paid for rows that have ended, and which texts are to go."""
        gone = [id_ for one in found.values() for id_ in one.ids]
        return {"spent": proposal.spent + _cost(found), "erasing": gone}

    def _stored(self, proposal: Proposal, changes: Mapping[str, Any]) -> Proposal:
        """Store changes and return the proposal, or as it is where it changed meanwhile."""
        after = Proposal.model_validate(
            {**proposal.model_dump(), **changes, "revision": proposal.revision + 1}
        )
        if not after.is_open and after.ended_at is None:
            after = after.model_copy(update={"ended_at": self.clock.now()})
        if self.proposals.store(proposal, after):
            return after
        found = self.proposals.get(proposal.deck_id, proposal.grader_id)
        return proposal if found is None else found


def _raw(ordered: Ordered) -> str:
    return "" if ordered.answered is None else ordered.answered.raw_output


def _cost(found: Mapping[str, Ordered]) -> int:
    return sum(one.row.cost_nano_usd or 0 for one in found.values())
