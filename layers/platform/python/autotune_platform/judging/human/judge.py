"""People: asked when a panel is resolved, so that a run has nobody to ask."""

from collections.abc import Generator, Sequence

from autotune_platform.completions.models import Completion
from autotune_platform.judging.judge import Judged, Remainder, Resumed, Round


class HumanJudge:
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
