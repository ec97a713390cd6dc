"""What people say of a deck's samples on the wire: ratings, what is to be rated, ground truth."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from autotune.protocol import limits, types
from autotune.protocol.access import PrincipalId
from autotune.protocol.deck_rubrics import Level, ShownRubric
from autotune.protocol.deck_samples import ExternalId, RejectedLine, Split
from autotune.protocol.decks import VersionNumber

Selection = Literal["random", "disagreement", "chosen"]
"""How a sample came to be rated: drawn, because judges or people differ on it, or picked.

Only what was drawn stands for the samples that nobody rated.
"""

TruthState = Literal["settled", "to_adjudicate"]
"""``to_adjudicate``: people are two levels or more apart, and another person is to decide."""

TruthSource = Literal["adjudicated", "median", "one_rating", "keyed_hash"]
"""How ground truth was found. ``keyed_hash``: people were one level apart, and it fell to one."""

RatingTask = Literal["rating", "adjudication"]

RatingExplanation = Annotated[
    types.Text, StringConstraints(max_length=limits.MAX_RATING_EXPLANATION_CHARACTERS)
]


class Judged(types.RequestModel):
    """A level, or that the grader's question does not apply to the sample; one of the two.

    ``version`` is the version of the grader that the person was shown: the current one where it is
    left out.
    """

    score: Level | None = None
    does_not_apply: bool = False
    explanation: RatingExplanation = ""
    version: VersionNumber | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> "Judged":
        if (self.score is None) != self.does_not_apply:
            raise ValueError("expected either a score from -3 to 3 or doesNotApply: true")
        return self


class CreateFeedbackRequest(Judged):
    """One person's rating of one sample; a later one by the same person corrects it."""

    sample_id: types.SampleId


class _Uploaded(Judged):
    """What an upload says of one sample.

    Attributes:
        rater: who rated; the caller where it is left out.
        saw_result: whether the rater had been shown the judge's result: then it is not blind.
        selection: ``random`` only where the samples of the file were drawn, or are all there are.
        probability: with which the sample was drawn, if it was: the same for all samples of a
            grader, because no figure weighs them.
    """

    rater: PrincipalId | None = None
    saw_result: bool = False
    selection: Selection = "chosen"
    probability: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _draws_by_chance(self) -> "_Uploaded":
        if self.probability is not None and self.selection == "chosen":
            raise ValueError("expected no probability where selection is chosen")
        return self


class FeedbackLine(_Uploaded):
    """A line of an upload: one person's rating of one sample, which one of two ids names.

    Attributes:
        external_id: the caller's own id of a sample of the deck, so that labels of one deck are
            labels of another one that has the same samples.
    """

    sample_id: types.SampleId | None = None
    external_id: ExternalId | None = None

    @model_validator(mode="after")
    def _names_one_sample(self) -> "FeedbackLine":
        if (self.sample_id is None) == (self.external_id is None):
            raise ValueError("expected either sampleId or externalId")
        return self


class ImportedFeedback(_Uploaded):
    """One person's rating of one sample, whose id is known."""

    sample_id: types.SampleId


class AdjudicateRequest(Judged):
    """What counts as true of a sample, whatever people said of it before."""


class Feedback(types.ResponseModel):
    """One person's rating of one sample, or a correction of it.

    Attributes:
        version: of the grader, as it was shown.
        saw_result: whether the judge's result was shown to this person before, or to who uploaded
            the rating.
        probability: with which the sample was drawn; None where it was not.
        correction: 0 of the first rating, then how many came before.
        imported_by: who uploaded it on the rater's behalf, if anybody did.
    """

    id: str
    sample_id: str
    grader_id: str
    rater: str
    score: int | None
    does_not_apply: bool
    explanation: str
    version: int
    saw_result: bool
    selection: Selection
    probability: float | None = None
    correction: int = 0
    imported_by: str | None = None
    created_at: types.Timestamp


class JudgeResult(types.ResponseModel):
    """What the judge said of a sample, as it is shown to a person who has rated it."""

    version: int
    status: Literal["scored", "abstained", "failed", "canceled"]
    score: int | None = None
    explanation: str | None = None
    reason: str | None = None


class FeedbackResponse(types.ResponseModel):
    """A rating as it was stored, and what the judge said, which was hidden until now.

    ``result`` is null where the grader's current version has not judged the sample.
    """

    feedback: Feedback
    result: JudgeResult | None = None


class FeedbackList(types.ResponseModel):
    """A page of ratings, by sample and rater."""

    feedback: list[Feedback]
    next_token: str | None = None


class BulkFeedback(types.ResponseModel):
    """What came of an upload: each of its lines that is not empty is counted once.

    Attributes:
        accepted: lines that were stored.
        repeated: lines that say what the rater had said already.
        not_blind: lines that were stored, and are marked as not blind, because the judge's result
            was shown to the rater or to who uploads. Of held-out samples they count for nothing.
        chosen: lines that were stored, of held-out samples that were not drawn: they count for no
            agreement.
        rejected: lines that were not stored, each with its first fault.
    """

    accepted: int
    repeated: int
    not_blind: int = 0
    chosen: int = 0
    rejected: list[RejectedLine]


class LabelOffer(types.ResponseModel):
    """A grader for which people may rate samples, and its deck."""

    deck_id: str
    deck_name: str
    grader_id: str
    grader_name: str


class LabelOfferList(types.ResponseModel):
    """The graders of a page of decks, oldest first."""

    graders: list[LabelOffer]
    next_token: str | None = None


class SampleToRate(types.ResponseModel):
    """What a person rates: no more of a sample than what was asked and answered.

    Which model answered is left out, because it would lean people.

    Attributes:
        messages: what the model was given, as OpenAI has it.
        prompt_withheld: whether the system prompt is left out of these, because the response was
            generated for an edit of it, which compares two.
        response: the message that it answered with.
    """

    id: str
    messages: list[dict[str, Any]]
    prompt_withheld: bool = False
    response: dict[str, Any]


class RatingInHand(types.ResponseModel):
    """What the caller is to rate next, and holds until ``held_until``.

    Attributes:
        task: ``adjudication`` is answered with ``PUT …/truth/{sampleId}``.
        rubric: of the grader's version ``version``.
        probability: with which the sample was drawn among those that were not drawn yet.
    """

    task: RatingTask
    sample: SampleToRate
    grader_id: str
    grader_name: str
    version: int
    rubric: ShownRubric
    selection: Selection
    probability: float | None = None
    held_until: types.Timestamp


class RatedHalf(types.ResponseModel):
    """How far people are with one half of the samples.

    Attributes:
        rated: samples that somebody rated.
        drawn: of those, how many were drawn.
        not_blind: of those, how many rest on the word of somebody who had seen the judge's result.
            Held-out ones then count for nothing.
        settled: samples that have a ground truth.
        rated_twice: samples that two people or more rated.
    """

    samples: int
    rated: int
    drawn: int
    not_blind: int
    settled: int
    rated_twice: int


class RaterProgress(types.ResponseModel):
    """What one person did: samples that they rated, and when they did so last."""

    rater: str
    rated: int
    today: int
    corrected: int
    last_at: types.Timestamp


class RatingProgress(types.ResponseModel):
    """How far people are with a grader's samples; a reviewer sees themselves alone.

    Attributes:
        to_adjudicate: samples on which people are two levels or more apart.
        to_review: samples whose rating was given under other criteria than the current ones.
    """

    holdout: RatedHalf
    development: RatedHalf
    to_adjudicate: int
    to_review: int
    raters: list[RaterProgress]


class RatingProgressResponse(types.ResponseModel):
    """How far people are."""

    progress: RatingProgress


class NextFeedbackResponse(types.ResponseModel):
    """What the caller is to rate next; null where nothing is left for them.

    ``left`` is how many samples are left for the caller, the one in hand included.
    """

    next: RatingInHand | None
    left: int


class TruthRating(types.ResponseModel):
    """One person's rating, as it counts for the ground truth.

    Attributes:
        counts: False where it does not: the person had seen the judge's result, or chose to rate a
            held-out sample that was drawn for somebody else.
        other_criteria: whether it was given under other criteria than the grader's current ones.
    """

    rater: str
    score: int | None
    does_not_apply: bool
    version: int
    saw_result: bool
    counts: bool
    other_criteria: bool
    created_at: types.Timestamp


class Truth(types.ResponseModel):
    """What counts as true of a sample.

    Attributes:
        ratings: of all people; hidden, as ``score`` is, while somebody is to adjudicate.
        to_review: whether what it rests on was given under other criteria than the current ones.
    """

    sample_id: str
    grader_id: str
    split: Split
    state: TruthState
    source: TruthSource | None = None
    score: int | None = None
    does_not_apply: bool = False
    selection: Selection
    raters: int
    ratings: list[TruthRating] = []
    adjudicated_by: str | None = None
    explanation: str | None = None
    to_review: bool
    updated_at: types.Timestamp


class TruthResponse(types.ResponseModel):
    """The ground truth of one sample."""

    truth: Truth


class TruthList(types.ResponseModel):
    """A page of ground truths; it may be short of its limit where it filters."""

    truths: list[Truth]
    next_token: str | None = None
