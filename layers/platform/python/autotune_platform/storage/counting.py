"""Counting in items of several tables at once: all of it is written, or nothing."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from autotune_platform.storage.item_format import (
    Item,
    item_from_wire,
    item_to_wire,
    key_to_wire,
    value_to_wire,
)
from autotune_platform.storage.transactions import BUSY_CODES, REFUSED_CODE
from autotune_platform.storage.update_expressions import update_expressions

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MAX_ADDITIONS = 100
"""Most items that one transaction writes."""

# Others wrote the same items, or the table is busy: read again, and try again.
_PASSING = BUSY_CODES | {REFUSED_CODE}


@dataclass(frozen=True, kw_only=True)
class Addition:
    """What is added to one item; an item that is not there is made.

    Attributes:
        table: the table's name.
        numbers: added to the attributes of these names; what is not there counts as 0.
        members: added to the sets of numbers of these names, empty ones left out.
        changes: attributes that are set.
        remove: attributes that go.
        only_if: attributes with the values that they must have; None where there must be none.
        at_most: the highest that numbers may be before the addition; what is not there is 0.
        at_least: the lowest that numbers must be before it.
        is_returned: the item is returned where its condition does not hold.
    """

    table: str
    pk: str
    sk: str
    numbers: Mapping[str, int] = field(default_factory=dict)
    members: Mapping[str, Set[int]] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)
    remove: Sequence[str] = ()
    only_if: Mapping[str, int | str | bool | None] = field(default_factory=dict)
    at_most: Mapping[str, int] = field(default_factory=dict)
    at_least: Mapping[str, int] = field(default_factory=dict)
    is_returned: bool = False


@dataclass(frozen=True, kw_only=True)
class Check:
    """What must hold of an item that is not written; needs the permission ``ConditionCheckItem``.

    Attributes:
        table: the table's name.
        only_if: attributes with the values that they must have; None where there must be none.
    """

    table: str
    pk: str
    sk: str
    only_if: Mapping[str, int | str | bool | None]


@dataclass(frozen=True, kw_only=True)
class Removal:
    """An item that goes; needs the permission ``DeleteItem``.

    Attributes:
        table: the table's name.
        only_if: attributes with the values that they must have; None where there must be none.
    """

    table: str
    pk: str
    sk: str
    only_if: Mapping[str, int | str | bool | None] = field(default_factory=dict)


class Canceled(NamedTuple):
    """Why nothing of a transaction was written.

    Attributes:
        refused: positions of additions whose conditions did not hold, with their items as they
            were: empty where there is none, or it was not to be returned. None of them where others
            wrote the same items at the same time, or a table is busy.
    """

    refused: Mapping[int, Item]


def add_together(client: "DynamoDBClient", additions: Sequence[Addition]) -> bool:
    """Write up to 100 additions in one transaction; those that say nothing are left out.

    Returns:
        False where nothing was written, because a condition did not hold or others wrote the same
        items at the same time.
    """
    return write_together(client, additions) is None


def write_together(
    client: "DynamoDBClient",
    additions: Sequence[Addition | Check | Removal],
    *,
    token: str | None = None,
) -> Canceled | None:
    """Write up to 100 additions in one transaction; return why nothing was, None where all was.

    Checks and removals count as additions do.

    Args:
        token: of this very transaction, by which it is done once if it is asked for again within
            ten minutes. Without one, only what botocore itself tries again is done once.
    """
    places = [place for place, one in enumerate(additions) if not _says_nothing(one)]
    if not places:
        return None
    actions: list[Any] = [_action(additions[place]) for place in places]
    once = {"ClientRequestToken": token} if token else {}
    try:
        client.transact_write_items(TransactItems=actions, **once)  # type: ignore[arg-type]
    except client.exceptions.TransactionCanceledException as error:
        reasons = error.response["CancellationReasons"]
        if not _PASSING.intersection(reason.get("Code") for reason in reasons):
            raise
        return Canceled(
            {
                place: item_from_wire(reason.get("Item", {}))
                for place, reason in zip(places, reasons, strict=True)
                if reason.get("Code") == REFUSED_CODE
            }
        )
    return None


def spend(
    client: "DynamoDBClient",
    table: str,
    pk: str,
    sk: str,
    ceilings: Mapping[str, int],
    *,
    expires_at: int,
) -> str | None:
    """Add one to each of some numbers of an item, unless one of them is at its ceiling.

    Where an answer is lost, botocore asks again: one is added twice, or the last one that had room
    is refused. So no ceiling is passed, and fewer may come through than it says.

    Returns:
        The name of one that is, the first one where the store does not say; None where all had
        room.
    """
    names = {f"#{place}": name for place, name in enumerate(ceilings)}
    values = {f":{place}": ceiling for place, ceiling in enumerate(ceilings.values())}
    added = ", ".join(f"{name} :one" for name in names)
    room = (f"(attribute_not_exists(#{at}) OR #{at} < :{at})" for at in range(len(names)))
    try:
        client.update_item(
            TableName=table,
            Key=key_to_wire(pk, sk),
            UpdateExpression=f"ADD {added} SET expires_at = :expiry",
            ConditionExpression=" AND ".join(room),
            ExpressionAttributeNames=names,
            ExpressionAttributeValues=item_to_wire({":one": 1, ":expiry": expires_at, **values}),
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except client.exceptions.ConditionalCheckFailedException as error:
        response: Mapping[str, Any] = error.response
        before = item_from_wire(response.get("Item", {}))
        spent = (name for name, most in ceilings.items() if before.get(name, 0) >= most)
        return next(spent, next(iter(ceilings)))
    return None


def _action(one: Addition | Check | Removal) -> dict[str, Any]:
    if isinstance(one, Addition):
        return {"Update": _update(one)}
    item = {"TableName": one.table, "Key": key_to_wire(one.pk, one.sk)}
    if isinstance(one, Check):
        return {"ConditionCheck": {**item, **_condition(one.only_if)}}
    return {"Delete": {**item, **(_condition(one.only_if) if one.only_if else {})}}


def _condition(only_if: Mapping[str, int | str | bool | None]) -> dict[str, Any]:
    names, values, conditions = {}, {}, []
    for place, (name, value) in enumerate(only_if.items()):
        names[f"#{place}"] = name
        if value is None:
            conditions.append(f"attribute_not_exists(#{place})")
        else:
            values[f":{place}"] = value_to_wire(value)
            conditions.append(f"#{place} = :{place}")
    return {
        "ConditionExpression": " AND ".join(conditions),
        "ExpressionAttributeNames": names,
        **({"ExpressionAttributeValues": values} if values else {}),
    }


def _says_nothing(addition: Addition | Check | Removal) -> bool:
    """Return whether an addition neither changes nor requires anything, as where models are free.

    An update that does not say what it changes is refused by the store.
    """
    if not isinstance(addition, Addition):
        return False
    has_changes = addition.changes or addition.remove or any(addition.members.values())
    is_conditional = addition.only_if or addition.at_most or addition.at_least
    return not (has_changes or is_conditional or any(addition.numbers.values()))


def _update(addition: Addition) -> dict[str, Any]:
    # Zeros are written where nothing else is: a condition goes with a change.
    is_all = not (any(addition.numbers.values()) or addition.changes or addition.remove)
    added: list[tuple[str, Any]] = [
        *[one for one in addition.numbers.items() if one[1] or is_all],
        *[(name, set(some)) for name, some in addition.members.items() if some],
    ]
    equal = [one for one in addition.only_if.items() if one[1] is not None]
    absent = [name for name, value in addition.only_if.items() if value is None]
    said = update_expressions(
        added=len(added),
        changed=len(addition.changes),
        equal=len(equal),
        most=tuple([most >= 0 for most in addition.at_most.values()]),
        least=len(addition.at_least),
        absent=len(absent),
        gone=len(addition.remove),
    )
    pairs = [
        *added,
        *addition.changes.items(),
        *equal,
        *addition.at_most.items(),
        *addition.at_least.items(),
    ]
    names = [*[name for name, _ in pairs], *absent, *addition.remove]
    values = zip(said.values, pairs, strict=True)
    return {
        "TableName": addition.table,
        "Key": key_to_wire(addition.pk, addition.sk),
        "UpdateExpression": said.update,
        **({"ConditionExpression": said.condition} if said.condition else {}),
        **({"ReturnValuesOnConditionCheckFailure": "ALL_OLD"} if addition.is_returned else {}),
        "ExpressionAttributeNames": dict(zip(said.names, names, strict=True)),
        "ExpressionAttributeValues": {place: value_to_wire(one) for place, (_, one) in values},
    }
