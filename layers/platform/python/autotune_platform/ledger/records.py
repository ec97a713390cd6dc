"""Rows that have ended, with their texts, for those who carry them elsewhere."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from autotune.protocol.llm_requests import LlmRequest, LlmStatus
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.ledger.wire import request_on_wire
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part

_TEXTS_PER_READ = 25


@dataclass(frozen=True)
class EndedRow:
    """A row that has ended as callers see it, and the token of what is behind it in its list."""

    request: LlmRequest
    behind: str


@part
class LedgerRecords:
    """Reads rows of any organisation that have ended."""

    rows: RowRepository
    texts: RowTexts

    def page(
        self,
        organization_id: str,
        *,
        status: LlmStatus,
        where: Mapping[str, str],
        limit: int,
        next_token: str | None,
    ) -> tuple[list[Row], str | None]:
        """Return a page of rows of a status, the youngest first; it may be short, even empty."""
        return self.rows.page(
            organization_id, status=status, where=where, limit=limit, next_token=next_token
        )

    def with_texts(self, rows: Sequence[Row]) -> Iterator[EndedRow]:
        """Yield rows with their texts as far as they are there, some of them in memory."""
        for some in groups(rows, _TEXTS_PER_READ):
            ids = [row.id for row in some]
            inputs, outputs = self.texts.inputs(ids), self.texts.outputs(ids)
            for row in some:
                request = request_on_wire(row, inputs.get(row.id), outputs.get(row.id))
                yield EndedRow(request, self.rows.token_behind(row))
