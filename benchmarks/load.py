"""Throughput and latency of the whole local stack, from submission to stored verdict.

Latency runs from the moment at which a submission was meant to start, whether or not the sender was
able to start it then: a system that falls behind cannot hide it by slowing its clients down
("coordinated omission", Gil Tene, "How NOT to Measure Latency").
"""

import asyncio
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from autotune import AsyncAutotuneClient, AutotuneClient
from autotune.protocol.completions import CompletionVerdict
from benchmarks.stand import Stand
from benchmarks.texts import completions

_TEXT_BYTES = 2_048
_WAIT_SECONDS = 300
_SUBMITTERS = 4
_WARM_UP_BATCHES = 8
# Requests at the same time: more would wait for the same two cores. What waits for its turn has
# its latency from its intended start all the same.
_CONNECTIONS = 32
# Rates at which single completions come before they are measured: what a stack starts once, such as
# workers and the functions that run every minute, is running then.
_RISING_SHARES = (0.15, 0.3, 0.6, 1.0)
_RISE_SECONDS = 20.0


@dataclass(frozen=True)
class Throughput:
    """How fast completions were scored that were all there at once."""

    batch_size: int
    completions: int
    seconds: float

    @property
    def per_minute(self) -> float:
        """Completions scored in a minute."""
        return self.completions / self.seconds * 60

    def as_json(self) -> dict[str, Any]:
        """Return it for the report."""
        return {**asdict(self), "perMinute": round(self.per_minute)}


@dataclass(frozen=True)
class Latency:
    """How many seconds completions took that came at a steady rate; by nearest rank."""

    batch_size: int
    completions: int
    per_second: float
    unscored: int
    p50: float
    p95: float
    p99: float
    longest: float

    def as_json(self) -> dict[str, Any]:
        """Return it for the report."""
        return {**asdict(self), "per_second": round(self.per_second, 1)}


def throughput(stand: Stand, task_id: str, *, batch_size: int, count: int) -> Throughput:
    """Score completions as fast as the stack can, after a warm-up."""
    with stand.client() as client:
        _score(client, task_id, batch_size=batch_size, count=batch_size * _WARM_UP_BATCHES)
        started = time.monotonic()
        _score(client, task_id, batch_size=batch_size, count=count)
        return Throughput(batch_size, count, round(time.monotonic() - started, 2))


def _score(client: AutotuneClient, task_id: str, *, batch_size: int, count: int) -> None:
    texts = completions(task_id, count, text_bytes=_TEXT_BYTES)
    submitted = list(
        client.completions.submit_many(texts, batch_size=batch_size, concurrency=_SUBMITTERS)
    )
    # The last one first: the others are done by then, and asked once.
    for batch in reversed(submitted):
        counts = client.batches.wait(batch.batch_id, timeout=_WAIT_SECONDS).counts
        if counts.scored != counts.expected:
            message = f"batch {batch.batch_id} was not scored: {counts}"
            raise RuntimeError(message)


def warm_up(stand: Stand, task_id: str, *, per_second: float) -> None:
    """Submit single completions at a rising rate for more than a minute."""
    for share in _RISING_SHARES:
        latency(stand, task_id, batch_size=1, per_second=per_second * share, seconds=_RISE_SECONDS)


def latency(
    stand: Stand, task_id: str, *, batch_size: int, per_second: float, seconds: float
) -> Latency:
    """Submit batches at a steady rate of completions; measure each from its intended start.

    A completion's time ends at its verdict's ``decidedAt``, which the function that writes the
    verdict notes some milliseconds before.
    """
    return asyncio.run(
        _open_loop(stand, task_id, batch_size=batch_size, per_second=per_second, seconds=seconds)
    )


async def _open_loop(
    stand: Stand, task_id: str, *, batch_size: int, per_second: float, seconds: float
) -> Latency:
    count = math.ceil(per_second * seconds / batch_size)
    texts = list(completions(task_id, count * batch_size, text_bytes=_TEXT_BYTES))
    async with AsyncAutotuneClient(
        base_url=stand.profile.base_url, api_key=stand.profile.api_key
    ) as client:
        begin = datetime.now(UTC) + timedelta(seconds=1)
        started = asyncio.get_running_loop().time() + 1
        sent: list[asyncio.Task[str]] = []
        turn = asyncio.Semaphore(_CONNECTIONS)
        for index in range(count):
            due = index * batch_size / per_second
            await asyncio.sleep(max(0.0, started + due - asyncio.get_running_loop().time()))
            batch = texts[index * batch_size : (index + 1) * batch_size]
            sent.append(asyncio.create_task(_submit(client, batch, turn)))
        # Nobody waits while others submit: asking takes from the cores that score.
        batch_ids = await asyncio.gather(*sent)
        answers = await asyncio.gather(*(_scored(client, batch_id, turn) for batch_id in batch_ids))
    took: list[float] = []
    for index, verdicts in enumerate(answers):
        intended = begin + timedelta(seconds=index * batch_size / per_second)
        took += _seconds_of(verdicts, since=intended)
    return Latency(
        batch_size=batch_size,
        completions=count * batch_size,
        per_second=per_second,
        unscored=count * batch_size - len(took),
        p50=percentile(took, 0.50),
        p95=percentile(took, 0.95),
        p99=percentile(took, 0.99),
        longest=percentile(took, 1.0),
    )


async def _submit(
    client: AsyncAutotuneClient, batch: Sequence[dict[str, Any]], turn: asyncio.Semaphore
) -> str:
    async with turn:
        async for submitted in client.completions.submit_many(batch, batch_size=len(batch)):
            return submitted.batch_id
    message = "nothing was submitted"
    raise RuntimeError(message)


async def _scored(
    client: AsyncAutotuneClient, batch_id: str, turn: asyncio.Semaphore
) -> list[CompletionVerdict]:
    async with turn:
        return (await client.batches.wait(batch_id, timeout=_WAIT_SECONDS)).verdicts


def _seconds_of(verdicts: Iterable[CompletionVerdict], *, since: datetime) -> list[float]:
    return [
        (verdict.decided_at - since).total_seconds()
        for verdict in verdicts
        if verdict.state == "scored" and verdict.decided_at is not None
    ]


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below or at which a share of all lie, by nearest rank."""
    ranked = sorted(values)
    return round(ranked[max(0, math.ceil(share * len(ranked)) - 1)], 3)
