"""Rows that have ended, with their texts, for those who carry them elsewhere."""

from collections.abc import Iterable, Iterator

from autotune.protocol.llm_requests import LlmRequest
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.ledger.wire import request_on_wire
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part

_TEXTS_PER_READ = 25


@part
class LedgerRecords:
    """Reads rows of any organisation that have ended."""

    texts: RowTexts

    def with_texts(self, rows: Iterable[Row]) -> Iterator[LlmRequest]:
        """Yield rows with their texts as far as they are there, some of them in memory."""
        for some in groups(rows, _TEXTS_PER_READ):
            ids = [row.id for row in some]
            inputs, outputs = self.texts.inputs(ids), self.texts.outputs(ids)
            for row in some:
                yield request_on_wire(row, inputs.get(row.id), outputs.get(row.id))
