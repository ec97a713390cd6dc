"""Parts for operators."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import DeadLetterEnvironment

if TYPE_CHECKING:
    from autotune_platform.operations.dead_letters import DeadLetters


class DeadLetterParts:
    """What moves dead letters back."""

    def __init__(self, environment: DeadLetterEnvironment) -> None:
        self.environment = environment

    @cached_property
    def dead_letters(self) -> DeadLetters:
        from autotune_platform.operations.dead_letters import DeadLetters
        from autotune_platform.operations.repository import MessageMover

        return DeadLetters(mover=MessageMover(clients.sqs()), queues=self.environment.dead_letters)
