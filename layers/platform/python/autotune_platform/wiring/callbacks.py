"""Parts that take graders' later answers."""

from functools import cached_property

from autotune_platform.runtime.environment.completions import ContentEnvironment
from autotune_platform.scoring.callbacks import CallbackService
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.waits import WaitParts
from autotune_platform.wiring.writing import WriterParts


class CallbackApiParts(ApiParts, WriterParts, WaitParts):
    """What takes graders' later answers."""

    environment: ContentEnvironment

    @cached_property
    def callback_service(self) -> CallbackService:
        return CallbackService(
            callbacks=self.callbacks,
            batches=self.open_batches,
            completions=self.completions,
            verdicts=self.verdicts,
            writer=self.writer,
            resolver=self.resolver,
            waits=self.run_waits,
        )
