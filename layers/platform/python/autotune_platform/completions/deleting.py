"""Deleting the texts of completions, and all that may quote them."""

from collections.abc import Sequence

from autotune_platform.access.models import Caller
from autotune_platform.completions.service import CompletionService
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import NotFoundError
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

        Where its text is gone, whatever an earlier deletion left that was interrupted is deleted
        all the same.

        Raises:
            NotFoundError: there is none, its text is gone, or it is another organisation's.
        """
        header = self.completions.headers([completion_id]).get(completion_id)
        if header is None or header.organization_id != caller.organization_id:
            raise NotFoundError(f"no completion {completion_id}")
        had_text = self.completions.has_text(completion_id)
        self._erase(header.batch_id, [completion_id])
        if not had_text:
            raise NotFoundError(f"no completion {completion_id}")

    def delete_batch_content(self, caller: Caller, batch_id: str) -> None:
        """Delete the text of every completion of a batch; what has no verdict yet is canceled.

        Deleting again changes nothing.

        Raises:
            NotFoundError: there is no such batch, or it is another organisation's.
        """
        batch = self.completions.cancel_batch(caller, batch_id).batch
        self._erase(batch_id, batch.completion_ids)

    def _erase(self, batch_id: str, completion_ids: Sequence[str]) -> None:
        """Delete texts first, and what may quote them once nothing new can be said of them.

        Between its cancelation and the deletion of its text a completion may be scored again.
        """
        texts, *others = self.erasers
        at = self.clock.now()
        self.completions.cancel_in(batch_id, completion_ids)
        texts.erase_completions(completion_ids, at=at)
        self.completions.cancel_in(batch_id, completion_ids)
        for eraser in others:
            eraser.erase_completions(completion_ids, at=at)
