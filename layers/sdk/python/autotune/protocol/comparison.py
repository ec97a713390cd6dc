"""Two models, or two checkpoints of one, compared on the same prompts, on the wire."""

from autotune.protocol.types import ResponseModel


class ComparedModel(ResponseModel):
    """One of the two: its scores that were looked at, and their mean over the prompts of both."""

    model_id: str
    scores: int
    avg_score: float | None


class Interval(ResponseModel):
    """A range in which the true difference of means lies with 95 % confidence."""

    low: float
    high: float


class ComparedSide(ResponseModel):
    """What one model made of a prompt: its mean score, of how many, and its latest completion."""

    completion_id: str
    avg_score: float
    scores: int


class ComparedPrompt(ResponseModel):
    """A prompt that both answered; ``difference`` is ``b`` less ``a``."""

    a: ComparedSide
    b: ComparedSide
    difference: float


class ModelComparison(ResponseModel):
    """What model ``b`` scores above model ``a``, on prompts that both answered at one task.

    Prompts are the same if their texts are, and scores are compared of the same version of the same
    grader. A prompt counts once, however often it was answered.

    Attributes:
        tolerance: a difference of no more is a tie.
        prompts: how many both answered.
        mean_difference: mean over prompts of ``b`` less ``a``, -1 to 1.
        interval: of that mean, by Student's t; None of fewer than two prompts.
        wins: prompts at which ``b`` scored higher.
        examples: the ten prompts with the largest difference, either way.
        scores_read: verdicts that were looked at, of all models of the task.
        without_text: scores that are left out because their prompt was deleted or has expired.
        is_complete: whether all scores of both were looked at, and not only the latest.
    """

    task_id: str
    a: ComparedModel
    b: ComparedModel
    tolerance: float
    prompts: int
    mean_difference: float | None
    interval: Interval | None
    wins: int
    losses: int
    ties: int
    examples: list[ComparedPrompt]
    scores_read: int
    without_text: int
    is_complete: bool
