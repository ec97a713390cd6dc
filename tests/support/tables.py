"""DynamoDB of one process, in it: MiniStack's tables, without a server between.

moto, which answers for every other service, takes several times as long: it copies tables for each
transaction and sorts them for each query of an index. Botocore is stopped just before it would
send, so what is asked and answered is what a server would see and send. Listeners that a test adds
to a client are asked first, and may answer in its place.
"""

import base64
import copy
import json
import marshal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import Any

from botocore.hooks import BaseEventHooks
from ministack.services import dynamodb

from local.key_conditions import read_once

_lock = threading.RLock()
_asking = threading.local()
_METADATA = {"HTTPStatusCode": 200, "RetryAttempts": 0}
_PACKED = {"Content-Type": "of Python alone"}


def _copied(value: Any) -> Any:
    """Copy items, which are JSON, in a fraction of the time that a deep copy takes."""
    try:
        return marshal.loads(marshal.dumps(value))
    except ValueError:
        return copy.deepcopy(value)


class _Time:
    """Time as MiniStack reads it, but for its thread that looks for what has expired: it sleeps on.

    Nothing goes by itself here. Where a test has all sleeps pass at once, that thread would turn
    as fast as it can, and take most of what the machine does.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def sleep(self, seconds: float) -> None:
        threading.Event().wait()


dynamodb.time = _Time()
dynamodb.copy = SimpleNamespace(deepcopy=_copied)
# What is wrong with an expression is looked for with each item that it is compared with.
_tokens = cache(dynamodb._tokenize)
_redundant = cache(dynamodb._check_redundant_parens)
_reserved = cache(dynamodb._check_reserved_keyword_usage)
dynamodb._tokenize = lambda expression: list(_tokens(expression))
dynamodb._condition_syntax_error = cache(dynamodb._condition_syntax_error)
dynamodb._check_redundant_parens = lambda tokens, *slot: _redundant(tuple(tokens), *slot)
dynamodb._check_reserved_keyword_usage = lambda tokens: _reserved(tuple(tokens))
dynamodb._number_size_bytes = lru_cache(10_000)(dynamodb._number_size_bytes)
dynamodb._evaluate_condition = read_once(dynamodb._evaluate_condition)


def of_texts(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Have what is found of a text found once; few numbers are stored, but each many times."""
    known = lru_cache(10_000)(check)
    return lambda value: known(value) if isinstance(value, str) else check(value)


dynamodb._number_error = of_texts(dynamodb._number_error)
dynamodb._ddb_canonicalize_number = of_texts(dynamodb._ddb_canonicalize_number)
_value_of_key = dynamodb._key_condition_av
_partition_of = dynamodb._extract_pk_from_condition
_as_json = dynamodb.json_response


@lru_cache(1_000)
def _named(condition: str, known: tuple[str, ...], names: Any, key: str) -> str | None:
    """Return the name of the value that a key is compared with; six patterns are made for each."""
    named: str | None = _value_of_key(
        condition, None, {one: one for one in known}, dict(names), key
    )
    return named


@lru_cache(1_000)
def _named_partition(condition: str, known: tuple[str, ...], names: Any, key: str) -> str | None:
    """Return the name of the value that a partition key is to be equal to."""
    named: str | None = _partition_of(
        condition, {one: {"S": one} for one in known}, dict(names), key
    )
    return named


def value_of_key(condition: Any, conditions: Any, values: Any, names: Any, key: str) -> Any:
    """Return the value that a key is compared with in a query."""
    if conditions or not condition:
        return _value_of_key(condition, conditions, values, names, key)
    named = _named(condition, tuple(values), tuple(names.items()), key)
    return None if named is None else values[named]


def partition_of(condition: Any, values: Any, names: Any, key: str) -> Any:
    """Return the key of the partition that a query reads."""
    if not condition:
        return _partition_of(condition, values, names, key)
    named = _named_partition(condition, tuple(values), tuple(names.items()), key)
    return None if named is None else dynamodb._extract_key_val(values[named])


def _packed(document: Any, status: int = 200, **options: Any) -> tuple[int, Any, bytes]:
    """Answer without JSON between, which takes longer than most of what is asked.

    A server in this process, which sends what it answers, goes on as it did.
    """
    if getattr(_asking, "here", False):
        with suppress(ValueError):
            return status, _PACKED, marshal.dumps(document)
    sent: tuple[int, Any, bytes] = _as_json(document, status, **options)
    return sent


dynamodb._key_condition_av = value_of_key
dynamodb._extract_pk_from_condition = partition_of
dynamodb.json_response = _packed


class RefusalError(Exception):
    """An answer that is an error of DynamoDB's."""

    def __init__(self, code: str, message: str, **more: Any) -> None:
        super().__init__(f"{code}: {message}")
        self.document = {"Error": {"Code": code, "Message": message}, **more}


def answer_here(events: BaseEventHooks) -> None:
    """Answer what clients of a session ask of DynamoDB from now on."""
    # Of all services, because listeners of one are asked before listeners of all.
    events.register_last("before-call", _answered)


def stream_records(table: str) -> list[dict[str, Any]]:
    """Return every record of a table's stream, as Lambda gets it."""
    with _lock:
        return [_copied(record) for record in dynamodb.stream_live_records(table)]


def items_of_tables() -> dict[str, list[dict[str, Any]]]:
    """Return every item that is stored, by table."""
    with _lock:
        return {
            name: [item for some in table["items"].values() for item in some.values()]
            for name, table in dynamodb._tables.items()
        }


class SavedTables:
    """What all tables hold at one moment, to be there again in later tests.

    Args:
        with_streams: whether what their streams tell is to be there again too.
    """

    def __init__(self, *, with_streams: bool = False) -> None:
        with _lock:
            self._state = dynamodb.get_state()
            told = dynamodb._stream_records if with_streams else {}
            self._streams = _copied(dict(told.items()))

    def restore(self) -> None:
        """Have the tables hold the same, and nothing else; streams begin anew, or as they were."""
        with _lock:
            dynamodb.reset()
            dynamodb.load_persisted_state(_copied(self._state))
            dynamodb._stream_records.update(_copied(self._streams))


def done(name: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Do what is asked, and return the answer as botocore has it.

    Raises:
        RefusalError: the answer is an error.
    """
    with _lock:
        _asking.here = True
        try:
            status, kind, body = _handlers()[name](asked)
        finally:
            _asking.here = False
    document: dict[str, Any] = marshal.loads(body) if kind is _PACKED else json.loads(body)
    if status >= 300:
        code = str(document.pop("__type", "")).rpartition("#")[2]
        message = document.pop("message", document.pop("Message", ""))
        raise RefusalError(code, message, **decoded(document))
    # The name of bytes, as either writes it; other texts may hold the same.
    return decoded(document) if b'"B"' in body or b"\x01B" in body else document


def answer_of(do: Callable[[], dict[str, Any]]) -> tuple[Any, dict[str, Any]]:
    """Return what botocore would make of the answer that a server gives."""
    try:
        answer = do()
    except RefusalError as error:
        return SimpleNamespace(status_code=400), {"ResponseMetadata": _METADATA, **error.document}
    return SimpleNamespace(status_code=200), {"ResponseMetadata": _METADATA, **answer}


def _answered(model: Any, params: dict[str, Any], **_: Any) -> Any:
    if model.service_model.service_name != "dynamodb":
        return None
    return answer_of(lambda: done(model.name, json.loads(params["body"])))


def _handlers() -> dict[str, Callable[[Any], Any]]:
    return {
        "CreateTable": dynamodb._create_table,
        "DescribeTable": dynamodb._describe_table,
        "ListTables": dynamodb._list_tables,
        "UpdateTimeToLive": dynamodb._update_ttl,
        "PutItem": dynamodb._put_item,
        "GetItem": dynamodb._get_item,
        "DeleteItem": dynamodb._delete_item,
        "UpdateItem": dynamodb._update_item,
        "Query": dynamodb._query,
        "Scan": dynamodb._scan,
        "BatchWriteItem": dynamodb._batch_write_item,
        "BatchGetItem": dynamodb._batch_get_item,
        "TransactWriteItems": dynamodb._transact_write_items,
        "TransactGetItems": dynamodb._transact_get_items,
    }


def decoded(value: Any) -> Any:
    """Return an answer with bytes as bytes, as botocore's parser has them.

    All else is on the wire what it is.
    """
    if isinstance(value, dict):
        if value.keys() == {"B"} and isinstance(value["B"], str):
            return {"B": base64.b64decode(value["B"])}
        return {name: decoded(member) for name, member in value.items()}
    if isinstance(value, list):
        return [decoded(member) for member in value]
    return value
