"""Requests to a peer from senders that each wait for an answer before they ask again.

Unlike an open loop it finds the most that a server can do, which is what peers are asked for.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle

import httpx

from benchmarks.load import percentile

CONCURRENCY = 4
WARM_UP_SECONDS = 0.5
_JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class Call:
    """A POST, encoded before the clock runs."""

    path: str
    body: bytes


@dataclass(frozen=True)
class Load:
    """What a server answered; milliseconds of a request, by nearest rank.

    Attributes:
        sender_share: How much of the time the sender itself was computing, 0 to 1. Near 1 the
            figures are the sender's: the server could do more.
    """

    requests: int
    seconds: float
    p50: float
    p95: float
    p99: float
    sender_share: float


async def send(client: httpx.AsyncClient, calls: Sequence[Call], *, seconds: float) -> Load:
    """Send the calls over and over, four at a time, after half a second that warms the server up.

    Raises:
        httpx.HTTPError: If a request fails, or is answered with an error.
    """
    around = cycle(calls)
    await _send_at_once(client, around, seconds=WARM_UP_SECONDS)
    computed, started = time.process_time(), time.monotonic()
    took = await _send_at_once(client, around, seconds=seconds)
    elapsed = time.monotonic() - started
    return Load(
        requests=len(took),
        seconds=round(elapsed, 3),
        p50=percentile(took, 0.50),
        p95=percentile(took, 0.95),
        p99=percentile(took, 0.99),
        sender_share=round((time.process_time() - computed) / elapsed, 2),
    )


async def _send_at_once(
    client: httpx.AsyncClient, calls: Iterator[Call], *, seconds: float
) -> list[float]:
    ends_at = time.monotonic() + seconds
    senders = (_send_in_turn(client, calls, ends_at=ends_at) for _ in range(CONCURRENCY))
    return [one for took in await asyncio.gather(*senders) for one in took]


async def _send_in_turn(
    client: httpx.AsyncClient, calls: Iterator[Call], *, ends_at: float
) -> list[float]:
    """Return the milliseconds of each request; the last one may end after the time."""
    took = []
    while (started := time.monotonic()) < ends_at:
        call = next(calls)
        answer = await client.post(call.path, content=call.body, headers=_JSON)
        answer.raise_for_status()
        took.append((time.monotonic() - started) * 1_000)
    return took
