"""What a grader's function may say, and how it becomes a score."""

from dataclasses import dataclass, field
from numbers import Real

from pydantic import ValidationError

from autotune.protocol.grading import GraderScore, ScoreOptions


class Abstain(Exception):  # noqa: N818 - abstaining is an answer, not an error
    """Raise or return it when there is no honest score, such as for a missing reference.

    The completion's verdict becomes ``abstained``: no value, and no failure. ``reason`` stays with
    the owner; it is logged at level DEBUG and never sent.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class InvalidScoreError(ValueError):
    """The function returned what is no score: NaN, 1.2, a boolean, text, None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderContext:
    """What a function that takes a second argument learns about the request.

    Attributes:
        request_id: the id that Autotune gave the request; a batch shares one.
        options: whether dimensions and an explanation are wanted; costly ones can be skipped.
    """

    request_id: str = ""
    options: ScoreOptions = field(default_factory=ScoreOptions)


def score_from(returned: object) -> GraderScore:
    """Return the score that a grader's function meant.

    Args:
        returned: a real number from 0 to 1, a ``GraderScore``, or ``Abstain`` (class or instance).

    Raises:
        Abstain: that is what was returned.
        InvalidScoreError: anything else; the message names the fault, not the completion.
    """
    if isinstance(returned, Abstain) or returned is Abstain:
        raise returned
    if isinstance(returned, GraderScore):
        # Checked again, because model_construct and object.__setattr__ go round the model's rules.
        fields: dict[str, object] = returned.model_dump(warnings=False)
    elif isinstance(returned, Real) and not isinstance(returned, bool):
        fields = {"value": float(returned)}
    else:
        raise InvalidScoreError(
            "a grader returns a number from 0 to 1, a GraderScore or Abstain, "
            f"not {type(returned).__name__}"
        )
    try:
        return GraderScore.model_validate(fields)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_context=False)
        )
        # The model's own message repeats the input, which may hold the completion.
        raise InvalidScoreError(f"the grader's score is out of its bounds: {faults}") from None


def with_options(score: GraderScore, options: ScoreOptions) -> GraderScore:
    """Return ``score`` without the dimensions and reasoning that were not asked for."""
    return score.model_copy(
        update={
            "dimensions": score.dimensions if options.include_dimensions else None,
            "reasoning": score.reasoning if options.include_explanation else None,
        }
    )
