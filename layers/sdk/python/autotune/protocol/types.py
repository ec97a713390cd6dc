"""Constrained types and base models that every wire model is made of."""

import json
import re
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Final

from pydantic import (
    VERSION,
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError, PydanticKnownError

from autotune.protocol import limits
from autotune.protocol.ids import ID_BODY

# In older ones, threads that are the first to use a model break it (pydantic's issue 13419).
_THREADS_MAY_BUILD = tuple(map(int, VERSION.split(".")[:2])) >= (2, 14)

RequestRate = Annotated[
    float,
    Field(
        ge=limits.MIN_REQUESTS_PER_SECOND,
        le=limits.MAX_REQUESTS_PER_SECOND,
        allow_inf_nan=False,
        strict=True,
    ),
]
"""Most calls in a second."""

METADATA_TOO_LARGE: Final = "metadata_too_large"
"""Type of the fault of metadata over their limit; its context has ``maximum`` and ``actual``."""


class _WireModel(BaseModel):
    """What is sent either way: camelCase, and frozen.

    It is built when it is first used, because one process uses few of them.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        frozen=True,
        hide_input_in_errors=True,  # errors end in logs, and prompts must not
        defer_build=_THREADS_MAY_BUILD,
    )


class RequestModel(_WireModel):
    """What a caller sends: a field that nobody knows is an error.

    Attributes:
        most_values: how many JSON values a body that is this model may have.
        most_bytes: how many bytes, on a route that nobody signs.
    """

    most_values: ClassVar[int] = limits.MAX_REQUEST_VALUES
    most_bytes: ClassVar[int] = limits.MAX_REQUEST_BYTES

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _few_unknown_fields(cls, data: Any) -> Any:
        # Each would have an error of its own, a hundred times as large as it.
        most = len(cls.model_fields) + limits.MAX_UNKNOWN_FIELDS
        if isinstance(data, dict) and len(data) > most:
            raise PydanticCustomError(
                "too_many_fields",
                "an object of at most {maximum} fields, not {actual}",
                {"maximum": most, "actual": len(data)},
            )
        return data


class ResponseModel(_WireModel):
    """What a caller receives: unknown fields are skipped, so that each side can grow."""

    model_config = ConfigDict(extra="ignore")


def at_most(members: int) -> BeforeValidator:
    """Refuse a list or an object with more members before any of them is validated.

    ``Field(max_length=…)`` alone counts members that are valid, and keeps an error for each other.
    """

    def check(value: Any) -> Any:
        if isinstance(value, list | dict) and len(value) > members:
            field_type = "List" if isinstance(value, list) else "Dictionary"
            raise PydanticKnownError(
                "too_long",
                {"field_type": field_type, "max_length": members, "actual_length": len(value)},
            )
        if isinstance(value, dict) and any(map(_is_long, value)):
            # Errors below repeat it.
            longest = limits.MAX_FIELD_NAME_CHARACTERS
            raise ValueError(f"names of at most {longest} characters")
        return value

    return BeforeValidator(check)


def _is_long(name: Any) -> bool:
    return isinstance(name, str) and len(name) > limits.MAX_FIELD_NAME_CHARACTERS


def _metadata_within_limit(value: dict[str, Any]) -> dict[str, Any]:
    if nests_deeper_than(value, limits.MAX_METADATA_DEPTH):
        raise ValueError(f"metadata must nest at most {limits.MAX_METADATA_DEPTH} levels deep")
    try:
        encoded = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        size = len(encoded.encode())
    except (TypeError, ValueError) as error:  # NaN, infinities, lone surrogates, Python objects
        raise ValueError(f"metadata must be JSON: {error}") from error
    if size > limits.MAX_METADATA_BYTES:
        raise PydanticCustomError(
            METADATA_TOO_LARGE,
            "metadata must be at most {maximum} bytes of JSON, not {actual}",
            {"maximum": limits.MAX_METADATA_BYTES, "actual": size},
        )
    return value


def nests_deeper_than(value: Any, levels: int) -> bool:
    """Return whether JSON has arrays and objects within each other on more levels than this."""
    if not isinstance(value, dict | list):
        return False
    if levels == 0:
        return True
    members = value.values() if isinstance(value, dict) else value
    return any(nests_deeper_than(member, levels - 1) for member in members)


def bounded_json(most: int) -> AfterValidator:
    """Return what requires an object to be so many bytes of compact JSON, nested not too deeply."""

    def require(value: dict[str, Any]) -> dict[str, Any]:
        if nests_deeper_than(value, limits.MAX_METADATA_DEPTH):
            raise ValueError(f"expected at most {limits.MAX_METADATA_DEPTH} levels")
        try:
            text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
            size = len(text.encode())
        except (TypeError, ValueError) as error:  # NaN, infinities, lone surrogates, objects
            raise ValueError(f"expected JSON: {error}") from error
        if size > most:
            raise ValueError(f"expected at most {most} bytes of JSON, not {size}")
        return value

    return AfterValidator(require)


def _encodable(value: str) -> str:
    value.encode()  # a lone surrogate, which JSON can spell, fits no store and no grader
    return value


Text = Annotated[str, AfterValidator(_encodable)]
"""Text of any length that UTF-8 can hold."""

UnitInterval = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
"""A number from 0 to 1, both included; strings, booleans, NaN and infinities are refused."""

NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]


def _is_first(generation: int) -> bool:
    return not generation


Generation = Annotated[int, Field(exclude_if=_is_first)]
"""How often something was scored again; 0, the first generation, is left out of what is sent."""

Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=limits.MAX_NAME_CHARACTERS, strip_whitespace=True),
]
Description = Annotated[str, StringConstraints(max_length=limits.MAX_DESCRIPTION_CHARACTERS)]
Metadata = Annotated[dict[str, Any], AfterValidator(_metadata_within_limit)]

TaskId = Annotated[str, StringConstraints(pattern=rf"^task_{ID_BODY}$")]
GraderId = Annotated[str, StringConstraints(pattern=rf"^grd_{ID_BODY}$")]
SampleId = Annotated[str, StringConstraints(pattern=rf"^smp_{ID_BODY}$")]

Timestamp = datetime
"""UTC, ISO 8601 on the wire."""


def _spelled_out(value: Any) -> Any:
    """Refuse numbers, which would pass for seconds since 1970."""
    if isinstance(value, datetime):
        return value
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\d[Tt ]", value):
        return value
    raise ValueError("expected an ISO 8601 time with a zone, such as 2026-01-31T00:00:00Z")


def _in_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError as error:  # years 1 and 9999 have times that UTC has not
        raise ValueError("expected a time within the years 1 to 9999 in UTC") from error


Moment = Annotated[AwareDatetime, BeforeValidator(_spelled_out), AfterValidator(_in_utc)]
"""An ISO 8601 time with a zone that a caller sends; it comes out in UTC."""
