"""What a million runs of the apprentice cost on AWS, by who is asked: counted on the wire.

Each run is waited for, as a program does that needs its answer. What is counted is all that follows
from it: the API's function and the worker, the ledger's row, counts, pairs and evidence, the audit
log. What models take is beside it: the paid one is a fake of its provider, the small one stands for
what somebody serves.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.cost import Cost, priced
from benchmarks.gateways.apprentice_gateway import ApprenticeGateway, RunDoor
from benchmarks.gateways.asking import ask
from benchmarks.gateways.deployed import Deployed
from benchmarks.gateways.saying import answer_of
from benchmarks.gateways.student import student
from benchmarks.llm_provider import provider
from benchmarks.stand import CountedStand

PAID, BOTH, SMALL = "paid model alone", "both, with a pair", "small model alone"
_MAX_TOKENS = 400
_AT_ONCE = 4
_WARM = 20


@dataclass(frozen=True)
class RunCost:
    """Runs that went one way.

    Attributes:
        asked: who was asked.
    """

    asked: str
    cost: Cost

    @property
    def calls(self) -> Mapping[str, float]:
        """Calls of AWS for each run, by service and operation."""
        counted = self.cost.counted.calls
        return {name: number / self.cost.count for name, number in counted.most_common()}

    @property
    def writes(self) -> float:
        """Write units for each run, indexes and transactions included."""
        return self.cost.counted.writes.total() / self.cost.count


def measure(stand: CountedStand, *, runs: int) -> Iterator[RunCost]:
    """Price runs of each of the three ways, all of a task of their own.

    Raises:
        RuntimeError: not all were answered, or another model answers than is to be priced.
    """
    with provider(answer_of(_MAX_TOKENS)) as url, student() as student_url:
        deployed = Deployed(stand, url)
        paid = ApprenticeGateway(deployed)
        yield _priced(stand, paid.door(max_tokens=_MAX_TOKENS), PAID, runs)
        both = ApprenticeGateway(deployed, student_url)
        door = both.begun(max_tokens=_MAX_TOKENS)
        both.teach(door)
        yield _priced(stand, door, BOTH, runs)
        both.promote(door)
        yield _priced(stand, door, SMALL, runs)


def as_rows(costs: Iterable[RunCost]) -> Iterator[dict[str, Any]]:
    """Return a row for each way, with what is billed."""
    for each in costs:
        yield {
            "asked": each.asked,
            "runs": each.cost.count,
            "USD per million": f"{each.cost.usd_per_million:.2f}",
            **{one.name: f"{one.usd_per_million:.3f}" for one in each.cost.positions},
        }


def calls_as_rows(costs: Iterable[RunCost]) -> Iterator[dict[str, Any]]:
    """Return a row for each operation of AWS, with how often a run of each way has it done."""
    found = list(costs)
    names = sorted({name for each in found for name in each.calls})
    for name in names:
        yield {"call": name, **{one.asked: f"{one.calls.get(name, 0):.2f}" for one in found}}
    yield {"call": "all", **{one.asked: f"{sum(one.calls.values()):.2f}" for one in found}}
    yield {"call": "write units", **{one.asked: f"{one.writes:.2f}" for one in found}}


def _priced(stand: CountedStand, door: RunDoor, asked: str, runs: int) -> RunCost:
    # Functions start one after the other, and each is slow at first.
    ask(door, 2, at_once=1)
    ask(door, _WARM, at_once=_AT_ONCE)
    return RunCost(asked, priced(stand, lambda: _ask(door, runs), batch_size=1, count=runs))


def _ask(door: RunDoor, runs: int) -> None:
    statuses = ask(door, runs, at_once=_AT_ONCE).statuses
    if statuses[200] != runs:
        message = f"{dict(statuses)} to {runs} runs: there is nothing to be priced"
        raise RuntimeError(message)
