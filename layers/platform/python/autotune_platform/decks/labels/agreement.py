"""How far a version of a grader agrees with people, from ground truths and results.

Claims rest on samples that are held out and were drawn, and on what was said of them blind.
Confusion is counted on the development half alone: a table of what is held out would say what to
change to look better on it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from autotune.protocol import deck_agreement as wire
from autotune.protocol.coefficients import Coefficient as WireCoefficient
from autotune.protocol.deck_publishing import PublishedCalibration
from autotune.protocol.ids import earliest_id
from autotune.protocol.limits import MAX_SHOWN_RATERS
from autotune_platform.access.models import Caller
from autotune_platform.decks.figures import FiguresRepository
from autotune_platform.decks.held_out import HeldOut, require_shown
from autotune_platform.decks.labels.deriving import tie_key
from autotune_platform.decks.labels.disagreements import applicability_of, development
from autotune_platform.decks.labels.drifting import DriftWatch
from autotune_platform.decks.labels.drifting_wire import published_on_wire
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.labels.models import Truth, criteria_digest, left_by_all
from autotune_platform.decks.labels.of_prompt import PromptSamples
from autotune_platform.decks.labels.pool import SamplePool
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.decks.labels.results import JudgeResults, JudgeWord
from autotune_platform.decks.look_repository import Look, Looks
from autotune_platform.decks.models import DeckGrader, GraderVersion, MeasuredGrader
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.statistics.agreement import Bias
from autotune_platform.statistics.agreement import agreement as measured_agreement
from autotune_platform.statistics.alpha import human_ceiling
from autotune_platform.statistics.intervals import (
    CONFIDENCE,
    Interval,
    KappaWithInterval,
    kappa_with_interval,
)
from autotune_platform.statistics.kappa import Coefficient, Floats, as_levels, confusion
from autotune_platform.statistics.looks import confidence_of_look


@part
class AgreementService:
    """Measures graders' agreement with people."""

    graders: LabelledGraders
    labels: LabelRepository
    pool: SamplePool
    results: JudgeResults
    of_prompt: PromptSamples
    held_out: HeldOut
    watch: DriftWatch
    figures: FiguresRepository
    clock: Clock = SYSTEM_CLOCK

    def of(
        self,
        caller: Caller,
        deck_id: str,
        grader_id: str,
        *,
        version: int | None,
        deck_version: int | None = None,
        spend: bool,
    ) -> wire.Agreement:
        """Return how far a version agrees with people: the current one if none is named.

        It is of samples that have the system prompt of one version of the deck: of the current one
        if none is named.

        A version that has judged held-out samples with drawn labels needs a look.

        Args:
            spend: whether that is spent where it has none.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
            InvalidRequestError: the grader, or the deck, has no such version.
            ConflictError: the version is of an edit that is not accepted, or was not read yet and
                no look is to be spent.
            UnavailableError: others look at the same labels right now.
        """
        grader = self.graders.require(caller, deck_id, grader_id)
        judged_by = self.graders.version(grader, version)
        require_shown(judged_by)
        of_deck = self.of_prompt.version(grader.organization_id, deck_id, deck_version)
        every = list(self.labels.truths(grader.id))
        skipped = self.labels.skipped(grader.id)
        known = {*(one.sample_id for one in every), *skipped}
        same = self.of_prompt.among(grader.organization_id, deck_id, of_deck, known)
        truths = [one for one in every if one.sample_id in same]
        results = self.results.scores(
            grader.id, judged_by.version, [truth.sample_id for truth in truths]
        )
        is_seen = any(one.counts and one.sample_id in results for one in truths)
        look = self.held_out.looking(spend=spend)(grader, judged_by) if is_seen else None
        looks = self.held_out.looks(grader)
        watched = self.watch.look(grader)
        published = published_on_wire(watched.grader if watched else grader, watched)
        found = agreement(
            grader,
            judged_by,
            truths,
            results,
            deck_version=of_deck,
            skipped=skipped & same,
            came_later=self._came_later(grader, of_deck, truths),
            look=look,
            looks=looks,
            published=published,
        )
        if judged_by.version == grader.version and deck_version is None:
            self.figures.note(grader.organization_id, deck_id, self._noted(grader, found))
        return found

    def _came_later(self, grader: DeckGrader, of_deck: int, truths: Iterable[Truth]) -> int:
        """Count the held-out samples that came when the last label had been drawn."""
        latest = max((one.first_at for one in truths if one.counts and one.first_at), default=None)
        if latest is None:
            return 0
        since = self.pool.halves(grader.deck_id, after=earliest_id("smp", latest))
        held = [id_ for id_, split in since.items() if split == "holdout"]
        return len(self.of_prompt.among(grader.organization_id, grader.deck_id, of_deck, held))

    def _noted(self, grader: DeckGrader, found: wire.Agreement) -> MeasuredGrader:
        return MeasuredGrader(
            grader_id=grader.id,
            name=grader.name,
            version=found.version,
            kappa=found.kappa.value,
            low=found.kappa.low,
            high=found.kappa.high,
            n=found.n,
            labels=found.labels,
            sufficient=found.sufficient,
            at=self.clock.now(),
        )


def agreement(
    grader: DeckGrader,
    version: GraderVersion,
    truths: Sequence[Truth],
    results: Mapping[str, JudgeWord],
    *,
    deck_version: int,
    skipped: Collection[str],
    came_later: int,
    look: Look | None,
    looks: Looks,
    published: PublishedCalibration | None,
) -> wire.Agreement:
    """Return the agreement of a version's results with ground truths.

    Args:
        truths: of the grader, of samples that have one system prompt.
        results: by sample.
        deck_version: whose prompt that is.
        skipped: held-out samples that somebody left to others.
        came_later: held-out samples that nothing was drawn of, because they came later.
        look: which the version has; None where it has judged nothing that is held out.
        looks: those of all versions.
    """
    confidence = confidence_of_look(0 if look is None else look.number)
    every = [one for one in truths if one.was_drawn]
    drawn = [one for one in every if one.is_blind]
    labels = [one for one in drawn if one.state == "settled"]
    apart, left = len(drawn) - len(labels), left_by_all(skipped, truths)
    found = measured_agreement(
        *columns(labels, results),
        confidence=confidence,
        without_truth=sum(one.is_open for one in every) + left,
    )
    criteria = criteria_digest(version.rubric)
    words = [results.get(one.sample_id) for one in labels]
    others = development(truths)
    because = found.labels.because
    return wire.Agreement(
        grader_id=grader.id,
        version=version.version,
        deck_version=deck_version,
        look=None if look is None else look.number,
        looks=looks.counted,
        looked=sorted(one.version for one in looks.spent if one.is_read),
        kappa=_kappa(found.agreement, confidence=confidence),
        n=found.agreement.kappa.n,
        groups=found.agreement.interval.groups,
        sufficient=found.labels.is_sufficient,
        insufficient_because=because.value if because else None,
        labels=len(labels),
        chose_version=_chose(look, labels),
        outside_commonest=found.labels.outside_commonest,
        coverage=found.coverage,
        mean_bias=wire.MeanEstimate.model_validate(_bias(found.bias)),
        bias_by_level=[wire.LevelBias.model_validate(_bias(one)) for one in found.bias_by_level],
        percent_agreement=found.percent_agreement,
        applicability=applicability_of(labels, results),
        to_adjudicate=apart,
        skipped=left,
        came_later=came_later,
        corrected=sum(one.is_corrected for one in labels),
        not_blind=len(every) - len(drawn),
        other_criteria=sum(one.rests_on_other(criteria) for one in labels),
        failed=sum(word is not None and word.status == "failed" for word in words),
        ungraded=sum(word is None or word.status == "canceled" for word in words),
        development=_half(others, results),
        confusion=_confusion(others, results),
        ceiling=_ceiling(grader, drawn),
        published=published,
    )


def _chose(look: Look | None, labels: Iterable[Truth]) -> int:
    """Count the labels by which an edit was measured that made the version."""
    return 0 if look is None else sum(look.chose(one.first_at) for one in labels)


def columns(
    truths: Sequence[Truth], results: Mapping[str, JudgeWord]
) -> tuple[Floats, Floats, list[str]]:
    """Return true levels, the judge's, and groups: shape (n,) each, NaN for no level."""
    truth = as_levels([one.score for one in truths])
    words = (results.get(one.sample_id) for one in truths)
    judged = as_levels([word.score if word else None for word in words])
    return truth, judged, [one.group_key for one in truths]


def _half(truths: Sequence[Truth], results: Mapping[str, JudgeWord]) -> wire.HalfAgreement:
    measured = kappa_with_interval(*columns(truths, results))
    return wire.HalfAgreement(kappa=_kappa(measured), groups=measured.interval.groups)


def _confusion(truths: Sequence[Truth], results: Mapping[str, JudgeWord]) -> list[list[int]]:
    truth, judged, _ = columns(truths, results)
    counts: list[list[int]] = confusion(truth, judged).tolist()
    return counts


def _kappa(measured: KappaWithInterval, *, confidence: float = CONFIDENCE) -> wire.KappaEstimate:
    return wire.KappaEstimate(
        **_coefficient(measured.kappa).model_dump(),
        **interval_on_wire(measured.interval),
        confidence=confidence,
    )


def _coefficient(coefficient: Coefficient) -> WireCoefficient:
    because = coefficient.undefined_because
    return WireCoefficient(
        value=coefficient.value,
        undefined_because=because.value if because else None,
        n=coefficient.n,
    )


def interval_on_wire(interval: Interval) -> dict[str, float | str | None]:
    """Return an interval's fields on the wire."""
    because = interval.missing_because
    return {
        "low": interval.low,
        "high": interval.high,
        "no_interval_because": because.value if because else None,
    }


def _bias(bias: Bias) -> dict[str, object]:
    return {"level": bias.level, "value": bias.mean, "n": bias.n, **interval_on_wire(bias.interval)}


def _ceiling(grader: DeckGrader, truths: Iterable[Truth]) -> wire.HumanCeiling:
    """Return people's own agreement, on samples that two or more rated by words that count."""
    blind = [
        (one.sample_id, {rater: word for rater, word in one.words.items() if not word.saw_result})
        for one in truths
    ]
    shared = [(sample_id, words) for sample_id, words in blind if len(words) > 1]
    found = human_ceiling(
        [{rater: one.score for rater, one in words.items()} for _, words in shared],
        key=tie_key(grader.organization_id, grader.id),
        sample_ids=[sample_id for sample_id, _ in shared],
    )
    of_most = sorted(found.left_out.items(), key=lambda one: (-one[1].n, one[0]))
    return wire.HumanCeiling(
        alpha=_coefficient(found.alpha),
        raters=found.raters,
        samples=len(shared),
        leave_one_out_kappa=found.kappa,
        by_rater=[
            wire.RaterKappa(rater=rater, **_coefficient(kappa).model_dump())
            for rater, kappa in of_most[:MAX_SHOWN_RATERS]
        ],
    )
