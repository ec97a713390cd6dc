"""Has MiniStack decide on each request of a function as AWS does, and records what it decided.

MiniStack evaluates the policies of a function's role where its variable ``AUTH`` is ``true``, as
:class:`local.stack.LocalStack` has it. What it lacks is added here. Each addition has a test in
``tests/infra/test_local_permissions.py`` that fails once MiniStack has it: then it can go.
"""

import json
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any

from ministack import app
from ministack.core import iam_actions, iam_evaluator
from ministack.services import cloudformation, lambda_svc, stepfunctions

from local.decisions import Decision, DecisionRecord, pattern, patterns

LEADING_KEYS = "dynamodb:LeadingKeys"
KMS_ALGORITHMS = ("MacAlgorithm", "SigningAlgorithm")
"""Fields of requests to KMS that conditions name, as ``kms:MacAlgorithm``."""
_PARTITION_KEY = "pk"
_PARTITION_CONDITION = re.compile(r"=\s*(:\w+)")
_SQS_BATCHES = {
    f"sqs:{action}Batch": f"sqs:{action}"
    for action in ("SendMessage", "DeleteMessage", "ChangeMessageVisibility")
}
_LOGICAL_ID_SUFFIX = re.compile(r"[0-9A-F]{8}$")
_NAME_PARTS = re.compile(r"[:/]")


def install(decisions: Path) -> None:
    """Change the MiniStack of this process.

    Args:
        decisions: File that decisions are recorded in.
    """
    app.pin_request_origin = as_over_tls(app.pin_request_origin)
    iam_actions.extract_iam_action = without_batches_of_sqs(iam_actions.extract_iam_action)
    iam_actions.dynamodb_service_context = with_leading_keys(iam_actions.dynamodb_service_context)
    iam_actions.dynamodb_transaction_checks = with_key_of_each_item(
        iam_actions.dynamodb_transaction_checks
    )
    iam_actions.request_tag_context = with_kms_algorithm(iam_actions.request_tag_context)
    waits = Waits()
    stepfunctions._execute_task = waits.following(stepfunctions._execute_task)  # noqa: SLF001
    stepfunctions._invoke_with_callback = waits.noting(  # noqa: SLF001 - it has no setting
        stepfunctions._invoke_with_callback  # noqa: SLF001
    )
    iam_actions.extract_resource_arn = waits.naming_machine(iam_actions.extract_resource_arn)
    iam_evaluator.enforce = without_ended_tasks(
        recording(enforcing_each_item(iam_evaluator.enforce), DecisionRecord(decisions))
    )


def as_over_tls(pin_origin: Callable[..., None]) -> Callable[..., None]:
    """Have each request count as sent over TLS, as all are on AWS: here they never leave it."""

    @wraps(pin_origin)
    def pin_secure_origin(source_ip: str, secure_transport: bool) -> None:  # noqa: ARG001
        pin_origin(source_ip, secure_transport=True)

    return pin_secure_origin


def without_batches_of_sqs(action_of: Callable[..., str | None]) -> Callable[..., str | None]:
    """Have SQS ask for the permission of one message, also for a batch: IAM knows no other."""

    @wraps(action_of)
    def base_action(*request: Any) -> str | None:
        action = action_of(*request)
        return _SQS_BATCHES.get(action or "", action)

    return base_action


def with_kms_algorithm(context_of: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Add the algorithm of a request to KMS."""

    @wraps(context_of)
    def context(service: str, action: str, body: bytes, parameters: Any) -> dict[str, Any]:
        found = context_of(service, action, body, parameters)
        asked = _json_of(body) if service == "kms" else {}
        named = {f"kms:{name}": asked[name] for name in KMS_ALGORITHMS if name in asked}
        return {**found, **named}

    return context


def with_leading_keys(
    context_of: Callable[[bytes], dict[str, Any]],
) -> Callable[[bytes], dict[str, Any]]:
    """Add the partition keys that a request to DynamoDB names, unless it is a transaction."""

    @wraps(context_of)
    def context(body: bytes) -> dict[str, Any]:
        keys = leading_keys(_json_of(body))
        return {**context_of(body), **({LEADING_KEYS: keys} if keys else {})}

    return context


def leading_keys(request: Mapping[str, Any]) -> list[str]:
    """Return the partition keys of a request for one item, for several, or for a query."""
    if "RequestItems" in request:
        asked: list[Any] = list(request["RequestItems"].values())
        each = [one for of_table in asked for one in _items_of_batch(of_table)]
    else:
        each = [request[name] for name in ("Key", "Item") if name in request]
    if each or "KeyConditionExpression" not in request:
        return [_partition_key(item) for item in each]
    # Expressions of ours name the partition first.
    found = _PARTITION_CONDITION.search(request["KeyConditionExpression"])
    return [request["ExpressionAttributeValues"][found[1]]["S"]] if found else []


class ItemOfTable(str):
    """A table's ARN in a check of one item of a transaction, with the item's partition key."""

    __slots__ = ("partition_key",)
    partition_key: str


def with_key_of_each_item(
    checks_of: Callable[..., list[tuple[str, str]]],
) -> Callable[..., list[tuple[str, str]]]:
    """Add to each check of a transaction the partition key of its item."""

    @wraps(checks_of)
    def checks(action: str, body: bytes, *scope: str) -> list[tuple[str, str]]:
        found = checks_of(action, body, *scope)
        items = _json_of(body).get("TransactItems", []) if found else []
        keyed: list[tuple[str, str]] = []
        for (item_action, arn), item in zip(found, items, strict=True):
            (asked,) = item.values()
            of_item = ItemOfTable(arn)
            of_item.partition_key = _partition_key(asked.get("Item") or asked["Key"])
            keyed.append((item_action, of_item))
        return keyed

    return checks


def enforcing_each_item(enforce: Callable[..., Any]) -> Callable[..., Any]:
    """Have a check of one item of a transaction know that item's key alone."""

    @wraps(enforce)
    def enforce_item(
        *request: Any,
        resource_arn: str = "*",
        service_context: Mapping[str, Any] | None = None,
    ) -> Any:
        context = dict(service_context or {})
        if isinstance(resource_arn, ItemOfTable):
            context[LEADING_KEYS] = [resource_arn.partition_key]
        return enforce(*request, resource_arn=str(resource_arn), service_context=context)

    return enforce_item


class Waits:
    """Which state machine each token of a waiting task belongs to."""

    def __init__(self) -> None:
        self._machine: ContextVar[str] = ContextVar("machine")
        self._machines: dict[str, str] = {}

    def following(self, execute: Callable[..., Any]) -> Callable[..., Any]:
        """Note the machine of the task that is executed."""

        @wraps(execute)
        def execute_task(state: Any, given: Any, execution: Any, context: Any) -> Any:
            if execution:  # a state that is tried by itself is part of none
                self._machine.set(execution["stateMachineArn"])
            return execute(state, given, execution, context)

        return execute_task

    def noting(self, invoke: Callable[..., Any]) -> Callable[..., Any]:
        """Note the machine of a token that is given out."""

        @wraps(invoke)
        def invoke_with_token(resource: str, given: Any, token: str, state: Any) -> Any:
            self._machines[token] = self._machine.get()
            return invoke(resource, given, token, state)

        return invoke_with_token

    def naming_machine(self, arn_of: Callable[..., str]) -> Callable[..., str]:
        """Have an answer to a task be about the task's machine.

        A token of before a restart belongs to none, so that its resource stays ``*``.
        """

        @wraps(arn_of)
        def arn(service: str, *request: Any) -> str:
            found = arn_of(service, *request)
            token = _json_of(request[3]).get("taskToken") if service == "states" else None
            return self._machines.get(token, found) if isinstance(token, str) else found

        return arn


def without_ended_tasks(enforce: Callable[..., Any]) -> Callable[..., Any]:
    """Have answers to a task of no known machine pass: MiniStack answers that none waits for it."""

    @wraps(enforce)
    def enforce_known(
        access_key: str, action: str, *request: Any, resource_arn: str = "*", **context: Any
    ) -> Any:
        if action.startswith("states:SendTask") and resource_arn == "*":
            return None
        return enforce(access_key, action, *request, resource_arn=resource_arn, **context)

    return enforce_known


def recording(enforce: Callable[..., Any], record: DecisionRecord) -> Callable[..., Any]:
    """Record each decision on a request that a function's role signed."""
    names = LogicalNames()

    @wraps(enforce)
    def enforce_recorded(
        access_key: str,
        action: str,
        *request: Any,
        resource_arn: str = "*",
        service_context: Mapping[str, Any] | None = None,
    ) -> Any:
        denied = enforce(
            access_key, action, *request, resource_arn=resource_arn, service_context=service_context
        )
        # Whoever is not known, or too late, was not asked for permissions.
        if isinstance(denied, iam_evaluator.AuthError):
            return denied
        function = _function_of(access_key)
        if function is not None:
            keys = (
                [resource_arn.partition_key]
                if isinstance(resource_arn, ItemOfTable)
                else (service_context or {}).get(LEADING_KEYS, ())
            )
            record.add(
                Decision(
                    function=function,
                    action=action,
                    resource=pattern(names.of(resource_arn)),
                    keys=patterns(keys),
                    is_allowed=denied is None,
                )
            )
        return denied

    return enforce_recorded


def _function_of(access_key: str) -> str | None:
    """Return the construct of the function whose role signed; None for everybody else."""
    caller = iam_evaluator.resolve_caller_identity(access_key) or {}
    _, assumed, session = str(caller.get("userArn", "")).partition(":assumed-role/")
    function = lambda_svc._functions.get(session.rpartition("/")[2])  # noqa: SLF001
    if not assumed or function is None:
        return None
    name = function["config"]["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"]
    return str(name)


class LogicalNames:
    """Names resources by their logical ids, as the stacks that are deployed have them."""

    def __init__(self) -> None:
        self._logical_ids: dict[str, str] = {}

    def of(self, arn: str) -> str:
        """Return an ARN's resource by its logical id, with what follows it, such as an index."""
        parts = _NAME_PARTS.split(arn)
        if not self._logical_ids.keys() & set(parts):
            self._logical_ids = _logical_ids()
        for at, part in enumerate(parts):
            if part in self._logical_ids:
                return "/".join([self._logical_ids[part], *parts[at + 1 :]])
        return arn


def _logical_ids() -> dict[str, str]:
    """Return the logical id of each resource, without its digest, by the resource's name."""
    return {
        _NAME_PARTS.split(resource["PhysicalResourceId"])[-1]: _LOGICAL_ID_SUFFIX.sub("", id_)
        for stack in cloudformation._stacks.values()  # noqa: SLF001 - nothing else tells
        for id_, resource in stack["_resources"].items()
        if resource["PhysicalResourceId"]
    }


def _items_of_batch(of_table: Any) -> list[Any]:
    """Return the items, or their keys, that a batch reads from or writes to a table."""
    if isinstance(of_table, dict):
        return list(of_table["Keys"])
    requests = [request for write in of_table for request in write.values()]
    return [request.get("Item") or request["Key"] for request in requests]


def _partition_key(item: Mapping[str, Any]) -> str:
    return str(item[_PARTITION_KEY]["S"])


def _json_of(body: bytes) -> dict[str, Any]:
    if body[:1] != b"{":
        return {}
    found: dict[str, Any] = json.loads(body)
    return found
