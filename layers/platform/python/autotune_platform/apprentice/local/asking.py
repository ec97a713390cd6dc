"""Asking a version of a small model: on a server of its owner, on SageMaker, or at a function."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from cachetools import TTLCache

from autotune.protocol.apprentice_models import ServingBackend
from autotune_platform.apprentice.local.adapter_hosts import answered_by
from autotune_platform.apprentice.local.chat_completions import chat_request, read_chat_answer
from autotune_platform.apprentice.local.contract import (
    CallNotes,
    LocalAnswer,
    LocalQuestion,
    Reason,
    ServedModel,
    Unavailable,
)
from autotune_platform.apprentice.local.exchanging import ModelServers, NoAnswerError
from autotune_platform.apprentice.local.listing import api_of, look
from autotune_platform.apprentice.local.ollama import ask_ollama
from autotune_platform.outbound.connections import time_limit
from autotune_platform.runtime.parts import part

CHECKED_SECONDS = 30
"""How long a server is believed to serve what it listed: so long, another model may answer."""
_MOST_CHECKED = 1_000
_ASLEEP = frozenset({Reason.NOT_READY, Reason.TIMED_OUT})
"""What a version that is scaled to zero, or whose host died, comes to."""

Said = tuple[str, str | None, float | None]
"""Text, name of the model that answered as far as it is known, confidence."""


def within(
    timeout_ms: int, served: ServedModel, ask: Callable[[], Said]
) -> LocalAnswer | Unavailable:
    """Return what comes of asking a version within a time, all requests for it together."""
    started = time.monotonic()
    try:
        with time_limit(timeout_ms / 1_000):
            text, model, confidence = ask()
        if model != served.model:
            raise another_version()
    except NoAnswerError as error:
        return Unavailable(error.reason, error.detail, _milliseconds_since(started))
    # JSON can say half a character, which no store takes.
    whole = text.encode(errors="replace").decode()
    return LocalAnswer(whole, served.model, confidence, _milliseconds_since(started))


def another_version() -> NoAnswerError:
    """Return the error that something else is served under the version's name."""
    return NoAnswerError(
        Reason.ANOTHER_VERSION, "what is served under this name is not what was registered"
    )


def _milliseconds_since(started: float) -> int:
    return round((time.monotonic() - started) * 1_000)


class KnownDigests:
    """What servers listed within the last half minute; threads share it."""

    def __init__(self) -> None:
        self._known: TTLCache[tuple[str, str, str], str] = TTLCache(_MOST_CHECKED, CHECKED_SECONDS)
        self._lock = threading.Lock()

    def of(self, servers: ModelServers, backend: ServingBackend, url: str, model: str) -> str:
        """Return the digest of a model, looked up where it is not known.

        Raises:
            NoAnswerError: the server does not list the model.
        """
        key = (backend, url, model)
        with self._lock:
            known = self._known.get(key)
        if known is None:
            known = look(servers, backend, url, model).digest
            with self._lock:
                self._known[key] = known
        return known


@part
class ServerClient:
    """Asks a version that vLLM, llama.cpp or Ollama serves.

    Attributes:
        connection_id: whose key it is asked with; None without one.
        idle_minutes: after so many without a call Ollama may unload it; the others keep it.
    """

    servers: ModelServers
    digests: KnownDigests
    backend: ServingBackend
    url: str
    served: ServedModel
    idle_minutes: int
    connection_id: str | None = None

    def ask(self, question: LocalQuestion, *, timeout_ms: int) -> LocalAnswer | Unavailable:
        """Ask, once, after the server listed what was registered."""
        return within(timeout_ms, self.served, lambda: self._said(question))

    def _said(self, question: LocalQuestion) -> Said:
        model, servers = self.served.model, self.servers.with_key(self.connection_id, self.url)
        if self.digests.of(servers, self.backend, self.url, model) != self.served.digest:
            raise another_version()
        base = api_of(self.url)
        if self.backend == "ollama":
            return ask_ollama(servers, base, question, model=model, idle_minutes=self.idle_minutes)
        request = chat_request(question, model=model)
        return read_chat_answer(servers.ask(f"{base}/v1/chat/completions", request))


@part
class SageMakerClient:
    """Asks a version at an endpoint of this account, by its component.

    Attributes:
        invoke: asks an endpoint; see ``sagemaker.EndpointInvocations``.
        notes: learns of each call.
        idle_minutes: after so many without one the version may sleep.
    """

    invoke: Callable[[ServedModel, Mapping[str, Any]], Any]
    served: ServedModel
    notes: CallNotes
    idle_minutes: int

    def ask(self, question: LocalQuestion, *, timeout_ms: int) -> LocalAnswer | Unavailable:
        """Ask, once. The version has a new name each time, and no answer names another."""
        answer = within(timeout_ms, self.served, lambda: self._said(question))
        sleeps = isinstance(answer, Unavailable) and answer.reason in _ASLEEP
        self.notes.note(self.served, idle_minutes=self.idle_minutes, is_awake=not sleeps)
        return answer

    def _said(self, question: LocalQuestion) -> Said:
        request = chat_request(question, model=self.served.model)
        text, model, confidence = read_chat_answer(self.invoke(self.served, request))
        return text, answered_by(model, self.served), confidence


@part
class LinearClient:
    """Asks a linear student, which this deployment hosts.

    Attributes:
        invoke: asks the function that hosts it; see ``linear.StudentInvocations``.
    """

    invoke: Callable[[ServedModel, LocalQuestion], Said]
    served: ServedModel

    def ask(self, question: LocalQuestion, *, timeout_ms: int) -> LocalAnswer | Unavailable:
        """Ask, once. The answer names the version, which has a new name each time."""
        return within(timeout_ms, self.served, lambda: self.invoke(self.served, question))
