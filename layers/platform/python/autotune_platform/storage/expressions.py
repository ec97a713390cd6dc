"""What a query of one partition asks, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autotune_platform.storage.item_format import Item, item_from_wire, item_to_wire


@dataclass(frozen=True)
class Filter:
    """Which of the items that a query reads it returns; the others are read, and paid, as well.

    Attributes:
        expression: in DynamoDB's syntax, with ``#names`` and ``:values``.
        names: the attribute that each name stands for.
        values: what each value stands for.
    """

    expression: str
    names: Mapping[str, str]
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Page:
    """Items in key order, and the key after which the next page starts.

    ``evaluated`` is how many items were read for it, those that a filter left out included.
    """

    items: list[Item]
    last_key: Item | None
    evaluated: int


def query_arguments(
    partition: str,
    *,
    partition_name: str,
    index: str | None,
    limit: int | None,
    after: Item | None,
    below: tuple[str, str] | None,
    between: tuple[str, str, str] | None,
    newest_first: bool,
    starting: str | None,
    where: Filter | None,
) -> dict[str, Any]:
    """Return the arguments of DynamoDB's Query but the table's name; see ``Table.query``."""
    options: dict[str, Any] = {"ScanIndexForward": not newest_first}
    if index is not None:
        options["IndexName"] = index
    else:
        options["ConsistentRead"] = True
    if limit is not None:
        options["Limit"] = limit
    if after is not None:
        options["ExclusiveStartKey"] = item_to_wire(after)
    condition = "#partition = :partition"
    names = {"#partition": partition_name}
    values: dict[str, Any] = {":partition": partition}
    if below is not None:
        condition += " AND #sort < :below"
        names["#sort"], values[":below"] = below
    if between is not None:
        condition += " AND #sort BETWEEN :lowest AND :highest"
        names["#sort"], values[":lowest"], values[":highest"] = between
    if starting is not None:
        condition += " AND begins_with(sk, :starting)"
        values[":starting"] = starting
    if where is not None:
        options["FilterExpression"] = where.expression
        names |= where.names
        values |= where.values
    return {
        "KeyConditionExpression": condition,
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": item_to_wire(values),
        **options,
    }


def page_from(answer: Mapping[str, Any]) -> Page:
    """Return the page that DynamoDB answered with."""
    last = answer.get("LastEvaluatedKey")
    return Page(
        items=[item_from_wire(item) for item in answer["Items"]],
        last_key=item_from_wire(last) if last else None,
        evaluated=answer["ScannedCount"],
    )
