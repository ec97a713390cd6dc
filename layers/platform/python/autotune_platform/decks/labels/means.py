"""What people would say of held-out samples on average: a judge's mean, corrected by labels."""

from collections.abc import Iterable, Mapping, Sequence

from autotune.protocol import deck_agreement as wire
from autotune_platform.access.models import Caller
from autotune_platform.decks.held_out import HeldOut, require_shown
from autotune_platform.decks.labels.agreement import interval_on_wire
from autotune_platform.decks.labels.cohorts import Cohorts, cohorts
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.labels.models import Truth
from autotune_platform.decks.labels.of_prompt import PromptSamples
from autotune_platform.decks.labels.pool import SamplePool
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.decks.result_models import GraderResult
from autotune_platform.decks.results import ResultRepository
from autotune_platform.runtime.parts import part
from autotune_platform.statistics.looks import confidence_of_look
from autotune_platform.statistics.means import (
    CorrectedMean,
    Estimate,
    Labelled,
    Unlabelled,
    corrected_mean,
)


@part
class MeanService:
    """Estimates means of levels by prediction-powered inference (PPI++).

    Of the held-out half alone: rubrics are fitted to the other one. Labels count where they were
    drawn, whether the judge gave a level or not, and stand for the samples that were there then.
    What the judge says counts once it has judged all of these: which it has is chosen by callers,
    who name samples, and could name those of which it speaks well.

    Ceiling: all results of a version are read, and the headers of the deck's held-out samples.
    """

    graders: LabelledGraders
    labels: LabelRepository
    pool: SamplePool
    of_prompt: PromptSamples
    results: ResultRepository
    held_out: HeldOut

    def of(
        self,
        caller: Caller,
        deck_id: str,
        grader_id: str,
        *,
        version: int | None,
        model: str | None,
        deck_version: int | None = None,
        spend: bool,
    ) -> wire.DeckMeans:
        """Return the mean level of what a model wrote, or of all samples, three ways.

        They are samples that have the system prompt of one version of the deck: of the current one
        if none is named.

        Args:
            spend: whether the version's look is spent where it has none.

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
        results = {
            one.sample_id: one
            for one in self.results.of_version(grader.id, judged_by.version)
            if one.split == "holdout" and one.status != "canceled"
        }
        rated = {one.sample_id: one for one in self.labels.truths(grader.id, split="holdout")}
        left = self.labels.skipped(grader.id) - rated.keys()
        drawn = {id_: one for id_, one in rated.items() if one.counts}
        opened = {id_ for id_, one in rated.items() if one.is_open}
        of_deck = self.of_prompt.version(grader.organization_id, deck_id, deck_version)
        held = {id_ for id_, half in self.pool.halves(deck_id).items() if half == "holdout"}
        wanted = self.of_prompt.among(grader.organization_id, deck_id, of_deck, held)
        if model is not None:
            traits = self.pool.traits(grader.deck_id, wanted)
            wanted = {sample_id for sample_id, one in traits.items() if one.model == model}
        results = {id_: one for id_, one in results.items() if id_ in wanted}
        drawn = {id_: one for id_, one in drawn.items() if id_ in wanted}
        left &= wanted
        truths = {id_: one for id_, one in drawn.items() if one.state == "settled"}
        without_truth = len((opened & wanted) | left)
        there = cohorts(
            wanted,
            {id_: one.first_at or one.updated_at for id_, one in truths.items()},
        )
        results = {id_: one for id_, one in results.items() if id_ not in there.late}
        truths = {id_: one for id_, one in truths.items() if id_ not in there.late}
        unjudged = len(wanted - results.keys() - {*there.late})
        counted = {} if unjudged else results
        others = [one for sample_id, one in counted.items() if sample_id not in drawn]
        is_seen = not truths.keys().isdisjoint(results)
        look = self.held_out.looking(spend=spend)(grader, judged_by) if is_seen else None
        confidence = confidence_of_look(0 if look is None else look.number)
        found = corrected_mean(
            *_parts(there, truths, counted, others),
            confidence=confidence,
            without_truth=without_truth,
        )
        return wire.DeckMeans(
            grader_id=grader.id,
            version=judged_by.version,
            deck_version=of_deck,
            model=model,
            look=None if look is None else look.number,
            confidence=confidence,
            coverage=_coverage(truths.values(), results),
            came_later=len(there.late),
            without_truth=without_truth,
            unjudged=unjudged,
            **_on_wire(found, unlabelled=len(others)),
        )


def _parts(
    there: Cohorts,
    truths: Mapping[str, Truth],
    results: Mapping[str, GraderResult],
    others: Sequence[GraderResult],
) -> tuple[Labelled, Unlabelled]:
    """Return labels and what they stand for; weighed where samples came between draws."""
    if len(there.samples) == 1:
        judged = Unlabelled([one.score for one in others], [one.group_key for one in others])
        return _labelled([*truths.values()], results), judged
    weights = there.weights(truths.keys())
    labelled = _labelled([*truths.values()], results, [weights[id_] for id_ in truths])
    unjudged = [one for id_, one in truths.items() if id_ not in results]
    scores = [*(one.score for one in results.values()), *(None for _ in unjudged)]
    group_keys = [
        *(one.group_key for one in results.values()),
        *(one.group_key for one in unjudged),
    ]
    return labelled, Unlabelled(scores, group_keys, is_all=True)


def _labelled(
    truths: Sequence[Truth],
    results: Mapping[str, GraderResult],
    weights: Sequence[float] | None = None,
) -> Labelled:
    judged = (results.get(one.sample_id) for one in truths)
    return Labelled(
        [one.score for one in truths],
        [one.score if one else None for one in judged],
        [one.group_key for one in truths],
        weights,
    )


def _coverage(truths: Iterable[Truth], results: Mapping[str, GraderResult]) -> float | None:
    with_level = [one.sample_id for one in truths if one.score is not None]
    scored = [id_ for id_ in with_level if id_ in results and results[id_].score is not None]
    return len(scored) / len(with_level) if with_level else None


def _on_wire(found: CorrectedMean, *, unlabelled: int) -> dict[str, object]:
    because = found.labels.because
    n = found.labels.n
    return {
        "naive": found.naive,
        "corrected": _estimate(found.corrected, n + unlabelled if found.power else n),
        "labels_only": _estimate(found.labels_only, n),
        "power": found.power,
        "use": found.shown.value,
        "labels": n,
        "unlabelled": unlabelled,
        "sufficient": found.labels.is_sufficient,
        "insufficient_because": because.value if because else None,
    }


def _estimate(estimate: Estimate, n: int) -> wire.MeanEstimate:
    return wire.MeanEstimate.model_validate(
        {"value": estimate.mean, "n": n, **interval_on_wire(estimate.interval)}
    )
