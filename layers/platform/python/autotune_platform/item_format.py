"""How items look on DynamoDB's wire, and how they look to repositories."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from boto3.dynamodb.types import Binary, TypeDeserializer, TypeSerializer

_serializer = TypeSerializer()
_deserializer = TypeDeserializer()

Item = dict[str, Any]

_SMALLEST_NUMBER = 1e-128


def key_to_wire(pk: str, sk: str) -> dict[str, Any]:
    """Return the key of an item."""
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def item_to_wire(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain attributes as DynamoDB takes them."""
    return {name: _serializer.serialize(_decimals(value)) for name, value in item.items()}


def item_from_wire(item: Mapping[str, Any]) -> Item:
    """Return attributes from DynamoDB, or from its stream, as plain values."""
    return {name: _plain(_deserializer.deserialize(value)) for name, value in item.items()}


def _decimals(value: Any) -> Any:
    if isinstance(value, float):
        # DynamoDB knows no number nearer to zero than 1e-130.
        return Decimal(repr(value)) if abs(value) > _SMALLEST_NUMBER else Decimal(0)
    if isinstance(value, dict):
        return {name: _decimals(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_decimals(member) for member in value]
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Binary):
        return bytes(value)  # type: ignore[call-overload]
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_plain(member) for member in value]
    return value
