"""What language models cost, by day, connection, model and purpose."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from autotune_platform.ledger.models import Row
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.registry import entity_from
from autotune_platform.storage.table import Table

_KEPT = timedelta(days=800)


@dataclass
class Spent:
    """Rows that were paid, and what they used; ``cost`` is in billionths of a US dollar."""

    rows: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    cost: int = 0

    def add(self, row: Row, cost: int) -> None:
        """Count one attempt of a row."""
        self.rows += 1
        self.cost += cost
        if row.usage is not None:
            self.input_tokens += row.usage.input_tokens
            self.cached_input_tokens += row.usage.cached_input_tokens
            self.output_tokens += row.usage.output_tokens


class DayCost(FrozenModel):
    """What one connection's model cost on one day for one purpose."""

    day: str
    connection_id: str
    model: str
    purpose: str
    rows: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
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
                numbers={
                    "rows": spent.rows,
                    "input_tokens": spent.input_tokens,
                    "cached_input_tokens": spent.cached_input_tokens,
                    "output_tokens": spent.output_tokens,
                    "cost_nano_usd": spent.cost,
                },
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

    def between(self, organization_id: str, first: date, last: date) -> list[DayCost]:
        """Return the sums of some days, in order of their days."""
        items = self._table.items(
            _partition(organization_id), between=("sk", f"{first}#", f"{last}$")
        )
        return [entity_from(item, DayCost) for item in items]


def _partition(organization_id: str) -> str:
    return f"cost#{organization_id}"
