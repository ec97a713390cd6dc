"""Checking a chunk's lines: rows that can be enqueued, and why the others cannot."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from aws_lambda_powertools import Logger

from autotune.protocol.ids import derived_id
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.access.models import Caller
from autotune_platform.http.problems import excerpt
from autotune_platform.ledger.affording import Affording, too_dear
from autotune_platform.ledger.imports.formats import (
    LineRejectedError,
    as_rejection,
    custom_id_of,
    document_of,
    names_of,
    request_of,
)
from autotune_platform.ledger.imports.lines import Chunk, Line
from autotune_platform.ledger.imports.models import Import, LineError
from autotune_platform.ledger.planning import OF_DATA, PlannedRow, RowPlanner
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.parts import part

logger = Logger()

_SHOWN_CUSTOM_ID = 128
_SHOWN_FIELD = 200
_SHOWN_MESSAGE = 300


@dataclass
class Checked:
    """What a chunk came to; each line that is not empty is in one of the two."""

    planned: list[PlannedRow] = field(default_factory=list)
    errors: list[LineError] = field(default_factory=list)


@part
class LineChecking:
    """Reads lines of an import, and plans their rows."""

    planner: RowPlanner
    affording: Affording

    def check(self, caller: Caller, one: Import, chunk: Chunk) -> Checked:
        """Return a chunk's rows, whose ids follow from import and line, and its errors in order."""
        checked = Checked()
        lowest = self.affording.lowest(one.organization_id)
        asked: list[tuple[Line, str | None, Mapping[str, str]]] = []

        def requests() -> Iterator[tuple[str, EnqueueLlmRequest]]:
            for line in chunk.lines:
                custom_id = None
                try:
                    document = document_of(line.text)
                    custom_id = custom_id_of(document, one.request.format)
                    request = request_of(document, one.request)
                except LineRejectedError as error:
                    checked.errors.append(_error(line, custom_id, error))
                    continue
                except OF_DATA:
                    # It is the line's, and would come again at each attempt.
                    logger.exception("a line cannot be read", import_id=one.id, line=line.number)
                    unread = LineRejectedError(None, "this line cannot be read")
                    checked.errors.append(_error(line, custom_id, unread))
                    continue
                names = names_of(document, one.request.format)
                asked.append((line, request.custom_id, names))
                yield derived_id("llm", one.organization_id, one.id, str(line.number)), request

        for planned in self.planner.plan_each(caller, requests()):
            line, custom_id, names = asked[-1]
            if isinstance(planned, InvalidRequestError):
                refusal: InvalidRequestError | None = planned
            else:
                refusal = None if lowest is None else too_dear(planned.row, lowest)
            if refusal is not None:
                rejection = as_rejection(refusal, names)
                checked.errors.append(_error(line, custom_id, rejection))
            elif not isinstance(planned, InvalidRequestError):
                row = planned.row.model_copy(update={"import_id": one.id})
                checked.planned.append(PlannedRow(row, planned.text, planned.connection))
        return checked


def _error(line: Line, custom_id: str | None, error: LineRejectedError) -> LineError:
    return LineError(
        line=line.number,
        custom_id=None if custom_id is None else _printable(custom_id, _SHOWN_CUSTOM_ID),
        field=None if error.field is None else _printable(error.field, _SHOWN_FIELD),
        message=_printable(error.message, _SHOWN_MESSAGE),
    )


def _printable(text: str, longest: int) -> str:
    """Return a text that UTF-8 can hold: a caller's may have halves of pairs."""
    return excerpt(text, longest).encode(errors="replace").decode()
