"""Proposals as rows of the ledger: what is asked, under which key, and what it costs at most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.protocol.deck_rubrics import DeckJudge
from autotune.protocol.levels import LEVELS, LevelsRubric
from autotune.protocol.llm_params import LlmInput
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.access.models import Caller
from autotune_platform.decks.proposing.answers import MOST_ANSWER_BYTES, MOST_GRADERS
from autotune_platform.decks.proposing.models import Candidate, Proposing, Question, RunProposal
from autotune_platform.decks.proposing.prompts import graders_input, order_input, shuffled_places
from autotune_platform.decks.runs.estimating import BYTES_PER_TOKEN
from autotune_platform.decks.runs.models import Run
from autotune_platform.ledger.affording import too_dear
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.ordering import Ordered, RowOrders
from autotune_platform.ledger.planning import PlannedRow, input_of
from autotune_platform.ledger.prices import bound, cost
from autotune_platform.ledger.usage import Usage
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.parts import part

PURPOSE = "rubric_proposal"
MOST_REPAIRS = 2
"""How often a model is asked again for what could not be used."""

_MOST_ORDER_TOKENS = 4_000
_USUAL_GRADERS, _USUAL_ANSWER_TOKENS, _USUAL_ORDER_TOKENS = 5, 2_500, 60
_USUAL_ORDER_BYTES = 2_000
# A run takes a week at most; what is left behind goes a day later.
_RETENTION_DAYS = 8


@dataclass(frozen=True)
class ProposalCost:
    """What a proposal will probably cost, and at most, in nano-USD."""

    estimate: int
    bound: int


@part
class ProposalAsking:
    """Makes rows of a proposal's questions, and has them asked."""

    orders: RowOrders

    def caller_of(self, run: Run) -> Caller | None:
        """Return the organisation as a caller; None while nobody may ask."""
        if self.orders.organizations.organization(run.organization_id).status != "active":
            return None
        return self.orders.caller_for(run.organization_id)

    def plan(
        self, caller: Caller, run: Run, proposal: RunProposal, proposing: Proposing, prompt: str
    ) -> Sequence[tuple[Question, Row]] | None:
        """Return the rows that are asked next, none stored; None where they cannot be asked."""
        asked = self._asked(run, proposing, prompt)
        keyed = [
            (_key(run, proposing, place), _request(proposal.proposer, run, proposing, text))
            for place, text in enumerate(asked)
        ]
        lowest = self.orders.affording.lowest(run.organization_id)
        found: list[tuple[Question, Row]] = []
        for place, planned in enumerate(self.orders.plan_orders(caller, keyed)):
            if isinstance(planned, InvalidRequestError):
                return None
            row = planned.row
            if lowest is not None and too_dear(row, lowest) is not None:
                return None
            assert row.most_nano_usd is not None, "what is ordered by us has a bound"
            question = Question(row_id=row.id, most=row.most_nano_usd, candidate=place)
            found.append((question, row))
        return found

    def order(
        self,
        caller: Caller,
        run: Run,
        proposal: RunProposal,
        proposing: Proposing,
        rows: Sequence[Row],
        prompt: str,
    ) -> None:
        """Enqueue what is asked next; doing it again changes nothing.

        Raises:
            TooManyOpenRowsError: the organisation has as much under way as it may.
            UnavailableError: a store refused work, or somebody else orders it right now.
        """
        asked = self._asked(run, proposing, prompt)
        texts = {
            one.row_id: input_of(_request(proposal.proposer, run, proposing, text))
            for one, text in zip(proposing.questions, asked, strict=True)
        }
        self.orders.order_all(caller, _order_key(proposing), rows, texts)

    def was_begun(self, run: Run, proposing: Proposing) -> bool:
        """Return whether any row of what is asked may be stored."""
        return self.orders.was_begun(run.organization_id, _order_key(proposing))

    def look(self, proposing: Proposing) -> Mapping[str, Ordered]:
        """Return what has come of what is asked, by row."""
        return self.orders.look([one.row_id for one in proposing.questions])

    def cost(self, caller: Caller, proposer: DeckJudge, prompt: str) -> ProposalCost:
        """Return what a proposal costs; nothing is stored or asked.

        Raises:
            InvalidRequestError: the connection is revoked, the model has no price, or it cannot be
                asked so.
        """
        first = self._planned(caller, proposer, graders_input(prompt, [], []))
        order = self._planned(caller, _orderer(proposer), _order_of_nothing())
        # The texts of all graders that are put in order stand in one answer.
        ordering = MOST_GRADERS * self._bound(order, MOST_ANSWER_BYTES // MOST_GRADERS + 1)
        again = self._bound(first, 2 * MOST_ANSWER_BYTES)
        asked = _usual(first, 0, _USUAL_ANSWER_TOKENS)
        ordered = _usual(order, _USUAL_ORDER_BYTES, _USUAL_ORDER_TOKENS)
        return ProposalCost(
            estimate=asked + _USUAL_GRADERS * ordered,
            bound=self._bound(first, 0) + MOST_REPAIRS * again + (1 + MOST_REPAIRS) * ordering,
        )

    def _bound(self, planned: PlannedRow, more_bytes: int) -> int:
        row = planned.row
        prices = self.orders.prices_of(row, planned.connection)
        size = row.input_bytes + more_bytes
        return max(bound(size, row.messages, row.max_tokens, price) for price in prices)

    def _planned(self, caller: Caller, proposer: DeckJudge, text: LlmInput) -> PlannedRow:
        request = EnqueueLlmRequest(
            connection_id=proposer.connection_id,
            purpose=PURPOSE,
            model=proposer.model,
            input=text,
            params=proposer.params,
        )
        (planned,) = self.orders.plan_orders(caller, [("estimate", request)])
        if isinstance(planned, InvalidRequestError):
            raise InvalidRequestError.of_field(
                "proposer", "a model that can be asked", detail=planned.detail
            )
        return planned

    def _asked(self, run: Run, proposing: Proposing, prompt: str) -> list[LlmInput]:
        if proposing.stage == "graders":
            return [graders_input(prompt, proposing.kept, proposing.refused)]
        return [order_input(one, shuffled_places(run.id, one)) for one in proposing.candidates]


def _request(
    proposer: DeckJudge, run: Run, proposing: Proposing, text: LlmInput
) -> EnqueueLlmRequest:
    model = _orderer(proposer) if proposing.stage == "order" else proposer
    return EnqueueLlmRequest(
        connection_id=model.connection_id,
        purpose=PURPOSE,
        model=model.model,
        input=text,
        params=model.params,
        deck_id=run.deck_id,
        labels={"run": run.id, "stage": proposing.stage, "repair": str(proposing.repairs)},
        complete_by=run.deadline,
        retention_days=_RETENTION_DAYS,
    )


def _order_of_nothing() -> LlmInput:
    """Return the question for the order of levels without texts, which are counted beside it."""
    rubric = LevelsRubric(criteria="?", levels=[""] * len(LEVELS))
    return order_input(Candidate(name="?", rubric=rubric, quotes=()), range(len(LEVELS)))


def _orderer(proposer: DeckJudge) -> DeckJudge:
    """Return the model as it puts levels in order, which takes few words."""
    most = min(proposer.params.max_tokens, _MOST_ORDER_TOKENS)
    params = proposer.params.model_copy(update={"max_tokens": most})
    return proposer.model_copy(update={"params": params})


def _usual(planned: PlannedRow, more_bytes: int, tokens: int) -> int:
    row = planned.row
    output = min(row.max_tokens, tokens)
    given = -(-(row.input_bytes + more_bytes) // BYTES_PER_TOKEN)
    return cost(Usage(input_tokens=given, output_tokens=output), row.price)


def _key(run: Run, proposing: Proposing, place: int) -> str:
    parts = ("proposal", run.id, str(proposing.repairs), proposing.stage, str(place))
    return "#".join(parts)


def _order_key(proposing: Proposing) -> str:
    return f"{proposing.run_id}.{proposing.stage}.{proposing.repairs}"
