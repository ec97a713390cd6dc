"""Chat completions of programs that have a token, most of them of a task: almost right, or odd.

A task's token lets a program in that its owner may not know well. Whatever it sends, it is answered
in OpenAI's words, gets no more than the task's answer, and learns nothing of who gave it.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from random import Random
from typing import Any

from tests.security.fuzzing.cases import Case, Found
from tests.security.fuzzing.mutating import MARKER, encoded, mangled, mutated, odd_text, odd_value
from tests.security.fuzzing.routes import Routes, served
from tests.support.apprentice_runs import Runs
from tests.support.apprentice_runs import runs as answered_runs
from tests.support.ledger import ledger as make_ledger
from tests.support.task_chats import MODEL, TaskChats

CHATS = "/v1/chat/completions"
_MEMBERS = {"id", "object", "created", "model", "choices", "usage"}
# Of requests and connections of the ledger, which only a paid model's answers have.
_TELLS = ("llm_", "llc_")
# What programs send along: one time right, another time not.
_ALONG: Mapping[str, tuple[Any, ...]] = {
    "stream": (True, False, "yes"),
    "stream_options": ({"include_usage": True}, {}, {"include_usage": 1}, []),
    "max_tokens": (500, 1, 0, "500"),
    "max_completion_tokens": (500, 10**9, None),
    "response_format": (
        {"type": "json_object"},
        {"type": "text"},
        {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}},
        {"type": 7},
    ),
    "temperature": (1, 0, 1.0, True),
    "n": (1, 2, True),
    "tools": ([], [{"type": "function", "function": {"name": "f"}}]),
    "logprobs": (False, True),
    "user": ("u", MARKER, 7),
    "metadata": ({}, {"a": "b"}),
    "stop": ([], None, "x"),
    MARKER: (1, None),
}
_PARTS = ("text", "image_url", "input_audio")


class Chats:
    """Sends chats that are drawn, with tokens that are drawn."""

    def __init__(self, routes: Routes, runs: Runs) -> None:
        self._routes = routes
        self._of_task = TaskChats(runs).token
        self._of_connection = routes.llm_token
        routes.keep_secret(self._of_task.partition("-")[2])

    def case(self, random: Random) -> str:
        is_chat = random.random() < 0.9
        method, path = ("POST", CHATS) if is_chat else ("GET", "/v1/models")
        if random.random() < 0.05:
            method, path = random.choice([("POST", "/v1/files"), ("GET", "/v1/batches")])
        body = self._body(random) if method == "POST" else b""
        headers = self._headers(random)
        sent = (method, path, "", headers, body)
        answer = self._routes.sent(*sent)
        if path == CHATS and answer.status == 200 and self._of_task in headers["authorization"]:
            self._check(answer.text, answer.headers, sent)
        return str(answer.status)

    def _check(self, text: str, headers: Mapping[str, str], sent: Any) -> None:
        """Check that an answer of a task says nothing but the answer."""
        if any(word in f"{text} {headers}" for word in _TELLS):
            raise Found("an answer of a task tells not who gave it", sent, text)
        is_stream = headers["content-type"].startswith("text/event-stream")
        events = [one.removeprefix("data: ") for one in text.split("\n\n")] if is_stream else [text]
        for one in (json.loads(event) for event in events if event not in {"", "[DONE]"}):
            if not set(one) <= _MEMBERS or one["model"] != MODEL:
                raise Found("an answer has OpenAI's members", sent, one)

    def _headers(self, random: Random) -> dict[str, str]:
        kind = random.random()
        token = self._of_task if kind < 0.85 else self._of_connection
        if kind > 0.95:
            token = random.choice([f"{token[:-1]}g", token.upper(), "", MARKER])
        found = {"content-type": "application/json", "authorization": f"Bearer {token}"}
        if random.random() < 0.3:
            odd = odd_text(random, surrogates=False, longest=3_000)
            found["idempotency-key"] = random.choice(["k1", "k1", "k2", odd])
        if random.random() < 0.05:
            found[random.choice(["x-autotune-deck", "x-autotune-labels"])] = MARKER
        return found

    def _body(self, random: Random) -> bytes:
        document = {
            "model": MODEL if random.random() < 0.9 else odd_text(random, longest=300),
            "messages": self._messages(random),
        }
        for name, values in _ALONG.items():
            if random.random() < 0.1:
                document[name] = random.choice(values)
        if random.random() < 0.05:
            document = odd_value(random)
        sent = encoded(mutated(document, random, times=random.choice([0, 0, 0, 1, 2])), random)
        return mangled(sent, random) if random.random() < 0.1 else sent

    @staticmethod
    def _messages(random: Random) -> list[dict[str, Any]]:
        said = random.choice(["Let me in!", MARKER, odd_text(random, longest=5_000)])
        content: Any = said
        if random.random() < 0.2:
            kind = random.choice(_PARTS)
            content = [{"type": kind, kind: said}] * random.choice([1, 1, 2, 300])
        asked = [{"role": random.choice(["user", "user", "user", "tool"]), "content": content}]
        if random.random() < 0.3:
            role = random.choice(["system", "developer", "assistant"])
            asked.insert(0, {"role": role, "content": "You tell intents apart, in JSON."})
        return asked


@contextmanager
def opened() -> Iterator[Case]:
    with (
        served() as routes,
        make_ledger(routes.platform) as ledger,
        answered_runs(ledger) as runs,
    ):
        runs.put()
        yield Chats(routes, runs).case
