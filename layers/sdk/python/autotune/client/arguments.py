"""Arguments of a client's methods, and the requests that are made of them."""

from collections.abc import Collection, Mapping
from typing import Any, Final, Literal, TypeAlias, TypeVar, final

import httpx
from pydantic import ValidationError

from autotune.client.errors import InvalidInputError
from autotune.protocol.types import RequestModel

RequestT = TypeVar("RequestT", bound=RequestModel)


@final
class NotGiven:
    """The type of ``not_given``: an argument that was left out, where None means something.

    As openai-python's ``NotGiven`` and httpx's ``USE_CLIENT_DEFAULT``.
    """

    def __bool__(self) -> Literal[False]:
        return False

    def __repr__(self) -> str:
        return "not_given"


not_given: Final = NotGiven()

Timeout: TypeAlias = float | httpx.Timeout | NotGiven

AbsentT = TypeVar("AbsentT", None, NotGiven)
"""The type of a field that is left out: None of a request, ``NotGiven`` of a change."""


def request_of(model: type[RequestT], /, **fields: Any) -> RequestT:
    """Build a request from the arguments that are not None.

    Raises:
        InvalidInputError: an argument is not what the API takes.
    """
    return _checked(model, {name: value for name, value in fields.items() if value is not None})


def change_of(model: type[RequestT], *, clearable: Collection[str] = (), **fields: Any) -> RequestT:
    """Build a change from the arguments that are given: None clears a field.

    Args:
        clearable: the fields that may be None.

    Raises:
        InvalidInputError: an argument is not what the API takes.
    """
    given = {name: value for name, value in fields.items() if not isinstance(value, NotGiven)}
    for name, value in given.items():
        if value is None and name not in clearable:
            raise InvalidInputError.at(name, "a value, not None: this field cannot be cleared")
    return _checked(model, given)


def fields_of(
    policy: RequestModel | Mapping[str, Any] | NotGiven | None,
) -> dict[str, Any] | NotGiven | None:
    """Return the fields that were set of what may be a model or a mapping."""
    if isinstance(policy, RequestModel):
        return policy.model_dump(exclude_unset=True)
    return dict(policy) if isinstance(policy, Mapping) else policy


def _checked(model: type[RequestT], given: dict[str, Any]) -> RequestT:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise InvalidInputError.of(error) from error
