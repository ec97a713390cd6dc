"""The tables, read and pushed by hand, as only a test may."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import boto3
from boto3.dynamodb.types import TypeDeserializer

from local.endpoint import REGION

Item = dict[str, Any]

PAST = "2000-01-01T00:00:00.000+00:00"
SLEPT = f'{PAST} {{"awake_at": "{PAST}"}}'
"""A moment as indexes sort it."""

LONG_AGO = "2000-01-01T00:00:00Z"
"""The same as models store it."""

_deserializer = TypeDeserializer()


class Tables:
    """Every table of one MiniStack, by a part of its name."""

    def __init__(self, endpoint: str) -> None:
        session = boto3.Session("test", "test", region_name=REGION)
        self._dynamodb = session.client("dynamodb", endpoint_url=endpoint)
        self._names = self._dynamodb.list_tables()["TableNames"]
        self.gone = self._dynamodb.exceptions.ConditionalCheckFailedException

    def items(self, table: str) -> Iterator[Item]:
        """Yield every item of a table."""
        for page in self._dynamodb.get_paginator("scan").paginate(TableName=self.name(table)):
            yield from map(plain, page["Items"])

    def item(self, table: str, pk: str, sk: str) -> Item:
        """Return one item, empty where there is none."""
        key = {"pk": {"S": pk}, "sk": {"S": sk}}
        answer = self._dynamodb.get_item(TableName=self.name(table), Key=key, ConsistentRead=True)
        return plain(answer.get("Item", {}))

    def set(self, table: str, item: Item, *, while_it_has: str, **attributes: str) -> None:
        """Set attributes of an item as long as it has a certain one; raises ``gone`` otherwise."""
        names = {f"#a{place}": name for place, name in enumerate(attributes)}
        values = {f":a{place}": {"S": text} for place, text in enumerate(attributes.values())}
        self._dynamodb.update_item(
            TableName=self.name(table),
            Key={"pk": {"S": item["pk"]}, "sk": {"S": item["sk"]}},
            UpdateExpression="SET " + ", ".join(f"{name} = :{name[1:]}" for name in names),
            ConditionExpression=f"attribute_exists({while_it_has})",
            ExpressionAttributeNames=names,
            ExpressionAttributeValues=values,
        )

    def name(self, table: str) -> str:
        """Return the full name of a table."""
        return next(name for name in self._names if table.lower() in name.lower())


def plain(item: Item) -> Item:
    """Return an item with Python's own types."""
    return {name: _number(_deserializer.deserialize(value)) for name, value in item.items()}


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value
