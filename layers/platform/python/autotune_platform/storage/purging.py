"""Deleting all that a table has of an organisation, by reading all of the table.

No index lists everything of an organisation: what has no verdict is in no list of scores, and what
was never accepted in none at all. Reading the table is complete, and nobody does it but operators.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from autotune.protocol.ids import ID_BODY
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.item_format import item_from_wire, item_to_wire, key_to_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_BATCH_WRITE_ITEMS = 25
_ITEMS_AT_A_TIME = 1_000
_ROUNDS = 8
# All that lies under an id of something of an organisation is that organisation's.
_ID = re.compile(rf"[a-z]+_{ID_BODY}")
_OF_ORGANIZATION = "organization_id = :id OR contains(pk, :id) OR begins_with(#collection, :id)"

Key = tuple[str, str]


class Found(NamedTuple):
    """What a page of a table has of an organisation.

    ``following`` is where the next page begins, None behind the last one.
    """

    partitions: Sequence[str]
    single: Sequence[Key]
    following: Key | None


@part
class OrganizationItems:
    """Finds and deletes items of an organisation in one table."""

    table: str
    client: "DynamoDBClient"

    def page(self, organization_id: str, *, after: Key | None) -> Found:
        """Return what the next megabyte of the table has of an organisation, but its own record."""
        start: dict[str, Any] = {} if after is None else {"ExclusiveStartKey": key_to_wire(*after)}
        answer = self.client.scan(
            TableName=self.table,
            ProjectionExpression="pk, sk",
            FilterExpression=_OF_ORGANIZATION,
            ExpressionAttributeNames={"#collection": "collection"},
            ExpressionAttributeValues=item_to_wire({":id": organization_id}),
            **start,
        )
        keys = [_key(item) for item in answer["Items"]]
        others = [key for key in keys if key[0] != organization_id]
        last = answer.get("LastEvaluatedKey")
        return Found(
            partitions=list(dict.fromkeys(pk for pk, _ in others if _ID.fullmatch(pk))),
            single=[key for key in others if not _ID.fullmatch(key[0])],
            following=_key(last) if last else None,
        )

    def delete_partition(self, pk: str, *, has_time: Callable[[], bool]) -> bool:
        """Delete all items of a partition, or a thousand and as many more as there is time for.

        Returns whether it was all.

        Raises:
            UnavailableError: the table kept refusing some.
        """
        for place, some in enumerate(groups(self._keys_of(pk), _ITEMS_AT_A_TIME)):
            if place and not has_time():
                return False
            self.delete(some)
        return True

    def delete(self, keys: Iterable[Key]) -> None:
        """Delete items, whether they are there or not.

        Raises:
            UnavailableError: the table kept refusing some.
        """
        for chunk in groups(keys, _BATCH_WRITE_ITEMS):
            pending: Mapping[str, Any] = {
                self.table: [{"DeleteRequest": {"Key": key_to_wire(*key)}} for key in chunk]
            }
            for _ in BUSY.attempts(_ROUNDS):
                answer = self.client.batch_write_item(RequestItems=pending)
                pending = answer.get("UnprocessedItems") or {}
                if not pending:
                    break
            else:
                raise UnavailableError("the table is busy", retry_after_seconds=1)

    def _keys_of(self, pk: str) -> Iterator[Key]:
        start: dict[str, Any] = {}
        while True:
            answer = self.client.query(
                TableName=self.table,
                KeyConditionExpression="pk = :pk",
                ProjectionExpression="pk, sk",
                ExpressionAttributeValues=item_to_wire({":pk": pk}),
                ConsistentRead=True,
                **start,
            )
            yield from [_key(item) for item in answer["Items"]]
            if "LastEvaluatedKey" not in answer:
                return
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def _key(item: Mapping[str, Any]) -> Key:
    plain = item_from_wire(item)
    return plain["pk"], plain["sk"]
