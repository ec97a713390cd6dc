"""What a proposal of edits will probably cost, and at most; nothing is asked."""

from collections.abc import Sequence

from autotune.protocol import deck_edit_proposals as wire
from autotune.protocol.deck_edits import EditPattern
from autotune.protocol.limits import MAX_EDIT_PATTERN_CHARACTERS, MAX_EDIT_PATTERNS
from autotune.protocol.llm_params import LlmInput
from autotune_platform.decks.fixing.answers import MOST_CODE_CHARACTERS
from autotune_platform.decks.fixing.asking import MOST_EXAMPLES, EditAsking
from autotune_platform.decks.fixing.proposals import Cited, Proposal, Question
from autotune_platform.decks.runs.estimating import BYTES_PER_TOKEN
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.prices import cost
from autotune_platform.ledger.usage import Usage
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.parts import part

_LONGEST = "\U00020000"
"""A character of four bytes, more than which none has."""

_USUAL_PATTERNS = 3
_USUAL_CODE, _USUAL_PATTERN = "x" * 60, "x" * 120
_USUAL_TOKENS = {"coding": 60, "merging": 500, "patching": 600}

Planned = tuple[list[Question], list[Row]]


@part
class ProposalEstimating:
    """Adds up what the stages of a proposal cost, whose questions follow from answers."""

    asking: EditAsking

    def naming(self, proposal: Proposal) -> Planned:
        """Return the rows that name disagreements, with which a proposal begins.

        Raises:
            InvalidRequestError: the model cannot be asked.
        """
        return self._planned(proposal, self.asking.texts(proposal))

    def estimate(self, proposal: Proposal) -> wire.EditProposalEstimate:
        """Return what a proposal that has asked nothing yet costs.

        Raises:
            InvalidRequestError: the model cannot be asked.
        """
        named = self.naming(proposal)
        by_size = sorted(zip(*named, strict=True), key=lambda one: -one[1].input_bytes)
        longest = [question.about for question, _ in by_size[:MOST_EXAMPLES]]
        most = MAX_EDIT_PATTERN_CHARACTERS
        least = _bound(named)
        bound = least
        bound += _bound(self._merging(proposal, _LONGEST * MOST_CODE_CHARACTERS))
        bound += _bound(self._patching(proposal, MAX_EDIT_PATTERNS, _LONGEST * most, longest))
        usual = _usual(named, "coding")
        usual += _usual(self._merging(proposal, _USUAL_CODE), "merging")
        some = proposal.shown[:MOST_EXAMPLES]
        usual += _usual(self._patching(proposal, _USUAL_PATTERNS, _USUAL_PATTERN, some), "patching")
        room = self.asking.orders.money.room(proposal.organization_id)
        return wire.EditProposalEstimate(
            shown=len(proposal.shown),
            requests=len(named[0]) + 1 + MAX_EDIT_PATTERNS,
            estimate_nano_usd=usual,
            bound_nano_usd=bound,
            least_cap_nano_usd=least,
            fits=room is None or bound <= room,
        )

    def _merging(self, proposal: Proposal, code: str) -> Planned:
        codes = dict.fromkeys(proposal.shown, code)
        after = proposal.model_copy(update={"status": "merging", "codes": codes})
        return self._planned(after, self.asking.texts(after))

    def _patching(
        self, proposal: Proposal, number: int, text: str, sample_ids: Sequence[str]
    ) -> Planned:
        """Return the rows of so many patterns that are alike."""
        cited = Cited(pattern=EditPattern(name=text, description=text), sample_ids=sample_ids)
        after = proposal.model_copy(update={"status": "patching", "patterns": [cited]})
        ((_, asked),) = self.asking.texts(after)
        return self._planned(after, [(str(place), asked) for place in range(number)])

    def _planned(self, proposal: Proposal, texts: Sequence[tuple[str, LlmInput]]) -> Planned:
        planned = self.asking.plan(proposal, texts)
        if isinstance(planned, InvalidRequestError):
            raise InvalidRequestError.of_field(
                "proposer", "a model that can be asked", detail=planned.detail
            )
        return planned


def _bound(planned: Planned) -> int:
    return sum(question.most for question in planned[0])


def _usual(planned: Planned, stage: str) -> int:
    return sum(
        cost(
            Usage(
                input_tokens=-(-row.input_bytes // BYTES_PER_TOKEN),
                output_tokens=min(row.max_tokens, _USUAL_TOKENS[stage]),
            ),
            row.price,
        )
        for row in planned[1]
    )
