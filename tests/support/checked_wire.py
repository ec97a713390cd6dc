"""What the platform asks of DynamoDB, and hears from it, is what botocore makes of it.

To compare takes as long as what is spared, so one request and one answer of each kind are compared
in each process: those with the same members in the same order.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from botocore.parsers import JSONParser
from botocore.serialize import JSONSerializer
from botocore.validate import ParamValidator

from autotune_platform.runtime.dynamodb_wire import OPERATIONS, WireSerializer
from autotune_platform.runtime.lean_calls import LeanCalls


@contextmanager
def checked_wire(seen: set[tuple[str, ...]]) -> Iterator[None]:
    """Compare what is of no kind that was seen, and note its kind."""
    write, call = WireSerializer.serialize_to_request, LeanCalls.call

    def is_new(*kind: str) -> bool:
        before = len(seen)
        seen.add(kind)
        return len(seen) > before

    def written(self: WireSerializer, parameters: Any, operation_model: Any) -> Any:
        made = write(self, parameters, operation_model)
        if operation_model.name in OPERATIONS and is_new(operation_model.name, *_kind(parameters)):
            report = ParamValidator().validate(parameters, operation_model.input_shape)
            assert not report.has_errors(), report.generate_report()
            usual = JSONSerializer().serialize_to_request(parameters, operation_model)
            assert json.loads(made["body"]) == json.loads(usual["body"])
        return made

    def called(self: LeanCalls, model: Any, **given: Any) -> Any:
        answered = call(self, model=model, **given)
        if answered is not None and is_new("answer", model.name, *_kind(answered[1])):
            answer, parsed = answered
            usual = JSONParser().parse(
                {"body": answer.content, "headers": answer.headers, "status_code": 200},
                model.output_shape,
            )
            usual["ResponseMetadata"]["RetryAttempts"] = 0
            assert parsed == usual
        return answered

    with (
        patch.object(WireSerializer, "serialize_to_request", written),
        patch.object(LeanCalls, "call", called),
    ):
        yield


def _kind(members: dict[str, Any]) -> Iterator[str]:
    yield from members
    for action in members.get("TransactItems", ()):
        for what, asked in action.items():
            yield f"{what} {sorted(asked)}"
