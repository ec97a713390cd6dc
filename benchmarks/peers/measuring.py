"""Starts each peer, loads it for a few seconds, and stops it again."""

import asyncio
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from benchmarks.peers.catalogue import PEERS
from benchmarks.peers.closed_loop import Call, Load, send
from benchmarks.peers.peer import Peer
from integrations.environments import OFFLINE, InstallationError
from local.endpoint import LOOPBACK, free_port, isolated_environment
from local.progress import SilentProgress
from local.server_process import ServerProcess, ServerProcessError

BATCH_SIZES = (1, 100)
LOAD_SECONDS = 3.0

_ANSWER_SECONDS = 30.0
_REASON_CHARACTERS = 300


class UnexpectedAnswerError(RuntimeError):
    """A peer took a request and did something else with it than what is measured."""


@dataclass(frozen=True, kw_only=True)
class PeerResult:
    """How fast a peer took batches of a size, or why that is not known.

    Attributes:
        reason: Why there is no figure; empty if there is.
    """

    peer: Peer
    batch_size: int
    load: Load | None = None
    reason: str = ""

    @property
    def per_minute(self) -> float | None:
        """Completions answered in a minute."""
        if self.load is None:
            return None
        return self.load.requests * self.batch_size / self.load.seconds * 60

    def as_json(self) -> dict[str, Any]:
        """Return it for the report, with what the figure is for and without."""
        load, per_minute = self.load, self.per_minute
        return {
            "peer": self.peer.name,
            "version": f"{self.peer.package} {self.peer.environment.version_of(self.peer.package)}",
            "batch size": self.batch_size,
            "completions a minute": self.reason if per_minute is None else round(per_minute),
            "p50 (ms)": load.p50 if load else "",
            "p95 (ms)": load.p95 if load else "",
            "p99 (ms)": load.p99 if load else "",
            "sender's CPU share": load.sender_share if load else "",
            "does": "; ".join(self.peer.does),
            "does not have": "; ".join(self.peer.lacks),
        }


def measure(
    peers: Sequence[Peer] = PEERS,
    *,
    batch_sizes: Sequence[int] = BATCH_SIZES,
    seconds: float = LOAD_SECONDS,
) -> list[PeerResult]:
    """Measure each peer with each size of batch; a result without a figure says why."""
    return [result for peer in peers for result in _measure_peer(peer, batch_sizes, seconds)]


def _measure_peer(peer: Peer, batch_sizes: Sequence[int], seconds: float) -> list[PeerResult]:
    try:
        peer.environment.make(SilentProgress())
    except (InstallationError, OSError) as error:
        reason = _not_measured(error)
        return [PeerResult(peer=peer, batch_size=size, reason=reason) for size in batch_sizes]
    return [_measure_size(peer, size, seconds) for size in batch_sizes]


def _measure_size(peer: Peer, batch_size: int, seconds: float) -> PeerResult:
    if peer.largest_batch is not None and batch_size > peer.largest_batch:
        reason = f"not offered: {peer.largest_batch} a request at most"
        return PeerResult(peer=peer, batch_size=batch_size, reason=reason)
    try:
        load = _load(peer, batch_size, seconds)
    except (ServerProcessError, UnexpectedAnswerError, httpx.HTTPError, OSError) as error:
        return PeerResult(peer=peer, batch_size=batch_size, reason=_not_measured(error))
    return PeerResult(peer=peer, batch_size=batch_size, load=load)


def _load(peer: Peer, batch_size: int, seconds: float) -> Load:
    """Load a server of its own, because some keep in memory what they were sent."""
    calls = peer.calls(batch_size)
    port = free_port()
    url = f"http://{LOOPBACK}:{port}"
    with (
        tempfile.TemporaryDirectory(prefix="autotune-peer-") as folder,
        ServerProcess(
            arguments=[str(peer.environment.python), *peer.arguments(port)],
            answers_at=f"{url}{peer.ready_path}",
            environment=isolated_environment({**OFFLINE, **peer.variables}),
            log_file=Path(folder) / "server.log",
        ),
    ):
        with httpx.Client(base_url=url, timeout=_ANSWER_SECONDS, trust_env=False) as client:
            peer.prepare(client, batch_size)
            for call in calls:
                _check(peer, client, call, batch_size)
        return asyncio.run(_send(url, calls, seconds))


def _check(peer: Peer, client: httpx.Client, call: Call, batch_size: int) -> None:
    """Hear whether the peer does with a request what its figure is to be for."""
    answer = client.post(call.path, content=call.body, headers={"content-type": "application/json"})
    answer.raise_for_status()
    try:
        said = answer.json()
    except ValueError as error:
        raise UnexpectedAnswerError(f"{call.path} did not answer with JSON") from error
    expected = dict(peer.expects(batch_size))
    if not isinstance(said, dict) or {name: said.get(name) for name in expected} != expected:
        raise UnexpectedAnswerError(f"{call.path} answered {answer.text[:100]}")


async def _send(url: str, calls: Sequence[Call], seconds: float) -> Load:
    async with httpx.AsyncClient(base_url=url, timeout=_ANSWER_SECONDS, trust_env=False) as client:
        return await send(client, calls, seconds=seconds)


def _not_measured(error: Exception) -> str:
    """Return one line that a cell of a table holds; what a command printed last is at its end."""
    told = re.sub(r"[\s|]+", " ", str(error) or type(error).__name__).strip()
    if len(told) > _REASON_CHARACTERS:
        told = f"{told[: _REASON_CHARACTERS // 2]} ... {told[-_REASON_CHARACTERS // 2 :]}"
    return f"not measured: {told}"
