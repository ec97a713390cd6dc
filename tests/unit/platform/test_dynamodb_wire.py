"""Requests and answers of DynamoDB are those of botocore's own serializer and parser."""

import base64
import json
from functools import cache
from typing import Any

import pytest
from botocore.parsers import JSONParser
from botocore.serialize import JSONSerializer
from botocore.session import Session
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune_platform.runtime.dynamodb_wire import OPERATIONS, WireSerializer, answer_of

TEXTS = st.text(max_size=8)
NAMES = st.one_of(st.sampled_from(["pk", "B", "BS", "M", "L", "S"]), TEXTS.filter(bool))
BYTES = st.binary(max_size=12)
NUMBERS = st.integers().map(str)
VALUES: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.one_of(
        st.fixed_dictionaries({"S": TEXTS}),
        st.fixed_dictionaries({"N": NUMBERS}),
        st.fixed_dictionaries({"B": BYTES}),
        st.fixed_dictionaries({"BOOL": st.booleans()}),
        st.just({"NULL": True}),
        st.fixed_dictionaries({"SS": st.lists(TEXTS, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"NS": st.lists(NUMBERS, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"BS": st.lists(BYTES, min_size=1, max_size=3)}),
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"L": st.lists(inner, max_size=3)}),
        st.fixed_dictionaries({"M": st.dictionaries(NAMES, inner, max_size=3)}),
    ),
    max_leaves=6,
)
ITEMS = st.dictionaries(NAMES, VALUES, max_size=4)
EXPRESSION = {
    "ConditionExpression": st.just("#a = :a"),
    "ExpressionAttributeNames": st.just({"#a": "a"}),
    "ExpressionAttributeValues": st.fixed_dictionaries({":a": VALUES}),
}
OF_ONE: dict[str, Any] = {"TableName": st.just("t"), **EXPRESSION}
CAPACITY = st.just({"TableName": "t", "CapacityUnits": 0.5, "ReadCapacityUnits": 1})
WRITES = st.lists(
    st.one_of(
        st.fixed_dictionaries({"PutRequest": st.fixed_dictionaries({"Item": ITEMS})}),
        st.fixed_dictionaries({"DeleteRequest": st.fixed_dictionaries({"Key": ITEMS})}),
    ),
    max_size=3,
)
KEYS = st.fixed_dictionaries(
    {"Keys": st.lists(ITEMS, max_size=3)}, optional={"ConsistentRead": st.booleans()}
)
ACTIONS = st.lists(
    st.one_of(
        st.fixed_dictionaries({"Put": st.fixed_dictionaries({**OF_ONE, "Item": ITEMS})}),
        st.fixed_dictionaries({"Update": st.fixed_dictionaries({**OF_ONE, "Key": ITEMS})}),
        st.fixed_dictionaries({"Delete": st.fixed_dictionaries({**OF_ONE, "Key": ITEMS})}),
        st.fixed_dictionaries({"ConditionCheck": st.fixed_dictionaries({**OF_ONE, "Key": ITEMS})}),
    ),
    min_size=1,
    max_size=4,
)
SOUGHT = st.fixed_dictionaries(
    {"TableName": st.just("t"), "Limit": st.integers(1, 9), "ScanIndexForward": st.booleans()},
    optional={"ExclusiveStartKey": ITEMS, "ExpressionAttributeValues": ITEMS},
)
FOR_ONE = {"TableName": TEXTS, "Key": ITEMS}
ASKED: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "GetItem": st.fixed_dictionaries({**FOR_ONE, "ConsistentRead": st.booleans()}),
    "PutItem": st.fixed_dictionaries({**OF_ONE, "Item": ITEMS}),
    "UpdateItem": st.fixed_dictionaries({**OF_ONE, **FOR_ONE, "ReturnValues": TEXTS}),
    "DeleteItem": st.fixed_dictionaries({**OF_ONE, "Key": ITEMS}),
    "Query": SOUGHT,
    "Scan": SOUGHT.map(lambda asked: {k: asked[k] for k in asked if k != "ScanIndexForward"}),
    "BatchGetItem": st.fixed_dictionaries(
        {"RequestItems": st.dictionaries(NAMES, KEYS, max_size=2)}
    ),
    "BatchWriteItem": st.fixed_dictionaries(
        {"RequestItems": st.dictionaries(NAMES, WRITES, max_size=2)}
    ),
    "TransactWriteItems": st.fixed_dictionaries(
        {"TransactItems": ACTIONS, "ClientRequestToken": TEXTS}
    ),
}
FOUND = st.fixed_dictionaries(
    {"Items": st.lists(ITEMS, max_size=3), "Count": st.integers(), "ScannedCount": st.integers()},
    optional={"LastEvaluatedKey": ITEMS, "ConsumedCapacity": CAPACITY},
)
CHANGED = st.fixed_dictionaries({}, optional={"Attributes": ITEMS, "ConsumedCapacity": CAPACITY})
ANSWERED: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "GetItem": st.fixed_dictionaries({}, optional={"Item": ITEMS, "ConsumedCapacity": CAPACITY}),
    "PutItem": CHANGED,
    "UpdateItem": CHANGED,
    "DeleteItem": CHANGED,
    "Query": FOUND,
    "Scan": FOUND,
    "BatchGetItem": st.fixed_dictionaries(
        {"Responses": st.dictionaries(NAMES, st.lists(ITEMS, max_size=3), max_size=2)},
        optional={"UnprocessedKeys": st.dictionaries(NAMES, KEYS, max_size=2)},
    ),
    "BatchWriteItem": st.fixed_dictionaries(
        {"UnprocessedItems": st.dictionaries(NAMES, WRITES, max_size=2)}
    ),
    "TransactWriteItems": st.fixed_dictionaries(
        {}, optional={"ConsumedCapacity": st.lists(CAPACITY, max_size=2)}
    ),
}


@cache
def operation(name: str) -> Any:
    return Session().get_service_model("dynamodb").operation_model(name)


def parsed(name: str, content: bytes) -> dict[str, Any]:
    """Return what botocore reads."""
    answer = {"body": content, "headers": {}, "status_code": 200}
    read: dict[str, Any] = JSONParser().parse(answer, operation(name).output_shape)
    del read["ResponseMetadata"]
    return read


def wire(value: Any) -> bytes:
    """Return an answer as DynamoDB sends it."""
    return json.dumps(value, default=lambda one: base64.b64encode(one).decode()).encode()


def test_all_that_is_written_here_is_compared() -> None:
    assert ASKED.keys() == ANSWERED.keys() == OPERATIONS


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_a_request_is_botocores(name: str) -> None:
    usual = JSONSerializer()

    @settings(max_examples=60)
    @given(ASKED[name])
    def same(parameters: dict[str, Any]) -> None:
        expected = usual.serialize_to_request(parameters, operation(name))
        made = WireSerializer(usual).serialize_to_request(parameters, operation(name))
        assert json.loads(made.pop("body")) == json.loads(expected.pop("body"))
        assert made == expected

    same()


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_an_answer_is_botocores(name: str) -> None:
    @settings(max_examples=60)
    @given(ANSWERED[name])
    def same(answer: dict[str, Any]) -> None:
        content = wire(answer)
        assert answer_of(content) == parsed(name, content) == answer

    same()


@pytest.mark.parametrize("content", [b"", b"{}", b'{"Item": null}', b'{"Item": {}}'])
def test_what_is_empty_is_as_empty(content: bytes) -> None:
    assert answer_of(content) == parsed("GetItem", content)


@pytest.mark.parametrize(
    "content", [b"[]", b"null", b'{"ItemCollectionMetrics": {}}', b'{"Items": [], "New": 1}']
)
def test_what_is_not_known_is_left_to_botocore(content: bytes) -> None:
    assert answer_of(content) is None


@pytest.mark.parametrize("content", [b"<html>", b'{"Item": {"a": {"B": "x"}}}'])
def test_what_cannot_be_read_is_an_error(content: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        answer_of(content)


def test_another_operation_is_written_by_botocore() -> None:
    made = WireSerializer(JSONSerializer()).serialize_to_request({}, operation("ListTables"))
    assert made == JSONSerializer().serialize_to_request({}, operation("ListTables"))
    assert type(made["body"]) is bytes


def test_a_value_that_json_has_not_is_an_error() -> None:
    asked = {"TableName": "t", "Key": {"pk": {"S": object()}}}
    with pytest.raises(TypeError, match="a request to DynamoDB has no object"):
        WireSerializer(JSONSerializer()).serialize_to_request(asked, operation("GetItem"))
