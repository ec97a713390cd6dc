"""Reads requests for all contracts: ignores unknown fields and is strict on known ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, PlainValidator, ValidationError

from autotune.protocol.completions import Score
from autotune.protocol.limits import MAX_REQUEST_BYTES, MAX_REWARD_QUESTIONS, MAX_REWARD_VALUES
from autotune.protocol.problems import FieldProblem, LimitProblem
from autotune_platform.http.problems import invalid_request
from autotune_platform.rewards.models import Question
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.frozen_model import FrozenModel

ModelT = TypeVar("ModelT", bound="TrainerRequest")


@dataclass(frozen=True)
class Contract:
    """The request and answer format of one kind of trainer.

    Attributes:
        wait_seconds: how long to wait for scores if the request does not set it. It is less than
            the time-out of the trainer's client.
        read: returns the questions of a request, in its order.
        answer: returns the answer to a request, given the score of each of its questions.
        most_bytes: largest body.
        most_values: most JSON values in a body.
    """

    wait_seconds: int
    read: Callable[[Any], list[Question]]
    answer: Callable[[Any, Sequence[Score]], Any]
    most_bytes: int = MAX_REQUEST_BYTES
    most_values: int = MAX_REWARD_VALUES


class TrainerRequest(FrozenModel):
    """A trainer's request; unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)


def _text_or_list(value: Any) -> str | list[Any]:
    if isinstance(value, str | list):
        return value
    raise ValueError("a text or a list of messages")


TextOrMessages = Annotated[str | list[Any], PlainValidator(_text_or_list)]
"""A text, or messages, which are validated when they are converted to a text."""


def parsed(model: type[ModelT], document: Any, *, field: str = "") -> ModelT:
    """Return a document as a model.

    Args:
        field: the path of the document in the request, empty if it is the whole request.

    Raises:
        InvalidRequestError: a field is missing or wrong.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        found = invalid_request(
            {
                **fault,
                "loc": ("body", *fault["loc"]),
                # The library would name a class of ours.
                "msg": "a JSON object" if fault["type"] == "model_type" else fault["msg"],
            }
            for fault in faults
        )
        if not field:
            raise found from error
        named = [
            FieldProblem(
                field=field if one.field == "body" else f"{field}.{one.field}",
                expected=one.expected,
            )
            for one in found.fields
        ]
        raise InvalidRequestError(f"{named[0].field}: {named[0].expected}", fields=named) from error


def require_countable(count: int, *, field: str) -> None:
    """Require that a request has questions, and not too many.

    Raises:
        InvalidRequestError: it asks nothing, or more than 500 questions.
    """
    if count == 0:
        raise InvalidRequestError.of_field(field, "at least one completion")
    if count > MAX_REWARD_QUESTIONS:
        limit = LimitProblem(
            name="completions in one request",
            maximum=MAX_REWARD_QUESTIONS,
            unit="items",
            actual=count,
        )
        expected = f"at most {MAX_REWARD_QUESTIONS} completions"
        raise InvalidRequestError(
            f"{field}: {count} completions, and {MAX_REWARD_QUESTIONS} is the limit",
            fields=[FieldProblem(field=field, expected=expected)],
            limit=limit,
        )
