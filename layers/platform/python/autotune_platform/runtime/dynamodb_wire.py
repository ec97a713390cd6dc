"""DynamoDB's requests and answers as JSON, without a walk through botocore's models.

A request is sent as it is asked for, and an answer comes as it is returned: but for bytes, which
are Base64 on the wire, JSON is all that there is to write and to read. Botocore looks each value of
each attribute up in its model of the service, both ways.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html
"""

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

OPERATIONS: Final = frozenset(
    {
        *("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan"),
        *("BatchGetItem", "BatchWriteItem", "TransactWriteItems"),
    }
)
"""What is written and read here; all else is botocore's."""


class WireBody(bytes):
    """A request's body.

    Attributes:
        first: what became of the first try to send it, for botocore to go on from: an answer, or
            the error that it was lost with.
    """

    first: Any = None


class WireSerializer:
    """Writes requests, in place of botocore's serializer of the JSON protocol.

    Args:
        usual: botocore's, for other operations.
    """

    def __init__(self, usual: Any) -> None:
        self._usual = usual
        self._headers: dict[str, dict[str, str]] = {}

    def serialize_to_request(self, parameters: Mapping[str, Any], operation_model: Any) -> Any:
        """Return a request as botocore's serializer does.

        Raises:
            TypeError: a value is of no type that JSON has, nor bytes.
        """
        name = operation_model.name
        if name not in OPERATIONS:
            return self._usual.serialize_to_request(parameters, operation_model)
        if (headers := self._headers.get(name)) is None:
            said = operation_model.metadata
            headers = self._headers[name] = {
                "X-Amz-Target": f"{said['targetPrefix']}.{name}",
                "Content-Type": f"application/x-amz-json-{said['jsonVersion']}",
            }
        return {
            "url_path": "/",
            "query_string": "",
            "method": "POST",
            "headers": dict(headers),
            "body": WireBody(_ENCODER.encode(parameters).encode()),
        }


def answer_of(content: bytes) -> dict[str, Any] | None:
    """Return what an answer of one of the operations says; None where it is for botocore to read.

    Raises:
        ValueError: it is no JSON, or bytes in it are no Base64.
    """
    answer = json.loads(content) if content else {}
    if not isinstance(answer, dict) or not answer.keys() <= _READERS.keys():
        return None
    if None in answer.values():
        answer = {name: value for name, value in answer.items() if value is not None}
    if b'"B"' in content or b'"BS"' in content:
        for name, value in answer.items():
            _READERS[name](value)
    return answer


def _written(value: Any) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode("ascii")
    message = f"a request to DynamoDB has no {type(value).__name__}"
    raise TypeError(message)


_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), default=_written)


def _read_value(value: dict[str, Any]) -> None:
    """Put bytes in place of their Base64."""
    for kind, inner in value.items():
        if kind == "B":
            value[kind] = base64.b64decode(inner)
        elif kind == "BS":
            value[kind] = [base64.b64decode(one) for one in inner]
        elif kind == "M":
            _read_item(inner)
        elif kind == "L":
            for one in inner:
                _read_value(one)


def _read_item(item: dict[str, Any]) -> None:
    for value in item.values():
        _read_value(value)


def _read_items(items: list[dict[str, Any]]) -> None:
    for item in items:
        _read_item(item)


def _read_by_table(answers: dict[str, list[dict[str, Any]]]) -> None:
    for items in answers.values():
        _read_items(items)


def _read_keys(tables: dict[str, dict[str, Any]]) -> None:
    for asked in tables.values():
        _read_items(asked["Keys"])


def _read_writes(tables: dict[str, list[dict[str, dict[str, Any]]]]) -> None:
    for writes in tables.values():
        for write in writes:
            for asked in write.values():
                _read_by_name(asked)


def _read_by_name(asked: dict[str, Any]) -> None:
    """Read the item of a put, or the key of a deletion."""
    for item in asked.values():
        _read_item(item)


def _as_it_is(_: Any) -> None:
    """Leave what has no bytes."""


_READERS: Final[Mapping[str, Callable[[Any], None]]] = {
    "Item": _read_item,
    "Attributes": _read_item,
    "Items": _read_items,
    "LastEvaluatedKey": _read_item,
    "Responses": _read_by_table,
    "UnprocessedKeys": _read_keys,
    "UnprocessedItems": _read_writes,
    "ConsumedCapacity": _as_it_is,
    "Count": _as_it_is,
    "ScannedCount": _as_it_is,
}
