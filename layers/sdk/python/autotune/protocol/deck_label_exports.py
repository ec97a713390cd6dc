"""Labels of a deck as they are exported: what people said of each sample, and what holds."""

from typing import Literal

from autotune.protocol import types
from autotune.protocol.deck_feedback import JudgeResult, Selection, Truth
from autotune.protocol.deck_samples import Split


class ExportedRating(types.ResponseModel):
    """What counts of one person's word on a sample, as a line of an upload has it.

    ``POST …/feedback/bulk`` takes it as it stands.
    """

    sample_id: str
    rater: str
    score: int | None
    does_not_apply: bool
    explanation: str
    version: int
    saw_result: bool
    selection: Selection
    probability: float | None = None


class DeckLabel(types.ResponseModel):
    """What people said of one sample to one grader.

    Attributes:
        external_id: the caller's own id of the sample, which names it in another deck as well.
        truth: what counts as true; without its score while somebody is to adjudicate.
        ratings: of all people, a word each: the one that counts, or the last one.
        result: what the grader's current version said, where results were asked for; null where it
            has not judged the sample, and where ``result_withheld``.
        result_withheld: whether it is left out, because the sample is held out and the version has
            no look at its labels.
    """

    grader_id: str
    grader_name: str
    sample_id: str
    external_id: str | None = None
    split: Split
    truth: Truth
    ratings: list[ExportedRating]
    result: JudgeResult | None = None
    result_withheld: bool = False


class DeckLabelList(types.ResponseModel):
    """A page of labels, by grader and sample."""

    labels: list[DeckLabel]
    next_token: str | None = None


LabelExtra = Literal["results"]
"""What else an export may have."""
