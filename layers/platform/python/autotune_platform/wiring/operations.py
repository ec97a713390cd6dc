"""Parts for operators."""

from functools import cached_property

from autotune_platform.operations.dead_letters import DeadLetters
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import DeadLetterEnvironment


class DeadLetterParts:
    """What moves dead letters back."""

    def __init__(self, environment: DeadLetterEnvironment) -> None:
        self.environment = environment

    @cached_property
    def dead_letters(self) -> DeadLetters:
        return DeadLetters(sqs=clients.sqs(), queues=self.environment.dead_letters)
