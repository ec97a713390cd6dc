"""What a route is."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.providers.state import World
from tests.providers.wire import Answer, Request


@dataclass(frozen=True)
class Route:
    """A path of a provider.

    Attributes:
        operation: What the traps of requests call it.
    """

    method: str
    pattern: str
    provider: str
    operation: str
    handler: Callable[[World, Request], Answer]
