"""What is known of a peer before it is started."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from benchmarks.peers.closed_loop import Call
from integrations.environments import Environment


def _nothing(client: httpx.Client, batch_size: int) -> None:
    """Most peers take requests as soon as they run."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A server of other people, or what they would write.

    Attributes:
        package: The package of its environment whose version is shown.
        arguments: What the environment's Python is called with to serve on a port.
        variables: Environment variables that it needs.
        ready_path: Path that answers with success once it runs.
        prepare: What has to be sent once before batches of a size.
        calls: Several requests of batches of a size.
        expects: What the answer to each of them holds, whatever else it does.
        largest_batch: How many completions it takes in a request; None if it does not say.
        does: What its number is for, beyond taking the request.
        lacks: What its number is without.
    """

    name: str
    package: str
    environment: Environment
    arguments: Callable[[int], Sequence[str]]
    ready_path: str
    calls: Callable[[int], Sequence[Call]]
    expects: Callable[[int], Mapping[str, Any]]
    does: Sequence[str]
    lacks: Sequence[str]
    variables: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[httpx.Client, int], None] = _nothing
    largest_batch: int | None = None
