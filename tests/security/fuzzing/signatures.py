"""Signed requests that are changed on their way: none gets in but those that say the same."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest

from autotune.protocol.ids import new_id
from autotune.protocol.signing import sign_api_request
from tests.security.fuzzing.cases import Case, Found
from tests.security.fuzzing.mutating import odd_text, spliced
from tests.support.platform import Platform
from tests.support.platform import platform as make_platform

_SIGNED = (
    "x-autotune-key",
    "x-autotune-signature",
    "x-autotune-timestamp",
    "x-autotune-request-id",
)
_REQUESTS = (
    ("GET", "/api/v1/keys/me", "", b""),
    ("GET", "/api/v1/keys", "limit=5", b""),
    ("GET", "/api/v1/tasks", "limit=1&limit=2", b""),
    ("POST", "/api/v1/tasks", "", b'{"name": "t"}'),
    ("GET", "/api/v1/nothing", "a=b%20c&d=", b""),
)


@dataclass(frozen=True)
class Sent:
    """A request as it arrives."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    @property
    def meaning(self) -> tuple[Any, ...]:
        """All that a signature is about, so that gateways may write it in another way."""
        lowered = {name.lower(): value for name, value in self.headers.items()}
        return (
            self.method.upper(),
            unquote(self.path),
            sorted(parse_qsl(self.query, keep_blank_values=True)),
            self.body,
            *(lowered.get(name) for name in _SIGNED if name != "x-autotune-signature"),
        )

    def is_signed_as(self, other: "Sent") -> bool:
        """Tell whether one of the signatures is the other's own, and all else means the same."""
        lowered = {name.lower(): value for name, value in self.headers.items()}
        given = lowered.get("x-autotune-signature", "").split()
        return other.headers["x-autotune-signature"] in given and self.meaning == other.meaning


def signed(api_key: str, random: Random, *, moment: int | None = None) -> Sent:
    method, path, query, body = random.choice(_REQUESTS)
    key_id, secret = api_key.split(".")
    headers = sign_api_request(
        key_id=key_id,
        secret=secret,
        method=method,
        path=path,
        query=query,
        body=body,
        request_id=new_id("req"),
        timestamp=moment,
    )
    return Sent(method, path, query, headers, body)


def changed(sent: Sent, random: Random, others: Sent) -> Sent:
    """Return a request with something of it changed; ``others`` is signed by another key."""
    if sent.headers.keys() != others.headers.keys():
        return sent  # a change before this one took a header away, or gave it another name
    method = random.choice(["GET", "POST", "DELETE", "PATCH", "get", "\uff27"])
    ways: list[Callable[[], Sent]] = [
        lambda: replace(sent, body=spliced(sent.body, random) if sent.body else b"{}"),
        lambda: replace(sent, path=_path(sent.path, random)),
        lambda: replace(sent, query=_query(sent.query, random)),
        lambda: replace(sent, method=method),
        *[lambda: replace(sent, headers=_headers(sent.headers, random, others.headers))] * 10,
    ]
    return random.choice(ways)()


def _headers(own: dict[str, str], random: Random, others: dict[str, str]) -> dict[str, str]:
    name = random.choice(_SIGNED)
    odd = _one_line(odd_text(random, surrogates=False, longest=9_000))
    signature, moment = own["x-autotune-signature"], int(others["x-autotune-timestamp"])
    bearer = random.choice(["Bearer x.y", "Bearer ", "Basic YTpi", "é"])
    ways: list[dict[str, str]] = [
        {one: value for one, value in own.items() if one != name},
        own | {name: spliced(own[name], random)},
        own | {name: odd},
        own | {name: others[name]},
        others | {name: own[name]},
        own | {name.title(): others[name]},
        own | {"x-autotune-signature": _signature(signature, random)},
        own | {"x-autotune-timestamp": _moment(moment, random)},
        own | {"authorization": bearer},
        {one.upper(): value for one, value in own.items()},
    ]
    return random.choice(ways)


def _signature(signature: str, random: Random) -> str:
    return random.choice(
        [
            f"{signature} v1={'0' * 64}",
            f"v2={signature[3:]}",
            signature.upper(),
            signature[:-1],
            f"{signature}0",
            "v1=" + "0" * 64,
            " ".join([signature] * 50),
            f"v1={signature}",
            signature.replace("v1=", "v1=0x"),
            "v1=" + signature[3:].translate({97: 0xFF41, 48: 0xFF10}),
        ]
    )


def _moment(moment: int, random: Random) -> str:
    return random.choice(
        [
            *(str(moment + step) for step in (-1, 1, -299, 299, 10**9)),
            *(f" {moment}", f"+{moment}", f"0{moment}", f"{moment}.0", f"{moment}\t"),
            *(f"-{moment}", "1e9", "9" * 400, str(moment).translate({48: 0x660, 49: 0x661})),
        ]
    )


def _path(path: str, random: Random) -> str:
    return random.choice(
        [
            spliced(path, random),
            path + random.choice(["/", "/.", "//", "%00", "\0", "%2e%2e", ";x", "/" + "a" * 3_000]),
            path.replace("keys", "k%65ys"),
            path.replace("/api", "/API"),
            path.replace("/", "%2F"),
            f"/{path}",
            "/api/v1/" + odd_text(random, surrogates=False, longest=3_000),
            "/api/v1/../v1/keys/me",
            "",
        ]
    )


def _query(query: str, random: Random) -> str:
    return random.choice(
        [
            spliced(query, random),
            f"{query}&limit=7",
            "&".join(reversed(query.split("&"))),
            query.replace("%20", "+"),
            query.replace("=", "%3D"),
            f"{query}&&",
            f"{query}&%ff=%fe",
            f"{query}&{odd_text(random, surrogates=False, longest=2_000)}",
        ]
    )


def _one_line(text: str) -> str:
    """Return what of a text a header can hold."""
    return "".join(char for char in text if " " <= char != "\x7f") or "x"


def check(platform: Platform, sent: Sent, *signed: Sent) -> str:
    """Send a request that was changed; return what became of it.

    Args:
        signed: requests that somebody signed, which may be sent, once.

    Raises:
        Found: it got in and says something else, or the API broke on it.
    """
    answer = platform.pass_on(sent.method, sent.path, sent.query, dict(sent.headers), sent.body)
    if answer.status >= 500:
        raise Found("no request breaks the API", sent, answer.text)
    is_same = any(map(sent.is_signed_as, signed))
    # Whether a path is there is told to those with a key alone.
    is_in = answer.status != 401
    if is_in and not is_same:
        raise Found("a changed request is refused", (signed, sent), (answer.status, answer.text))
    if not is_in and answer.json["code"] not in {
        *("unauthenticated", "stale_request", "replayed_request")
    }:
        raise Found("a refusal says which", sent, answer.text)
    if len(answer.content) > 64_000:
        raise Found("an error is small", sent, len(answer.content))
    return f"in {answer.status}" if is_in else f"refused {answer.json['code']}"


@contextmanager
def opened() -> Iterator[Case]:
    with pytest.MonkeyPatch.context() as patched, make_platform(patched) as platform:
        second = platform.new_key("admin")

        def case(random: Random) -> str:
            if random.random() < 0.1:
                return _untouched(platform, random)
            stale = random.random() < 0.1
            moment = int(time.time()) + random.choice([-301, 302, -10_000]) if stale else None
            original = signed(platform.api_key, random, moment=moment)
            if stale:
                return f"late: {check(platform, original)}"
            sent, others = original, signed(second, random)
            for _ in range(random.choice([1, 1, 2])):
                sent = changed(sent, random, others)
            return check(platform, sent, original, others)

        yield case


def _untouched(platform: Platform, random: Random) -> str:
    """Send a request as it was signed, and once more."""
    sent = signed(platform.api_key, random)
    if (once := check(platform, sent, sent)).startswith("refused"):
        raise Found("what is signed gets in", sent, once)
    again = check(platform, sent)
    if again != "refused replayed_request":
        raise Found("what was sent before is refused", sent, again)
    return "untouched, and a replay"
