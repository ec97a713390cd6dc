"""Why a chat completion has no answer, for programs that know OpenAI's errors."""

from collections.abc import Mapping
from typing import Self

from autotune.protocol.llm_requests import LlmErrorCode
from autotune.protocol.problems import FieldProblem
from autotune_platform.ledger.calls import Refusal
from autotune_platform.runtime.errors import AutotuneError, ConflictError, NotFoundError

NOT_TO_REPEAT = frozenset(
    {
        "answer_deleted",
        "answer_too_large",
        "connection_refused",
        "insufficient_quota",
        "no_model_answered",
        "outcome_unclear",
        "provider_account",
        "run_goes_on_alone",
    }
)
"""Codes after which a header keeps the openai package from another try: paid, or of no use."""

_STATUSES: Mapping[LlmErrorCode, tuple[int, str]] = {
    "rejected": (400, "rejected_by_provider"),
    "content_filtered": (400, "content_filter"),
    "rate_limited": (429, "rate_limit_exceeded"),
    "account": (502, "provider_account"),
    "address_refused": (502, "connection_refused"),
    "provider_error": (502, "provider_error"),
    "result_malformed": (502, "outcome_unclear"),
    "outcome_unclear": (504, "outcome_unclear"),
}


class ModelNotFoundError(NotFoundError):
    """The token reaches no model of that name."""

    code = "model_not_found"
    title = "There is no such model here"

    @classmethod
    def of(cls, said: str, expected: str) -> Self:
        """Return the error for a name that is not as expected."""
        return cls(
            f"no model {said!r} for this token; expected {expected}",
            fields=[FieldProblem(field="model", expected=expected)],
        )


class AnswerGoneError(ConflictError):
    """The same was answered before, and the answer is deleted."""

    code = "answer_deleted"
    title = "The answer is deleted"


class AnswerTooLargeToPassError(AutotuneError):
    """The answer was paid and is stored, and no HTTP answer holds it."""

    status = 502
    code = "answer_too_large"
    title = "The answer is too large to be passed through"


class NoAnswerError(AutotuneError):
    """The provider gave no answer; status and code say what kind of refusal it is."""

    title = "The provider gave no answer"

    def __init__(self, refusal: Refusal, *, request_id: str) -> None:
        super().__init__(
            f"{refusal.message} (request {request_id})",
            retry_after_seconds=refusal.retry_after_seconds,
        )
        self.status, self.code = _STATUSES.get(refusal.code, (502, "provider_error"))
        if refusal.may_be_paid and self.status >= 500:
            self.code = "outcome_unclear"
