"""A request that DynamoDB knows not fails the test that makes it."""

from typing import Any

import pytest
from botocore.serialize import JSONSerializer
from botocore.session import Session

from autotune_platform.runtime.dynamodb_wire import WireSerializer
from tests.support.checked_wire import checked_wire

KEY = {"pk": {"S": "p"}}


def write(**parameters: Any) -> None:
    model = Session().get_service_model("dynamodb").operation_model("GetItem")
    WireSerializer(JSONSerializer()).serialize_to_request(parameters, model)


@pytest.mark.parametrize(
    "parameters", [{"TableName": "t"}, {"Table": "t", "Key": KEY}, {"TableName": "t", "Key": "p"}]
)
def test_a_request_that_dynamodb_knows_not_is_found(parameters: dict[str, Any]) -> None:
    write(**parameters)
    with checked_wire(set()), pytest.raises(AssertionError):
        write(**parameters)


def test_one_of_a_kind_is_compared() -> None:
    seen: set[tuple[str, ...]] = set()
    with checked_wire(seen):
        for _ in range(2):
            write(TableName="t", Key=KEY)
    assert seen == {("GetItem", "TableName", "Key")}
