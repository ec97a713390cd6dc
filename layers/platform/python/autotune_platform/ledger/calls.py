"""One call of a language model: what is asked, and what can come of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from autotune.protocol.llm_messages import LlmRole
from autotune.protocol.llm_params import LlmParams
from autotune.protocol.llm_requests import FinishReason, LlmErrorCode
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.usage import Usage


@dataclass(frozen=True)
class Turn:
    """One message of a question: a text, or several in their order."""

    role: LlmRole
    content: str | tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of it, in their order."""
        return (self.content,) if isinstance(self.content, str) else self.content


@dataclass(frozen=True)
class Question:
    """What a model is to answer: mostly one user message and what stands before it."""

    model: str
    turns: Sequence[Turn]
    params: LlmParams


@dataclass(frozen=True)
class HttpQuestion:
    """The same as a provider takes it: a POST."""

    url: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """What a model answered; ``usage`` is None where the provider gave none or none that adds up.

    ``price_times`` is how many times the listed price it costs at most, at a dearer tier.

    ``reasoning`` is what the provider returned apart from the answer. ``document`` is its JSON,
    where that is passed through.
    """

    text: str
    finish_reason: FinishReason
    usage: Usage | None
    price_times: int = 1
    served_model: str | None = None
    provider_request_id: str | None = None
    reasoning: str | None = None
    document: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Refusal:
    """Why there is no answer.

    Attributes:
        message: for people; of the provider's own words at most 500 characters, never the key.
        retry_after_seconds: how long the provider asks to be left alone, where it says so.
        may_be_paid: whether the provider may have done the work all the same.
    """

    code: LlmErrorCode
    message: str
    retry_after_seconds: int | None = None
    may_be_paid: bool = False


Outcome = Answer | Refusal


class ProviderFormat(Protocol):
    """One provider's way to ask and to answer, without any I/O."""

    def question(self, connection: Connection, key: str | None, asked: Question) -> HttpQuestion:
        """Return what is sent."""

    def outcome(
        self, status: int, headers: Mapping[str, str], body: bytes, key: str | None = None
    ) -> Outcome:
        """Return what an answer means, whatever it is.

        Args:
            headers: with names in lower case.
            key: what was sent as key; an echo of it is in nothing that is returned.
        """

    def unsupported(self, params: LlmParams) -> str | None:
        """Return the first field of the parameters that this provider does not take, if any.

        It is the name on the wire, such as ``seed`` or ``extra.service_tier``.
        """

    def unsupported_turn(self, turns: Sequence[Turn]) -> int | None:
        """Return the place of the first turn that this provider does not take there, if any."""

    def unsupported_in_batch(self, params: LlmParams) -> str | None:
        """Return the first of those that it takes and its batch jobs do not."""
