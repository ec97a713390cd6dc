"""Gemini's generateContent.

As in https://ai.google.dev/api/generate-content and /gemini-api/docs/troubleshooting, as of August
2026.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from autotune.protocol.llm_messages import LlmRole
from autotune.protocol.llm_params import LlmParams, asks_for_logprobs
from autotune.protocol.llm_requests import FinishReason
from autotune_platform.ledger.calls import Answer, HttpQuestion, Outcome, Question, Refusal
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.providers import refusals
from autotune_platform.ledger.providers.documents import (
    all_of,
    detail,
    inside,
    items,
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

_SEEDS_END = 2**31
_RESPONSE_FORMAT = frozenset({"responseJsonSchema", "responseMimeType", "responseSchema"})
_CONFIG = "generationConfig"
# Without case and underscores: Gemini takes imageConfig and image_config alike.
_OWN_CONFIG = frozenset({"imageconfig", "responsemodalities", "speechconfig"})
# What is cached is read and paid too, however long it is: no byte of it is in the row.
_OWN_MEMBERS = frozenset({"cachedcontent", "servicetier", "systeminstruction"})
_FINISH_REASONS: Mapping[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "BLOCKLIST": "refusal",
    "IMAGE_PROHIBITED_CONTENT": "refusal",
    "IMAGE_RECITATION": "refusal",
    "IMAGE_SAFETY": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "RECITATION": "refusal",
    "SAFETY": "refusal",
    "SPII": "refusal",
}
_ROLES: Mapping[LlmRole, str] = {"user": "user", "assistant": "model"}
_DELAY = re.compile(r"(\d{1,6})(\.\d{1,9})?s", re.ASCII)


class GeminiFormat(JsonFormat):
    """``base_url``/v1beta/models/{model}:generateContent, with the key in a header.

    A key that is not valid comes as 400, as does a region or a project that has to pay first
    (``FAILED_PRECONDITION``); spent credit comes as 429, and only its message tells.
    """

    vocabulary = Vocabulary(
        account=frozenset(
            {"API_KEY_INVALID", "BILLING_DISABLED", "CREDIT_SPENT", "FAILED_PRECONDITION"}
        ),
        messages={"your prepayment credits are depleted": "CREDIT_SPENT"},
    )

    def question(self, connection: Connection, key: str | None, asked: Question) -> HttpQuestion:
        """Return what is sent."""
        base = connection.base_url.rstrip("/")
        return json_question(
            f"{base}/v1beta/models/{model_in_path(asked.model)}:generateContent",
            {"x-goog-api-key": key} if key else {},
            self.body(asked),
            {},
        )

    def body(self, asked: Question) -> dict[str, Any]:
        """Return what is asked; further members of ``generationConfig`` come from ``extra``."""
        params = asked.params
        extra = dict(params.extra or {})
        given = extra.pop(_CONFIG, None) or {}
        config = {
            **(params.response_format or {}),
            "maxOutputTokens": params.max_tokens,
            "temperature": params.temperature,
            "topP": params.top_p,
            "stopSequences": params.stop,
            "seed": params.seed,
        }
        instructions, said = apart(asked.turns)
        system = {"systemInstruction": {"parts": text_blocks(instructions)}} if instructions else {}
        return {
            **extra,
            **system,
            "contents": [
                {"role": _ROLES[turn.role], "parts": text_blocks([turn])} for turn in said
            ],
            _CONFIG: {**given, **present(config)},
        }

    def unsupported(self, params: LlmParams) -> str | None:
        """Return the first field that Gemini does not take, by its name on the wire."""
        if (params.seed or 0) >= _SEEDS_END:
            return "seed"
        if not _RESPONSE_FORMAT.issuperset(params.response_format or {}):
            return "responseFormat"
        extra = params.extra or {}
        for member in sorted(extra):
            known = plain(member)
            if known in _OWN_MEMBERS or (known == plain(_CONFIG) and member != _CONFIG):
                return f"extra.{member}"
        given = extra.get(_CONFIG) or {}
        if not isinstance(given, dict):
            return f"extra.{_CONFIG}"
        refused = next((field for field in sorted(given) if plain(field) in _OWN_CONFIG), None)
        refused = refused or asks_for_logprobs(given)
        return f"extra.{_CONFIG}.{refused}" if refused else next(lengthening(extra, "extra"), None)

    def _trouble(self, status: int, document: Any) -> Trouble | None:
        # Some answers that were meant to be streams are lists of one.
        error = inside(document, "error") or inside(document, 0, "error")
        if not isinstance(error, dict):
            return None
        began = 200 <= status < 300
        code = error.get("code")
        told = code if isinstance(code, int) and 400 <= code < 600 else 500
        details = items(error.get("details"))
        return Trouble(
            status=told if began else status,
            words=words(error.get("status"), *(inside(one, "reason") for one in details)),
            message=text(error.get("message")) or "",
            began=began,
            retry_after_seconds=_delay(inside(one, "retryDelay") for one in details),
        )

    def _answer(self, document: Any, request_id: str | None) -> Outcome:
        usage = _usage(inside(document, "usageMetadata"))
        candidate = inside(document, "candidates", 0)
        if not isinstance(candidate, dict):
            blocked = name(inside(document, "promptFeedback", "blockReason"))
            if blocked is None:
                return refusals.malformed("the answer has no candidate")
            # The question was read; whether that is paid is not documented.
            return Refusal(
                "content_filtered", f"the question was blocked: {blocked}", may_be_paid=True
            )
        parts = items(inside(candidate, "content", "parts"))
        reason = candidate.get("finishReason")
        return Answer(
            text=_joined(parts, thoughts=False) or "",
            finish_reason=_FINISH_REASONS.get(reason, "other")
            if isinstance(reason, str)
            else "other",
            usage=usage,
            served_model=name(inside(document, "modelVersion")),
            provider_request_id=request_id or name(inside(document, "responseId")),
            reasoning=_joined(parts, thoughts=True),
        )


def model_in_path(model: str) -> str:
    """Return a model's name as it stands in a path, behind ``models/``."""
    return quote(model.removeprefix("models/"), safe="")


def _joined(parts: list[Any], *, thoughts: bool) -> str | None:
    said = (
        text(inside(part, "text"))
        for part in parts
        if (inside(part, "thought") is True) == thoughts
    )
    return "".join(filter(None, said)) or None


def _usage(told: Any) -> Usage | None:
    """Return the usage; Gemini leaves out counts of 0, and has thoughts beside its candidates."""
    found = all_of(
        tokens(inside(told, "promptTokenCount")),
        detail(inside(told, "toolUsePromptTokenCount")),
        detail(inside(told, "cachedContentTokenCount")),
        detail(inside(told, "candidatesTokenCount")),
        detail(inside(told, "thoughtsTokenCount")),
        detail(inside(told, "totalTokenCount")),
    )
    if found is None:
        return None
    sent, from_tools, cached, answered, thought, total = found
    if cached > sent:
        return None
    # The total has all that is paid, also where a part is left out.
    answered = max(answered, total - sent - from_tools - thought)
    return Usage(
        input_tokens=sent + from_tools,
        cached_input_tokens=cached,
        output_tokens=answered + thought,
        reasoning_tokens=thought,
    )


def _delay(found: Any) -> int | None:
    """Return the seconds of the first duration, such as ``26.4s``, rounded up."""
    for value in found:
        match = _DELAY.fullmatch(value) if isinstance(value, str) else None
        if match:
            seconds = int(match[1]) + bool((match[2] or "").strip(".0"))
            return min(seconds, refusals.LONGEST_RETRY_AFTER_SECONDS) or None
    return None
