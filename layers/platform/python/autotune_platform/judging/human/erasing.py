"""Erasing what reviewers wrote about texts that are deleted."""

from collections.abc import Sequence
from datetime import datetime

from autotune.protocol.ids import is_id
from autotune_platform.judging.human.models import review_id, second_review_id
from autotune_platform.judging.human.records import ReviewRecords
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.verdicts.service import VerdictService

_CONCURRENT_ERASURES = 8


@part
class ExplanationEraser:
    """Finds the reviews of completions by their verdicts: each review belongs to a panel.

    What is deleted has a verdict by then, if only that it was canceled; and whoever answers later
    finds that.
    """

    records: ReviewRecords
    verdicts: VerdictService

    def erase_completions(self, completion_ids: Sequence[str], *, at: datetime) -> None:
        """Delete the explanations in answers to the completions' reviews.

        Raises:
            UnavailableError: others kept changing a review; do it again.
        """

        def erase(completion_id: str) -> None:
            for verdict in self.verdicts.all_of(completion_id):
                if is_id("pnl", verdict.grader_id):
                    reviewed = review_id(completion_id, verdict.grader_id, verdict.generation)
                    self.records.erase_explanation(reviewed)
                    self.records.erase_explanation(second_review_id(reviewed))

        if completion_ids:
            in_parallel(erase, completion_ids, at_most=_CONCURRENT_ERASURES)
