"""Whether a published judge still is as good as it was measured, from labels that came since.

Fresh labels are of samples that are held out and were drawn, first rated after the calibration was
measured, and judged after it by the model that it names. The samples have the system prompt that it
was measured under, and none was generated for an edit of it: of others it predicts nothing. They
are taken twenty at a time, in the order in which label and judgement were there: each twenty are
looked at once, whatever is corrected later. So a judge that is as it was is suspended by one look
in a hundred at most.

Ceiling: a look reads the samples that are rated of the held-out half. Ratings that come one by one
are counted, and each twentieth looks.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from autotune.protocol.levels import Calibration, CalibrationSuspension
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.labels.models import Truth
from autotune_platform.decks.labels.of_prompt import PromptSamples
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.decks.models import DeckGrader, Drifted, Published
from autotune_platform.decks.result_models import GraderResult
from autotune_platform.decks.results import Place, ResultRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY
from autotune_platform.statistics.drift import DRIFT_LABELS, Drift, drift

if TYPE_CHECKING:
    from autotune_platform.graders.suspending import CalibrationKeeper

_ATTEMPTS = 4
_MOST_REMEMBERED = 10
"""Models whose drift is remembered; a provider has few names for what it serves."""


@dataclass(frozen=True)
class Fresh:
    """A fresh label, and what the judge said.

    Attributes:
        at: when both were there.
    """

    sample_id: str
    label: int
    judged: int
    at: datetime


@dataclass(frozen=True)
class Looked:
    """What a look found.

    Attributes:
        grader: as it is now.
        found: of the twenty that show drift, else of those that are not twenty yet.
        looks: how many times twenty labels were there.
    """

    grader: DeckGrader
    found: Drift
    looks: int


@part
class DriftWatch:
    """Suspends published calibrations that fresh labels speak against.

    Args:
        made_keeper: returns what changes graders of the registry, which few requests need.
    """

    labels: LabelRepository
    results: ResultRepository
    graders: DeckGraderRepository
    of_prompt: PromptSamples
    made_keeper: "Callable[[], CalibrationKeeper]"
    clock: Clock = SYSTEM_CLOCK

    def after_label(self, grader: DeckGrader, sample_id: str) -> None:
        """Count a label that a drawn held-out sample got just now, and look at each twentieth."""
        calibration = watched(grader.published)
        if grader.published is None or calibration is None:
            return
        place = (grader.id, grader.published.version, sample_id)
        result = self.results.first([place]).get(place)
        if result is None or not _is_fresh(result, calibration):
            return
        if not self._of_its_prompt(grader, grader.published, [sample_id]):
            return
        since = calibration.measured_at
        if self.labels.count_fresh(grader, since) >= DRIFT_LABELS:
            looked = self.look(grader)
            if looked is not None:
                self.labels.set_fresh(grader.id, since, looked.found.n % DRIFT_LABELS)

    def look(self, grader: DeckGrader) -> Looked | None:
        """Look at all fresh labels, and suspend the calibration where they speak against it.

        Doing so again finds the same. What was suspended stays so until a calibration that was
        measured since is published.

        Returns:
            None where no calibration is published that labels could speak against.

        Raises:
            UnavailableError: others keep changing the grader.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            published = grader.published
            if published is None or published.calibration is None:
                return None
            if published.calibration.suspended is not None:
                self._suspend(grader, published, published.calibration.suspended)
                return Looked(grader, _of(published.calibration.suspended), looks=0)
            if watched(published) is None:
                return None
            twenties = [*groups(self._fresh(grader, published), DRIFT_LABELS)]
            found = [(some, _drift(published.calibration, some)) for some in twenties]
            drifted = next((one for one in found if one[1].has_drifted), None)
            if drifted is None:
                is_open = bool(found) and found[-1][1].n < DRIFT_LABELS
                last = found[-1][1] if is_open else _drift(published.calibration, [])
                return Looked(grader, last, looks=len(found) - is_open)
            after = self._suspended(grader, published, *drifted)
            if after is not None:
                return Looked(after, drifted[1], looks=0)
            grader = self.graders.get(grader.deck_id, grader.id)
        raise UnavailableError("others are changing this grader", retry_after_seconds=1)

    def _suspended(
        self, grader: DeckGrader, published: Published, fresh: Iterable[Fresh], found: Drift
    ) -> DeckGrader | None:
        """Return the grader, its calibration suspended; None where it changed meanwhile."""
        assert published.calibration is not None, "what is suspended was calibrated"
        assert found.probability is not None, "twenty labels have one"
        assert found.predicted is not None, "and a prediction"
        now = self.clock.now()
        suspension = CalibrationSuspension(
            at=now,
            labels=found.n,
            hits=found.hits,
            predicted=found.predicted,
            probability=found.probability,
        )
        # Tasks stop scoring first: whoever is killed in between leaves work for the next look.
        self._suspend(grader, published, suspension)
        model = published.calibration.model
        drifted = Drifted(
            at=now, version=published.version, sample_ids=[one.sample_id for one in fresh]
        )
        others = {name: one for name, one in published.drifted.items() if name != model}
        kept = sorted(others.items(), key=lambda one: one[1].at)[1 - _MOST_REMEMBERED :]
        calibration = published.calibration.model_copy(update={"suspended": suspension})
        after = grader.model_copy(
            update={
                "published": published.model_copy(
                    update={
                        "calibration": calibration,
                        "because": "drifted",
                        "drifted": {**dict(kept), model: drifted},
                    }
                ),
                "updated_at": now,
                "revision": grader.revision + 1,
            }
        )
        return after if self.graders.change(grader, after) else None

    def _suspend(
        self, grader: DeckGrader, published: Published, suspension: CalibrationSuspension
    ) -> None:
        assert published.calibration is not None, "what is suspended was calibrated"
        self.made_keeper().suspend(
            grader.organization_id, published.grader_id, published.calibration, suspension
        )

    def _fresh(self, grader: DeckGrader, published: Published) -> list[Fresh]:
        assert published.calibration is not None, "there is something to hold labels against"
        since = published.calibration.measured_at
        truths = [
            one
            for one in self.labels.truths(grader.id, split="holdout", rated_after=since)
            if one.counts and one.state == "settled"
        ]
        same = self._of_its_prompt(grader, published, [one.sample_id for one in truths])
        truths = [one for one in truths if one.sample_id in same]
        places = ((grader.id, published.version, one.sample_id) for one in truths)
        return fresh_labels(truths, self.results.first(places), published)

    def _of_its_prompt(
        self, grader: DeckGrader, published: Published, sample_ids: Iterable[str]
    ) -> set[str]:
        """Return those of some samples that have the prompt which was published with."""
        return self.of_prompt.among(
            grader.organization_id, grader.deck_id, published.deck_version, sample_ids
        )


def watched(published: Published | None) -> Calibration | None:
    """Return the calibration that is published, where scores go by it now."""
    is_live = published is not None and published.because is None
    return published.calibration if published is not None and is_live else None


def fresh_labels(
    truths: Iterable[Truth], results: Mapping[Place, GraderResult], published: Published
) -> list[Fresh]:
    """Return the labels that a published calibration is held against, in order.

    Args:
        truths: settled ones of drawn samples that are held out, and have its system prompt.
        results: what the published version said of them first.
    """
    calibration = published.calibration
    assert calibration is not None, "there is something to hold labels against"
    found = []
    for truth in truths:
        result = results.get((truth.grader_id, published.version, truth.sample_id))
        first = truth.first_at
        if first is None or first <= calibration.measured_at or result is None:
            continue
        if truth.score is None or result.score is None or not _is_fresh(result, calibration):
            continue
        at = max(first, result.created_at)
        found.append(Fresh(truth.sample_id, truth.score, result.score, at))
    return sorted(found, key=lambda one: (one.at, one.sample_id))


def _is_fresh(result: GraderResult, calibration: Calibration) -> bool:
    return (
        result.score is not None
        and result.answered_model == calibration.model
        and result.created_at > calibration.measured_at
    )


def _drift(calibration: Calibration, fresh: Iterable[Fresh]) -> Drift:
    return drift(calibration.confidence, [(one.label, one.judged) for one in fresh])


def _of(suspension: CalibrationSuspension) -> Drift:
    return Drift(suspension.labels, suspension.hits, suspension.predicted, suspension.probability)
