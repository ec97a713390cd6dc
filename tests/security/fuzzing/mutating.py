"""Odd values, and JSON documents and texts that are changed in one place or several."""

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from random import Random
from typing import Any, TypeVar

T = TypeVar("T", bound=Sequence[Any])

MARKER = "Zq7mark5f3c9a1eZq7"
"""Stands in texts that are made up: who finds it in a log has found a text there."""

_TEXTS = (
    "",
    " ",
    "\0",
    "\x7f\x1b[31m",
    "é",
    "\U0001f600" * 20,
    "e\u0301" * 50,
    "\ufdfa" * 40,
    "\u202etxt",
    "\ufeff",
    "\uffff",
    "../../etc/passwd",
    "{{ item.x }}",
    "{{",
    "<script>alert(1)</script>",
    "NaN",
    "null",
    "-1",
    "1e999",
    "' OR 1=1 --",
    "%00%ff%2e",
    "\r\nx-autotune-key: x",
    "$ref",
    "__proto__",
    "#pk",
    "2026-02-30T25:61:61Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999+23:59",
    "(a+)+$",
)
_SURROGATES = ("\ud800", "\udfff\ud800", "a\udc80b")
_NUMBERS = (
    0,
    -1,
    -0.0,
    1.5,
    1e308,
    5e-324,
    2**31,
    2**53 + 1,
    2**63,
    2**64,
    -(2**63) - 1,
    10**40,
    10**400,
    1e-400,
)
_NUMBERS_OF_OTHERS = ("NaN", "Infinity", "-Infinity", "1e999", "-0", "1" * 5_000, "0x1F")


def odd_text(random: Random, *, surrogates: bool = True, longest: int = 70_000) -> str:
    """Return a text that few expect, in half of all cases with the marker in it."""
    kind = random.random()
    if kind < 0.1:
        text = random.choice("aé\U0001f600 /") * random.choice([60, 257, 2_049, 5_000, longest])
    elif kind < 0.2:
        text = "".join(chr(random.randrange(1, 0x3000)) for _ in range(random.randrange(1, 40)))
    elif kind < 0.3 and surrogates:
        text = random.choice(_SURROGATES)
    else:
        text = random.choice(_TEXTS)
    return f"{MARKER}{text}"[:longest] if random.random() < 0.5 else text[:longest]


def odd_value(random: Random, *, longest: int = 70_000) -> Any:
    """Return a JSON value that few expect; also what JSON has no word for."""
    kind = random.random()
    if kind < 0.35:
        return odd_text(random, longest=longest)
    if kind < 0.6:
        return random.choice(_NUMBERS)
    if kind < 0.75:
        return random.choice([None, True, False, [], {}, [None], {"": None}, [[]], float("nan")])
    if kind < 0.85:
        return nested(random.choice([3, 40, 200]), random)
    return [odd_text(random, longest=500) for _ in range(random.choice([1, 30, 1_200]))]


def nested(depth: int, random: Random) -> Any:
    """Return something that is as deep."""
    found: Any = MARKER
    for _ in range(depth):
        found = [found] if random.random() < 0.5 else {"a": found}
    return found


def mutated(document: Any, random: Random, *, times: int = 1) -> Any:
    """Return a document that is changed in some places; the one that was given stays."""
    found = {"": deepcopy(document)}
    for _ in range(times):
        _mutate_one(found, random)
    return found.get("")


def _mutate_one(found: dict[str, Any], random: Random) -> None:
    """Change one member of an object or of a list, however deep, or the whole."""
    found.setdefault("", None)
    places: list[tuple[Any, Any]] = [(found, "")]

    def gather(value: Any, depth: int) -> None:
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for key, member in members:
            places.append((value, key))
            if isinstance(member, dict | list) and depth < 12 and len(places) < 400:
                gather(member, depth + 1)

    if isinstance(found.get(""), dict | list):
        gather(found[""], 0)
    # The whole is replaced rarely: little is behind the check that it is an object.
    parent, key = random.choice(
        places[1:] if len(places) > 1 and random.random() < 0.95 else places
    )
    how = random.random()
    if how < 0.15:
        del parent[key]
    elif how < 0.25 and isinstance(parent, dict) and key != "":
        parent[odd_text(random, longest=3_000)] = parent.pop(key)
    elif how < 0.35 and isinstance(parent, list):
        parent.extend([parent[key]] * random.choice([1, 20, 600]))
    elif how < 0.45 and isinstance(parent, dict):
        parent[odd_text(random, longest=300)] = odd_value(random, longest=3_000)
    elif how < 0.6 and isinstance(parent[key], str):
        parent[key] = spliced(parent[key], random)
    else:
        parent[key] = odd_value(random)


def spliced(text: T, random: Random) -> T:
    """Return a text or bytes with a few of its characters dropped, doubled or moved."""
    at = random.randrange(len(text) + 1)
    end = min(len(text), at + random.choice([1, 1, 1, 3, 10]))
    part: Any = text[at:end]
    return random.choice(
        [
            text[:at] + text[end:],  # type: ignore[operator]
            text[:at] + part + part + text[end:],  # type: ignore[operator]
            text[:at] + part[::-1] + text[end:],  # type: ignore[operator]
            text[end:] + text[:end],  # type: ignore[operator]
        ]
    )


def encoded(document: Any, random: Random) -> bytes:
    """Return a document as JSON, as writers of all kinds write it."""
    ascii_only = random.random() < 0.5
    text = json.dumps(document, ensure_ascii=ascii_only)
    return text.encode(errors="surrogatepass")


def mangled(sent: bytes, random: Random) -> bytes:
    """Return JSON that is broken as bytes, or says a thing twice."""
    at = random.randrange(len(sent) + 1)
    number = random.choice(_NUMBERS_OF_OTHERS).encode()
    deep = random.choice([100, 450, 501, 20_000])
    no_utf8 = random.choice([b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\0"])
    marker = MARKER.encode()
    ways: list[Callable[[], bytes]] = [
        lambda: sent[:at],
        lambda: sent[:at] + no_utf8 + sent[at:],
        lambda: random.choice([b"\xef\xbb\xbf", b"\xff\xfe", b" \n\t"]) + sent,
        lambda: sent + random.choice([b"}", b"null", sent, b"\0", b"//" + marker]),
        lambda: b"{" + sent[1:-1] + b"," + sent[1:],  # every name of an object twice
        lambda: sent.replace(b'"' + marker + b'"', number).replace(b": 1", b": " + number),
        lambda: sent.decode(errors="replace").encode("utf-16"),
        lambda: b'{"a":' * deep + sent + b"}" * deep,
        lambda: spliced(sent, random),
    ]
    return random.choice(ways)()
