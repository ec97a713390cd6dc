"""Query parameters and headers that several routes take."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any, TypeVar

from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from aws_lambda_powertools.event_handler.openapi.params import Header, Query
from pydantic import ValidationError

from autotune.protocol.completions import ModelId
from autotune.protocol.limits import MAX_PAGE_ITEMS
from autotune.protocol.scores import ScoreFilters, ScoringGraderId
from autotune.protocol.types import Moment, TaskId

PageSize = Annotated[int, Query(ge=1, le=MAX_PAGE_ITEMS)]
NextToken = Annotated[str | None, Query(alias="nextToken")]
IdempotencyKey = Annotated[
    str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200, pattern=r"^[!-~]+$")
]

AnswerT = TypeVar("AnswerT")

_SCORE_FILTERS: Mapping[str, Any] = {
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
        spelled = {name: given.pop(name) for name in _SCORE_FILTERS}
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
        for name, annotation in _SCORE_FILTERS.items()
    ]
    served.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return served
