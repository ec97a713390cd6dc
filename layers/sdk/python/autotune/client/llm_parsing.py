"""Reading answers of language models again: it asks no model, and costs nothing."""

from collections.abc import Callable, Mapping
from typing import Any, Unpack

from autotune.client.arguments import request_of
from autotune.client.calls import Call, CallOptions, call, returning
from autotune.client.exchange import Plan
from autotune.client.llm_filters import RequestFilters, all_pages, filter_of
from autotune.protocol.llm_parses import (
    LlmParse,
    LlmParseResponse,
    LlmParses,
    ParseLlmRequest,
    ParseLlmRequests,
)
from autotune.protocol.verdict_formats import VerdictFormat

_parse = returning(LlmParseResponse, lambda answer: answer.parse)
_parses = returning(LlmParses, lambda answer: answer.parses)


def parse_request(
    request_id: str,
    *,
    verdict: VerdictFormat | Mapping[str, Any] | None = None,
    **options: Unpack[CallOptions],
) -> Call[LlmParse]:
    """Parse a completed request's answer again; return what that read.

    It becomes what the request shows; parses before it stay, and ``parses`` lists them. The same
    format and parser as of the latest parse make no new one.

    Args:
        verdict: the format, as of ``enqueue``; by default that of the request itself.

    Raises:
        InvalidInputError: the format is none; nothing was sent.
        InvalidRequestError: neither the request nor ``verdict`` says in which format.
        NotFoundError: there is no such request in this organisation.
        ConflictError: it has not completed, its texts were deleted, or it was parsed as often as it
            may be; see ``limit``.
    """
    body = request_of(ParseLlmRequest, verdict=verdict)
    return call(
        "POST",
        "llm-requests",
        request_id,
        "parse",
        read=_parse,
        body=body,
        is_idempotent=True,
        **options,
    )


def parse_matching(
    *,
    verdict: VerdictFormat | Mapping[str, Any] | None = None,
    on_page: Callable[[list[str]], None] | None = None,
    **filters: Unpack[RequestFilters],
) -> Plan[int]:
    """Parse answers of all completed requests that match again; return how many there are.

    Those whose texts are gone, that have no format, or as many parses as they may, are left out.
    The same call again changes nothing.

    Args:
        verdict: the format of all of them; by default each is parsed in its own.
        on_page: gets the ids of each page of up to 100.

    Raises:
        InvalidInputError: a filter or the format is out of its range; nothing was sent.
        InvalidRequestError: ``status`` is one without an answer.
    """
    wanted, options = filter_of(filters)
    asked = request_of(ParseLlmRequests, filter=wanted, verdict=verdict)
    return all_pages("parse", on_page, asked, options)


def list_parses(request_id: str, **options: Unpack[CallOptions]) -> Call[list[LlmParse]]:
    """Read how a request's answer was parsed, the first time first, without its reasoning.

    Raises:
        NotFoundError: there is no such request in this organisation.
        ConflictError: it has not completed, or its texts were deleted.
    """
    return call("GET", "llm-requests", request_id, "parses", read=_parses, **options)
