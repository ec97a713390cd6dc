"""What functions ask of AWS is looked up in their grants, in every component test."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3
import pytest

from autotune_platform.runtime.threads import in_parallel
from tests.support.granted import Asked, as_function, denied_since_last
from tests.support.platform import Platform

KEY = {"pk": {"S": "grd_1"}, "sk": {"S": "record"}}


def put(table: str) -> Callable[[Any, Any], Any]:
    return lambda *_: boto3.client("dynamodb").put_item(TableName=table, Item=KEY)


def put_together(*_: Any) -> None:
    writes: list[Any] = [{"Put": {"TableName": "registry", "Item": KEY}}]
    boto3.client("dynamodb").transact_write_items(TransactItems=writes)


def read_at_once(*keys: str) -> Callable[[Any, Any], Any]:
    """Return a batch of items of the registry."""
    wanted: Any = {"Keys": [{"pk": {"S": pk}, "sk": {"S": "record"}} for pk in keys]}
    return lambda *_: boto3.client("dynamodb").batch_get_item(RequestItems={"registry": wanted})


def write_both(*_: Any) -> None:
    """Put in one transaction what two statements allow, one each."""
    keys = ({"pk": {"S": pk}, "sk": {"S": "record"}} for pk in ("key_1", "ses_1"))
    writes: list[Any] = [{"Put": {"TableName": "registry", "Item": key}} for key in keys]
    boto3.client("dynamodb").transact_write_items(TransactItems=writes)


def read_text(*_: Any) -> None:
    boto3.client("s3").list_objects_v2(Bucket="content")


@pytest.mark.parametrize(
    ("module", "asks", "denied"),
    [
        ("functions.graders.api", put("registry"), []),
        ("functions.tasks.api", put("registry"), [("dynamodb:PutItem", "Registry", ("grd_1",))]),
        ("functions.tasks.api", put_together, [("dynamodb:PutItem", "Registry", ("grd_1",))]),
        ("functions.tasks.api", read_text, [("s3:ListBucket", "Content", ())]),
        ("functions.completions.api", read_text, []),
        ("functions.access.api", read_at_once("key_1", "key_2"), []),
        ("functions.access.api", read_at_once("use#key_1"), []),
        (
            "functions.access.api",
            read_at_once("key_1", "use#key_1"),
            [("dynamodb:BatchGetItem", "Registry", ("key_1", "use#key_1"))],
        ),
        ("functions.access.api", write_both, []),
    ],
)
def test_what_a_role_may_not_do_is_found(
    platform: Platform, module: str, asks: Callable[[Any, Any], Any], denied: list[Any]
) -> None:
    as_function(module, asks)({}, None)
    found = denied_since_last()
    assert [tuple(one[1:]) for one in found] == denied
    assert all(isinstance(one, Asked) for one in found)
    for pk in ("grd_1", "key_1", "ses_1"):
        key = {"pk": {"S": pk}, "sk": {"S": "record"}}
        boto3.client("dynamodb").delete_item(TableName="registry", Key=key)


def test_what_a_function_does_on_threads_that_it_begins_is_its_own(platform: Platform) -> None:
    def asks(*_: Any) -> None:
        in_parallel(lambda table: put(table)({}, None), ["registry", "registry"], at_most=2)

    as_function("functions.tasks.api", asks)({}, None)
    assert [one.action for one in denied_since_last()] == ["dynamodb:PutItem"]
    boto3.client("dynamodb").delete_item(TableName="registry", Key=KEY)


def test_what_a_test_does_meanwhile_on_a_pool_of_its_own_is_no_functions(
    platform: Platform,
) -> None:
    with ThreadPoolExecutor(1) as own:
        own.submit(int).result()
        meanwhile = put("registry")
        as_function("functions.tasks.api", lambda *_: own.submit(meanwhile, {}, None).result())(
            {}, None
        )
    assert denied_since_last() == []
    boto3.client("dynamodb").delete_item(TableName="registry", Key=KEY)
