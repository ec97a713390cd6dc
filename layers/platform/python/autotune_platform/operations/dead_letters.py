"""Moving dead letters back to the queues that they came from."""

from collections.abc import Mapping
from typing import Self

from autotune.protocol.completions import Priority
from autotune_platform import clients
from autotune_platform.environment import DeadLetterEnvironment
from autotune_platform.operations.repository import MessageMover

_MOST_MESSAGES = 10_000


class DeadLetters:
    """Chunks that could not be dispatched five times."""

    def __init__(
        self,
        *,
        mover: MessageMover,
        dead_letters: Mapping[Priority, str],
        queues: Mapping[Priority, str],
    ) -> None:
        self._mover = mover
        self._dead_letters = dead_letters
        self._queues = queues

    @classmethod
    def from_environment(cls, environment: DeadLetterEnvironment) -> Self:
        """Return the dead letters of the queues that the environment names."""
        return cls(
            mover=MessageMover(clients.sqs()),
            dead_letters=environment.dead_letter_urls,
            queues=environment.queue_urls,
        )

    def redrive(self) -> dict[Priority, int]:
        """Move every dead letter back, up to 10,000 of each priority; return how many moved."""
        return {
            priority: self._mover.move(url, self._queues[priority], most=_MOST_MESSAGES)
            for priority, url in self._dead_letters.items()
        }
