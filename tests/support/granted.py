"""What functions ask of AWS in component tests, compared with what their roles may do.

End-to-end tests run under MiniStack's own evaluator. Rare branches run in component tests, where
moto permits everything: here each call of DynamoDB, S3 and Step Functions that a function makes is
looked up in ``tests/infra/permissions.py``, which the templates are held to.

IAM looks at all partition keys that a batch has of a table at once. One statement has to cover all
of them (``ForAllValues``): two that cover a part each are a denial. Items of transactions are
governed by the permissions of the underlying operations, each by itself, as on the local stack:
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
"""

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase, translate
from functools import cache, lru_cache
from typing import Any, NamedTuple
from weakref import WeakSet

_BUCKETS = {"content": "Content", "exports": "Exports", "audit": "AuditArchive"}
_BUCKETS["ledger"] = "LedgerTexts"
_BUCKETS["apprentice"] = "ApprenticeFiles"
_MACHINES = {
    "score_completions": "ScoreCompletions",
    "export_scores": "ExportScores",
    "submit_llm_batch": "SubmitLlmBatch",
    "import_llm_requests": "ImportLlmRequests",
    "work_deck_run": "WorkDeckRun",
}
_TRANSACTED = {
    "ConditionCheck": "ConditionCheckItem",
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
}


class Asked(NamedTuple):
    """One thing that a function asked to do; ``keys`` are partition keys of items, each once."""

    function: str
    action: str
    resource: str
    keys: tuple[str, ...] = ()

    @property
    def is_granted(self) -> bool:
        """Whether its role may: one of its statements, each of which has one pattern of keys."""
        return any(
            match is None or (self.keys and all(map(match, self.keys)))
            for match in _keys_granted(self.function, self.action, self.resource)
        )


class _Running:
    """Which functions run now; what is asked while several do belongs to none for certain.

    A function asks on the thread of its handler, and on those that it begins, whose pools outlast
    the call. What a test does on threads of its own meanwhile, and on pools of its own, is its own.
    """

    def __init__(self) -> None:
        self._functions: list[tuple[int, str]] = []
        self._lock = threading.Lock()
        self._begun: WeakSet[threading.Thread] = WeakSet()
        self.denied: set[Asked] = set()

    def is_own(self, thread: threading.Thread) -> bool:
        """Return whether a thread is one of a function: that of its handler, or begun by such."""
        with self._lock:
            return thread in self._begun or any(
                thread.ident == ident for ident, _ in self._functions
            )

    def begin(self, thread: threading.Thread) -> None:
        """Note a thread that is about to begin, by who begins it."""
        if self.is_own(threading.current_thread()):
            with self._lock:
                self._begun.add(thread)

    @contextmanager
    def function(self, name: str) -> Iterator[None]:
        running = (threading.get_ident(), name)
        with self._lock:
            self._functions.append(running)
        try:
            yield
        finally:
            with self._lock:
                self._functions.remove(running)

    def note(self, params: Mapping[str, Any], model: Any, **_: Any) -> None:
        """Look up a call that is about to be made."""
        with self._lock:
            names = {name for _, name in self._functions}
        if len(names) != 1 or not self.is_own(threading.current_thread()):
            return
        (function,) = names
        for action, resource, keys in _asked(model.service_model.service_name, model.name, params):
            asked = Asked(function, action, resource, keys)
            if not asked.is_granted:
                self.denied.add(asked)


RUNNING = _Running()
_start = threading.Thread.start


def _begin(thread: threading.Thread) -> None:
    RUNNING.begin(thread)
    _start(thread)


threading.Thread.start = _begin  # type: ignore[method-assign, assignment]


def denied_since_last() -> list[Asked]:
    """Return what was asked without a permission since this was asked before."""
    found = sorted(RUNNING.denied)
    RUNNING.denied.clear()
    return found


def as_function(module: str, handle: Callable[..., Any]) -> Callable[..., Any]:
    """Return a handler that is known by its function's name while it runs."""
    name = _names().get(module)
    if name is None:
        return handle

    def handled(event: Any, context: Any) -> Any:
        with RUNNING.function(name):
            return handle(event, context)

    return handled


@cache
def _names() -> dict[str, str]:
    from tests.infra.test_service_stack import FUNCTIONS, WITH_OIDC

    return {module: name for name, (module, _) in (FUNCTIONS | WITH_OIDC).items()}


@cache
def _grants() -> Mapping[str, set[tuple[str, str, str]]]:
    from tests.infra.permissions import EXPECTED, WITH_OIDC

    return EXPECTED | WITH_OIDC


@lru_cache(10_000)
def _keys_granted(
    function: str, action: str, resource: str
) -> list[Callable[[str], object] | None]:
    """Return what knows the keys at which a function may do something; None is for all keys."""
    patterns = {
        keys
        for of_action, of_resource, keys in _grants()[function]
        if of_action == action and fnmatchcase(resource, of_resource)
    }
    return [re.compile(translate(one)).match if one else None for one in patterns]


_Asked = tuple[str, str, tuple[str, ...]]


def _asked(service: str, operation: str, params: Mapping[str, Any]) -> Iterator[_Asked]:
    match service:
        case "dynamodb":
            yield from _of_tables(operation, params)
        case "s3":
            yield from _of_buckets(operation, params)
        case "stepfunctions" if operation == "StartExecution":
            machine = params["stateMachineArn"].rpartition(":")[2]
            if machine in _MACHINES:
                yield "states:StartExecution", _MACHINES[machine], ()


def _of_tables(operation: str, params: Mapping[str, Any]) -> Iterator[_Asked]:
    if operation == "TransactWriteItems":
        for one in params["TransactItems"]:
            ((verb, write),) = one.items()
            key = (write.get("Key") or write["Item"])["pk"]["S"]
            yield f"dynamodb:{_TRANSACTED[verb]}", _table(write), (key,)
    elif operation in ("BatchGetItem", "BatchWriteItem"):
        for name, wanted in params["RequestItems"].items():
            keys = wanted["Keys"] if operation == "BatchGetItem" else map(_written, wanted)
            found = {key["pk"]["S"] for key in keys}
            yield f"dynamodb:{operation}", name.capitalize(), tuple(sorted(found))
    elif "TableName" in params:
        index = f"/index/{params['IndexName']}" if "IndexName" in params else ""
        action = f"dynamodb:{operation}"
        yield action, _table(params) + index, _leading_keys(operation, params)


def _table(params: Mapping[str, Any]) -> str:
    name: str = params["TableName"]
    return name.capitalize()


def _written(request: Mapping[str, Any]) -> Any:
    ((_, write),) = request.items()
    return write.get("Key") or write["Item"]


def _leading_keys(operation: str, params: Mapping[str, Any]) -> tuple[str, ...]:
    if operation == "Scan":
        return ()
    if operation == "Query":
        values = params["ExpressionAttributeValues"]
        found = values.get(":partition") or values.get(":pk")
        return (found["S"],) if found else ()
    key: str = (params.get("Key") or params["Item"])["pk"]["S"]
    return (key,)


_BASE_ACTIONS = {
    "DeleteObjects": "DeleteObject",
    "HeadObject": "GetObject",
    "CopyObject": "PutObject",
    # The parts of an object, and putting them together, are a put: only giving up is its own.
    "CreateMultipartUpload": "PutObject",
    "UploadPart": "PutObject",
    "CompleteMultipartUpload": "PutObject",
}


def _of_buckets(operation: str, params: Mapping[str, Any]) -> Iterator[_Asked]:
    bucket = params["Bucket"]
    if operation == "ListObjectsV2":
        yield "s3:ListBucket", _BUCKETS[bucket], ()
        return
    if operation == "CopyObject":
        source = params["CopySource"]
        # botocore has made it an address by then.
        of, key = source.split("/", 1) if isinstance(source, str) else source.values()
        yield "s3:GetObject", f"{_BUCKETS[of]}/{key}", ()
    action = _BASE_ACTIONS.get(operation, operation)
    many = params.get("Delete", {}).get("Objects") or [params]
    for one in many:
        yield f"s3:{action}", f"{_BUCKETS[bucket]}/{one['Key']}", ()
