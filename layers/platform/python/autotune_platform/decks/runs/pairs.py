"""Which judgements of a run come next, and which of them are known."""

from collections.abc import Mapping, Sequence

from autotune.protocol.deck_results import DeckResultStatus
from autotune_platform.decks.results import Place, ResultRepository
from autotune_platform.decks.runs.asking import Wanted
from autotune_platform.decks.runs.models import Run
from autotune_platform.decks.runs.repository import RunRepository
from autotune_platform.runtime.parts import part


@part
class NextPairs:
    """Reads the plan of a run, and results that were there before."""

    repository: RunRepository
    results: ResultRepository

    def next(self, run: Run, most: int) -> Sequence[Wanted]:
        """Return the next pairs of a run, sample by sample."""
        last = min(run.position + most, run.expected)
        if last <= run.position:
            return []
        of_sample = len(run.graders)
        first = run.position // of_sample
        ids = self.repository.planned(run, first, (last - 1) // of_sample + 1 - first)
        return [
            Wanted(ids[pair // of_sample - first], pair % of_sample)
            for pair in range(run.position, last)
        ]

    def known(self, run: Run, wanted: Sequence[Wanted]) -> Mapping[Place, DeckResultStatus]:
        """Return how judgements of earlier runs ended, which are not paid for again."""
        by = {place_of(run, one): run.graders[one.grader].again_by for one in wanted}
        found = self.results.first(by)
        known = {at: one for at, one in found.items() if one.is_final and one.is_by(by[at])}
        others = self.results.again(at for at, model in by.items() if model and at not in known)
        for at, judged in others.items():
            if final := [one for one in judged if one.is_final and one.is_by(by[at])]:
                known[at] = final[0]
        return {at: one.status for at, one in known.items()}


def pair_key(wanted: Wanted) -> str:
    """Return what a pair is noted by that is not begun."""
    return f"{wanted.sample_id}#{wanted.grader}"


def place_of(run: Run, wanted: Wanted) -> Place:
    """Return where the result of a pair lies."""
    judged = run.graders[wanted.grader]
    return (judged.grader_id, judged.version, wanted.sample_id)
