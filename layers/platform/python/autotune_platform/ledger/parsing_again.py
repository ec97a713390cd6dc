"""Parsing answers again: it asks no model, costs nothing, and overwrites nothing."""

from collections.abc import Sequence

from autotune.protocol.limits import MAX_LLM_PARSE_BYTES, MAX_LLM_PARSES
from autotune.protocol.llm_parses import LlmParse
from autotune.protocol.problems import LimitProblem
from autotune.protocol.verdict_formats import VerdictFormat
from autotune_platform.access.models import Caller
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.parses import LaterParse, packed, reading_format
from autotune_platform.ledger.parsing import PARSER_VERSION, parse
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.row_texts import RowInput, RowOutput
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.ledger.wire import parse_on_wire, parses_on_wire
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    TooManyParsesError,
    UnavailableError,
)
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY

_ATTEMPTS = 5


@part
class ParsingAgain:
    """Reads stored answers once more, and lists how they were read."""

    rows: RowRepository
    texts: RowTexts
    clock: Clock = SYSTEM_CLOCK

    def parse(self, caller: Caller, row_id: str, form: VerdictFormat | None) -> LlmParse:
        """Parse a row's answer again; return what that read.

        Where the latest parse is by the same parser in the same format, that is returned.

        Args:
            form: the format; None for the one that the row has.

        Raises:
            NotFoundError: there is no such row, or it is another organisation's.
            ConflictError: it has not completed, or its texts were deleted.
            InvalidRequestError: neither the row nor the caller says in which format.
            TooManyParsesError: it has as many versions as it may, or they are as large.
            UnavailableError: others kept parsing it.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            row, text, output = self._read(caller, row_id)
            wanted = form
            if wanted is None:
                if text.verdict is None:
                    raise InvalidRequestError.of_field(
                        "verdict", "a format: the request itself asks for no verdict"
                    )
                wanted = VerdictFormat.model_validate(text.verdict)
            latest = parses_on_wire(row, text, output)[-1:]
            if latest and _is_same(latest[0], wanted):
                return latest[0]
            number = latest[0].version + 1 if latest else 1
            again = self._parsed(caller, row, output, wanted, number)
            _check_limits(output.later, again)
            if self.texts.add_parse(row, output.later, again):
                return parse_on_wire(again)
        raise UnavailableError("the request is being parsed by others", retry_after_seconds=1)

    def parses(self, caller: Caller, row_id: str) -> list[LlmParse]:
        """Return all parses of a row's answer, the first one first.

        Raises:
            NotFoundError: there is no such row, or it is another organisation's.
            ConflictError: it has not completed, or its texts were deleted.
        """
        return parses_on_wire(*self._read(caller, row_id))

    def _read(self, caller: Caller, row_id: str) -> tuple[Row, RowInput, RowOutput]:
        row = self.rows.get(row_id)
        if row is None or row.organization_id != caller.organization_id:
            raise NotFoundError(f"no request {row_id}")
        if row.status != "completed":
            raise ConflictError(f"the request is {row.status}; only a completed one has an answer")
        text, output = self.texts.input_of(row_id), self.texts.output_of(row_id)
        if text is None or output is None:
            raise ConflictError("the request's texts were deleted")
        return row, text, output

    def _parsed(
        self, caller: Caller, row: Row, output: RowOutput, form: VerdictFormat, number: int
    ) -> LaterParse:
        found = parse(output.raw_output, form, is_cut=row.finish_reason == "length")
        return LaterParse(
            version=number,
            parser_version=found.parser_version,
            verdict=reading_format(form),
            at=self.clock.now(),
            by=caller.key_id,
            reasoning_characters=None if found.reasoning is None else len(found.reasoning),
            verdict_text=found.verdict_text,
            parsed_verdict=found.parsed_verdict,
            error=found.error,
        )


def _is_same(latest: LlmParse, form: VerdictFormat) -> bool:
    is_alike = reading_format(latest.verdict) == reading_format(form)
    return is_alike and latest.parser_version == PARSER_VERSION


def _check_limits(before: Sequence[LaterParse], again: LaterParse) -> None:
    """Require that one more parse is within the bounds.

    Raises:
        TooManyParsesError: it is not.
    """
    if again.version > MAX_LLM_PARSES:
        raise TooManyParsesError(
            f"the answer was parsed {MAX_LLM_PARSES} times, which is the most; earlier parses stay",
            limit=LimitProblem(
                name="parses", maximum=MAX_LLM_PARSES, unit="parses", actual=again.version
            ),
        )
    size = len(packed([*before, again]))
    if size > MAX_LLM_PARSE_BYTES:
        raise TooManyParsesError(
            "what parses of this answer read, with their formats, is too large for one more",
            limit=LimitProblem(
                name="parses", maximum=MAX_LLM_PARSE_BYTES, unit="bytes", actual=size
            ),
        )
