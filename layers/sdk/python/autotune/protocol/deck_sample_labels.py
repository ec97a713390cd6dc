"""Samples that come with labels: what people said of each, for graders of its deck."""

from typing import Annotated, Literal

from pydantic import Field

from autotune.protocol import limits, types
from autotune.protocol.access import PrincipalId
from autotune.protocol.deck_feedback import RatingExplanation, Selection
from autotune.protocol.deck_samples import NewSample

LabelScore = Literal[-3, -2, -1, 0, 1, 2, 3, "not_applicable"]
"""A level, or that the grader's question does not apply to the sample."""


class SampleLabel(types.RequestModel):
    """What one person said of a sample, blind.

    Attributes:
        grader: a grader of the deck, by its id or its name.
        rater: who rated; the caller where it is left out.
        selection: ``random`` only where the samples of the file were drawn, or are all there are.
    """

    grader: types.Name
    score: LabelScore
    rater: PrincipalId | None = None
    explanation: RatingExplanation = ""
    selection: Selection = "chosen"


class NewLabelledSample(NewSample):
    """A line of an upload: a sample, with what people said of it.

    Attributes:
        labels: one of each person for each grader; none of them is stored without the sample.
    """

    labels: Annotated[
        list[SampleLabel],
        Field(max_length=limits.MAX_SAMPLE_LABELS),
        types.at_most(limits.MAX_SAMPLE_LABELS),
    ] = []
