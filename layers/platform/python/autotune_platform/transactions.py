"""Writes to one table that happen together or not at all."""

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from autotune_platform.errors import UnavailableError
from autotune_platform.item_format import Item, item_to_wire, key_to_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_ATTEMPTS = 8
_BUSY = frozenset({"ProvisionedThroughputExceeded", "ThrottlingError", "TransactionConflict"})
_REFUSED = "ConditionalCheckFailed"


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
MISSING = Condition(exists=False)
PRESENT = Condition(exists=True)


@dataclass(frozen=True, kw_only=True)
class Put:
    """Write the whole of an item."""

    item: Item
    condition: Condition = ANYTHING


@dataclass(frozen=True, kw_only=True)
class Update:
    """Set attributes, add to numbers, remove attributes; at least one of them.

    An item that is not there is made, unless the condition says otherwise; a number that is not
    there counts as 0.
    """

    pk: str
    sk: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    add: Mapping[str, float] = field(default_factory=dict)
    remove: Sequence[str] = ()
    condition: Condition = ANYTHING


@dataclass(frozen=True, kw_only=True)
class Delete:
    """Delete an item; without a condition, deleting what is not there is fine."""

    pk: str
    sk: str
    condition: Condition = ANYTHING


@dataclass(frozen=True, kw_only=True)
class Check:
    """See that a condition holds of an item that is not written."""

    pk: str
    sk: str
    condition: Condition


Write = Put | Update | Delete | Check


def transact(client: "DynamoDBClient", table_name: str, writes: Sequence[Write]) -> list[int]:
    """Do all of up to 100 writes, each of another item, or none of them.

    Returns:
        The positions of the writes whose conditions did not hold; none where all was written.

    Raises:
        UnavailableError: the table is busy, or others kept writing the same items.
    """
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(random.uniform(0, min(1.0, 0.025 * 2**attempt)))  # noqa: S311 - jitter
        try:
            client.transact_write_items(
                TransactItems=[_on_wire(write, table_name) for write in writes]
            )
        except client.exceptions.TransactionCanceledException as error:
            codes = [reason.get("Code") for reason in error.response["CancellationReasons"]]
            refused = [place for place, code in enumerate(codes) if code == _REFUSED]
            if refused:
                return refused
            if not _BUSY.intersection(codes):
                raise
        else:
            return []
    raise UnavailableError("the table is busy", retry_after_seconds=1)


class _Expressions:
    """Collects the names and values that expressions refer to."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._values: dict[str, Any] = {}

    def name(self, name: str) -> str:
        placeholder = f"#{len(self._names)}"
        self._names[placeholder] = name
        return placeholder

    def pair(self, name: str, value: Any, *, joined_by: str) -> str:
        placeholder = f":{len(self._values)}"
        self._values[placeholder] = value
        return f"{self.name(name)}{joined_by}{placeholder}"

    def condition(self, condition: Condition) -> dict[str, str]:
        parts = [
            self.pair(name, value, joined_by=" = ") for name, value in condition.only_if.items()
        ]
        if condition.exists is not None:
            function = "attribute_exists" if condition.exists else "attribute_not_exists"
            parts.append(f"{function}(pk)")
        return {"ConditionExpression": " AND ".join(parts)} if parts else {}

    def attributes(self) -> dict[str, Any]:
        return {
            **({"ExpressionAttributeNames": self._names} if self._names else {}),
            **({"ExpressionAttributeValues": item_to_wire(self._values)} if self._values else {}),
        }


def _on_wire(write: Write, table_name: str) -> Any:
    expressions = _Expressions()
    described: dict[str, Any] = {"TableName": table_name}
    match write:
        case Put():
            described["Item"] = item_to_wire(write.item)
        case Update():
            described["UpdateExpression"] = _update_expression(write, expressions)
    if not isinstance(write, Put):
        described["Key"] = key_to_wire(write.pk, write.sk)
    described |= expressions.condition(write.condition)
    described |= expressions.attributes()
    action = "ConditionCheck" if isinstance(write, Check) else type(write).__name__
    return {action: described}


def _update_expression(write: Update, expressions: _Expressions) -> str:
    clauses = [
        ("SET", [expressions.pair(*change, joined_by=" = ") for change in write.changes.items()]),
        ("ADD", [expressions.pair(*addend, joined_by=" ") for addend in write.add.items()]),
        ("REMOVE", [expressions.name(name) for name in write.remove]),
    ]
    return " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses if parts)
