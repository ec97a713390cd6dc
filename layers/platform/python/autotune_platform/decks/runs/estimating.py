"""What a run will probably cost, and at most, by the prices of the ledger; nothing is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from autotune.protocol.deck_runs import DeckEstimateOfGrader
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.access.models import Caller
from autotune_platform.decks.models import GraderVersion, Sample
from autotune_platform.decks.results import ResultRepository
from autotune_platform.decks.runs.asking import PURPOSE, asked_again
from autotune_platform.decks.runs.choosing import Chosen
from autotune_platform.judging.rubric.conversations import SampleTexts
from autotune_platform.judging.rubric.level_prompts import LevelFault, repair_notice
from autotune_platform.judging.rubric.levels import levels_request
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.ordering import RowOrders
from autotune_platform.ledger.planning import PlannedRow
from autotune_platform.ledger.prices import PriceSnapshot, bound, cost
from autotune_platform.ledger.usage import Usage
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.parts import part

BYTES_PER_TOKEN = 4
"""Of usual texts; ``bound`` counts a token for each byte."""

USUAL_ANSWER_TOKENS = 400
"""How long judges' answers usually are, reasoning included."""

ASKED_AT_MOST = 2
"""How often a judgement is asked for at most where answers come: once, and once more."""

_MEASURED = 20
_READ = 200


@dataclass(frozen=True)
class Estimate:
    """What a run costs, by its graders."""

    graders: Sequence[DeckEstimateOfGrader]

    @property
    def estimate(self) -> int:
        """What it will probably cost, in nano-USD."""
        return sum(one.estimate_nano_usd for one in self.graders)

    @property
    def bound(self) -> int:
        """What it costs at most."""
        return sum(one.bound_nano_usd for one in self.graders)


@part
class RunEstimating:
    """Adds up what judgements cost."""

    results: ResultRepository
    orders: RowOrders

    def estimate(
        self, caller: Caller, chosen: Chosen, *, repeat: bool, prompts: Mapping[int, int]
    ) -> Estimate:
        """Return what a run costs.

        Args:
            prompts: how many bytes the deck's system prompt has, by version.

        Raises:
            InvalidRequestError: a judge's connection is revoked, or its model has no price.
        """
        return Estimate(
            [
                self._of(caller, version, chosen, repeat, prompts, place)
                for place, version in enumerate(chosen.versions)
            ]
        )

    def _of(
        self,
        caller: Caller,
        version: GraderVersion,
        chosen: Chosen,
        repeat: bool,
        prompts: Mapping[int, int],
        place: int,
    ) -> DeckEstimateOfGrader:
        by = chosen.again_by.get(version.version)
        known = set() if repeat else self._known(version, by)
        asked = [one for one in chosen.samples if one.id not in known]
        planned = self._planned(caller, version, place)
        empty = planned.row
        prices = self.orders.prices_of(empty, planned.connection)
        sizes = [empty.input_bytes + _bytes_of(one, prompts) for one in asked]
        measured = self._measured(version)
        usual = [_usual(empty, size) for size in sizes] if measured is None else []
        return DeckEstimateOfGrader(
            grader_id=version.grader_id,
            version=version.version,
            requests=len(asked),
            known=len(chosen.samples) - len(asked),
            estimate_nano_usd=sum(usual) if measured is None else measured * len(asked),
            bound_nano_usd=ASKED_AT_MOST * sum(_bound(empty, size, prices) for size in sizes),
            measured=measured is not None,
        )

    def _known(self, version: GraderVersion, model: str | None) -> set[str]:
        """Return the samples that a version has judged, those by one model where it is named."""
        found = [*self.results.of_version(version.grader_id, version.version)]
        if model is not None:
            found += self.results.of_version(version.grader_id, version.version, repeated=True)
        return {one.sample_id for one in found if one.is_final and one.is_by(model)}

    def _measured(self, version: GraderVersion) -> int | None:
        """Return what a judgement of a version costs on average; None where there are too few."""
        newest = self.results.newest(version.grader_id, version.version, limit=_READ)
        costs = [one.cost_nano_usd for one in newest if one.is_final]
        return sum(costs) // len(costs) if len(costs) >= _MEASURED else None

    def _planned(self, caller: Caller, version: GraderVersion, place: int) -> PlannedRow:
        """Return the row that asks about a sample without texts."""
        (planned,) = self.orders.plan_orders(caller, [("estimate", _question(version))])
        if isinstance(planned, InvalidRequestError):
            raise InvalidRequestError.of_field(
                f"graderIds[{place}]", "a grader whose judge can be asked", detail=planned.detail
            )
        return planned


def _question(version: GraderVersion) -> EnqueueLlmRequest:
    assert version.judge is not None, "graders without a judge are not chosen"
    empty = SampleTexts(system="", turns=[], response="")
    request = levels_request(
        version.rubric, version.judge, empty, deck_prompt=None, purpose=PURPOSE
    )
    # The second question is the longer one, whichever fault it names.
    faults: tuple[LevelFault, ...] = get_args(LevelFault)
    return asked_again(request, max(faults, key=lambda fault: len(repair_notice(fault))))


def _bound(empty: Row, size: int, prices: Sequence[PriceSnapshot]) -> int:
    return max(bound(size, empty.messages, empty.max_tokens, price) for price in prices)


def _usual(empty: Row, size: int) -> int:
    output = min(empty.max_tokens, USUAL_ANSWER_TOKENS)
    usage = Usage(input_tokens=-(-size // BYTES_PER_TOKEN), output_tokens=output)
    return cost(usage, empty.price)


def _bytes_of(sample: Sample, prompts: Mapping[int, int]) -> int:
    """Return how many bytes a judge reads of a sample at most."""
    return sample.judged_bytes + prompts.get(sample.deck_version, 0)
