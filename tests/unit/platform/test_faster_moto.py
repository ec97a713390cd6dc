"""What these tests change in moto makes it faster, and changes none of its answers."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.dynamodb.models import dynamodb_backends

EVERY_TYPE: dict[str, dict[str, Any]] = {
    "word": {"S": "ä"},
    "number": {"N": "-1.5"},
    "bytes": {"B": b"\x00\xff"},
    "flag": {"BOOL": False},
    "nothing": {"NULL": True},
    "words": {"SS": ["a", "b"]},
    "numbers": {"NS": ["1", "2"]},
    "some_bytes": {"BS": [b"a", b"b"]},
    "list": {"L": [{"S": "a"}, {"B": b"b"}, {"M": {"n": {"N": "1"}}}, {"L": []}]},
    "map": {"M": {"S": {"S": "a name as of a type"}, "deep": {"M": {}}, "bytes": {"B": b"c"}}},
}


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with mock_aws():
        made = boto3.client("dynamodb", region_name="us-east-1")
        made.create_table(
            TableName="t",
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "N"},
            ],
            BillingMode="PAY_PER_REQUEST",
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        )
        yield made


def key(number: int, partition: str = "p") -> dict[str, Any]:
    return {"pk": {"S": partition}, "sk": {"N": str(number)}}


def everything(client: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.scan(TableName="t")["Items"]
    return found


def test_what_is_put_is_read(client: Any) -> None:
    item = {**key(1), **EVERY_TYPE}
    client.put_item(TableName="t", Item=item)
    assert client.get_item(TableName="t", Key=key(1))["Item"] == item
    assert everything(client) == [item]


def test_items_come_in_the_order_of_their_keys(client: Any) -> None:
    for number in (10, 9, -2, 100):
        client.put_item(TableName="t", Item=key(number))
        client.put_item(TableName="t", Item=key(number, "o"))
    found = client.query(
        TableName="t",
        KeyConditionExpression="pk = :p AND sk > :n",
        ExpressionAttributeValues={":p": {"S": "p"}, ":n": {"N": "-3"}},
    )
    assert [item["sk"]["N"] for item in found["Items"]] == ["-2", "9", "10", "100"]
    assert [(item["pk"]["S"], item["sk"]["N"]) for item in everything(client)] == [
        (partition, number) for partition in "op" for number in ("-2", "9", "10", "100")
    ]


def test_a_transaction_that_fails_leaves_items_and_stream_as_they_were(client: Any) -> None:
    before = {**key(1), **EVERY_TYPE}
    client.put_item(TableName="t", Item=before)
    update = {
        "TableName": "t",
        "Key": key(1),
        "UpdateExpression": "SET #m.deep.a = :one, word = :word ADD #n :one DELETE words :words",
        "ExpressionAttributeNames": {"#m": "map", "#n": "number"},
        "ExpressionAttributeValues": {
            ":one": {"N": "1"},
            ":word": {"S": "b"},
            ":words": {"SS": ["a"]},
        },
    }
    there = {"TableName": "t", "Key": key(3), "ConditionExpression": "attribute_exists(pk)"}
    put = {"TableName": "t", "Item": key(2)}
    with pytest.raises(client.exceptions.TransactionCanceledException):
        client.transact_write_items(
            TransactItems=[{"Update": update}, {"Put": put}, {"ConditionCheck": there}]
        )
    assert everything(client) == [before]
    assert [record["eventName"] for record in told()] == ["INSERT"]

    client.transact_write_items(TransactItems=[{"Update": update}, {"Put": put}])
    assert [item["sk"]["N"] for item in everything(client)] == ["1", "2"]
    assert [record["eventName"] for record in told()] == ["INSERT", "MODIFY", "INSERT"]


def told() -> list[dict[str, Any]]:
    backend = dynamodb_backends["123456789012"]["us-east-1"]
    return [record.to_json() for record in backend.get_table("t").stream_shard.items]
