"""Where a judge errs, from ground truths and results of the development half; no model is asked."""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

from autotune.protocol import deck_agreement as wire
from autotune_platform.access.models import Caller
from autotune_platform.decks.labels.agreement import columns, interval_on_wire
from autotune_platform.decks.labels.disagreements import shown_truths
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.labels.models import Truth
from autotune_platform.decks.labels.pool import SamplePool, SampleTraits
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.decks.labels.results import JudgeResults
from autotune_platform.runtime.parts import part
from autotune_platform.statistics.patterns import ErrorPattern, length_classes, patterns


@part
class PatternService:
    """Finds kinds of samples on which a version of a grader errs."""

    graders: LabelledGraders
    labels: LabelRepository
    pool: SamplePool
    results: JudgeResults

    def of(
        self, caller: Caller, deck_id: str, grader_id: str, *, version: int | None
    ) -> wire.DeckPatterns:
        """Return where a version errs: the current one if none is named.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
            InvalidRequestError: the grader has no such version.
        """
        grader = self.graders.require(caller, deck_id, grader_id)
        judged_by = self.graders.version(grader, version).version
        truths = shown_truths(self.labels, self.pool, grader.deck_id, grader.id)
        sample_ids = [one.sample_id for one in truths]
        results = self.results.scores(grader.id, judged_by, sample_ids)
        traits = self.pool.traits(grader.deck_id, sample_ids)
        compared = [
            one
            for one in truths
            if one.score is not None
            and one.sample_id in traits
            and one.sample_id in results
            and results[one.sample_id].score is not None
        ]
        found = patterns(*columns(compared, results), factors_of(compared, traits))
        return wire.DeckPatterns(
            grader_id=grader.id,
            version=judged_by,
            n=len(compared),
            cells=[
                wire.CellPattern(
                    truth=one.truth,
                    score=one.judged,
                    count=one.count,
                    expected=one.expected,
                    p=one.p,
                    q=one.q,
                    significant=one.is_significant,
                )
                for one in found.cells
            ],
            errors=[_error_on_wire(one) for one in found.errors],
        )


def factors_of(
    truths: Sequence[Truth], traits: Mapping[str, SampleTraits]
) -> dict[str, Sequence[str | None]]:
    """Return what may explain errors: by factor the value of each sample, None for none."""
    of_samples = [traits[one.sample_id] for one in truths]
    raters = [list(one.voices) for one in truths]
    return {
        "length": length_classes([one.output_characters for one in of_samples]),
        "model": [one.model for one in of_samples],
        "script": [script_of(one.output_excerpt) for one in of_samples],
        "rater": [names[0] if len(names) == 1 else None for names in raters],
    }


def script_of(text: str) -> str | None:
    """Return the script of most letters of a text, such as ``latin`` or ``cjk``."""
    letters = Counter(
        unicodedata.name(one, "").partition(" ")[0].lower() for one in text if one.isalpha()
    )
    letters.pop("", None)
    return letters.most_common(1)[0][0] if letters else None


def _error_on_wire(one: ErrorPattern) -> wire.ErrorPattern:
    return wire.ErrorPattern.model_validate(
        {
            "factor": one.factor,
            "value": one.value,
            "n": one.n,
            "mean_error": one.mean_error,
            "p": one.p,
            "q": one.q,
            "significant": one.is_significant,
            **interval_on_wire(one.interval),
        }
    )
