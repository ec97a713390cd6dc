"""What a line of each format asks: the fields of a request, or why it cannot be asked here.

The shapes are those of https://platform.openai.com/docs/api-reference/batch/request-input and
https://platform.claude.com/docs/en/api/creating-message-batches, as of August 2026.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from autotune.protocol.limits import MAX_LLM_IMPORT_LINE_BYTES, MAX_REQUEST_VALUES
from autotune.protocol.llm_imports import CreateLlmImportRequest, LlmImportFormat
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune.protocol.llm_templates import names_in
from autotune_platform.http.problems import invalid_request
from autotune_platform.runtime.bounded_json import TooManyValuesError, parse_strictly
from autotune_platform.runtime.errors import InvalidRequestError

Fields = dict[str, Any]

_CHAT = frozenset({"/v1/chat/completions", "/chat/completions"})
_SYSTEM_ROLES = frozenset({"system", "developer"})
# OpenAI has two names for the most tokens of an answer, of which a line has one.
_NEWER_LIMIT = "max_completion_tokens"
# What a request has one of, and where a line may say so without asking for anything else.
_ONE_ANSWER: Mapping[str, Any] = {"stream": False, "n": 1}


class LineRejectedError(Exception):
    """A line is no request.

    Attributes:
        field: by its path in the line, as its format names it; None for the line as a whole.
        message: what is wrong with it.
    """

    def __init__(self, field: str | None, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


def document_of(line: bytes | None) -> Fields:
    """Return the object that a line is.

    Raises:
        LineRejectedError: it is none, or it is too long, for which None stands.
    """
    if line is None:
        raise LineRejectedError(None, f"it is longer than {MAX_LLM_IMPORT_LINE_BYTES} bytes")
    try:
        document = parse_strictly(line, most_values=MAX_REQUEST_VALUES)
    except TooManyValuesError as error:
        raise LineRejectedError(None, f"it has {error}") from error
    except ValueError as error:
        raise LineRejectedError(None, "it is not JSON in UTF-8") from error
    if not isinstance(document, dict):
        raise LineRejectedError(None, "it is no JSON object")
    return document


def custom_id_of(document: Fields, line_format: LlmImportFormat) -> str | None:
    """Return the caller's name of a line, where it has one that is a text."""
    found = document.get("customId" if line_format == "autotune" else "custom_id")
    return found if isinstance(found, str) else None


def request_of(document: Fields, asked: CreateLlmImportRequest) -> EnqueueLlmRequest:
    """Return the request that a line is, with what the import has for all of them.

    Raises:
        LineRejectedError: a field is missing, wrong, or what a request here cannot have.
    """
    fields = _READERS[asked.format](document)
    defaults = asked.defaults.model_dump(mode="json", by_alias=True, exclude_none=True)
    whole = {"connectionId": asked.connection_id, "purpose": asked.purpose, **defaults, **fields}
    try:
        return EnqueueLlmRequest.model_validate(whole)
    except ValidationError as error:
        names = names_of(document, asked.format)
        raise as_rejection(invalid_request(error.errors()), names) from error


def names_of(document: Fields, line_format: LlmImportFormat) -> Mapping[str, str]:
    """Return how a line names our fields; it has been read by its format."""
    if line_format == "openai" and document["body"].get(_NEWER_LIMIT) is not None:
        return _NEWER_NAMES
    return _NAMES[line_format]


def as_rejection(error: InvalidRequestError, names: Mapping[str, str]) -> LineRejectedError:
    """Return an error with the field as the line names it (``names_of``)."""
    if not error.fields:
        return LineRejectedError(None, error.detail)
    ours = error.fields[0].field
    named = _renamed(ours, names)
    message = error.detail.removeprefix(f"{ours}: ").split(" (and ")[0]
    return LineRejectedError(named, message)


def _openai(document: Fields) -> Fields:
    _require_names(document, {"custom_id", "method", "url", "body"})
    if document.get("method") != "POST":
        raise LineRejectedError("method", "expected POST")
    if document.get("url") not in _CHAT:
        raise LineRejectedError("url", "expected /v1/chat/completions")
    body = _object(document, "body")
    system, user = _texts(body.get("messages"), "body.messages", system_allowed=True)
    limits = [name for name in (_NEWER_LIMIT, "max_tokens") if body.get(name) is not None]
    if len(limits) > 1:
        raise LineRejectedError("body.max_tokens", "either this or max_completion_tokens")
    stop = body.get("stop")
    params = _present(
        {
            "maxTokens": body.get(limits[0]) if limits else None,
            "temperature": body.get("temperature"),
            "topP": body.get("top_p"),
            "stop": [stop] if isinstance(stop, str) else stop,
            "seed": body.get("seed"),
            "responseFormat": body.get("response_format"),
            "extra": _rest(
                body,
                within="body",
                taken={*limits, "messages", "temperature", "top_p", "stop", "seed"}
                | {"response_format", "model"},
            ),
        }
    )
    return _fields(document, body, system, user, params)


def _anthropic(document: Fields) -> Fields:
    _require_names(document, {"custom_id", "params"})
    body = _object(document, "params")
    _, user = _texts(body.get("messages"), "params.messages", system_allowed=False)
    system = None
    if body.get("system") is not None:
        system = _content(body["system"], "params.system")
    params = _present(
        {
            "maxTokens": body.get("max_tokens"),
            "temperature": body.get("temperature"),
            "topP": body.get("top_p"),
            "stop": body.get("stop_sequences"),
            "extra": _rest(
                body,
                within="params",
                taken={"messages", "system", "max_tokens", "temperature", "top_p"}
                | {"stop_sequences", "model"},
            ),
        }
    )
    return _fields(document, body, system, user, params)


def _own(document: Fields) -> Fields:
    return document


_READERS: Mapping[LlmImportFormat, Callable[[Fields], Fields]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "autotune": _own,
}
_NAMES: Mapping[LlmImportFormat, Mapping[str, str]] = {
    "openai": {
        "customId": "custom_id",
        "model": "body.model",
        "input": "body.messages",
        "params.maxTokens": "body.max_tokens",
        "params.topP": "body.top_p",
        "params.responseFormat": "body.response_format",
        "params.extra": "body",
        "params": "body",
    },
    "anthropic": {
        "customId": "custom_id",
        "model": "params.model",
        "input.system": "params.system",
        "input": "params.messages",
        "params.maxTokens": "params.max_tokens",
        "params.topP": "params.top_p",
        "params.stop": "params.stop_sequences",
        "params.extra": "params",
    },
    "autotune": {},
}
"""How formats name our fields, the longer paths first."""

_NEWER_NAMES = {**_NAMES["openai"], "params.maxTokens": f"body.{_NEWER_LIMIT}"}


def _renamed(field: str, names: Mapping[str, str]) -> str:
    for ours, theirs in names.items():
        if field == ours or field.startswith((f"{ours}.", f"{ours}[")):
            if ours.startswith("input"):
                return theirs
            return theirs + field[len(ours) :]
    return field


def _fields(
    document: Fields, body: Fields, system: str | None, user: str, params: Fields
) -> Fields:
    return _present(
        {
            "customId": document.get("custom_id"),
            "model": body.get("model"),
            "input": _input(system, user),
            "params": params,
        }
    )


def _input(system: str | None, user: str) -> Fields:
    """Return texts that are taken as they are: what looks like a variable in them is none."""
    texts = _present({"system": system, "user": user})
    variables = {name: text for name, text in texts.items() if names_in(text)}
    for name in variables:
        texts[name] = f"{{{{{name}}}}}"
    return {**texts, "variables": variables} if variables else texts


def _texts(messages: Any, field: str, *, system_allowed: bool) -> tuple[str | None, str]:
    """Return what stands before a conversation's one user message, and that message."""
    if not isinstance(messages, list) or not messages:
        raise LineRejectedError(field, "expected a list of messages")
    system: str | None = None
    user: str | None = None
    for place, message in enumerate(messages):
        within = f"{field}[{place}]"
        if not isinstance(message, dict):
            raise LineRejectedError(within, "expected an object")
        role = message.get("role")
        if role in _SYSTEM_ROLES and system_allowed and system is None and user is None:
            system = _content(message.get("content"), f"{within}.content")
        elif role == "user" and user is None:
            user = _content(message.get("content"), f"{within}.content")
        else:
            raise LineRejectedError(
                within,
                "expected one user message, with at most one system message before it; "
                "conversations of several turns are not taken",
            )
        _require_names(message, {"role", "content"}, within=f"{within}.")
    if user is None:
        raise LineRejectedError(field, "expected a user message")
    return system, user


def _content(content: Any, field: str) -> str:
    """Return the text of a message, which may come in parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise LineRejectedError(field, "expected a text, or a list of texts")
    texts = []
    for place, part in enumerate(content):
        within = f"{field}[{place}]"
        is_text = isinstance(part, dict) and part.get("type") == "text"
        if not is_text or not isinstance(part.get("text"), str):
            raise LineRejectedError(within, "expected a text; images and files are not taken")
        _require_names(part, {"type", "text"}, within=f"{within}.")
        texts.append(part["text"])
    return "".join(texts)


def _rest(body: Fields, *, within: str, taken: set[str]) -> Fields | None:
    """Return parameters that only the provider knows."""
    rest = {}
    for name, value in body.items():
        if name in taken or value is None:
            continue
        if name in _ONE_ANSWER:
            if value != _ONE_ANSWER[name]:
                raise LineRejectedError(f"{within}.{name}", "a request has one whole answer")
            continue
        rest[name] = value
    return rest or None


def _object(document: Fields, name: str) -> Fields:
    found = document.get(name)
    if not isinstance(found, dict):
        raise LineRejectedError(name, "expected an object")
    return found


def _require_names(document: Fields, names: set[str], *, within: str = "") -> None:
    unknown = sorted(document.keys() - names)
    if unknown:
        raise LineRejectedError(f"{within}{unknown[0]}", "this field is not taken")


def _present(fields: Fields) -> Fields:
    return {name: value for name, value in fields.items() if value is not None}
