"""Moving dead letters back to the queues that they came from."""

from collections.abc import Mapping

from autotune_platform.operations.repository import MessageMover
from autotune_platform.runtime.parts import part

_MOST_MESSAGES = 10_000


@part
class DeadLetters:
    """Messages that could not be handled five times."""

    mover: MessageMover
    queues: Mapping[str, tuple[str, str]]

    def redrive(self) -> dict[str, int]:
        """Move every dead letter back, up to 10,000 of each queue; return how many moved."""
        return {
            name: self.mover.move(dead_letters, queue, most=_MOST_MESSAGES)
            for name, (dead_letters, queue) in self.queues.items()
        }
