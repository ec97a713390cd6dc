"""Every route of ``docs/openapi.json``, with parameters and bodies that are almost right.

Requests are signed and go through the handlers of the functions. The API never breaks, says which
field was wrong, answers errors in little, writes no text into a log and takes little memory.
"""

import contextlib
import gc
import io
import json
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import pytest

from autotune.protocol.ids import new_id
from autotune.protocol.signing import sign_api_request
from autotune_platform.outbound import addresses, connections
from tests.component.access import prepared
from tests.component.rewards.test_answering import CONTRACTS
from tests.security.fuzzing.cases import Case, Found
from tests.security.fuzzing.mutating import MARKER, encoded, mangled, mutated, odd_text, odd_value
from tests.security.fuzzing.schemas import Drawing
from tests.support.aws import API_URL
from tests.support.lambdas import Answer
from tests.support.oidc import serve_provider, sign_in_at
from tests.support.platform import Platform
from tests.support.platform import platform as make_platform

OPENAPI = Path(__file__).parents[3] / "docs" / "openapi.json"
MOST_ERROR_BYTES = 64_000
MOST_MB = 220
"""More than there was before the request: with a process' own 80 MB it is 300 MB of 512 MB."""

LARGE_BODY = 200_000
"""From here on it is measured what memory a request takes, which takes a moment itself."""

# The one documented 5xx of a route: a trainer is to ask again.
_ASK_AGAIN = frozenset(["score_pending", "scoring_failed"])
# Errors of a whole request or of state, which no field of it is to blame for.
_OF_NO_FIELD = frozenset(["idempotency_key_reused", "answer_too_large", "not_scored"])
_KINDS = {
    "grd": "grader_id",
    "cmp": "completion_id",
    "bat": "batch_id",
    "rev": "review_id",
    "task": "task_id",
    "dck": "deck_id",
    "smp": "sample_id",
}
# Time passes where a request waits.
_WAITS = ["0", "0", "0", "-1", "x", "", "1e9", "99999999999999999999"]


@cache
def _document() -> dict[str, Any]:
    return dict(json.loads(OPENAPI.read_text()))


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    """Return every method and path that there is, with what is said of it."""
    return [
        (method.upper(), path, operation)
        for path, methods in _document()["paths"].items()
        for method, operation in methods.items()
    ]


class _Logs:
    """All that is printed and logged while it is open."""

    def __init__(self) -> None:
        self.text = io.StringIO()

    def take(self) -> str:
        text = self.text.getvalue()
        self.text.seek(0)
        self.text.truncate()
        return text

    @contextmanager
    def opened(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.redirect_stdout(self.text))
            stack.enter_context(contextlib.redirect_stderr(self.text))
            root = logging.getLogger()
            own = logging.StreamHandler(self.text)
            own.setFormatter(logging.Formatter("%(message)s %(args)s"))
            root.addHandler(own)
            stack.callback(root.removeHandler, own)
            for logger in list(logging.root.manager.loggerDict.values()):
                for handler in getattr(logger, "handlers", []):
                    if isinstance(handler, logging.StreamHandler):
                        stack.callback(handler.setStream, handler.stream)
                        handler.setStream(self.text)
            yield


class Routes:
    """Sends requests that are drawn, and looks at what comes of each."""

    def __init__(self, platform: Platform, logs: _Logs) -> None:
        self.platform = platform
        self._logs = logs
        self._prepared = prepared.Prepared(platform)
        self._task_id = self._prepared.id_of("task_id", "own")
        self._reward_path = platform.new_reward_url(self._task_id)
        self._token = self._reward_path.removeprefix("/r/")
        self.llm_token = self._prepared.new_llm_token("own")
        self._secret_parts = [
            self.llm_token.partition("-")[2],
            platform.api_key.split(".")[1],
            self._token.partition("-")[2],
        ]
        self._drawing = Drawing(_document()["components"]["schemas"], self._id_of_kind)
        # Most of what can go wrong does so behind a body.
        self._operations = [
            one for one in operations() for _ in range(3 if "requestBody" in one[2] else 1)
        ]
        logs.take()

    def case(self, random: Random) -> str:
        method, path, operation = random.choice(self._operations)
        filled, ids = self._path(path, random, used_by=method)
        query = self._query(operation, random, needs_wait=path.startswith("/r/"))
        body = self._body(path, operation, random)
        headers = self._headers(operation, random)
        if path.startswith("/v1/"):
            headers = {**headers, "authorization": f"Bearer {self.llm_token}"}
        answer = self.sent(method, filled, query, headers, body)
        # What is deleted is made anew at once, and what is only changed now and then.
        if answer.status < 300 and (method == "DELETE" or random.random() < 0.05):
            self._prepared.spend(ids, "own", used_by=method)
        return str(answer.status)

    def keep_secret(self, text: str) -> None:
        """Look for one more text that no log may have."""
        self._secret_parts.append(text)

    def sent(
        self, method: str, path: str, query: str, headers: dict[str, str], body: bytes
    ) -> Answer:
        """Send a request; return its answer, which kept every promise.

        Raises:
            Found: it kept one of them not.
        """
        before = _peak_from_here() if len(body) > LARGE_BODY else 0.0
        sent = (method, path, query, headers, body)
        try:
            answer = self._send(*sent, signed=not path.startswith("/r/"))
        except Exception as error:
            raise Found("a function answers", sent, repr(error)) from error
        logged = self._logs.take()
        if before:
            gc.collect()
        self._check(answer, sent, logged, _peak_mb() - before if before else 0.0)
        return answer

    def _check(self, answer: Answer, sent: Any, logged: str, taken_mb: float) -> None:
        if answer.status >= 500 and not (
            sent[1].startswith("/r/") and answer.json.get("code") in _ASK_AGAIN
        ):
            raise Found("no request breaks the API", sent, f"{answer.text} {logged[-1_500:]}")
        try:
            answer.text.encode()
        except UnicodeEncodeError as error:
            raise Found("an answer is UTF-8", sent, ascii(answer.text)) from error
        if MARKER in logged:
            raise Found("no text is logged", sent, _around(logged, MARKER))
        for secret in self._secret_parts:
            if secret in logged:
                raise Found("no secret is logged", sent, _around(logged, secret))
        if taken_mb > MOST_MB:
            raise Found(f"a request takes at most {MOST_MB} MB", sent, taken_mb)
        if answer.status >= 400:
            (_check_error if sent[1].startswith("/v1/") else _check_problem)(answer, sent)

    def _id_of_kind(self, kind: str) -> str | None:
        if kind == "task":
            return self._task_id
        parameter = _KINDS.get(kind)
        return self._prepared.id_of(parameter, "own", used_by="body") if parameter else None

    def _path(self, path: str, random: Random, *, used_by: str) -> tuple[str, dict[str, str]]:
        ids: dict[str, str] = {}

        def one(match: re.Match[str]) -> str:
            parameter = match[1]
            kind = random.random()
            if kind < 0.15:
                return quote(odd_text(random, surrogates=False, longest=5_000), safe=" é\0")
            if parameter == "token":
                return self._token if kind < 0.9 else self._token[:-1] + "g"
            if parameter == "event_id":
                return self._prepared.event_id("own")
            if kind < 0.25 or not hasattr(self._prepared, f"_new_{parameter.removesuffix('_id')}"):
                return f"{parameter[:3]}_{'0' * 26}"
            ids[parameter] = self._prepared.id_of(parameter, "own", used_by=used_by)
            return ids[parameter]

        return re.sub(r"\{(\w+)\}", one, path), ids

    def _query(self, operation: dict[str, Any], random: Random, *, needs_wait: bool) -> str:
        sent = []
        for parameter in operation.get("parameters", []):
            if parameter["in"] != "query":
                continue
            name = parameter["name"]
            if name == "wait":
                if needs_wait or random.random() < 0.5:
                    sent.append(f"wait={random.choice(_WAITS)}")
            elif random.random() < 0.4:
                sent += [
                    f"{name}={self._query_value(parameter, random)}"
                    for _ in range(random.choice([1, 1, 1, 2, 40]))
                ]
        if random.random() < 0.05:
            sent.append(f"unknown={odd_text(random, surrogates=False, longest=300)}")
        return "&".join(sent)

    def _query_value(self, parameter: dict[str, Any], random: Random) -> str:
        if random.random() < 0.6:
            drawn = self._drawing.value(parameter.get("schema", {}), random, name=parameter["name"])
            return quote(str(drawn), safe="")
        if random.random() < 0.1:
            return "%ff%00%c0"
        return quote(odd_text(random, surrogates=False, longest=3_000), safe="")

    def _body(self, path: str, operation: dict[str, Any], random: Random) -> bytes:
        content = operation.get("requestBody", {}).get("content", {})
        if path.startswith("/r/"):
            document = CONTRACTS[path.removeprefix("/r/{token}/")][0]
        elif "application/json" in content:
            document = self._drawing.value(content["application/json"]["schema"], random)
        elif path.startswith("/api/v1/callbacks"):
            document = {"requestId": new_id("req"), "score": {"value": 1, "reasoning": MARKER}}
        else:
            return b"" if random.random() < 0.8 else encoded(odd_value(random), random)
        changed = mutated(document, random, times=random.choice([0, 1, 1, 1, 2, 4]))
        sent = encoded(changed, random)
        if random.random() < 0.02:
            fill = random.choice(['"x",', "[],", "0.1,", '{"a":1},', '"\\u00e9",'])
            times = random.choice([40_000, 400_000, 1_200_000])
            sent = sent[:-1] + f',"more":[{(fill * times)[:4_900_000]}1]}}'.encode()
        return mangled(sent, random) if random.random() < 0.2 else sent

    def _headers(self, operation: dict[str, Any], random: Random) -> dict[str, str]:
        found = {"content-type": "application/json"}
        if random.random() < 0.06:
            found["content-type"] = random.choice(
                [
                    *("text/plain", "", "multipart/form-data; boundary=x", "application/xml"),
                    *("application/x-www-form-urlencoded", "application/json; charset=utf-16"),
                ]
            )
        takes_key = any(one["in"] == "header" for one in operation.get("parameters", []))
        if takes_key and random.random() < 0.4:
            odd = odd_text(random, surrogates=False, longest=3_000)
            found["idempotency-key"] = random.choice(["k1", new_id("req"), odd])
        return found

    def _send(
        self,
        method: str,
        path: str,
        query: str,
        headers: dict[str, str],
        body: bytes,
        *,
        signed: bool,
    ) -> Answer:
        key_id, secret = self.platform.api_key.split(".")
        signature = sign_api_request(
            key_id=key_id,
            secret=secret,
            method=method,
            path=path,
            query=query,
            body=body,
            request_id=new_id("req"),
        )
        sent = {**headers, **(signature if signed else {})}
        return self.platform.pass_on(method, path, query, sent, body)


def _check_error(answer: Answer, sent: Any) -> None:
    """Check that an answer is an error as OpenAI words it."""
    if len(answer.content) > MOST_ERROR_BYTES:
        raise Found("an error is small", sent, len(answer.content))
    if set(answer.json.get("error", {})) != {"message", "type", "param", "code"}:
        raise Found("an error is in OpenAI's words", sent, answer.text)


def _check_problem(answer: Answer, sent: Any) -> None:
    if len(answer.content) > MOST_ERROR_BYTES:
        raise Found("an error is small", sent, len(answer.content))
    problem = answer.json
    is_problem = answer.headers.get("content-type") == "application/problem+json"
    if not (is_problem and problem["status"] == answer.status and problem["requestId"]):
        raise Found("an error is problem+json", sent, answer.text)
    if answer.status in {400, 422} and problem["code"] not in _OF_NO_FIELD:
        named = [one["field"] for one in problem.get("errors", [])]
        if not named or not all(named):
            raise Found("an error names a field", sent, answer.text)


def _around(text: str, found: str) -> str:
    at = text.index(found)
    return text[max(0, at - 500) : at + 200]


def measures_memory() -> bool:
    """Return whether this system tells a process what memory it took at most."""
    return sys.platform == "linux"


def _peak_from_here() -> float:
    """Forget the largest memory that this process ever took; return what it takes now, in MB."""
    if not measures_memory():
        return 0.0
    Path("/proc/self/clear_refs").write_text("5")
    return _memory_mb("VmRSS")


def _peak_mb() -> float:
    return _memory_mb("VmHWM")


def _memory_mb(name: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    raise AssertionError(name)


def _on_loopback(host: str, port: int, seconds: float | None = None) -> list[str]:
    """Resolve nothing but this machine: what is registered here is called by nobody else."""
    if host not in {"127.0.0.1", "localhost", "::1"}:
        raise OSError("not in a test")
    return ["127.0.0.1"]


@contextmanager
def opened() -> Iterator[Case]:
    with served() as routes:
        yield routes.case


@contextmanager
def served() -> Iterator[Routes]:
    """Provide a platform of its own, and what sends requests to it."""
    logs = _Logs()
    with (
        pytest.MonkeyPatch.context() as patched,
        make_platform(patched) as platform,
        serve_provider(f"{API_URL}/console") as provider,
    ):
        sign_in_at(patched, provider.url, platform.me()["organizationId"])
        patched.setattr(addresses, "resolve", _on_loopback)
        patched.setattr(connections, "resolve", _on_loopback)
        patched.setattr(prepared, "large_text", lambda: "r" * 99)  # others try where texts lie
        with logs.opened():
            routes = Routes(platform, logs)
            # Large requests are collected after; what a platform has is there from here on.
            gc.collect()
            gc.freeze()
            yield routes
