"""Reading answers of language models again, on the wire: it asks no model and costs nothing."""

from typing import Any

from autotune.protocol.llm_filters import ChangeLlmRequests
from autotune.protocol.llm_requests import LlmError
from autotune.protocol.types import RequestModel, ResponseModel, Timestamp
from autotune.protocol.verdict_formats import VerdictFormat


class ParseLlmRequest(RequestModel):
    """An answer is to be parsed again.

    ``verdict`` is the format that it is read in; without it, the one that the request has.
    """

    verdict: VerdictFormat | None = None


class ParseLlmRequests(ChangeLlmRequests):
    """Answers of requests are to be parsed again, a page of them at a time, in one format.

    Without ``verdict``, each in the one that its request has.
    """

    verdict: VerdictFormat | None = None


class LlmParse(ResponseModel):
    """One reading of an answer.

    Attributes:
        version: 1 for the first, which was made when the answer came if a verdict was asked for.
        parser_version: of the parser that read it; a later one may read more.
        verdict: the format that it was read in.
        parsed_by: the key that asked for it; None for the one that was made when the answer came.
        parse_error: why there is no verdict; then the two before it are None.
    """

    version: int
    parser_version: int
    verdict: VerdictFormat
    parsed_at: Timestamp
    parsed_by: str | None = None
    verdict_text: str | None = None
    parsed_verdict: Any | None = None
    parse_error: LlmError | None = None


class LlmParseResponse(ResponseModel):
    """The latest parse of a request."""

    parse: LlmParse


class LlmParses(ResponseModel):
    """All parses of a request, the first one first."""

    parses: list[LlmParse]
