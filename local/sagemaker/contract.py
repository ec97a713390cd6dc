"""What may be asked and answered, by botocore's own model of the service.

botocore's clients check little of it: neither patterns nor enumerations nor greatest lengths, and
our functions' clients check nothing at all. So both directions are checked here, as on the wire.
"""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any

from botocore.model import ListShape, MapShape, OperationModel, ServiceModel, Shape, StructureShape
from botocore.session import Session

from local.sagemaker.errors import ServiceError, validation
from local.sagemaker.patterns import matcher

JSON = dict[str, Any]

CONTROL_PLANE = "sagemaker"
RUNTIME = "sagemaker-runtime"
_UNITS = {"structure": "members", "list": "items", "map": "entries", "string": "characters"}
_AT_LEAST = "have {} greater than or equal to"
_AT_MOST = "have {} less than or equal to"
_NUMBERS: dict[str, type | tuple[type, ...]] = {
    "integer": int,
    "long": int,
    "float": (int, float),
    "double": (int, float),
}


class AnswerError(AssertionError):
    """An answer is none that SageMaker could give: a fault of ours."""


@cache
def service_model(service: str) -> ServiceModel:
    """Return botocore's model of a service; it takes a tenth of a second the first time."""
    model: ServiceModel = Session().get_service_model(service)
    return model


def operation_model(name: str, *, service: str = CONTROL_PLANE) -> OperationModel:
    """Return the model of an operation."""
    return service_model(service).operation_model(name)


def request_of(operation: str, body: bytes) -> JSON:
    """Return what a request asks for.

    Raises:
        ServiceError: It is no JSON, or none that the model allows: ``ValidationException`` names
            the member and what it may be.
    """
    try:
        asked = json.loads(body or b"{}")
    except ValueError as error:
        raise ServiceError("SerializationException", "the body is no JSON") from error
    refuse(operation_model(operation).input_shape, asked)
    assert isinstance(asked, dict), "the model says so"
    return asked


def refuse(shape: Shape | None, asked: Any) -> None:
    """Raise an error for a request that a shape does not allow, with all that is wrong.

    Raises:
        ServiceError: ``ValidationException``, worded as SageMaker does.
    """
    if found := list(faults(shape, asked)):
        noun = "error" if len(found) == 1 else "errors"
        raise validation(f"{len(found)} validation {noun} detected: {'; '.join(found)}")


def answer_of(operation: str, answer: JSON) -> bytes:
    """Return the body of an answer.

    Raises:
        AnswerError: The model has no such answer.
    """
    shape = operation_model(operation).output_shape
    if shape is None:
        if answer:
            raise AnswerError(f"{operation} answers nothing, not {answer}")
        return b""
    wire = _on_the_wire(answer)
    if found := list(faults(shape, wire)):
        raise AnswerError(f"{operation} cannot answer so: {'; '.join(found)}")
    return json.dumps(wire, separators=(",", ":")).encode()


def faults(shape: Shape | None, value: Any, path: str = "") -> Iterator[str]:
    """Yield what of a JSON value a shape does not allow, in SageMaker's words.

    Args:
        shape: None allows an empty object only.
        path: of the value within the whole.
    """
    if shape is None:
        if value != {}:
            yield "the operation takes nothing"
    elif isinstance(shape, StructureShape):
        yield from _faults_of_structure(shape, value, path)
    elif isinstance(shape, ListShape):
        yield from _faults_of_list(shape, value, path)
    elif isinstance(shape, MapShape):
        yield from _faults_of_map(shape, value, path)
    else:
        yield from _faults_of_scalar(shape, value, path)


def kept(shape: Shape, given: Mapping[str, Any]) -> JSON:
    """Return the members of an object that a structure has as well, as descriptions repeat them."""
    assert isinstance(shape, StructureShape)
    return {name: value for name, value in given.items() if name in shape.members}


def described(operation: str, given: Mapping[str, Any]) -> JSON:
    """Return what an answer of an operation has of what is known."""
    shape = operation_model(operation).output_shape
    assert shape is not None, f"{operation} answers nothing"
    return kept(shape, given)


def _faults_of_structure(shape: StructureShape, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield _wrong(value, path, "be an object")
        return
    for name in shape.required_members:
        if value.get(name) is None:
            yield _wrong(None, _joined(path, name), "not be null")
    for name, member in value.items():
        if name not in shape.members:
            yield f"'{_joined(path, name)}' is no member of {shape.name}"
        elif member is not None:
            yield from faults(shape.members[name], member, _joined(path, name))
    if shape.is_tagged_union and len(value) != 1:
        yield _wrong(sorted(value), path, f"have exactly one of {', '.join(shape.members)}")


def _faults_of_list(shape: ListShape, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield _wrong(value, path, "be a list")
        return
    yield from _faults_of_length(shape, len(value), path)
    for at, item in enumerate(value, 1):
        yield from faults(shape.member, item, f"{path}.{at}.member")


def _faults_of_map(shape: MapShape, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield _wrong(value, path, "be an object")
        return
    yield from _faults_of_length(shape, len(value), path)
    for key, item in value.items():
        yield from faults(shape.key, key, f"{path}.key")
        yield from faults(shape.value, item, f"{path}.{key}")


def _faults_of_scalar(shape: Shape, value: Any, path: str) -> Iterator[str]:
    kind = shape.type_name
    if kind == "string":
        yield from _faults_of_string(shape, value, path)
    elif kind == "boolean":
        if not isinstance(value, bool):
            yield _wrong(value, path, "be true or false")
    elif kind in _NUMBERS or kind == "timestamp":
        if isinstance(value, bool) or not isinstance(value, _NUMBERS.get(kind, (int, float))):
            yield _wrong(value, path, f"be a number ({kind})")
        elif "min" in shape.metadata and value < shape.metadata["min"]:
            yield _wrong(
                value, path, f"have value greater than or equal to {shape.metadata['min']}"
            )
        elif "max" in shape.metadata and value > shape.metadata["max"]:
            yield _wrong(value, path, f"have value less than or equal to {shape.metadata['max']}")
    elif kind == "blob":
        try:
            base64.b64decode(value, validate=True)
        except (TypeError, ValueError, binascii.Error):
            yield _wrong(value, path, "be base64")
    else:
        raise AnswerError(f"{shape.name} has the unknown type {kind}")


def _faults_of_string(shape: Shape, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, str):
        yield _wrong(value, path, "be a string")
        return
    yield from _faults_of_length(shape, len(value), path)
    allowed: list[str] = shape.metadata.get("enum", [])
    if allowed and value not in allowed:
        yield _wrong(value, path, f"satisfy enum value set: [{', '.join(allowed)}]")
    pattern = shape.metadata.get("pattern")
    if pattern is not None and not matcher(pattern)(value):
        yield _wrong(value, path, f"satisfy regular expression pattern: {pattern}")


def _faults_of_length(shape: Shape, length: int, path: str) -> Iterator[str]:
    unit = _UNITS[shape.type_name]
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if least is not None and length < least:
        yield f"'{path}' has {length} {unit}: Member must {_AT_LEAST.format('length')} {least}"
    if most is not None and length > most:
        yield f"'{path}' has {length} {unit}: Member must {_AT_MOST.format('length')} {most}"


def _wrong(value: Any, path: str, must: str) -> str:
    shown = "null" if value is None else f"'{str(value)[:100]}'"
    return f"Value {shown} at '{path}' failed to satisfy constraint: Member must {must}"


def _joined(path: str, name: str) -> str:
    member = name[:1].lower() + name[1:]
    return f"{path}.{member}" if path else member


def _on_the_wire(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, dict):
        return {name: _on_the_wire(one) for name, one in value.items() if one is not None}
    if isinstance(value, list):
        return [_on_the_wire(one) for one in value]
    return value
