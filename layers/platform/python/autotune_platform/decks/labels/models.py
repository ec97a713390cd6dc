"""Ratings, ground truth and who holds what, as the platform sees them."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime

from autotune.protocol.deck_feedback import RatingTask, Selection, TruthSource, TruthState
from autotune.protocol.deck_rubrics import LevelsRubric
from autotune.protocol.deck_samples import Split
from autotune_platform.runtime.frozen_model import FrozenModel

_CRITERIA_DIGITS = 16


class Word(FrozenModel):
    """What a person said of a sample: a level, or None where the question does not apply.

    Attributes:
        version: of the grader, as it was shown.
        criteria: digest of that version's criteria (``criteria_digest``).
        saw_result: whether the judge's result was shown to the person before.
    """

    score: int | None = None
    version: int
    criteria: str
    saw_result: bool
    at: datetime

    def is_anew(self, before: "Word") -> bool:
        """Return whether it was given under criteria that came later than those of another."""
        return self.version > before.version and self.criteria != before.criteria


class Voice(FrozenModel):
    """All that counts of one person's word on a sample.

    Attributes:
        blind: the word that counts of those that were given blind; None where none was.
        latest: the last word.
        drawn: whether the sample was drawn for this person, or the file; else they chose it.
        corrections: how many words came after the first.
    """

    blind: Word | None = None
    latest: Word
    corrections: int = 0
    drawn: bool = True

    @property
    def is_corrected(self) -> bool:
        """Whether a later word was given blind, too, and does not count."""
        blind = self.blind
        return blind is not None and self.latest != blind and not self.latest.saw_result

    def after(self, word: Word, *, is_claimed: bool) -> "Voice":
        """Return the voice after one more word of the same person.

        Args:
            is_claimed: whether claims rest on it. Then the first blind word counts, because who
                corrects may have read what the claims are; one under later criteria is a first one.
        """
        blind = self.blind
        if not word.saw_result and (blind is None or not is_claimed or word.is_anew(blind)):
            blind = word
        return self.model_copy(
            update={"blind": blind, "latest": word, "corrections": self.corrections + 1}
        )


class Rating(FrozenModel):
    """One rating as it is kept, or a correction of one; nothing overwrites it."""

    id: str
    organization_id: str
    deck_id: str
    grader_id: str
    sample_id: str
    rater: str
    score: int | None = None
    explanation: str
    version: int
    criteria: str
    saw_result: bool
    selection: Selection
    probability: float | None = None
    correction: int = 0
    imported_by: str | None = None
    created_at: datetime

    @property
    def word(self) -> Word:
        """What it says, without the reasons."""
        return Word(
            score=self.score,
            version=self.version,
            criteria=self.criteria,
            saw_result=self.saw_result,
            at=self.created_at,
        )


class Adjudication(Word):
    """What a person decided about ratings that are apart."""

    by: str
    explanation: str


class Truth(FrozenModel):
    """What counts as true of a sample to one grader, and all that it follows from.

    Attributes:
        split, group_key: the sample's, which never change.
        selection, probability: of the first rating; in the held-out half, of the first that was
            drawn, once there is one.
        voices: what each person said, by rater.
        first_at: when that rating was given.
        revision: how often it changed; a write names the one that it has read.
    """

    organization_id: str
    deck_id: str
    grader_id: str
    sample_id: str
    split: Split
    group_key: str
    selection: Selection
    probability: float | None = None
    voices: Mapping[str, Voice] = {}
    adjudication: Adjudication | None = None
    state: TruthState = "settled"
    source: TruthSource | None = None
    score: int | None = None
    first_at: datetime | None = None
    updated_at: datetime
    revision: int = 0

    @property
    def does_not_apply(self) -> bool:
        """Whether the question does not apply to the sample."""
        return self.state == "settled" and self.score is None

    @property
    def is_blind(self) -> bool:
        """Whether nobody whose word decided it had been shown the judge's result."""
        return not any(word.saw_result for word in self.rests_on())

    @property
    def was_drawn(self) -> bool:
        """Whether it is of a held-out sample that was drawn."""
        return self.split == "holdout" and self.selection == "random"

    @property
    def counts(self) -> bool:
        """Whether claims may rest on it, once it is settled: it was drawn, and given blind.

        Who has seen what the judge says follows it, so that a judge by dice would agree with them.
        """
        return self.was_drawn and self.is_blind

    @property
    def is_open(self) -> bool:
        """Whether it was drawn, and has no truth that counts: people are apart, or not blind.

        Figures leave it out, so that nothing is claimed with many of them: who looks at results
        first could choose by these which samples are left out.
        """
        return self.was_drawn and (self.state == "to_adjudicate" or not self.is_blind)

    @property
    def is_corrected(self) -> bool:
        """Whether somebody would correct a word that counts: a person is to decide."""
        return (
            self.was_drawn
            and self.adjudication is None
            and any(voice.is_corrected for voice in self.voices.values())
        )

    @property
    def words(self) -> Mapping[str, Word]:
        """The words that count, by rater.

        Those that were given blind, and none that was not where there is one. Where a held-out
        sample was drawn, who chose to rate it as well says nothing of it: they could choose those
        on which judge and people differ, and have them left open.

        In the development half a person who looked at the result may correct themselves: nothing is
        claimed from it.
        """
        if self.split == "development":
            has_blind = any(voice.blind for voice in self.voices.values())
            return {
                rater: voice.latest
                for rater, voice in self.voices.items()
                if voice.blind or not has_blind
            }
        drawn = {rater: voice for rater, voice in self.voices.items() if voice.drawn}
        voices = drawn if self.was_drawn and drawn else self.voices
        blind = {rater: voice.blind for rater, voice in voices.items() if voice.blind}
        return blind or {rater: voice.latest for rater, voice in voices.items()}

    def rests_on(self) -> list[Word]:
        """Return the words that decided it: the adjudication alone where there is one."""
        return [self.adjudication] if self.adjudication else list(self.words.values())

    def rests_on_other(self, criteria: str) -> bool:
        """Return whether a word that decided it was given under other criteria."""
        return any(word.criteria != criteria for word in self.rests_on())


def left_by_all(skipped: Iterable[str], truths: Iterable[Truth]) -> int:
    """Count the samples that somebody left to others, and that nobody has rated."""
    return len({*skipped} - {one.sample_id for one in truths})


class Lease(FrozenModel):
    """Who is at a sample, and until when nobody else may be.

    Attributes:
        until: Unix seconds.
        version: of the grader, which is shown.
    """

    organization_id: str
    sample_id: str
    holder: str
    until: int
    task: RatingTask
    selection: Selection
    probability: float | None = None
    version: int


def criteria_digest(rubric: LevelsRubric) -> str:
    """Return a digest of what people rate by: criteria, levels and when there is nothing to rate.

    Spaces, and the examples that only the judge is given, make no difference.
    """
    texts = [rubric.criteria, *rubric.levels, rubric.not_applicable_when or ""]
    normal = json.dumps([" ".join(text.split()) for text in texts])
    return hashlib.sha256(normal.encode()).hexdigest()[:_CRITERIA_DIGITS]
