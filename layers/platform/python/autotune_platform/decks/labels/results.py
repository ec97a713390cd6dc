"""What a version of a grader said of samples, as far as labels need it."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from autotune_platform.decks.result_models import GraderResult, ResultWords
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
    answered_model: str | None = None
    at: datetime | None = None


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
        return {sample_id: _word(one) for (_, _, sample_id), one in found.items()}

    def by_model(
        self, grader_id: str, version: int, sample_ids: Iterable[str]
    ) -> dict[str, dict[str | None, JudgeWord]]:
        """Return the first judgement of each sample by each model, by sample and model.

        Those of samples that were judged again are among them. A later one by the same model
        counts for nothing: who could choose would choose the better. Under None is what no model
        answered.
        """
        found: defaultdict[str, dict[str | None, JudgeWord]] = defaultdict(dict)
        first = self.results.first((grader_id, version, one) for one in sample_ids)
        for (_, _, sample_id), one in first.items():
            found[sample_id][one.answered_model] = _word(one)
        again = self.results.of_version(grader_id, version, repeated=True)
        for one in sorted(again, key=lambda one: one.created_at):
            if one.is_final and (known := found.get(one.sample_id)) is not None:
                known.setdefault(one.answered_model, _word(one))
        return dict(found)

    def latest_model(self, grader_id: str, version: int) -> str | None:
        """Return the model that answered last for a version, which judges few samples."""
        answered = [
            one for one in self.results.of_version(grader_id, version) if one.answered_model
        ]
        answered += self.results.of_version(grader_id, version, repeated=True)
        latest = max(answered, key=lambda one: one.created_at, default=None)
        return latest.answered_model if latest else None

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


def _word(result: GraderResult) -> JudgeWord:
    return JudgeWord(
        version=result.version,
        status=result.status,
        score=result.score,
        answered_model=result.answered_model,
        at=result.created_at,
    )
