"""The query parameters that say which scores are asked for, of every route that takes them."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any, TypeVar

from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import ValidationError

from autotune.protocol.completions import ModelId
from autotune.protocol.scores import ScoreFilters, ScoringGraderId
from autotune.protocol.types import Moment, TaskId

AnswerT = TypeVar("AnswerT")

_PARAMETERS: Mapping[str, Any] = {
    "taskId": Annotated[TaskId | None, Query()],
    "modelId": Annotated[ModelId | None, Query()],
    "graderId": Annotated[ScoringGraderId | None, Query()],
    "minScore": Annotated[float | None, Query(ge=0, le=1, allow_inf_nan=False)],
    "maxScore": Annotated[float | None, Query(ge=0, le=1, allow_inf_nan=False)],
    "startDate": Annotated[Moment | None, Query()],
    "endDate": Annotated[Moment | None, Query()],
}


def with_score_filters(handler: Callable[..., AnswerT]) -> Callable[..., AnswerT]:
    """Serve a handler that takes ``filters`` to requests that spell them as query parameters.

    Args:
        handler: takes all of its parameters by name.
    """

    @wraps(handler)
    def served(**given: Any) -> AnswerT:
        spelled = {name: given.pop(name) for name in _PARAMETERS}
        try:
            filters = ScoreFilters.model_validate(spelled)
        except ValidationError as error:
            raise RequestValidationError(error.errors()) from error
        return handler(filters=filters, **given)

    # The framework reads a route's parameters from its signature.
    signature = inspect.signature(handler)
    parameters = list(signature.parameters.values())
    place = list(signature.parameters).index("filters")
    parameters[place : place + 1] = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in _PARAMETERS.items()
    ]
    served.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return served
