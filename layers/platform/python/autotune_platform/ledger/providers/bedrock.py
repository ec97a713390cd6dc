"""Amazon Bedrock's Converse: one format for the models of all makers.

As in https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and
botocore's model of the service bedrock-runtime, as of November 2026. What is sent has no signature
yet: whoever sends it signs it with the connection's role.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, Literal
from urllib.parse import quote

from autotune.protocol.llm_params import LlmParams
from autotune.protocol.llm_requests import FinishReason
from autotune_platform.ledger.bedrock_access import BedrockAccess, bedrock_url
from autotune_platform.ledger.calls import Answer, HttpQuestion, Outcome, Question, Refusal
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.providers import refusals
from autotune_platform.ledger.providers.documents import (
    all_of,
    detail,
    document_of,
    inside,
    name,
    text,
    tokens,
)
from autotune_platform.ledger.providers.json_format import (
    JsonFormat,
    json_question,
    present,
    words,
)
from autotune_platform.ledger.providers.lengths import lengthening, plain
from autotune_platform.ledger.providers.refusals import Trouble, Vocabulary
from autotune_platform.ledger.providers.turns import apart, text_blocks
from autotune_platform.ledger.usage import Usage

_HIGHEST_TEMPERATURE = 1
_FINISH_REASONS: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filtered": "refusal",
    "guardrail_intervened": "refusal",
}
_MODEL_FIELDS = "additionalModelRequestFields"
# All else of a body is ours, or asks for what is charged apart (guardrails, tiers, latency).
_EXTRA = frozenset({_MODEL_FIELDS, "requestMetadata"})
# What makers of models take beside length and number of answers that costs more, without marks and
# case; a part that has them is refused whole.
_DEARER = frozenset(
    {
        "anthropicbeta",
        "contextmanagement",
        "inferenceconfig",
        "servicetier",
        "speed",
        "textgenerationconfig",
        "tools",
    }
)
# Statuses that say less than the name of the error does.
_STATUS_OF_ERROR: Mapping[str, int] = {
    "ExpiredToken": 503,
    "ExpiredTokenException": 503,
    "ServiceQuotaExceededException": 429,
}


class BedrockFormat(JsonFormat):
    """Converse at ``base_url``/model/{model}/converse."""

    vocabulary = Vocabulary(
        account=frozenset({"AccessDenied", "AccessDeniedException", "UnrecognizedClientException"}),
        messages={"your account is not authorized": "AccessDeniedException"},
    )

    def question(self, connection: Connection, key: str | None, asked: Question) -> HttpQuestion:  # noqa: ARG002 - a role signs
        """Return what is sent, without a signature."""
        model = quote(asked.model, safe="")
        url = f"{connection.base_url}/model/{model}/converse"
        return json_question(url, {}, self.body(asked), {})

    def body(self, asked: Question) -> dict[str, Any]:
        """Return the body; ``response_format`` is ``outputConfig.textFormat`` there.

        Turns of one role in a row are one message: Converse wants roles to alternate.
        """
        params = asked.params
        config = {
            "maxTokens": params.max_tokens,
            "temperature": params.temperature,
            "topP": params.top_p,
            "stopSequences": params.stop,
        }
        form = params.response_format
        instructions, said = apart(asked.turns)
        own = {
            "system": text_blocks(instructions) or None,
            "messages": [
                {"role": role, "content": text_blocks(turns)}
                for role, turns in groupby(said, key=lambda turn: turn.role)
            ],
            "inferenceConfig": present(config),
            "outputConfig": None if form is None else {"textFormat": form},
        }
        return {**(params.extra or {}), **present(own)}

    def unsupported(self, params: LlmParams) -> str | None:
        """Return the first field that Converse does not take."""
        return next(_unsupported(params), None)

    def unsupported_in_batch(self, params: LlmParams) -> str | None:
        """Return the format of the answer: batch jobs have none."""
        return None if params.response_format is None else "responseFormat"

    def _outcome(self, status: int, headers: Mapping[str, str], body: bytes) -> Outcome:
        if status < 300:
            request_id = headers.get("x-amzn-requestid")
            found = {**headers, **({"x-request-id": request_id} if request_id else {})}
            return super()._outcome(status, found, body)
        if status < 400:
            return refusals.redirected(status)
        kind = headers.get("x-amzn-errortype", "").partition(":")[0]
        document = document_of(body)
        said = text(inside(document, "message")) or text(inside(document, "Message")) or ""
        return self.refusal(status, kind, said, headers)

    def refusal(self, status: int, kind: str, said: str, headers: Mapping[str, str]) -> Refusal:
        """Return what an error of AWS means.

        Args:
            kind: its name, such as ``ThrottlingException``.
        """
        trouble = Trouble(_STATUS_OF_ERROR.get(kind, status), words(kind), said)
        return refusals.refusal(trouble, headers, self.vocabulary)

    def _trouble(self, status: int, document: Any) -> Trouble | None:  # noqa: ARG002 - the format's
        return None  # errors have statuses of their own, and are read before

    def _answer(self, document: Any, request_id: str | None) -> Outcome:
        blocks = inside(document, "output", "message", "content")
        if not isinstance(blocks, list):
            return refusals.malformed("the answer has no content")
        reason = inside(document, "stopReason")
        reasons = (inside(one, "reasoningContent", "reasoningText", "text") for one in blocks)
        return Answer(
            text="".join(filter(None, (text(inside(one, "text")) for one in blocks))),
            finish_reason=_FINISH_REASONS.get(reason, "other")
            if isinstance(reason, str)
            else "other",
            usage=_usage(inside(document, "usage")),
            served_model=name(inside(document, "trace", "promptRouter", "invokedModelId")),
            provider_request_id=request_id,
            reasoning="".join(filter(None, map(text, reasons))) or None,
        )


def _unsupported(params: LlmParams) -> Iterator[str]:
    if (params.temperature or 0) > _HIGHEST_TEMPERATURE:
        yield "temperature"
    if params.seed is not None:
        yield "seed"
    form = params.response_format
    if form is not None and (form.keys() != {"type", "structure"} or form["type"] != "json_schema"):
        yield "responseFormat"
    extra = params.extra or {}
    yield from (f"extra.{member}" for member in sorted(extra.keys() - _EXTRA))
    fields = extra.get(_MODEL_FIELDS) or {}
    if not isinstance(fields, dict):
        yield f"extra.{_MODEL_FIELDS}"
        return
    within = f"extra.{_MODEL_FIELDS}"
    yield from (f"{within}.{member}" for member in sorted(fields) if plain(member) in _DEARER)
    yield from lengthening(fields, within)


def endpoint(connection: Connection, service: Literal["bedrock", "s3"]) -> str:
    """Return where the control plane of Bedrock, or the connection's bucket, is called."""
    access = access_of(connection)
    if connection.base_url != bedrock_url(access.region):
        # What stands in for AWS on a laptop has all services at one address.
        return connection.base_url + (f"/_s3/{access.bucket}" if service == "s3" else "")
    host = f"{access.bucket}.s3" if service == "s3" else service
    return f"https://{host}.{access.region}.amazonaws.com"


def access_of(connection: Connection) -> BedrockAccess:
    """Return how Bedrock is called, of a connection to it."""
    assert connection.bedrock is not None, "a connection to Bedrock has its settings"
    return connection.bedrock


def _usage(told: Any) -> Usage | None:
    """Return the usage; input tokens are those that no cache had or took."""
    found = all_of(
        tokens(inside(told, "inputTokens")),
        tokens(inside(told, "outputTokens")),
        detail(inside(told, "cacheReadInputTokens")),
        detail(inside(told, "cacheWriteInputTokens")),
    )
    if found is None:
        return None
    fresh, answered, cached, written = found
    return Usage(
        input_tokens=fresh + cached + written,
        cached_input_tokens=cached,
        cache_write_tokens=written,
        output_tokens=answered,
    )
