"""What a query of one partition asks, and what comes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from autotune_platform.storage.item_format import Item, item_to_wire


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


class QueryOptions(TypedDict, total=False):
    """How a partition of a table, or of an index, is read.

    Attributes:
        partition_name: name of the partition key; ``pk`` by default.
        index: name of the index that is read instead of the table.
        limit: most items of a page; all that fit 1 MB without it.
        after: the ``last_key`` of the page before.
        below: name of the sort key, and the value that it must be lower than.
        between: name of the sort key, and its lowest and highest value.
        newest_first: read from the end.
        starting: only items whose ``sk`` starts with this; not for an index.
        where: return only those of the items read that this holds for.
        attributes: what to return, everything by default; all of an item is read and paid for.
    """

    partition_name: str
    index: str | None
    limit: int | None
    after: Item | None
    below: tuple[str, str] | None
    between: tuple[str, str, str] | None
    newest_first: bool
    starting: str | None
    where: Filter | None
    attributes: Sequence[str]


def query_arguments(partition: str, options: QueryOptions) -> dict[str, Any]:
    """Return the arguments of DynamoDB's Query but the table's name."""
    arguments: dict[str, Any] = {"ScanIndexForward": not options.get("newest_first", False)}
    condition = "#partition = :partition"
    names = {"#partition": options.get("partition_name", "pk")}
    values: dict[str, Any] = {":partition": partition}
    if index := options.get("index"):
        arguments["IndexName"] = index
    else:
        arguments["ConsistentRead"] = True
    if (limit := options.get("limit")) is not None:
        arguments["Limit"] = limit
    if after := options.get("after"):
        arguments["ExclusiveStartKey"] = item_to_wire(after)
    if below := options.get("below"):
        condition += " AND #sort < :below"
        names["#sort"], values[":below"] = below
    if between := options.get("between"):
        condition += " AND #sort BETWEEN :lowest AND :highest"
        names["#sort"], values[":lowest"], values[":highest"] = between
    if (starting := options.get("starting")) is not None:
        condition += " AND begins_with(sk, :starting)"
        values[":starting"] = starting
    if where := options.get("where"):
        arguments["FilterExpression"] = where.expression
        names |= where.names
        values |= where.values
    if attributes := options.get("attributes"):
        shown = {f"#shown{place}": name for place, name in enumerate(attributes)}
        arguments["ProjectionExpression"] = ", ".join(shown)
        names |= shown
    return {
        "KeyConditionExpression": condition,
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": item_to_wire(values),
        **arguments,
    }
