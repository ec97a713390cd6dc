"""DynamoDB and Step Functions of one process, in it: MiniStack's tables without a server between.

moto takes several times as long, because it copies tables and scans them for each query of an
index. Botocore is stopped just
before it would send: what is asked and answered are the bytes that a server would see and send.
"""

import base64
import json
import marshal
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

from botocore.session import Session
from ministack.services import dynamodb

Around = Callable[[str, dict[str, Any], Callable[[], Any]], Any]
"""Is given a call's name, what it asks, and what does it; returns the answer, or raises."""


_TOKENS_OF = dynamodb._tokenize


class RefusalError(Exception):
    """An answer that is an error of DynamoDB's."""

    def __init__(self, code: str, message: str, **more: Any) -> None:
        super().__init__(f"{code}: {message}")
        self.document = {"Error": {"Code": code, "Message": message}, **more}


class Store:
    """What the process's AWS clients reach for tables and executions.

    Attributes:
        around: what each call goes through, to be killed or refused.
        started: the inputs of executions that were started and not taken from here.
    """

    def __init__(self) -> None:
        self.around: Around = lambda _name, _asked, do: do()
        self.started: list[dict[str, Any]] = []
        self._names: dict[str, str] = {}

    def install(self, session: Session) -> None:
        """Answer what clients of a session ask from now on."""
        _hasten()
        events = session.get_component("event_emitter")
        events.register("before-call.dynamodb", self._tables)
        events.register("before-call.stepfunctions.StartExecution", self._start)

    def items(self, table: str) -> list[dict[str, Any]]:
        """Return every item of a table, as it is stored."""
        found = dynamodb._tables.get(table)
        return [item for some in found["items"].values() for item in some.values()]

    def item(self, table: str, key: dict[str, Any]) -> dict[str, Any]:
        """Return an item as it is stored, empty where there is none."""
        some = dynamodb._tables.get(table)["items"].get(key["pk"]["S"], {})
        return dict(some.get(key["sk"]["S"], {}))

    def _tables(self, model: Any, params: dict[str, Any], **_: Any) -> Any:
        asked = json.loads(params["body"])
        if model.name == "CreateTable":
            asked.pop("StreamSpecification", None)  # nobody reads streams here
        return self._answer(model.name, asked, lambda: _done(model.name, asked))

    def _start(self, model: Any, params: dict[str, Any], **_: Any) -> Any:
        asked = json.loads(params["body"])

        def start() -> dict[str, Any]:
            if (before := self._names.get(asked["name"])) is not None:
                if before == asked["input"]:
                    return {"executionArn": asked["name"], "startDate": 0}
                raise RefusalError("ExecutionAlreadyExists", asked["name"])
            self._names[asked["name"]] = asked["input"]
            if "submit_llm_batch" in asked["stateMachineArn"]:
                self.started.append(json.loads(asked["input"]))
            return {"executionArn": asked["name"], "startDate": 0}

        return self._answer(model.name, asked, start)

    def _answer(self, name: str, asked: dict[str, Any], do: Callable[[], Any]) -> Any:
        try:
            answer = self.around(name, asked, do)
        except RefusalError as error:
            return SimpleNamespace(status_code=400), {"ResponseMetadata": {}, **error.document}
        return SimpleNamespace(status_code=200), {"ResponseMetadata": {}, **answer}


def _hasten() -> None:
    """Have MiniStack copy items and read expressions in a fraction of the time."""
    # What it copies is JSON.
    dynamodb.copy = SimpleNamespace(deepcopy=lambda value: marshal.loads(marshal.dumps(value)))
    tokens = cache(_TOKENS_OF)
    dynamodb._tokenize = lambda expression: list(tokens(expression))


def _done(name: str, asked: dict[str, Any]) -> dict[str, Any]:
    handle = _handlers()[name]
    status, _, body = handle(asked)
    document: dict[str, Any] = json.loads(body)
    if status >= 300:
        code = str(document.pop("__type", "")).rpartition("#")[2]
        message = document.pop("message", document.pop("Message", ""))
        raise RefusalError(code, message, **_decoded(document))
    return _decoded(document) if b'"B"' in body else document


def _handlers() -> dict[str, Callable[[Any], Any]]:
    return {
        "CreateTable": dynamodb._create_table,
        "DescribeTable": dynamodb._describe_table,
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


def _decoded(value: Any) -> Any:
    """Have bytes as bytes, as botocore's parser has them; all else is on the wire what it is."""
    if isinstance(value, dict):
        if value.keys() == {"B"} and isinstance(value["B"], str):
            return {"B": base64.b64decode(value["B"])}
        return {name: _decoded(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_decoded(member) for member in value]
    return value
