"""What an edit changes: levels of two versions of a grader beside what people say."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from autotune.protocol.coefficients import Coefficient
from autotune.protocol.deck_effects import (
    BiasEffect,
    EditEffect,
    EditInsufficientBecause,
    EditTrial,
    ScoredShare,
)
from autotune.protocol.deck_samples import Split
from autotune_platform.decks.fixing.models import Edit
from autotune_platform.decks.labels.deriving import as_of
from autotune_platform.decks.labels.models import Truth
from autotune_platform.decks.labels.prompt_truths import PromptTruths, TruthsOfPrompt
from autotune_platform.decks.labels.results import JudgeResults, JudgeWord
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.statistics.guards import Assessment, ShareScored, assess
from autotune_platform.statistics.kappa import Coefficient as Kappa
from autotune_platform.statistics.kappa import as_levels
from autotune_platform.statistics.labels import Sufficiency, sufficiency


@part
class EditMeasuring:
    """Measures edits on labels."""

    truths: PromptTruths
    results: JudgeResults
    clock: Clock = SYSTEM_CLOCK

    def labelled(
        self,
        edit: Edit,
        *,
        deck_version: int,
        split: Split,
        by: datetime,
        since: datetime | None = None,
    ) -> list[Truth]:
        """Return the ground truths of one half that a measurement at a moment may use.

        Of the held-out half, only those of samples that were drawn, given blind.

        Args:
            deck_version: only of samples that have its system prompt.
            by: the moment; what was said later is not looked at, and leaves no sample out.
            since: only what was said later than this.
        """
        truths = [as_of(one, by) for one in self._of(edit, deck_version, split).truths]
        return [one for one in truths if _is_used(one, by, since)]

    def without_truth(self, edit: Edit, *, deck_version: int, by: datetime) -> int:
        """Return how many drawn held-out samples have no truth, by what people said by then.

        They are apart on them, had been shown the result, or left them to others, and nobody rated
        them.
        """
        found = self._of(edit, deck_version, "holdout")
        truths = [as_of(one, by) for one in found.truths]
        opened = sum(one.is_open and not any(at > by for at in _moments(one)) for one in truths)
        return opened + found.left

    def _of(self, edit: Edit, deck_version: int, split: Split) -> TruthsOfPrompt:
        return self.truths.of(
            edit.organization_id,
            edit.deck_id,
            edit.grader_id,
            deck_version=deck_version,
            split=split,
        )

    @staticmethod
    def sufficiency(truths: Iterable[Truth], *, without_truth: int = 0) -> Sufficiency:
        """Return whether labels suffice for a claim, before a judge is asked.

        Args:
            without_truth: drawn held-out samples that have none.
        """
        return sufficiency(as_levels([one.score for one in truths]), without_truth=without_truth)

    def trial(self, edit: Edit, truths: Sequence[Truth]) -> EditTrial:
        """Return what an edit changes on the development half."""
        compared = self._compared(edit, truths)
        return EditTrial(**self._common(_assessed(compared, look=1), compared))

    def effect(self, edit: Edit, truths: Sequence[Truth]) -> EditEffect:
        """Return what an edit changes on the held-out half, by the look that it spent."""
        assert edit.look is not None, "a look is spent before a figure is made"
        compared = self._compared(edit, truths)
        found = _assessed(compared, look=edit.look)
        change, labels, bias = found.change, found.labels, found.bias
        missing = change.missing_because
        return EditEffect(
            **self._common(found, compared),
            se=change.se,
            low=change.low,
            high=change.high,
            detectable=change.detectable,
            alpha=change.alpha,
            look=change.look,
            groups=change.groups,
            effective_groups=change.effective_groups,
            missing_because=missing.value if missing else None,
            outside_commonest=labels.outside_commonest,
            insufficient_because=self._because(labels, compared, truths),
            bias=BiasEffect(
                old=bias.old, new=bias.new, growth=bias.growth, low=bias.low, holds=bias.holds
            ),
            outcome=found.outcome.value,
            refusals=[one.value for one in found.refusals],
        )

    def _compared(self, edit: Edit, truths: Sequence[Truth]) -> "_Compared":
        """Return levels of both versions, on samples that one and the same model judged.

        Where a provider serves another model meanwhile, its gain is none of the edit's.
        """
        assert edit.candidate_version is not None, "what was replayed has a version"
        sample_ids = [one.sample_id for one in truths]
        before, after = (
            self.results.by_model(edit.grader_id, version, sample_ids)
            for version in (edit.base_version, edit.candidate_version)
        )
        kept, old, new = [], [], []
        for one in truths:
            pair = _by_one_model(before.get(one.sample_id, {}), after.get(one.sample_id, {}))
            if pair is not None:
                kept.append(one)
                old.append(_level(pair[0]))
                new.append(_level(pair[1]))
        return _Compared(kept, old, new, other_model=len(truths) - len(kept))

    @classmethod
    def _because(
        cls, labels: Sufficiency, compared: "_Compared", truths: Sequence[Truth]
    ) -> EditInsufficientBecause | None:
        if labels.because is None:
            return None
        if compared.other_model and cls.sufficiency(truths).is_sufficient:
            return "other_model"
        return labels.because.value

    def _common(self, found: Assessment, compared: "_Compared") -> dict[str, Any]:
        change, apart = found.change, found.inapplicable
        return {
            "old": _coefficient(change.old),
            "new": _coefficient(change.new),
            "delta": change.delta,
            "scored": _share(found.scored),
            "inapplicable": ScoredShare(n=apart.n, old=apart.old, new=apart.new, holds=apart.holds),
            "newly_positive": int(found.newly_positive.size),
            "other_model": compared.other_model,
            "measured_at": self.clock.now(),
        }


@dataclass(frozen=True)
class _Compared:
    """Ground truths with levels of two versions, NaN for none.

    Attributes:
        other_model: how many were left out, because no model judged both.
    """

    truths: Sequence[Truth]
    old: Sequence[float]
    new: Sequence[float]
    other_model: int


def _assessed(compared: _Compared, *, look: int) -> Assessment:
    truth = [math.nan if one.score is None else one.score for one in compared.truths]
    groups = [one.group_key for one in compared.truths]
    return assess(truth, compared.old, compared.new, groups, look=look)


def _by_one_model(
    old: Mapping[str | None, JudgeWord], new: Mapping[str | None, JudgeWord]
) -> tuple[JudgeWord | None, JudgeWord | None] | None:
    """Return what the model said that judged both versions, the latest of these.

    What no model answered, such as a text that is too long, is beside any.

    Returns:
        None where each was judged, by different models.
    """
    for word in sorted(new.values(), key=_moment, reverse=True):
        if word.answered_model is not None and word.answered_model in old:
            return old[word.answered_model], word
    nobody = old.get(None), new.get(None)
    if any(nobody) or not (old and new):
        return nobody[0] or _latest(old), nobody[1] or _latest(new)
    return None


def _latest(words: Mapping[str | None, JudgeWord]) -> JudgeWord | None:
    return max(words.values(), key=_moment, default=None)


def _moment(word: JudgeWord) -> datetime:
    assert word.at is not None, "a result has its moment"
    return word.at


def _level(word: JudgeWord | None) -> float:
    return math.nan if word is None or word.score is None else word.score


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
