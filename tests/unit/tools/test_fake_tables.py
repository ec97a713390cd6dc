"""What is changed of MiniStack's tables in tests: it takes less time, and answers the same."""

import importlib.util
import json
import threading
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from ministack.services import dynamodb

from tests.support import tables

_KEYS = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
_TABLE = {
    "TableName": "compared",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": _KEYS,
    "AttributeDefinitions": [
        {"AttributeName": one["AttributeName"], "AttributeType": "S"} for one in _KEYS
    ],
}
_ITEM = {
    "pk": {"S": "a"},
    "sk": {"S": "B"},
    "bytes": {"B": "AP8="},
    "many": {"BS": ["AP8=", "AQ=="]},
    "number": {"N": "01.50"},
    "nested": {"M": {"B": {"S": "é"}, "list": {"L": [{"N": "1e3"}, {"NULL": True}, {"B": ""}]}}},
}
_KEY = {"pk": {"S": "a"}, "sk": {"S": "B"}}
_ON = {"TableName": "compared"}
_UPDATE = {**_ON, "Key": _KEY, "ReturnValues": "ALL_NEW"}
_QUERY = {**_ON, "ExpressionAttributeNames": {"#p": "pk", "#s": "sk"}}
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("PutItem", {**_ON, "Item": _ITEM}),
    ("GetItem", {**_ON, "Key": _KEY}),
    ("GetItem", {**_ON, "Key": {**_KEY, "sk": {"S": "missing"}}}),
    ("GetItem", {**_ON, "Key": {"pk": {"S": "a"}}}),
    ("PutItem", {**_ON, "Item": {**_ITEM, "number": {"N": "1 "}}}),
    ("PutItem", {**_ON, "Item": {**_ITEM, "number": {"N": "1e126"}}}),
    ("PutItem", {**_ON, "Item": {**_ITEM, "number": {"N": "1" * 39}}}),
    (
        "UpdateItem",
        {
            **_UPDATE,
            "UpdateExpression": "SET n = :n ADD number :one",
            "ExpressionAttributeValues": {":n": {"N": "-0.10"}, ":one": {"N": "1"}},
        },
    ),
    (
        "UpdateItem",
        {
            **_UPDATE,
            "UpdateExpression": "SET n = :n",
            "ConditionExpression": "n > :n",
            "ExpressionAttributeValues": {":n": {"N": "7"}},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
    ),
    *(
        (
            "Query",
            {
                **_QUERY,
                "KeyConditionExpression": f"#p = :p AND {form}",
                "ExpressionAttributeValues": {":p": {"S": "a"}, ":s": {"S": sort}},
            },
        )
        for form in ("#s = :s", "#s > :s", "begins_with(#s, :s)", "#s BETWEEN :s AND :s")
        for sort in ("A", "B", "C")
    ),
    (
        "Query",
        {
            **_ON,
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": {"N": "1"}},
        },
    ),
    (
        "Query",
        {
            **_ON,
            "KeyConditionExpression": "sk = :p",
            "ExpressionAttributeValues": {":p": {"S": "1"}},
        },
    ),
    ("BatchGetItem", {"RequestItems": {"compared": {"Keys": [_KEY]}}}),
    ("TransactGetItems", {"TransactItems": [{"Get": {**_ON, "Key": _KEY}}]}),
    (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Delete": {**_ON, "Key": _KEY, "ConditionExpression": "attribute_exists(q)"}}
            ]
        },
    ),
    ("Scan", {**_ON, "ReturnConsumedCapacity": "TOTAL"}),
    ("DeleteItem", {**_ON, "Key": _KEY, "ReturnValues": "ALL_OLD"}),
]


@pytest.fixture(scope="module")
def unchanged() -> ModuleType:
    """MiniStack's module, once more."""
    spec = importlib.util.find_spec(dynamodb.__name__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.time = tables._Time()
    return module


@pytest.fixture
def _as_before() -> Iterator[None]:
    saved = tables.SavedTables()
    yield
    saved.restore()


@pytest.mark.usefixtures("_as_before")
def test_every_answer_is_what_a_server_sends(unchanged: ModuleType) -> None:
    handlers = tables._handlers()
    for create in (handlers["CreateTable"], unchanged._create_table):
        assert create(_TABLE)[0] == 200
    for _ in range(2):
        for name, asked in REQUESTS:
            status, _, body = getattr(unchanged, handlers[name].__name__)(_copy(asked))
            sent = json.loads(body)
            assert _told(name, _copy(asked)) == _expected(status, sent), (name, asked)


@pytest.mark.usefixtures("_as_before")
def test_an_answer_is_a_copy_of_what_is_stored() -> None:
    tables.done("CreateTable", _copy(_TABLE))
    tables.done("PutItem", {**_ON, "Item": _copy(_ITEM)})
    first = tables.done("GetItem", {**_ON, "Key": _KEY})["Item"]
    assert first["bytes"] == {"B": b"\x00\xff"}
    first["nested"]["M"].clear()
    assert tables.done("GetItem", {**_ON, "Key": _KEY})["Item"]["nested"]["M"]


@pytest.mark.usefixtures("_as_before")
def test_a_server_of_this_process_sends_json() -> None:
    tables.done("CreateTable", _copy(_TABLE))
    tables.done("PutItem", {**_ON, "Item": _copy(_ITEM)})
    _, headers, body = dynamodb._get_item({**_ON, "Key": _KEY})
    assert "json" in headers["Content-Type"]
    assert json.loads(body)["Item"]["bytes"] == _ITEM["bytes"]


@pytest.mark.parametrize(
    "value", ["1", "01.0", " 1", "1_0", "-0", "", "1e-131", "x", "1" * 39, 5, None, [1], {"N": 1}]
)
def test_numbers_are_read_as_they_were(unchanged: ModuleType, value: Any) -> None:
    for _ in range(2):
        assert dynamodb._number_error(value) == unchanged._number_error(value)
        found = dynamodb._ddb_canonicalize_number(value)
        assert found == unchanged._ddb_canonicalize_number(value)


@pytest.mark.parametrize(
    "form", ["", "#p = :p", ":p = pk AND begins_with(sk, :s)", "pk=:p AND #s > :s", "q = :p", "pk"]
)
def test_keys_are_found_in_conditions_as_they_were(unchanged: ModuleType, form: str) -> None:
    names = {"#p": "pk", "#s": "sk"}
    for values in ({}, {":p": {"S": "a"}, ":s": {"S": "b"}}, {":p": {"N": "1"}}):
        for key in ("pk", "sk"):
            found = dynamodb._key_condition_av(form, None, values, names, key)
            assert found == unchanged._key_condition_av(form, None, values, names, key)
            found = dynamodb._extract_pk_from_condition(form, values, names, key)
            assert found == unchanged._extract_pk_from_condition(form, values, names, key)
    legacy = {"pk": {"AttributeValueList": [{"S": "a"}], "ComparisonOperator": "EQ"}}
    assert dynamodb._key_condition_av("", legacy, {}, {}, "pk") == {"S": "a"}


def test_nothing_is_looked_for_in_the_background_when_sleeps_pass_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert isinstance(dynamodb.time, tables._Time)
    pause = time.sleep
    slept: list[float] = []
    looked: list[int] = []

    class Settings:
        def all_items(self) -> list[object]:
            looked.append(1)
            return []

    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(dynamodb, "_ttl_settings", Settings())
    # As the one that MiniStack starts: it ends with the process.
    reaper = threading.Thread(target=dynamodb._ttl_reaper, daemon=True)
    reaper.start()
    pause(0.05)
    assert reaper.is_alive()
    assert (slept, looked) == ([], [])
    assert dynamodb.time.time() == pytest.approx(time.time(), abs=5)


def _told(name: str, asked: dict[str, Any]) -> tuple[int, Any]:
    try:
        return 200, tables.done(name, asked)
    except tables.RefusalError as error:
        return 400, error.document


def _expected(status: int, sent: dict[str, Any]) -> tuple[int, Any]:
    if status == 200:
        return status, tables.decoded(sent)
    code = sent.pop("__type").rpartition("#")[2]
    message = sent.pop("message", sent.pop("Message", ""))
    return status, {"Error": {"Code": code, "Message": message}, **tables.decoded(sent)}


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))
