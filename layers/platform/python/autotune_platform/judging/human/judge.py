"""People: asked when a panel is resolved, so that a run asks nobody and waits for their answers."""

from collections.abc import Collection, Generator, Sequence

from autotune_platform.completions.models import Completion
from autotune_platform.judging.human.models import review_id
from autotune_platform.judging.human.records import ReviewRecords
from autotune_platform.judging.judge import Judged, NeedsNoPermit, Remainder, Resumed, Round
from autotune_platform.runtime.parts import part
from autotune_platform.verdicts.models import OfGrader
from autotune_platform.verdicts.service import VerdictService


class HumanJudge(NeedsNoPermit):
    """Leaves completions to the review that their panel asks for."""

    def resume(self, round_: Round, undecided: Sequence[str]) -> Generator[Judged, None, Resumed]:
        """Return none of them: each has a review, or gets one at the end of the round."""
        yield from ()
        return Resumed(unasked=())

    def judge(
        self, round_: Round, completions: Sequence[Completion]
    ) -> Generator[Judged, None, Remainder]:
        """Ask nobody."""
        yield from ()
        return Remainder(asked=False)


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
        asked = {
            review_id(id_, panel_id, asker.generation): id_
            for id_ in completion_ids
            if id_ not in decided
        }
        reviews = self.records.find_many(asked)
        return {asked[id_] for id_, review in reviews.items() if review.is_awaited}
