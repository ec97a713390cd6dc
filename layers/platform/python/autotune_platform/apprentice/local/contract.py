"""What is asked of a small model, and what comes of it: an answer, or why there is none.

Nothing that the other side does is an error here. A run goes on with ``Unavailable`` as with an
answer: it asks the paid model.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from autotune.protocol.apprentice_models import ServingBackend


class Reason(StrEnum):
    """Why a model did not answer."""

    TIMED_OUT = "timed_out"
    """Not within the time; also where it dripped."""
    UNREACHABLE = "unreachable"
    """Nobody listens there, or the connection broke off."""
    ADDRESS_REFUSED = "address_refused"
    """Its URL leads to an address that is not public."""
    NOT_READY = "not_ready"
    """It is loading, or scaled to zero."""
    BUSY = "busy"
    """It answered that it has too much to do."""
    NO_MODEL = "no_model"
    """The server has no model of that name."""
    ANOTHER_VERSION = "another_version"
    """What is served under the name is not what was registered."""
    REFUSED = "refused"
    """It refused the question, such as one that is longer than its context."""
    FAILED = "failed"
    """It failed, or led elsewhere: redirects are not followed."""
    UNREADABLE = "unreadable"
    """Its answer is no JSON, or not of the form that such servers answer in."""
    TOO_LARGE = "too_large"
    """Its answer has more bytes than are read."""


@dataclass(frozen=True, slots=True)
class LocalQuestion:
    """One question.

    Attributes:
        system: the system prompt.
        user: the filled template.
        output_schema: JSON Schema that the answer is held to, where the server can.
        max_tokens: most tokens of the answer; None leaves it to the server.
        input: what was filled in, for models that are asked without prompts.
    """

    system: str
    user: str
    output_schema: Mapping[str, Any]
    max_tokens: int | None = None
    input: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LocalAnswer:
    """What a model answered.

    Attributes:
        text: as it came: it may be no JSON, cut off, empty, or longer than what is kept of it.
        served_model: the name under which the server has what answered.
        confidence: how sure it is, 0 to 1; None where the backend does not say.
        latency_ms: from the question to the last byte, in milliseconds.
    """

    text: str
    served_model: str
    confidence: float | None
    latency_ms: int


@dataclass(frozen=True, slots=True)
class Unavailable:
    """There is no answer.

    Attributes:
        detail: for people. Of what the server sent it has at most names of models.
        latency_ms: how long it took to know that.
    """

    reason: Reason
    detail: str
    latency_ms: int = 0


@dataclass(frozen=True, slots=True)
class ServedModel:
    """What a version is known by where it is served.

    Attributes:
        model: its name there.
        digest: of what was registered under that name; None where nothing was, as for models that
            have a new name each time.
        endpoint: of SageMaker.
        component: inference component of that endpoint; None where it has none.
        task_id: of the task whose version it is, where SageMaker hosts it.
        backend: what serves it; None is what the task's configuration says.
    """

    model: str
    digest: str | None = None
    endpoint: str | None = None
    component: str | None = None
    task_id: str | None = None
    backend: ServingBackend | None = None


class CallNotes(Protocol):
    """Notes that versions are asked: what nobody asks sleeps, and what sleeps is to wake."""

    def note(self, served: ServedModel, *, idle_minutes: int, is_awake: bool) -> None:
        """Note a call.

        Args:
            idle_minutes: after so many without one it may sleep, as the task has it now.
            is_awake: whether the version answered, whatever it said.
        """
        ...


class LocalClient(Protocol):
    """Asks one version of a small model; threads may share it."""

    def ask(self, question: LocalQuestion, *, timeout_ms: int) -> LocalAnswer | Unavailable:
        """Ask, once, and return what came of it within the time.

        Args:
            timeout_ms: for all of it together, connecting and reading included.
        """
        ...


class LocalClients(Protocol):
    """Finds who asks a version."""

    def client_for(self, configuration: Mapping[str, Any], served: ServedModel) -> LocalClient:
        """Return what asks a version, where it is served.

        A version that this deployment hosts is asked there, whatever the configuration says of
        later ones. Where a server of one's own is, the configuration says.

        Args:
            configuration: as it is on the wire; its ``local`` counts.
        """
        ...
