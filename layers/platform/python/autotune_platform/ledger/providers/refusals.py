"""What an error means: one taxonomy for all providers, whose words for it are their own.

What a status says in general, unless the provider's words say more:

- 401, 402, 403: ``account``. A 402 that says when to come back is a rate limit (OpenRouter's, of
  what is spent at the same time).
- 404: ``rejected``. A misspelt model is the row's own fault, and ``account`` would stop the rows of
  all other models of the connection. A model that is there but that the key may not use is a 403
  everywhere.
- 408, 409, 424, 425, 499 and everything from 500 on, 529 too: ``provider_error``.
- 429: ``rate_limited``, unless a limit was spent that passes only when somebody pays.
- All others: ``rejected``; redirects too, which nobody follows with a key.

Work that an error ended is not paid. It may be where the provider gave up waiting for its own
answer (408, 504, 520, 524) or where the error stands in an answer that had begun with 200.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from autotune.protocol.llm_requests import LlmErrorCode
from autotune_platform.ledger.calls import Outcome, Refusal
from autotune_platform.ledger.providers.documents import document_of, encodable
from autotune_platform.outbound.http import retry_after_seconds

MAX_MESSAGE_CHARACTERS = 500
LONGEST_RETRY_AFTER_SECONDS = 86_400

_ACCOUNT_STATUSES: Final = frozenset({401, 402, 403})
_PASSING_STATUSES: Final = frozenset({408, 409, 424, 425, 499})
_TIMED_OUT_STATUSES: Final = frozenset({408, 504, 520, 524})
_KEY_MARK = "[key]"
# A shorter one is no secret, and may be a word of the answer: "EMPTY" is what vLLM's users give.
_SECRET_FROM_CHARACTERS = 12


@dataclass(frozen=True)
class Vocabulary:
    """What a provider's words mean, where they say more than a status does.

    Attributes:
        account: types, codes and reasons that are about the key, its rights or its bill.
        filtered: those that are about what may be said.
        paid: those after which the provider asks for money all the same.
        messages: the word that is missing, by what the message begins with, in lower case; the
            only place where messages are compared.
    """

    account: frozenset[str] = frozenset()
    filtered: frozenset[str] = frozenset()
    paid: frozenset[str] = frozenset()
    messages: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Trouble:
    """An error as a provider words it.

    Attributes:
        status: as HTTP has it, also where it came inside of a 200.
        words: its types, codes and reasons.
        message: for people; may be empty.
        began: whether it came inside of a 200.
        retry_after_seconds: as its body says, where that says so.
    """

    status: int
    words: frozenset[str]
    message: str
    began: bool = False
    retry_after_seconds: int | None = None


def refusal(trouble: Trouble, headers: Mapping[str, str], vocabulary: Vocabulary) -> Refusal:
    """Return why there is no answer; its message is as long as it came."""
    wait = trouble.retry_after_seconds or _retry_after(headers)
    words = trouble.words | _missing_words(trouble.message, vocabulary)
    code = _code(trouble.status, words, vocabulary, may_wait=wait is not None)
    passes = code in {"rate_limited", "provider_error"}
    return Refusal(
        code,
        trouble.message.strip() or f"the provider answered {trouble.status} without a reason",
        retry_after_seconds=wait if passes else None,
        may_be_paid=bool(words & vocabulary.paid) or _may_have_worked(trouble, code),
    )


def redirected(status: int) -> Refusal:
    """Return the refusal of an answer that leads elsewhere."""
    return Refusal("rejected", f"the provider answered a redirect ({status}); none is followed")


def malformed(reason: str) -> Refusal:
    """Return the refusal of an answer that is paid and cannot be read."""
    return Refusal("result_malformed", reason, may_be_paid=True)


def without_key(outcome: Outcome, key: str | None) -> Outcome:
    """Return an outcome that does not hold the key, and whose message is short and of one line."""
    if isinstance(outcome, Refusal):
        message = _hidden(encodable(outcome.message), key)
        shown = " ".join(message.split())
        if len(shown) > MAX_MESSAGE_CHARACTERS:
            shown = shown[: MAX_MESSAGE_CHARACTERS - 1] + "…"
        return replace(outcome, message=shown)
    if key is None or len(key) < _SECRET_FROM_CHARACTERS:
        return outcome
    return replace(
        outcome,
        text=_hidden(outcome.text, key),
        served_model=outcome.served_model and _hidden(outcome.served_model, key),
        provider_request_id=outcome.provider_request_id
        and _hidden(outcome.provider_request_id, key),
        reasoning=outcome.reasoning and _hidden(outcome.reasoning, key),
    )


def without_key_inside(document: Any, key: str | None) -> Any:
    """Return a document that does not hold the key, and that UTF-8 can hold."""
    written = encodable(json.dumps(document, ensure_ascii=False))
    if key is not None and len(key) >= _SECRET_FROM_CHARACTERS:
        written = _hidden(written, json.dumps(key, ensure_ascii=False)[1:-1])
    return document_of(written.encode())


def _hidden(words: str, key: str | None) -> str:
    return words.replace(key, _KEY_MARK) if key else words


def _missing_words(message: str, vocabulary: Vocabulary) -> frozenset[str]:
    said = message.lower()
    found = (word for start, word in vocabulary.messages.items() if said.startswith(start))
    return frozenset(found)


def _code(
    status: int, words: frozenset[str], vocabulary: Vocabulary, *, may_wait: bool
) -> LlmErrorCode:
    if words & vocabulary.filtered:
        return "content_filtered"
    if words & vocabulary.account:
        return "account"
    if status == 429 or (status == 402 and may_wait):
        return "rate_limited"
    if status in _ACCOUNT_STATUSES:
        return "account"
    if status in _PASSING_STATUSES or not 0 < status < 500:
        return "provider_error"
    return "rejected"


def _may_have_worked(trouble: Trouble, code: LlmErrorCode) -> bool:
    if code == "provider_error":
        return trouble.began or trouble.status in _TIMED_OUT_STATUSES
    return code == "content_filtered" and trouble.began


def _retry_after(headers: Mapping[str, str]) -> int | None:
    """Return the seconds that an answer's headers ask for, rounded up, None if they do not."""
    longest = LONGEST_RETRY_AFTER_SECONDS
    milliseconds = headers.get("retry-after-ms", "")
    if milliseconds.isascii() and milliseconds.isdigit():
        return min(-(-int(milliseconds[:9]) // 1_000), longest) or None
    return retry_after_seconds(headers.get("retry-after", ""), longest=longest) or None
