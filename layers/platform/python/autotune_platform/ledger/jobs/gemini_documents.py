"""What Gemini's documents of jobs and files say: names, places, counts, and codes of errors.

Nothing here raises, whatever stands there.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from autotune_platform.ledger.jobs.contract import Reported, Results, reported
from autotune_platform.ledger.providers.documents import inside, name, tokens

ENDS: Mapping[str, Literal["completed", "failed", "expired", "canceled"]] = {
    "SUCCEEDED": "completed",
    "FAILED": "failed",
    "EXPIRED": "expired",
    "CANCELLED": "canceled",
}
"""How a job ended, by its state behind ``BATCH_STATE_``."""

_NAME = re.compile(r"(batches|files)/[A-Za-z0-9_-][A-Za-z0-9._-]{0,190}")


@dataclass(frozen=True)
class _Rpc:
    """A code of google.rpc.Code, as HTTP has it, and its name."""

    status: int
    name: str


_RPC: Mapping[int, _Rpc] = {
    1: _Rpc(499, "CANCELLED"),
    2: _Rpc(500, "UNKNOWN"),
    3: _Rpc(400, "INVALID_ARGUMENT"),
    4: _Rpc(504, "DEADLINE_EXCEEDED"),
    5: _Rpc(404, "NOT_FOUND"),
    6: _Rpc(409, "ALREADY_EXISTS"),
    7: _Rpc(403, "PERMISSION_DENIED"),
    8: _Rpc(429, "RESOURCE_EXHAUSTED"),
    9: _Rpc(400, "FAILED_PRECONDITION"),
    10: _Rpc(409, "ABORTED"),
    11: _Rpc(400, "OUT_OF_RANGE"),
    12: _Rpc(501, "UNIMPLEMENTED"),
    13: _Rpc(500, "INTERNAL"),
    14: _Rpc(503, "UNAVAILABLE"),
    15: _Rpc(500, "DATA_LOSS"),
    16: _Rpc(401, "UNAUTHENTICATED"),
}


def named(kind: str, value: Any) -> str | None:
    """Return a name of Google's that can stand in a path, such as ``files/abc``."""
    if isinstance(value, str) and value.startswith(f"{kind}/") and _NAME.fullmatch(value):
        return value
    return None


def is_on_host_of(url: str, base_url: str) -> bool:
    """Return whether a URL leads where a key of this connection may go."""
    try:
        shown, own = urlsplit(url), urlsplit(base_url)
        places = [
            (one.scheme, one.username, one.hostname, one.port or {"https": 443}.get(one.scheme, 80))
            for one in (shown, own)
        ]
    except ValueError:
        return False
    return places[0] == places[1] and url.isascii() and url.isprintable() and " " not in url


def results_of(document: Any) -> list[Results]:
    """Return where the results of a job are."""
    shown = (
        inside(document, "response", "responsesFile"),
        inside(document, "metadata", "output", "responsesFile"),
    )
    names = dict.fromkeys(filter(None, (named("files", one) for one in shown)))
    return [Results(name) for name in names]


def counts(shown: Any) -> tuple[int | None, int | None]:
    """Return how many rows were answered, and how many there were, as far as these add up.

    Numbers come as texts, and zeros not at all.
    """
    counted = [
        _count(inside(shown, f"{kind}RequestCount")) for kind in ("successful", "failed", "pending")
    ]
    total = _count(inside(shown, "requestCount"))
    known = [one for one in counted if one is not None]
    if not total or len(known) < len(counted) or sum(known) != total:
        return None, None
    return known[0], total


def reported_of(metadata: Any) -> Reported:
    """Return what the metadata of a job tell beside its state."""
    stats = inside(metadata, "batchStats")
    return reported(
        name(inside(metadata, "model")),
        completed=_count(inside(stats, "successfulRequestCount")),
        failed=_count(inside(stats, "failedRequestCount")),
        total=_count(inside(stats, "requestCount")),
    )


def _count(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    return 0 if value is None else tokens(value)


def as_http(error: Mapping[str, Any]) -> tuple[int, Any]:
    """Return an error of a row or a job as a single call would have it: its status, its body."""
    code = error.get("code")
    known = code if isinstance(code, int) else 2
    if 400 <= known < 600:
        return known, {"error": error}
    rpc = _RPC.get(known, _RPC[2])
    return rpc.status, {"error": {"status": rpc.name, **error, "code": rpc.status}}
