"""Sends runs of a task and chat completions at once, each until it has an answer or a refusal."""

import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock

import httpx

from autotune import AutotuneClient
from autotune.client.errors import APIError, ConnectionFailedError
from tests.chaos.texts import TEXT

AT_ONCE = 6
CHAT_EACH, QUEUED_EACH = 5, 4
"""One request in so many is a chat completion; of runs, one in so many waits in the queue."""

_INSISTS_SECONDS = 90
_WAIT_SECONDS = 20
_REFUSED = "budget_exhausted"


@dataclass(frozen=True)
class Chats:
    """Asks a model through a connection, as programs do that know OpenAI's chat completions.

    Attributes:
        url: of the API.
        secret: a token of the connection.
        model: the connection and its model.
        max_tokens: of an answer.
        padding: characters that a question has beside its case.
    """

    url: str
    secret: str
    model: str
    max_tokens: int
    padding: int = 0

    def ask(self, case: str) -> httpx.Response:
        """Send a question; the same case is the same request.

        Raises:
            httpx.TransportError: there was no answer.
        """
        return httpx.post(
            f"{self.url}/v1/chat/completions",
            json={
                "model": self.model,
                "messages": [{"role": "user", "content": f"{case} {'.' * self.padding}"}],
                "max_completion_tokens": self.max_tokens,
            },
            headers={"authorization": f"Bearer {self.secret}", "idempotency-key": case},
            timeout=60,
            trust_env=False,
        )


@dataclass
class SpendingLoad:
    """What is sent, and what became of it.

    Attributes:
        ends: how many of each kind ended how, as their callers know it.
        run_ids: of runs that were acknowledged.
        failed_calls: what calls ended with that were sent again.
    """

    client: AutotuneClient
    chats: Chats
    task: str
    ends: Counter[str] = field(default_factory=Counter)
    run_ids: list[str] = field(default_factory=list)
    failed_calls: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def send(self, numbers: Iterable[int]) -> None:
        """Send a request for each number, some at once."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(self._send, numbers))

    def run(self, case: str, wait: int) -> str | None:
        """Start a run; return how it stands, None where that is to be asked again."""
        try:
            run = self.client.apprentice.run(
                self.task, input={"text": f"{case} {TEXT}"}, wait=wait, idempotency_key=case
            )
        except (APIError, ConnectionFailedError) as error:
            if isinstance(error, APIError) and error.code == _REFUSED:
                return "refused"
            said = f"run {error.status}" if isinstance(error, APIError) else "run without answer"
            return self._failed(said)
        with self._lock:
            self.run_ids.append(run.id)
        return run.state

    def _send(self, number: int) -> None:
        case = case_of(number)
        if number % CHAT_EACH == 0:
            kind, wait = "chat", 0
        else:
            kind, wait = ("run", _WAIT_SECONDS) if number % QUEUED_EACH else ("queued run", 0)
        until = time.monotonic() + _INSISTS_SECONDS
        end = None
        while end is None and time.monotonic() < until:
            end = self._chat(case) if kind == "chat" else self.run(case, wait)
            if end is None:
                time.sleep(0.5)
        with self._lock:
            self.ends[f"{kind} {end or 'without an end'}"] += 1

    def _chat(self, case: str) -> str | None:
        try:
            answer = self.chats.ask(case)
        except httpx.TransportError:
            return self._failed("chat without answer")
        if answer.status_code == httpx.codes.OK:
            return "answered"
        if answer.status_code == httpx.codes.PAYMENT_REQUIRED:
            return "refused"
        self._failed(f"chat {answer.status_code}")
        # One whose function was killed is under way until it is settled: ten minutes later.
        return "under way" if answer.status_code == httpx.codes.CONFLICT else None

    def _failed(self, said: str) -> None:
        with self._lock:
            self.failed_calls[said] += 1


def case_of(number: int) -> str:
    """Return what a request is about; all are as long."""
    return f"case-{number:05d}"
