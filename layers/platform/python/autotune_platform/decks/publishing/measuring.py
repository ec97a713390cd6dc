"""What was measured of a version's judge: for each model that answered, on what is held out.

Ceiling: all repeated judgements of the version are read, which are as many as people had made.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from autotune.protocol.deck_publishing import UncalibratedBecause
from autotune_platform.decks.labels.choosing import drawn_to_check
from autotune_platform.decks.labels.models import Truth
from autotune_platform.decks.models import Drifted
from autotune_platform.decks.result_models import GraderResult
from autotune_platform.statistics.calibration import (
    THRESHOLD,
    Calibration,
    Uncalibrated,
    calibration,
)
from autotune_platform.statistics.drift import DRIFT_LABELS
from autotune_platform.statistics.labels import Insufficient

_MOST_WITHOUT_LEVEL = 2
"""Of the twenty samples by which a model is checked that follows another one."""
_DIGEST_DIGITS = 32


@dataclass(frozen=True)
class Measured:
    """What was measured of one model.

    Attributes:
        latest: when it answered last.
        because: why it is not calibrated; None where it is.
        labels: by which it was measured.
        claims: digests of labels and judgements, by model; of each of which there are enough to
            claim something, the first that was asked first.
    """

    model: str
    latest: datetime
    found: Calibration
    because: UncalibratedBecause | None
    labels: Sequence[Truth]
    claims: Mapping[str, str]


def measured(
    truths: Iterable[Truth],
    results: Iterable[GraderResult],
    *,
    version: int,
    drifted: Mapping[str, Drifted],
    confidence: float,
    of_models: Mapping[str, float] = MappingProxyType({}),
    left: int = 0,
) -> Measured | None:
    """Return what was measured of the judge that counts; None where nothing was.

    That is the model that answered last, of those that are calibrated if there are any: what a
    provider serves now is known from that alone. What a model said before it was found to have
    drifted counts no more.

    Args:
        truths: of the grader, of any samples; those are used that are held out, drawn, and were
            given blind. Drawn ones that were not have no truth.
        results: of the version, repeated ones as well.
        drifted: what is known of that, by model.
        confidence: nominal coverage of κ's interval, by the look that the version has;
            ``of_models`` that of models that have a look of their own.
        left: held-out samples that people left to others, and that nobody rated.
    """
    rated = list(truths)
    drawn = [one for one in rated if one.counts and one.state == "settled"]
    without_truth = sum(one.is_open for one in rated) + left
    sample_ids = {one.sample_id for one in drawn}
    by_model = _first_words(results, sample_ids, drifted)
    found = {
        model: _of_model(
            drawn,
            words,
            without_truth=without_truth,
            confidence=of_models.get(model, confidence),
        )
        for model, words in by_model.items()
    }
    used = {model: [one for one in drawn if one.sample_id in by_model[model]] for model in found}
    is_known = any(one.is_calibrated for one in found.values()) or any(
        one.version == version for one in drifted.values()
    )
    # Who drifted is checked by the samples that showed it, which nobody picked either.
    checked = {model for model, one in drifted.items() if one.version == version}
    if is_known and drawn:
        wanted = {*drawn_to_check(drawn[0].grader_id, version, drawn)}
        checks = [one for one in drawn if one.sample_id in wanted]
        for model, one in found.items():
            words = {id_: word for id_, word in by_model[model].items() if id_ in wanted}
            if one.because is Uncalibrated.INSUFFICIENT_LABELS and words.keys() == wanted:
                found[model] = _of_model(
                    checks,
                    words,
                    without_truth=without_truth,
                    confidence=of_models.get(model, confidence),
                )
                used[model] = checks
                checked.add(model)
    claims = {
        model: _digest(model, labels, by_model[model])
        for model, labels in used.items()
        if _is_claimed(found[model], is_checked=model in checked)
    }
    every = [
        Measured(
            model=model,
            latest=max(word.created_at for word in by_model[model].values()),
            found=one,
            because="drifted"
            if _is_unjudged(drifted.get(model), sample_ids, by_model[model])
            else _because(one, is_checked=model in checked),
            labels=used[model],
            claims=claims,
        )
        for model, one in found.items()
    ]
    every.sort(key=lambda one: (one.because is None, one.latest), reverse=True)
    return every[0] if every else None


def _first_words(
    results: Iterable[GraderResult], sample_ids: set[str], drifted: Mapping[str, Drifted]
) -> dict[str, dict[str, GraderResult]]:
    """Return the first judgement of each sample by each model, by model and sample.

    A later one by the same model counts for nothing: who could choose would choose the better.
    """
    found: dict[str, dict[str, GraderResult]] = {}
    for one in sorted(results, key=lambda one: (one.repeated, one.created_at)):
        if not one.is_final or not one.answered_model or one.sample_id not in sample_ids:
            continue
        until = drifted.get(one.answered_model)
        if until is None or one.created_at > until.at:
            found.setdefault(one.answered_model, {}).setdefault(one.sample_id, one)
    return found


def _is_unjudged(
    drifted: Drifted | None, sample_ids: set[str], words: Mapping[str, GraderResult]
) -> bool:
    """Return whether samples that showed drift were not judged again since, of those still there.

    Without them, the samples by which the judge was calibrated at first would say once more that it
    is good, where it errs on what comes now.
    """
    return drifted is not None and not (sample_ids & set(drifted.sample_ids)) <= words.keys()


def _of_model(
    truths: Sequence[Truth],
    words: Mapping[str, GraderResult],
    *,
    without_truth: int,
    confidence: float,
) -> Calibration:
    truth = [one.score for one in truths]
    judged = [words[one.sample_id].score if one.sample_id in words else None for one in truths]
    groups = [one.group_key for one in truths]
    return calibration(
        truth,
        judged,
        groups,
        threshold=THRESHOLD,
        confidence=confidence,
        without_truth=without_truth,
    )


def _digest(model: str, labels: Iterable[Truth], words: Mapping[str, GraderResult]) -> str:
    compared = [(one.sample_id, one.score, words[one.sample_id].score) for one in labels]
    text = json.dumps([model, sorted(compared, key=lambda one: one[0])])
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_DIGITS]


def _is_claimed(found: Calibration, *, is_checked: bool) -> bool:
    """Return whether there are as many labels as a claim needs, whichever it is."""
    return found.labels.is_sufficient or _is_full_check(found, is_checked=is_checked)


def _is_full_check(found: Calibration, *, is_checked: bool) -> bool:
    """Return whether enough of twenty samples have a level that nobody could pick."""
    return (
        is_checked
        and found.because is Uncalibrated.INSUFFICIENT_LABELS
        and found.labels.because is not Insufficient.MANY_OPEN
        and DRIFT_LABELS - _MOST_WITHOUT_LEVEL <= found.labels.n <= DRIFT_LABELS
    )


def _because(found: Calibration, *, is_checked: bool) -> UncalibratedBecause | None:
    """Return why a model is not calibrated; None where it is.

    Where a model was calibrated for this version before, the labels are known to suffice: then
    twenty samples that were judged again are enough, if kappa's lower end on them alone is. They
    are drawn by the platform, or those that showed drift, and eighteen of them have to have a
    level.
    """
    low = found.agreement.interval.low
    is_passed = (
        low is not None and low >= found.threshold and _is_full_check(found, is_checked=is_checked)
    )
    if found.because is None or is_passed:
        return None
    return _WORDS[found.because]


_WORDS: Mapping[Uncalibrated, UncalibratedBecause] = {
    Uncalibrated.INSUFFICIENT_LABELS: "insufficient_labels",
    Uncalibrated.NO_INTERVAL: "no_interval",
    Uncalibrated.BELOW_THRESHOLD: "below_threshold",
}
