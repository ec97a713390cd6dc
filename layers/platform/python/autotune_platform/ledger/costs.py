"""What language models cost, by day: by connection, model and purpose, and by ids of traces.

Sums by trace are bounded: they are written in the transaction that settles a batch, as far as it
has room. Where a batch has more ids than that, the dearest keep sums of their own, and the others
have one together.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from autotune_platform.ledger.models import Row
from autotune_platform.ledger.prices import most_input_tokens
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.registry import entity_from
from autotune_platform.storage.table import Table

TRACED = ("experiment_id", "rubric_id")
"""Ids of a trace that costs are summed by; the others are of a request or a few."""

OTHERS = "all others"
"""Stands for ids that have no sum of their own; no id has a space in it."""

NO_ID = "no id"
"""Stands for requests without such an id; what they cost is the rest of the day, not stored."""

_KEPT = timedelta(days=800)
_MOST_OPEN = 10_000


@dataclass
class Spent:
    """Rows that were paid, and what they used; ``cost`` is in billionths of a US dollar."""

    rows: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost: int = 0

    def add(self, row: Row, cost: int, batch_id: str | None = None) -> None:
        """Count one attempt of a row.

        Args:
            batch_id: the batch that it was in, if any. The row's usage is that of its last attempt,
                which may be in another by now: then this one was charged at its bound.
        """
        self.rows += 1
        self.cost += cost
        if row.batch_id != batch_id:
            if cost:
                self.input_tokens += most_input_tokens(row.input_bytes, row.messages)
                self.output_tokens += row.max_tokens
        elif row.usage is not None:
            self.input_tokens += row.usage.input_tokens
            self.cached_input_tokens += row.usage.cached_input_tokens
            self.cache_write_tokens += row.usage.cache_write_tokens
            self.output_tokens += row.usage.output_tokens
            self.reasoning_tokens += row.usage.reasoning_tokens

    def plus(self, other: "Spent") -> None:
        """Add what others used."""
        self.rows += other.rows
        self.cost += other.cost
        self.input_tokens += other.input_tokens
        self.cached_input_tokens += other.cached_input_tokens
        self.cache_write_tokens += other.cache_write_tokens
        self.output_tokens += other.output_tokens
        self.reasoning_tokens += other.reasoning_tokens

    @property
    def numbers(self) -> Mapping[str, int]:
        """What is added to a sum."""
        return {
            "rows": self.rows,
            "input_tokens": self.input_tokens,
            "cached_input_tokens": self.cached_input_tokens,
            "cache_write_tokens": self.cache_write_tokens,
            "output_tokens": self.output_tokens,
            "reasoning_tokens": self.reasoning_tokens,
            "cost_nano_usd": self.cost,
        }


class TracedSpent:
    """What was spent, by name and value of the ids of traces that costs are summed by."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str], Spent] = defaultdict(Spent)

    def add(self, row: Row, cost: int, batch_id: str | None = None) -> None:
        """Count one attempt of a row for each id that it has; see ``Spent.add``."""
        for name in TRACED:
            if (value := row.trace.get(name)) is not None:
                is_apart = (name, value) in self._sums or len(self._sums) < _MOST_OPEN
                self._sums[name, value if is_apart else OTHERS].add(row, cost, batch_id)

    def dearest(self, most: int) -> Mapping[tuple[str, str], Spent]:
        """Return at most so many sums, by name and value: the dearest ids, and all others."""
        own = [one for one in self._sums.items() if one[0][1] != OTHERS]
        own.sort(key=lambda one: (-one[1].cost, -one[1].rows, one[0]))
        rest = [one for one in self._sums.items() if one[0][1] == OTHERS]
        if len(own) + len(rest) > most:
            kept = max(0, most - len(TRACED))
            own, rest = own[:kept], rest + own[kept:]
        found: dict[tuple[str, str], Spent] = dict(own)
        for (name, _), spent in rest if most >= len(TRACED) else []:
            found.setdefault((name, OTHERS), Spent()).plus(spent)
        return found


class TracedCost(FrozenModel):
    """What one id of traces cost on one day."""

    day: str
    trace_id: str
    rows: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost_nano_usd: int = 0


class DayCost(FrozenModel):
    """What one connection's model cost on one day for one purpose."""

    day: str
    connection_id: str
    model: str
    purpose: str
    rows: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost_nano_usd: int = 0


class CostRepository:
    """Sums of costs in the ``ledger`` table, one item for each day and kind of call."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def additions(
        self,
        organization_id: str,
        at: datetime,
        *,
        connection_id: str,
        model: str,
        by_purpose: Mapping[str, Spent],
    ) -> list[Addition]:
        """Return what adds costs to the sums of a day, to be written with what they are of."""
        day = f"{at:%Y-%m-%d}"
        return [
            Addition(
                table=self._table.name,
                pk=_partition(organization_id),
                sk=f"{day}#{connection_id}#{purpose}#{model}",
                numbers=spent.numbers,
                changes={
                    "day": day,
                    "connection_id": connection_id,
                    "model": model,
                    "purpose": purpose,
                    "expires_at": int((at + _KEPT).timestamp()),
                },
            )
            for purpose, spent in by_purpose.items()
        ]

    def traced(
        self, organization_id: str, at: datetime, spent: TracedSpent, *, room: int
    ) -> list[Addition]:
        """Return what adds costs to the sums of ids of traces.

        Args:
            room: how many items the transaction that they are of may still write.
        """
        day = f"{at:%Y-%m-%d}"
        return [
            Addition(
                table=self._table.name,
                pk=_traced_partition(organization_id),
                sk=f"{name}#{day}#{value}",
                numbers=one.numbers,
                changes={
                    "day": day,
                    "trace_id": value,
                    "expires_at": int((at + _KEPT).timestamp()),
                },
            )
            for (name, value), one in spent.dearest(room).items()
        ]

    def traced_between(
        self, organization_id: str, name: str, first: date, last: date
    ) -> list[TracedCost]:
        """Return the sums of all ids of one name on some days, in order of their days."""
        items = self._table.items(
            _traced_partition(organization_id),
            between=("sk", f"{name}#{first}#", f"{name}#{last}$"),
        )
        return [entity_from(item, TracedCost) for item in items]

    def between(self, organization_id: str, first: date, last: date) -> list[DayCost]:
        """Return the sums of some days, in order of their days."""
        items = self._table.items(
            _partition(organization_id), between=("sk", f"{first}#", f"{last}$")
        )
        return [entity_from(item, DayCost) for item in items]


def _partition(organization_id: str) -> str:
    return f"cost#{organization_id}"


def _traced_partition(organization_id: str) -> str:
    return f"traced#{organization_id}"
