"""Items on the wire, compared with what boto3 makes of them."""

import math
from decimal import Decimal
from typing import Any

import pytest
from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from hypothesis import given
from hypothesis import strategies as st

from autotune_platform.storage.item_format import item_from_wire, item_to_wire, value_to_wire

numbers = st.integers(-(10**37), 10**37) | st.floats(
    min_value=-1e125, max_value=1e125, allow_nan=False
)
sets = st.sets(st.integers(-1000, 1000), min_size=1) | st.sets(st.text(), min_size=1)
scalars = st.none() | st.booleans() | st.text() | st.binary() | numbers
values = st.recursive(
    scalars | sets,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def as_boto3_takes_it(value: Any) -> Any:
    if isinstance(value, float):
        return Decimal(repr(value)) if abs(value) > 1e-128 else Decimal(0)
    if isinstance(value, dict):
        return {name: as_boto3_takes_it(member) for name, member in value.items()}
    if isinstance(value, list):
        return [as_boto3_takes_it(member) for member in value]
    return value


def comparable(wire: dict[str, Any]) -> Any:
    """Return a value on the wire such that numbers and sets are equal if DynamoDB has them so."""
    ((kind, value),) = wire.items()
    match kind:
        case "N":
            return kind, Decimal(value)
        case "NS":
            return kind, sorted(map(Decimal, value))
        case "SS":
            return kind, sorted(value)
        case "L":
            return kind, [comparable(member) for member in value]
        case "M":
            return kind, {name: comparable(member) for name, member in value.items()}
    return kind, value


@given(values)
def test_values_are_written_as_boto3_writes_them(value: Any) -> None:
    ours, theirs = value_to_wire(value), TypeSerializer().serialize(as_boto3_takes_it(value))
    assert comparable(ours) == comparable(theirs)


@given(st.dictionaries(st.text(), values, max_size=4))
def test_what_was_written_is_read(item: dict[str, Any]) -> None:
    read = item_from_wire(item_to_wire(item))
    assert read == as_it_is_read(item)


def as_it_is_read(value: Any) -> Any:
    if isinstance(value, float):
        exact = Decimal(repr(value)) if abs(value) > 1e-128 else Decimal(0)
        return int(exact) if exact == exact.to_integral_value() else value
    if isinstance(value, dict):
        return {name: as_it_is_read(member) for name, member in value.items()}
    if isinstance(value, list):
        return [as_it_is_read(member) for member in value]
    return value


@given(values)
def test_boto3_reads_what_was_written(value: Any) -> None:
    read = TypeDeserializer().deserialize(value_to_wire(value))
    assert comparable(TypeSerializer().serialize(read)) == comparable(value_to_wire(value))


@pytest.mark.parametrize("whole", ["7", "-0", "1E+2", "900719925474099267"])
def test_whole_numbers_are_read_as_integers(whole: str) -> None:
    read = item_from_wire({"count": {"N": whole}})["count"]
    assert type(read) is int
    assert read == Decimal(whole)


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, object(), set(), {1, "a"}, {1.5}, {True}, {"a": [-math.inf]}]
)
def test_what_dynamodb_cannot_store_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="DynamoDB stores no"):
        value_to_wire(value)
