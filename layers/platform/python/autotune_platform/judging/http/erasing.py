"""Forgetting answers that nobody applies any more, with the texts that they may quote."""

from collections.abc import Sequence
from datetime import datetime

from autotune_platform.judging.http.repository import CallRepository
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.verdicts.service import VerdictService

_CONCURRENT_ERASURES = 8


@part
class AnswerEraser:
    """Forgets recorded answers whose verdicts are there: who took one may have died before that.

    An answer is about all completions of its call. While one of them is undecided its answer is
    kept, and forgotten by whoever applies it.
    """

    calls: CallRepository
    verdicts: VerdictService

    def erase_completions(self, completion_ids: Sequence[str], *, at: datetime) -> None:
        """Forget the answers to calls about completions, where they decide nothing any more."""
        call_ids: set[str] = set()

        def find(completion_id: str) -> None:
            call_ids.update(self.calls.asked_about(completion_id))

        if completion_ids:
            in_parallel(find, completion_ids, at_most=_CONCURRENT_ERASURES)
        for call in self.calls.get_many(call_ids):
            if call.answer_parts and not self.verdicts.undecided(call.completion_ids, call):
                self.calls.forget_answer(call)
