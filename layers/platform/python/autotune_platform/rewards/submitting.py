"""Converts questions to completions, and validation errors to refusals."""

from pydantic import ValidationError

from autotune.protocol.completions import NewCompletion
from autotune.protocol.problems import FieldProblem, LimitProblem
from autotune.protocol.types import METADATA_TOO_LARGE
from autotune_platform.rewards.models import Question
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.tasks.models import Task


def completion_of(question: Question, task: Task, model_id: str) -> NewCompletion:
    """Return the completion that is submitted for a question.

    Raises:
        InvalidRequestError: it is over a limit of completions, or has text that cannot be stored.
    """
    try:
        return NewCompletion(
            task_id=task.id,
            model_id=model_id,
            prompt=question.prompt,
            response=question.response,
            metadata=dict(question.metadata),
        )
    except ValidationError as error:
        raise _refusal(question, error) from error


def _refusal(question: Question, error: ValidationError) -> InvalidRequestError:
    fault = error.errors(include_url=False, include_input=False)[0]
    fields = {"prompt": question.prompt_field, "metadata": question.metadata_field}
    field = fields.get(str(fault["loc"][0]), question.field)
    expected = fault["msg"].removeprefix("Value error, ")
    limit = None
    if fault["type"] == METADATA_TOO_LARGE:
        limit = LimitProblem(name="metadata", unit="bytes", **fault["ctx"])
    return InvalidRequestError(
        f"{field}: {expected}", fields=[FieldProblem(field=field, expected=expected)], limit=limit
    )
