"""Writes to one table that happen together or not at all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.item_format import Item, item_to_wire, key_to_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_ATTEMPTS = 8
BUSY_CODES = frozenset({"ProvisionedThroughputExceeded", "ThrottlingError", "TransactionConflict"})
REFUSED_CODE = "ConditionalCheckFailed"
"""Why a transaction was canceled: a store was busy, or a condition did not hold."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """What must hold of an item before it is written.

    Attributes:
        exists: whether it must be there, or must not be; either is fine without.
        only_if: attributes with the values that they must have.
    """

    exists: bool | None = None
    only_if: Mapping[str, Any] = field(default_factory=dict)


ANYTHING = Condition()
PRESENT = Condition(exists=True)


@dataclass(frozen=True, kw_only=True)
class Put:
    """Write the whole of an item."""

    item: Item
    condition: Condition = ANYTHING


@dataclass(frozen=True, kw_only=True)
class Delete:
    """Delete an item; without a condition, deleting what is not there is fine."""

    pk: str
    sk: str
    condition: Condition = ANYTHING


@dataclass(frozen=True, kw_only=True)
class Add:
    """Add to a number of an item; an item that is not there is made, and a number is 0 at first.

    Attributes:
        below: the number must be below this; any will do without.
        only_existing: the item must be there, and is not made.
        changes: attributes that are set with it.
        without: attributes that must not be there.
    """

    pk: str
    sk: str
    name: str
    by: int
    below: int | None = None
    only_existing: bool = False
    changes: Mapping[str, Any] = field(default_factory=dict)
    without: Sequence[str] = ()


Write = Put | Delete | Add


def transact(client: "DynamoDBClient", table_name: str, writes: Sequence[Write]) -> list[int]:
    """Do all of up to 100 writes, each of another item, or none of them.

    Returns:
        The positions of the writes whose conditions did not hold; none where all was written.

    Raises:
        UnavailableError: the table is busy, or others kept writing the same items.
    """
    for _ in BUSY.attempts(_ATTEMPTS):
        try:
            client.transact_write_items(
                TransactItems=[_on_wire(write, table_name) for write in writes]
            )
        except client.exceptions.TransactionCanceledException as error:
            codes = [reason.get("Code") for reason in error.response["CancellationReasons"]]
            refused = [place for place, code in enumerate(codes) if code == REFUSED_CODE]
            if refused:
                return refused
            if not BUSY_CODES.intersection(codes):
                raise
        else:
            return []
    raise UnavailableError("the table is busy", retry_after_seconds=1)


def put_arguments(put: Put, table_name: str) -> dict[str, Any]:
    """Return the arguments of DynamoDB's PutItem, or of a put in a transaction."""
    return {**_conditions(put.condition, table_name), "Item": item_to_wire(put.item)}


def _on_wire(write: Write, table_name: str) -> Any:
    if isinstance(write, Put):
        return {"Put": put_arguments(write, table_name)}
    if isinstance(write, Add):
        return {"Update": _add_arguments(write, table_name)}
    return {
        "Delete": {
            **_conditions(write.condition, table_name),
            "Key": key_to_wire(write.pk, write.sk),
        }
    }


def _add_arguments(add: Add, table_name: str) -> dict[str, Any]:
    values: dict[str, Any] = {":by": add.by}
    names, expression = {"#n": add.name}, "ADD #n :by"
    for place, (name, value) in enumerate(add.changes.items()):
        names[f"#set{place}"], values[f":set{place}"] = name, value
        expression += f"{',' if place else ' SET'} #set{place} = :set{place}"
    described: dict[str, Any] = {
        "TableName": table_name,
        "Key": key_to_wire(add.pk, add.sk),
        "UpdateExpression": expression,
        "ExpressionAttributeNames": names,
    }
    conditions = ["attribute_exists(pk)"] if add.only_existing else []
    if add.below is not None:
        values[":below"] = add.below
        conditions.append("(attribute_not_exists(#n) OR #n < :below)")
    for place, name in enumerate(add.without):
        names[f"#without{place}"] = name
        conditions.append(f"attribute_not_exists(#without{place})")
    if conditions:
        described["ConditionExpression"] = " AND ".join(conditions)
    return {**described, "ExpressionAttributeValues": item_to_wire(values)}


def _conditions(condition: Condition, table_name: str) -> dict[str, Any]:
    names = {f"#{place}": name for place, name in enumerate(condition.only_if)}
    values = {f":{place}": value for place, value in enumerate(condition.only_if.values())}
    parts = [f"{name} = :{place}" for place, name in enumerate(names)]
    if condition.exists is not None:
        function = "attribute_exists" if condition.exists else "attribute_not_exists"
        parts.append(f"{function}(pk)")
    described: dict[str, Any] = {"TableName": table_name}
    if parts:
        described["ConditionExpression"] = " AND ".join(parts)
    if values:
        described["ExpressionAttributeNames"] = names
        described["ExpressionAttributeValues"] = item_to_wire(values)
    return described
