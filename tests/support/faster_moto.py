"""moto, faster and safe for threads.

What it does with every request again, or far too often, is done once or less often; nothing that it
answers is another. Its conditional writes are as atomic as DynamoDB's.
"""

import copy
import threading
from collections.abc import Callable
from functools import cache, lru_cache, wraps
from typing import Any

import botocore.session
from botocore import awsrequest
from botocore.client import BaseClient
from botocore.loaders import JSONFileLoader
from botocore.model import Shape
from moto import backend_index
from moto.core import responses
from moto.core.base_backend import BaseBackend
from moto.core.serialize import JSONSerializer
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table
from moto.dynamodb.responses import DynamoHandler
from moto.kms import models as keys

_WITH_ITEMS = (
    *("get_item", "put_item", "update_item", "delete_item", "query"),
    *("batch_get_item", "batch_write_item", "transact_write_items"),
)
# Of 180 services, those that anything here asks; each URL is looked for in the list of all.
_SERVICES = frozenset(
    [
        "awslambda",
        "cloudformation",
        "dynamodb",
        "dynamodbstreams",
        "iam",
        "kms",
        "logs",
        "s3",
        "sagemaker",
        "sagemakerruntime",
        "sns",
        "sqs",
        "stepfunctions",
        "sts",
    ]
)
_STORED_AS_SENT = frozenset(["S", "N", "BOOL", "NULL", "SS", "NS"])

_urls = BaseBackend.urls.fget
_load_file = JSONFileLoader.load_file
_resolve_endpoint = BaseClient._resolve_endpoint_ruleset
_cast_any = DynamoType.cast_value
_serialize_structure = JSONSerializer._serialize_type_structure


def install() -> None:
    """Change moto and botocore in this process."""
    # Each test has AWS clients of its own; what describes the services is read once for all.
    JSONFileLoader.load_file = lambda _, file_path: _loaded(file_path)
    botocore.session.create_loader = cache(botocore.session.create_loader)
    BaseClient._resolve_endpoint_ruleset = _resolved_once
    # A request's address is put together of the same parts nearly always.
    awsrequest._urljoin = lru_cache(10_000)(awsrequest._urljoin)
    # An RSA key for every key, HMAC keys too, takes longer than all else that a test needs of AWS.
    keys.generate_private_key = cache(keys.generate_private_key)
    backend_index.backend_url_patterns = [
        (service, pattern)
        for service, pattern in backend_index.backend_url_patterns
        if service in _SERVICES
    ]
    # They are those of its class, and put together for each request.
    BaseBackend.urls = property(lambda backend: _urls_of(type(backend)))
    # The methods of a service's class, asked for with each request.
    responses.camelcase_to_underscores = cache(responses.camelcase_to_underscores)
    responses.method_names_from_class = cache(responses.method_names_from_class)
    JSONSerializer._serialize_type_structure = _serialized
    Table.__deepcopy__ = _table_copied
    Table.all_items = _all_items
    DynamoType.cast_value = property(_cast)
    lock = threading.RLock()
    for name in _WITH_ITEMS:
        setattr(DynamoHandler, name, _one_at_a_time(getattr(DynamoHandler, name), lock))


def _one_at_a_time(
    answer: Callable[[DynamoHandler], object], lock: threading.RLock
) -> Callable[[DynamoHandler], object]:
    """Lock a whole request: the answer is read from an item that the next write may change."""

    @wraps(answer)
    def locked(self: DynamoHandler) -> object:
        with lock:
            return answer(self)

    return locked


@cache
def _urls_of(backend: type[BaseBackend]) -> Any:
    return _urls(backend("us-east-1", "123456789012"))


@cache
def _loaded(path: str) -> Any:
    return _load_file(JSONFileLoader(), path)


def _resolved_once(
    self: Any, model: Any, params: Any, context: Any, *more: Any, **named: Any
) -> Any:
    """Resolve where tables are once a client: it takes longer than to answer from them."""
    if model.service_model.service_name != "dynamodb":
        return _resolve_endpoint(self, model, params, context, *more, **named)
    known = vars(self).get("_endpoint_of_tables")
    if known is None:
        known = _resolve_endpoint(self, model, params, context, *more, **named)
        if "authSchemes" in known[2]:
            return known
        self._endpoint_of_tables = known
    url, headers, properties = known
    return url, dict(headers), dict(properties)


def _serialized(self: Any, serialized: Any, value: Any, shape: Shape, key: str) -> None:
    """Answer what is stored as it is sent; look for ten types only in bytes and what nests."""
    if shape.name == "AttributeValue" and value.keys() <= _STORED_AS_SENT:
        self._default_serialize(serialized, value, shape, key)
    else:
        _serialize_structure(self, serialized, value, shape, key)


def _table_copied(self: Any, memo: dict[int, Any]) -> Any:
    """Copy a table, as each transaction does to go back, but not what its stream ever told."""
    if self.stream_shard is not None:
        memo.update((id(record), record) for record in self.stream_shard.items)
    made = type(self).__new__(type(self))
    memo[id(self)] = made
    vars(made).update(copy.deepcopy(vars(self), memo))
    return made


def _all_items(self: Any) -> list[Item]:
    """Sort items by what their keys hold, and not by comparing each pair of them as attributes."""
    items = [item for partition in self.items.values() for item in _items_in(partition)]
    return sorted(items, key=lambda item: [key.cast_value for key in _keys(item)])


def _items_in(partition: Any) -> list[Item]:
    return [partition] if isinstance(partition, Item) else list(partition.values())


def _keys(item: Item) -> list[DynamoType]:
    return [item.hash_key] if item.range_key is None else [item.hash_key, item.range_key]


def _cast(self: Any) -> Any:
    """Return text, which nearly all is, before six other types are thought of."""
    return self.value if self.type == "S" else _cast_any.fget(self)
