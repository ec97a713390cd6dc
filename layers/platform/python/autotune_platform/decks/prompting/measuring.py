"""What an edit of the system prompt does to responses: corrected means, compared in pairs by group.

Both prompts' responses are by one model, which its provider says has served them, of the same
held-out inputs, and have labels that were drawn, given blind, and given after the run began.
Figures are of the first so many labels, of a number that was fixed before there were any, or of
twice as many, and so on: labels can be read while they come, and whoever stops at a good moment
would find an effect where there is none. A look is spent in the write that stores figures; too few
labels or responses spend nothing, and give none.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from autotune.protocol import deck_prompt_edits as wire
from autotune.protocol.deck_agreement import MeanEstimate
from autotune_platform.access.models import Caller
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.held_out import HeldOut
from autotune_platform.decks.labels.agreement import interval_on_wire
from autotune_platform.decks.labels.models import Truth
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.decks.models import DeckGrader, GraderVersion, Sample
from autotune_platform.decks.prompting.missing import missing_because
from autotune_platform.decks.prompting.models import PromptEdit, stage_of
from autotune_platform.decks.prompting.service import PromptEditService
from autotune_platform.decks.results import ResultRepository
from autotune_platform.decks.sample_repository import SampleRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError
from autotune_platform.runtime.parts import part
from autotune_platform.statistics.looks import confidence_of_look
from autotune_platform.statistics.means import (
    CorrectedMean,
    Estimate,
    Labelled,
    Shown,
    Unlabelled,
    corrected_difference,
    corrected_mean,
)

Pairs = Sequence[tuple[Sample, Sample]]


@dataclass(frozen=True)
class _Answered:
    """Held-out inputs that were drawn, and those that are answered.

    Attributes:
        drawn: how many there were to answer; those that were deleted since are among them.
        old: how many have a response under the old prompt, and ``new`` under the new one.
        pairs: the responses to those that have both.
    """

    drawn: int
    old: int
    new: int
    pairs: Pairs


@dataclass(frozen=True)
class _Arm:
    """Responses under one version of the prompt, as people and a judge see them.

    Attributes:
        unlabelled: what the judge says of all of them, the labelled ones among them; nothing where
            it has not judged all: which it has, people choose.
        without_truth: how many were drawn and have no truth that counts.
        judged: of how many without a label it says something, and ``unjudged`` of how many of all
            it does not.
    """

    version: int
    answered: int
    labelled: Labelled
    unlabelled: Unlabelled
    without_truth: int
    judged: int
    unjudged: int

    def mean(self, confidence: float) -> CorrectedMean:
        return corrected_mean(
            self.labelled,
            self.unlabelled,
            confidence=confidence,
            without_truth=self.without_truth,
        )


@part
class PromptMeasuring:
    """Measures edits of system prompts."""

    edits: PromptEditService
    graders: DeckGraderRepository
    samples: SampleRepository
    labels: LabelRepository
    results: ResultRepository
    held_out: HeldOut
    clock: Clock = SYSTEM_CLOCK

    def measure(self, caller: Caller, deck_id: str, edit_id: str) -> PromptEdit:
        """Measure an edit by each active grader, which spends a look; return it with its effects.

        Raises:
            NotFoundError: there is no such deck or edit, or it is another organisation's.
            ConflictError: its responses are not there, it is decided, no grader is active, or
                something changed at the same time.
            UnavailableError: others look at the same labels right now.
        """
        edit = self.edits.get(caller, deck_id, edit_id)
        if edit.status != "generated" or edit.started_at is None:
            raise ConflictError(f"edit {edit.id} is {edit.status.replace('_', ' ')}")
        listed = [one for one in self.graders.list(deck_id) if one.status == "active"]
        current = self.graders.current(listed)
        graders = [one for one in listed if one.id in current]
        if not graders:
            raise ConflictError("no grader of this deck is active; activate one first")
        now, answered = self.clock.now(), self._answered(edit)
        looks = self.edits.edits.looks(edit)
        compared = [self._compared(one, edit, answered) for one in graders]
        stage = max(1, *(one.stage for one in compared))
        number, spent = looks.measured(edit.id, now, stage=stage)
        # The level of a look is shared by all graders: one of them may say better by chance.
        confidence = 1 - (1 - confidence_of_look(number)) / len(graders)
        effects = []
        for one, of_grader in zip(graders, compared, strict=True):
            effect = self._effect(one, current[one.id], edit, of_grader, confidence)
            if effect.outcome != "insufficient":
                self.held_out.spend(one, current[one.id])
            effects.append(effect)
        is_seen = any(one.outcome != "insufficient" for one in effects)
        after = edit.model_copy(
            update={
                "effects": [*effects, *_still_worse(edit, current)],
                "measured_at": now,
                "look": number if is_seen else edit.look,
                "revision": edit.revision + 1,
            }
        )
        writes = [self.edits.edits.spent(deck_id, looks, spent)] if is_seen else []
        if not self.edits.edits.change(edit, after, *writes):
            raise ConflictError(f"edit {edit.id} changed at the same time; read it again")
        return after

    def _answered(self, edit: PromptEdit) -> _Answered:
        """Return what has been answered of held-out inputs; deleted ones count as missing."""
        sources = self.samples.headers(edit.deck_id, edit.sources)
        drawn = [
            id_ for id_ in edit.sources if id_ not in sources or sources[id_].split == "holdout"
        ]
        ids = [tuple(edit.response_id(one, arm) for arm in edit.arms) for one in drawn]
        there = self.samples.headers(edit.deck_id, chain.from_iterable(ids))
        return _Answered(
            drawn=len(drawn),
            old=sum(old in there for old, _ in ids),
            new=sum(new in there for _, new in ids),
            pairs=[(there[old], there[new]) for old, new in ids if {old, new} <= there.keys()],
        )

    def _compared(self, grader: DeckGrader, edit: PromptEdit, answered: _Answered) -> "_Compared":
        """Return the pairs that a grader compares, and the labels at the latest planned number."""
        assert edit.started_at is not None, "its responses are there"
        pairs = self._unsaid(grader, answered.pairs, edit.started_at)
        arms = [{pair[place].id for pair in pairs} for place in (0, 1)]
        rated = [
            sorted(
                (one for one in self.labels.truths_of(grader.id, ids).values() if one.was_drawn),
                key=_moment,
            )
            for ids in arms
        ]
        labelled = min(map(len, rated))
        stage, reached = stage_of(labelled, planned=edit.labels, of_all=len(pairs))
        counted = [some[: reached or edit.labels] for some in rated]
        return _Compared(answered, pairs, counted, stage)

    def _effect(
        self,
        grader: DeckGrader,
        version: GraderVersion,
        edit: PromptEdit,
        compared: "_Compared",
        confidence: float,
    ) -> wire.PromptEffect:
        answered, pairs = compared.answered, compared.pairs
        out = len(answered.pairs) - len(pairs)
        counts = answered.old - out, answered.new - out
        missing = missing_because(answered.drawn, len(pairs), old=counts[0], new=counts[1])
        apart = sum(_is_apart(*pair) for pair in pairs)
        # One name may lead to two models: then not the prompt alone differs.
        because: wire.PromptMissing | None = missing or ("other_model" if apart else None)
        old, new = (
            self._arm(
                grader,
                version,
                [pair[place] for pair in pairs],
                compared.rated[place],
                edit.arms[place],
                had,
            )
            for place, had in ((0, answered.old), (1, answered.new))
        )
        means = old.mean(confidence), new.mean(confidence)
        shown = wire.PromptEffect(
            grader_id=grader.id,
            grader_name=grader.name,
            grader_version=version.version,
            inputs=answered.drawn,
            pairs=len(pairs),
            other_model=apart,
            old=_arm_on_wire(old, means[0]),
            new=_arm_on_wire(new, means[1]),
            outcome="insufficient",
            insufficient_because=because,
        )
        suffices = all(one.labels.is_sufficient for one in means)
        if because is not None or not suffices:
            return shown
        if compared.stage == 0:
            early: wire.PromptMissing = "fewer_labels_than_planned"
            return shown.model_copy(update={"insufficient_because": early})
        change = corrected_difference(
            (old.labelled, old.unlabelled), (new.labelled, new.unlabelled), confidence=confidence
        )
        return shown.model_copy(
            update={
                "old": shown.old.model_copy(update={"mean": _mean(means[0])}),
                "new": shown.new.model_copy(update={"mean": _mean(means[1])}),
                "delta": change.mean,
                **interval_on_wire(change.interval),
                "confidence": confidence,
                "outcome": _outcome(change),
            }
        )

    def _unsaid(self, grader: DeckGrader, pairs: Pairs, since: datetime) -> Pairs:
        """Return the pairs of which nobody had said anything to a grader by some moment.

        Without the label alone, what was said would have chosen which labels count.
        """
        rated = self.labels.truths_of(grader.id, {one.id for pair in pairs for one in pair})
        early = {id_ for id_, one in rated.items() if not _is_fresh(one, since)}
        return [pair for pair in pairs if early.isdisjoint({one.id for one in pair})]

    def _arm(
        self,
        grader: DeckGrader,
        version: GraderVersion,
        samples: Sequence[Sample],
        rated: Sequence[Truth],
        arm: int,
        answered: int,
    ) -> _Arm:
        by_id = {one.id: one for one in samples}
        skipped = self.labels.skipped(grader.id) & by_id.keys()
        left = skipped - self.labels.truths_of(grader.id, skipped).keys()
        drawn = {one.sample_id: one for one in rated if one.counts}
        opened = sum(one.is_open for one in rated)
        truths = [one for one in drawn.values() if one.state == "settled"]
        places = ((grader.id, version.version, one) for one in by_id)
        scores = {
            one.sample_id: one.score
            for one in self.results.first(places).values()
            if one.status != "canceled"
        }
        unjudged = len(by_id) - len(scores)
        of_all = {} if unjudged else scores
        return _Arm(
            arm,
            answered,
            Labelled(
                [one.score for one in truths],
                [of_all.get(one.sample_id) for one in truths],
                [one.group_key for one in truths],
            ),
            Unlabelled([*of_all.values()], [by_id[id_].group_key for id_ in of_all], is_all=True),
            without_truth=opened + len(left),
            judged=len(scores.keys() - drawn.keys()),
            unjudged=unjudged,
        )


@dataclass(frozen=True)
class _Compared:
    """What one grader compares.

    Attributes:
        pairs: of which nobody said anything before.
        rated: of each version, what was drawn and said first, as many as were planned.
        stage: how many planned numbers of labels are reached, 0 for none.
    """

    answered: _Answered
    pairs: Pairs
    rated: Sequence[Sequence[Truth]]
    stage: int


def _moment(truth: Truth) -> tuple[datetime, str]:
    return truth.first_at or truth.updated_at, truth.sample_id


def _is_apart(old: Sample, new: Sample) -> bool:
    """Return whether two models are known to have answered, although both have one name."""
    served = {one.served_model for one in (old, new)} - {None}
    return len(served) > 1


def _still_worse(edit: PromptEdit, measured: Collection[str]) -> list[wire.PromptEffect]:
    """Return what graders said that an edit is worse by, and that are not asked any more.

    Setting them inactive takes nothing of that back.
    """
    return [one for one in edit.effects if one.outcome == "worse" and one.grader_id not in measured]


def _is_fresh(truth: Truth, since: datetime) -> bool:
    """Return whether all that was said of a response was said after a moment."""
    voices = truth.voices.values()
    words = [one.at for voice in voices for one in (voice.blind, voice.latest) if one is not None]
    firsts = [truth.first_at] if truth.first_at else []
    return all(at > since for at in [*words, *firsts])


def _outcome(change: Estimate) -> wire.PromptOutcome:
    low, high = change.interval.low, change.interval.high
    if low is not None and low > 0:
        return "better"
    return "worse" if high is not None and high < 0 else "no_evidence"


def _arm_on_wire(arm: _Arm, mean: CorrectedMean) -> wire.PromptArm:
    because = mean.labels.because
    return wire.PromptArm(
        version=arm.version,
        answered=arm.answered,
        labels=mean.labels.n,
        outside_commonest=mean.labels.outside_commonest,
        judged=arm.judged,
        unjudged=arm.unjudged,
        without_truth=arm.without_truth,
        insufficient_because=because.value if because else None,
    )


def _mean(found: CorrectedMean) -> MeanEstimate:
    used = found.corrected if found.shown is Shown.CORRECTED else found.labels_only
    values = {"value": used.mean, "n": found.labels.n, **interval_on_wire(used.interval)}
    return MeanEstimate.model_validate(values)
