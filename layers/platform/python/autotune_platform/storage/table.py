"""A DynamoDB table with the few operations that repositories need.

Items go in and come out as plain Python values; numbers come out as ``int`` or ``float``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, Unpack

from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.counting import (
    Addition,
    Canceled,
    Check,
    Removal,
    add_together,
    spend,
    write_together,
)
from autotune_platform.storage.expressions import Page, QueryOptions, query_arguments
from autotune_platform.storage.item_format import Item, item_from_wire, item_to_wire, key_to_wire
from autotune_platform.storage.transactions import Condition, Put, Write, put_arguments, transact

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

__all__ = ["Item", "Key", "Page", "Table"]

Key = tuple[str, str]

_WRITER = "writer"
_BATCH_GET_KEYS = 100
_BATCH_WRITE_ITEMS = 25
_UNPROCESSED_ROUNDS = 8


class Table:
    """One table whose primary key is ``pk`` and ``sk``, both strings."""

    def __init__(self, name: str, client: "DynamoDBClient") -> None:
        self.name = name
        self._client = client

    def get(self, pk: str, sk: str) -> Item | None:
        """Read one item, strongly consistent."""
        answer = self._client.get_item(
            TableName=self.name, Key=key_to_wire(pk, sk), ConsistentRead=True
        )
        return item_from_wire(answer["Item"]) if "Item" in answer else None

    def beside(self, name: str) -> Self:
        """Return another table, which is read and written in the same way."""
        return type(self)(name, self._client)

    def put_new(
        self, item: Item, *, or_expired_at: int | None = None, writer: str | None = None
    ) -> bool:
        """Write an item that must not exist; return False where it did.

        Args:
            or_expired_at: also overwrite an item whose ``expires_at`` lies before this Unix second,
                because TTL deletes late.
            writer: drawn for this call, and stored with the item: a call whose first answer was
                lost is tried again, and finds what it has written itself. That counts as written.
        """
        if writer is not None:
            item = {**item, _WRITER: writer}
        arguments = put_arguments(Put(item=item, condition=Condition(exists=False)), self.name)
        if writer is not None:
            arguments["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        if or_expired_at is not None:
            arguments["ConditionExpression"] += " OR expires_at < :now"
            arguments["ExpressionAttributeValues"] = item_to_wire({":now": or_expired_at})
        try:
            self._client.put_item(**arguments)
        except self._client.exceptions.ConditionalCheckFailedException as error:
            response: Mapping[str, Any] = error.response
            there = item_from_wire(response.get("Item", {}))
            return writer is not None and there.get(_WRITER) == writer
        return True

    def put(self, item: Item) -> None:
        """Write an item in place of what is there: a repeat is right, and the last write counts."""
        self._client.put_item(TableName=self.name, Item=item_to_wire(item))

    def update(
        self,
        pk: str,
        sk: str,
        changes: Mapping[str, Any],
        *,
        remove: Sequence[str] = (),
        only_if: Mapping[str, Any] | None = None,
        adding: Mapping[str, int] | None = None,
        rising: str | None = None,
        falling: str | None = None,
        having: str | None = None,
    ) -> Item | None:
        """Set and remove attributes of an existing item; return the item after it, or None.

        None means that there is no such item, that an attribute of ``only_if`` differs, that the
        attribute ``having`` is not there, or that ``rising``, one of the changes, is not above what
        is there, or ``falling`` not below it. An attribute of ``only_if`` that is to be None must
        not be there. ``adding`` has what is added to numbers, which are 0 where they are not there.

        Where an answer is lost, botocore asks again: None may then be said of what this call has
        written itself, where ``only_if``, ``rising`` or ``falling`` holds no more after it, and
        ``adding`` is added twice. Who must know reads the item.
        """
        expected = {name: value for name, value in (only_if or {}).items() if value is not None}
        absent = [name for name in only_if or {} if name not in expected]
        names = {f"#{i}": name for i, name in enumerate([*changes, *expected, *remove, *absent])}
        values = {f":{i}": value for i, value in enumerate([*changes.values(), *expected.values()])}
        assignments = [f"#{i} = :{i}" for i in range(len(changes))]
        conditions = [f"#{i} = :{i}" for i in range(len(changes), len(values))]
        if rising is not None:
            place = list(changes).index(rising)
            conditions.append(f"(attribute_not_exists(#{place}) OR #{place} < :{place})")
        if having is not None:
            names["#having"] = having
            conditions.append("attribute_exists(#having)")
        if falling is not None:
            place = list(changes).index(falling)
            conditions.append(f"#{place} > :{place}")
        first_absent = len(values) + len(remove)
        removed = [f"#{i}" for i in range(len(values), first_absent)]
        conditions += [
            f"attribute_not_exists(#{i})" for i in range(first_absent, first_absent + len(absent))
        ]
        expression = "SET " + ", ".join(assignments) if assignments else ""
        if removed:
            expression += " REMOVE " + ", ".join(removed)
        for place, (name, by) in enumerate((adding or {}).items()):
            names[f"#add{place}"], values[f":add{place}"] = name, by
            expression += f"{',' if place else ' ADD'} #add{place} :add{place}"
        arguments: dict[str, Any] = (
            {"ExpressionAttributeValues": item_to_wire(values)} if values else {}
        )
        try:
            answer = self._client.update_item(
                TableName=self.name,
                Key=key_to_wire(pk, sk),
                UpdateExpression=expression,
                ConditionExpression=" AND ".join(["attribute_exists(pk)", *conditions]),
                ExpressionAttributeNames=names,
                ReturnValues="ALL_NEW",
                **arguments,
            )
        except self._client.exceptions.ConditionalCheckFailedException:
            return None
        return item_from_wire(answer["Attributes"])

    def replace(self, pk: str, sk: str, item: Item, *, only_if: Mapping[str, Any]) -> bool:
        """Write the whole of an existing item; return False where ``only_if`` no longer holds.

        Raises:
            UnavailableError: a transaction is writing it.
        """
        put = Put(item={**item, "pk": pk, "sk": sk}, condition=Condition(only_if=only_if))
        try:
            self._client.put_item(**put_arguments(put, self.name))
        except self._client.exceptions.ConditionalCheckFailedException:
            return False
        except self._client.exceptions.TransactionConflictException as error:
            raise UnavailableError("the item is busy", retry_after_seconds=1) from error
        return True

    def advance(
        self,
        pk: str,
        sk: str,
        name: str,
        *,
        by: float,
        floor: float,
        ceiling: float,
        expires_at: int,
    ) -> float | None:
        """Add to a number that never falls behind ``floor``; return it after that, or None.

        None means that it lies beyond ``ceiling`` already. An item that is not there is made.

        Where an answer is lost, botocore asks again, and it is added twice: what is paced so waits
        for longer.
        """
        both = {":floor": floor, ":by": by, ":expiry": expires_at}
        for start, condition, values in (
            (":floor", "attribute_not_exists(#n) OR #n <= :floor", both),
            ("#n", "#n > :floor AND #n <= :ceiling", {**both, ":ceiling": ceiling}),
        ):
            try:
                answer = self._client.update_item(
                    TableName=self.name,
                    Key=key_to_wire(pk, sk),
                    UpdateExpression=f"SET #n = {start} + :by, expires_at = :expiry",
                    ConditionExpression=condition,
                    ExpressionAttributeNames={"#n": name},
                    ExpressionAttributeValues=item_to_wire(values),
                    ReturnValues="UPDATED_NEW",
                )
            except self._client.exceptions.ConditionalCheckFailedException:
                continue
            return float(item_from_wire(answer["Attributes"])[name])
        return None

    def transact(self, writes: Sequence[Write]) -> list[int]:
        """Do all of up to 100 writes or none; return which ones' conditions did not hold.

        An empty list means that everything is written.

        Raises:
            UnavailableError: the table is busy, or others kept writing the same items.
        """
        return transact(self._client, self.name, writes)

    def add_together(self, additions: Sequence[Addition]) -> bool:
        """Do all additions, to this table and others, or none; see ``counting.add_together``."""
        return add_together(self._client, additions)

    def write_together(
        self, additions: Sequence[Addition | Check | Removal], *, token: str
    ) -> Canceled | None:
        """Do all additions once, or none, and return why; see ``counting.write_together``."""
        return write_together(self._client, additions, token=token)

    def spend(
        self, pk: str, sk: str, ceilings: Mapping[str, int], *, expires_at: int
    ) -> str | None:
        """Add one to each number, unless one is at its ceiling; see ``counting.spend``."""
        return spend(self._client, self.name, pk, sk, ceilings, expires_at=expires_at)

    def count(self, pk: str, sk: str, name: str, by: int, *, only_existing: bool = False) -> None:
        """Add to a number that is 0 at first; an item that is not there is made, or left alone.

        Where an answer is lost, botocore asks again, and it is added twice: for numbers that may
        be somewhat off. What must add up is written by ``write_together``.
        """
        condition = {"ConditionExpression": "attribute_exists(pk)"} if only_existing else {}
        with suppress(self._client.exceptions.ConditionalCheckFailedException):
            self._client.update_item(
                TableName=self.name,
                Key=key_to_wire(pk, sk),
                UpdateExpression="ADD #n :by",
                ExpressionAttributeNames={"#n": name},
                ExpressionAttributeValues=item_to_wire({":by": by}),
                **condition,  # type: ignore[arg-type]
            )

    def delete(self, pk: str, sk: str) -> None:
        """Delete an item; deleting what is not there is fine."""
        self._client.delete_item(TableName=self.name, Key=key_to_wire(pk, sk))

    def take(self, pk: str, sk: str) -> Item | None:
        """Delete an item and return it; of several that do so, one gets it and the others None.

        Where an answer is lost, botocore asks again, and nobody gets it: what it stands for must
        come about without it, too.
        """
        answer = self._client.delete_item(
            TableName=self.name, Key=key_to_wire(pk, sk), ReturnValues="ALL_OLD"
        )
        return item_from_wire(answer["Attributes"]) if answer.get("Attributes") else None

    def query(self, partition: str, **options: Unpack[QueryOptions]) -> Page:
        """Read one page of a partition of the table, or of an index, in sort order."""
        answer = self._client.query(TableName=self.name, **query_arguments(partition, options))
        last = answer.get("LastEvaluatedKey")
        return Page(
            items=[item_from_wire(item) for item in answer["Items"]],
            last_key=item_from_wire(last) if last else None,
            evaluated=answer["ScannedCount"],
        )

    def pages(self, partition: str, **options: Unpack[QueryOptions]) -> Iterator[Page]:
        """Yield every page of a partition; each is read when it is asked for."""
        while True:
            page = self.query(partition, **options)
            yield page
            if page.last_key is None:
                return
            options["after"] = page.last_key

    def items(self, partition: str, **options: Unpack[QueryOptions]) -> Iterator[Item]:
        """Yield every item of a partition, with a page of them in memory at a time."""
        for page in self.pages(partition, **options):
            yield from page.items

    def get_many(self, keys: Iterable[Key], *, attributes: Sequence[str] = ()) -> dict[Key, Item]:
        """Read up to any number of items, strongly consistent; missing ones are left out.

        Args:
            attributes: what to return beside the key; everything by default. Reading the rest is
                paid for all the same, but taking it apart costs most of the time.

        Raises:
            UnavailableError: the table kept refusing part of the read.
        """
        found: dict[Key, Item] = {}
        names = {f"#{i}": name for i, name in enumerate(("pk", "sk", *attributes))}
        only = {"ProjectionExpression": ", ".join(names), "ExpressionAttributeNames": names}
        for chunk in groups(dict.fromkeys(keys), _BATCH_GET_KEYS):
            pending: dict[str, Any] = {
                self.name: {
                    "Keys": [key_to_wire(*key) for key in chunk],
                    "ConsistentRead": True,
                    **(only if attributes else {}),
                }
            }
            for _ in BUSY.attempts(_UNPROCESSED_ROUNDS):
                answer = self._client.batch_get_item(RequestItems=pending)
                for raw in answer["Responses"].get(self.name, []):
                    item = item_from_wire(raw)
                    found[item["pk"], item["sk"]] = item
                pending = dict(answer.get("UnprocessedKeys") or {})
                if not pending:
                    break
            else:
                raise UnavailableError("the table is busy", retry_after_seconds=1)
        return found

    def put_many(self, items: Iterable[Item]) -> None:
        """Write items whose content follows from their keys, so that a repeat changes nothing.

        Raises:
            UnavailableError: the table kept refusing part of the write.
        """
        self._write_many({"PutRequest": {"Item": item_to_wire(item)}} for item in items)

    def delete_many(self, keys: Iterable[Key]) -> None:
        """Delete items, in no order; deleting what is not there is fine.

        Raises:
            UnavailableError: the table kept refusing part of the deletion.
        """
        unique = dict.fromkeys(keys)
        self._write_many({"DeleteRequest": {"Key": key_to_wire(*key)}} for key in unique)

    def _write_many(self, requests: Iterable[dict[str, Any]]) -> None:
        for chunk in groups(requests, _BATCH_WRITE_ITEMS):
            pending: dict[str, Any] = {self.name: list(chunk)}
            for _ in BUSY.attempts(_UNPROCESSED_ROUNDS):
                answer = self._client.batch_write_item(RequestItems=pending)
                pending = dict(answer.get("UnprocessedItems") or {})
                if not pending:
                    break
            else:
                raise UnavailableError("the table is busy", retry_after_seconds=1)
