"""Which completions wait for a person."""

from collections.abc import Collection, Sequence

from autotune_platform.judging.human.models import review_id
from autotune_platform.judging.human.records import ReviewRecords
from autotune_platform.runtime.parts import part
from autotune_platform.verdicts.models import OfGrader
from autotune_platform.verdicts.service import VerdictService


@part
class ReviewWaits:
    """Finds what waits for reviewers' answers."""

    records: ReviewRecords
    verdicts: VerdictService

    def awaited(self, completion_ids: Sequence[str], asker: OfGrader) -> Collection[str]:
        """Return those of a run's completions without a verdict whose review is open.

        One whose time is up counts: the run's own time-out finds that, and falls back.
        """
        panel_id = asker.panel_id
        if panel_id is None or not completion_ids:
            return ()
        decided = self.verdicts.of_run(completion_ids, asker)
        asked = {review_id(id_, panel_id): id_ for id_ in completion_ids if id_ not in decided}
        reviews = self.records.find_many(asked)
        return {asked[id_] for id_, review in reviews.items() if review.state == "open"}
