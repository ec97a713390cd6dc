"""What an edit changes: levels of two versions of a grader beside what people say."""

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from autotune.protocol.coefficients import Coefficient
from autotune.protocol.deck_effects import BiasEffect, EditEffect, EditTrial, ScoredShare
from autotune.protocol.deck_samples import Split
from autotune_platform.decks.fixing.models import Edit
from autotune_platform.decks.labels.models import Truth, left_by_all
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.decks.labels.results import JudgeResults
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.statistics.guards import Assessment, ShareScored, assess
from autotune_platform.statistics.kappa import Coefficient as Kappa
from autotune_platform.statistics.kappa import as_levels
from autotune_platform.statistics.labels import Sufficiency, sufficiency


@part
class EditMeasuring:
    """Measures edits on labels."""

    labels: LabelRepository
    results: JudgeResults
    clock: Clock = SYSTEM_CLOCK

    def labelled(
        self, grader_id: str, *, split: Split, by: datetime, since: datetime | None = None
    ) -> list[Truth]:
        """Return the ground truths of one half that a measurement at a moment may use.

        Of the held-out half, only those of samples that were drawn, given blind.

        Args:
            by: the moment; what was said later is not looked at.
            since: only what was said later than this.
        """
        truths = self.labels.truths(grader_id, split=split)
        return [one for one in truths if one.split == split and _is_used(one, by, since)]

    def without_truth(self, grader_id: str, *, by: datetime) -> int:
        """Return how many drawn held-out samples have no truth, by what people said by then.

        They are apart on them, or left them to others, and nobody rated them.
        """
        truths = list(self.labels.truths(grader_id, split="holdout"))
        apart = sum(
            one.state == "to_adjudicate" and one.counts and not any(at > by for at in _moments(one))
            for one in truths
        )
        return apart + left_by_all(self.labels.skipped(grader_id), truths)

    @staticmethod
    def sufficiency(truths: Iterable[Truth], *, without_truth: int) -> Sufficiency:
        """Return whether labels suffice for a claim, before a judge is asked.

        Args:
            without_truth: drawn held-out samples that have none.
        """
        return sufficiency(as_levels([one.score for one in truths]), without_truth=without_truth)

    def trial(self, edit: Edit, truths: Sequence[Truth]) -> EditTrial:
        """Return what an edit changes on the development half."""
        found = self._assessment(edit, truths, look=1)
        return EditTrial(**self._common(found))

    def effect(self, edit: Edit, truths: Sequence[Truth]) -> EditEffect:
        """Return what an edit changes on the held-out half, by the look that it spent."""
        assert edit.look is not None, "a look is spent before a figure is made"
        found = self._assessment(edit, truths, look=edit.look)
        change, labels, bias = found.change, found.labels, found.bias
        because, missing = labels.because, change.missing_because
        return EditEffect(
            **self._common(found),
            se=change.se,
            low=change.low,
            high=change.high,
            detectable=change.detectable,
            alpha=change.alpha,
            look=change.look,
            groups=change.groups,
            missing_because=missing.value if missing else None,
            outside_commonest=labels.outside_commonest,
            insufficient_because=because.value if because else None,
            bias=BiasEffect(
                old=bias.old, new=bias.new, growth=bias.growth, low=bias.low, holds=bias.holds
            ),
            outcome=found.outcome.value,
            refusals=[one.value for one in found.refusals],
        )

    def _assessment(self, edit: Edit, truths: Sequence[Truth], *, look: int) -> Assessment:
        assert edit.candidate_version is not None, "what was replayed has a version"
        old, new = (
            self._levels(edit.grader_id, version, truths)
            for version in (edit.base_version, edit.candidate_version)
        )
        truth = [math.nan if one.score is None else one.score for one in truths]
        return assess(truth, old, new, [one.group_key for one in truths], look=look)

    def _levels(self, grader_id: str, version: int, truths: Sequence[Truth]) -> list[float]:
        found = self.results.scores(grader_id, version, [one.sample_id for one in truths])
        scores = (found[one.sample_id].score if one.sample_id in found else None for one in truths)
        return [math.nan if score is None else score for score in scores]

    def _common(self, found: Assessment) -> dict[str, Any]:
        change = found.change
        return {
            "old": _coefficient(change.old),
            "new": _coefficient(change.new),
            "delta": change.delta,
            "scored": _share(found.scored),
            "newly_positive": int(found.newly_positive.size),
            "measured_at": self.clock.now(),
        }


def _is_used(truth: Truth, by: datetime, since: datetime | None) -> bool:
    if truth.state != "settled":
        return False
    if truth.split == "holdout" and not truth.counts:
        return False
    moments = _moments(truth)
    if any(moment > by for moment in moments):
        return False
    if since is None:
        return True
    # Of somebody who said something else before, there is nothing fresh.
    is_first = not any(voice.corrections for voice in truth.voices.values())
    return is_first and all(moment > since for moment in moments)


def _moments(truth: Truth) -> list[datetime]:
    """Return when each word was said that counts, and when somebody decided.

    Words that do not count leave no sample out of a figure.
    """
    moments = [word.at for word in truth.words.values()]
    return [*moments, truth.adjudication.at] if truth.adjudication else moments


def _coefficient(kappa: Kappa) -> Coefficient:
    because = kappa.undefined_because
    return Coefficient(
        value=kappa.value, undefined_because=because.value if because else None, n=kappa.n
    )


def _share(share: ShareScored) -> ScoredShare:
    return ScoredShare(n=share.n, old=share.old, new=share.new, holds=share.holds)
