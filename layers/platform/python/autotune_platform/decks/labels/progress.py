"""How far people are with a grader's samples, counted from the ground truths."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from autotune.protocol.deck_feedback import RatedHalf, RaterProgress, RatingProgress
from autotune.protocol.deck_samples import Split
from autotune_platform.access.models import Caller
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.labels.models import Truth, Voice
from autotune_platform.decks.labels.rateable import RateableSamples
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part


@part
class LabelProgress:
    """Counts what was rated, and by whom."""

    graders: LabelledGraders
    rateable: RateableSamples
    labels: LabelRepository
    clock: Clock = SYSTEM_CLOCK

    def of(self, caller: Caller, deck_id: str, grader_id: str) -> RatingProgress:
        """Return how far people are; a reviewer sees of people themselves alone.

        Halves have what people are to rate, and each rater all that they rated.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
        """
        grader = self.graders.require(caller, deck_id, grader_id)
        criteria = self.graders.criteria(grader)
        halves = self.rateable.of(deck_id).halves
        every = list(self.labels.truths(grader.id))
        truths = [one for one in every if one.sample_id in halves]
        raters = _by_rater(every)
        if caller.role == "reviewer":
            raters = {name: raters[name] for name in raters if name == caller.principal_id}
        return RatingProgress(
            holdout=_half("holdout", halves, truths),
            development=_half("development", halves, truths),
            to_adjudicate=sum(truth.state == "to_adjudicate" for truth in truths),
            to_review=sum(truth.rests_on_other(criteria) for truth in truths),
            raters=[_of_rater(name, raters[name], self.clock.now()) for name in sorted(raters)],
        )


def _half(split: Split, halves: Mapping[str, Split], truths: Iterable[Truth]) -> RatedHalf:
    of_half = [truth for truth in truths if truth.split == split]
    return RatedHalf(
        samples=sum(one == split for one in halves.values()),
        rated=len(of_half),
        drawn=sum(truth.selection == "random" for truth in of_half),
        not_blind=sum(not truth.is_blind for truth in of_half),
        settled=sum(truth.state == "settled" for truth in of_half),
        rated_twice=sum(len(truth.voices) > 1 for truth in of_half),
    )


def _by_rater(truths: Iterable[Truth]) -> dict[str, list[Voice]]:
    raters: dict[str, list[Voice]] = {}
    for truth in truths:
        for rater, voice in truth.voices.items():
            raters.setdefault(rater, []).append(voice)
    return raters


def _of_rater(rater: str, voices: Sequence[Voice], now: datetime) -> RaterProgress:
    today = now.astimezone(UTC).date()
    return RaterProgress(
        rater=rater,
        rated=len(voices),
        today=sum(voice.latest.at.astimezone(UTC).date() == today for voice in voices),
        corrected=sum(voice.corrections > 0 for voice in voices),
        last_at=max(voice.latest.at for voice in voices),
    )
