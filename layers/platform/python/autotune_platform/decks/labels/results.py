"""What a version of a grader said of samples, as far as labels need it."""

from collections.abc import Iterable

from autotune_platform.decks.result_models import ResultWords
from autotune_platform.decks.results import ResultRepository
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.runtime.parts import part


class JudgeWord(FrozenModel):
    """A judge's result; a level only where it is ``scored``."""

    version: int
    status: str
    score: int | None = None
    reason: str | None = None
    explanation: str | None = None


@part
class JudgeResults:
    """Reads results that grading runs wrote."""

    results: ResultRepository

    def of_sample(self, grader_id: str, version: int, sample_id: str) -> JudgeWord | None:
        """Return the result of one sample, with what the judge says for it, if there is one."""
        return self.whole(grader_id, version, [sample_id]).get(sample_id)

    def scores(
        self, grader_id: str, version: int, sample_ids: Iterable[str]
    ) -> dict[str, JudgeWord]:
        """Return the results of those samples that have one, without their texts, by sample."""
        found = self.results.first((grader_id, version, one) for one in sample_ids)
        return {
            sample_id: JudgeWord(version=version, status=one.status, score=one.score)
            for (_, _, sample_id), one in found.items()
        }

    def whole(
        self, grader_id: str, version: int, sample_ids: Iterable[str]
    ) -> dict[str, JudgeWord]:
        """Return the same with what the judge says for them."""
        found = self.results.first((grader_id, version, one) for one in sample_ids).values()
        words = self.results.words(found)
        return {
            one.sample_id: JudgeWord(
                version=version,
                status=one.status,
                score=one.score,
                reason=one.reason,
                explanation=words.get(one.id, ResultWords()).explanation,
            )
            for one in found
        }
