"""Proposals of edits as rows of the ledger: what is asked at each stage, and under which key."""

from collections.abc import Iterable, Sequence

from autotune.protocol.levels import LevelsRubric
from autotune.protocol.llm_params import LlmInput
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.decks.fixing.prompts import Shown, code_input, merge_input, patch_input
from autotune_platform.decks.fixing.proposals import Proposal, Question
from autotune_platform.decks.fixing.showing import EditShowing
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.runs.models import LONGEST
from autotune_platform.decks.runs.repository import unpacked_rows
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.ordering import RowOrders
from autotune_platform.ledger.planning import input_of
from autotune_platform.runtime.errors import (
    InvalidRequestError,
    NotFoundError,
    TooManyOpenRowsError,
    UnavailableError,
)
from autotune_platform.runtime.parts import part

PURPOSE = "rubric_edit"
MERGING = "merge"
"""What the one question of its stage is about."""

MOST_EXAMPLES = 5
"""So many samples show a pattern at most."""

_RETENTION_DAYS = 8


@part
class EditAsking:
    """Makes rows of a proposal's questions, and has them asked."""

    graders: DeckGraderRepository
    showing: EditShowing
    orders: RowOrders

    def order(self, proposal: Proposal, *, is_over: bool) -> bool:
        """Enqueue what is asked next; return False where it has to wait.

        Where nothing more is to be asked, the rows end without being asked, but for those that
        somebody has enqueued: who comes late with their texts finds them ended.
        """
        assert proposal.rows is not None, "what is to be asked has its rows"
        texts = {} if is_over else dict(self.texts(proposal))
        inputs = {
            one.row_id: input_of(_request(proposal, texts[one.about]))
            for one in proposal.questions
            if one.about in texts
        }
        caller = self.orders.caller_for(proposal.organization_id)
        try:
            self.orders.order_all(caller, proposal.order_key, unpacked_rows(proposal.rows), inputs)
        except (TooManyOpenRowsError, UnavailableError):
            return False
        return True

    def texts(self, proposal: Proposal) -> list[tuple[str, LlmInput]]:
        """Return what is asked at a stage; the same each time, but for samples that are gone."""
        if proposal.status == "merging":
            return [(MERGING, merge_input(sorted(proposal.codes.items())))]
        rubric = self.rubric(proposal)
        if proposal.status == "coding":
            shown = self._shown(proposal, proposal.shown)
            return [(one.sample_id, code_input(rubric, one)) for one in shown]
        found = []
        for place, cited in enumerate(proposal.patterns):
            shown = self._shown(proposal, cited.sample_ids[:MOST_EXAMPLES])
            found.append((str(place), patch_input(rubric, cited, shown)))
        return found

    def _shown(self, proposal: Proposal, sample_ids: Iterable[str]) -> list[Shown]:
        return self.showing.shown(
            proposal.deck_id, proposal.grader_id, proposal.base_version, sample_ids
        )

    def rubric(self, proposal: Proposal) -> LevelsRubric:
        """Return the rubric that is mended.

        Raises:
            NotFoundError: the grader is gone.
        """
        version = self.graders.version(proposal.deck_id, proposal.grader_id, proposal.base_version)
        if version is None:
            raise NotFoundError(f"no grader {proposal.grader_id}")
        return version.rubric

    def plan(
        self, proposal: Proposal, texts: Sequence[tuple[str, LlmInput]]
    ) -> tuple[list[Question], list[Row]] | InvalidRequestError:
        """Return the rows that are asked next, none stored; or why they cannot be asked."""
        caller = self.orders.caller_for(proposal.organization_id)
        keyed = [
            (f"{proposal.order_key}#{about}", _request(proposal, text)) for about, text in texts
        ]
        questions, rows = [], []
        for (about, _), planned in zip(texts, self.orders.plan_orders(caller, keyed), strict=True):
            if isinstance(planned, InvalidRequestError):
                return planned
            row = planned.row
            assert row.most_nano_usd is not None, "what is ordered by us has a bound"
            questions.append(Question(row_id=row.id, about=about, most=row.most_nano_usd))
            rows.append(row)
        return questions, rows


def _request(proposal: Proposal, text: LlmInput) -> EnqueueLlmRequest:
    proposer = proposal.proposer
    return EnqueueLlmRequest(
        connection_id=proposer.connection_id,
        purpose=PURPOSE,
        model=proposer.model,
        input=text,
        params=proposer.params,
        deck_id=proposal.deck_id,
        labels={"grader": proposal.grader_id, "version": str(proposal.base_version)},
        complete_by=proposal.created_at + LONGEST,
        retention_days=_RETENTION_DAYS,
    )
