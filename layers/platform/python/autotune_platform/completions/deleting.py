"""Deleting the texts of completions, and all that may quote them."""

from collections.abc import Sequence

from autotune_platform.access.models import Caller
from autotune_platform.completions.service import CompletionService
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.erasing import CompletionEraser


@part
class TextDeletion:
    """Deletes texts; that there were completions, and their scores, stay.

    Attributes:
        erasers: of every domain that keeps texts which are deleted with their completion; what
            holds the texts themselves comes first, so that nobody reads one that is half gone.
    """

    completions: CompletionService
    erasers: Sequence[CompletionEraser]
    clock: Clock = SYSTEM_CLOCK

    def delete(self, caller: Caller, completion_id: str) -> None:
        """Delete a completion's text; if it has no verdict yet, it is canceled.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        completion = self.completions.get(caller, completion_id)
        self.completions.cancel_all([completion.id])
        self._erase([completion_id])

    def delete_batch_content(self, caller: Caller, batch_id: str) -> None:
        """Delete the text of every completion of a batch; what has no verdict yet is canceled.

        Deleting again changes nothing.

        Raises:
            NotFoundError: there is no such batch, or it is another organisation's.
        """
        batch = self.completions.cancel_batch(caller, batch_id).batch
        self._erase(batch.completion_ids)

    def _erase(self, completion_ids: Sequence[str]) -> None:
        at = self.clock.now()
        for eraser in self.erasers:
            eraser.erase_completions(completion_ids, at=at)
