"""What MiniStack lacks of IAM, and what is added to it on the local stack.

Each test of ``TestMiniStack`` fails once MiniStack has it: then the addition is to be deleted.
"""

import json
from typing import Any

import pytest
from ministack import app
from ministack.core import iam_actions, iam_evaluator
from ministack.core.iam_evaluator import EvalContext
from ministack.services import iam, lambda_svc, stepfunctions, sts

from local.decisions import Decision, DecisionRecord, patterns, read_decisions
from local.permissions import (
    LEADING_KEYS,
    ItemOfTable,
    LogicalNames,
    Waits,
    as_over_tls,
    enforcing_each_item,
    leading_keys,
    recording,
    with_key_of_each_item,
    with_kms_algorithm,
    with_leading_keys,
    without_batches_of_sqs,
    without_ended_tasks,
)

TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/registry"
MACHINE = "arn:aws:states:us-east-1:000000000000:stateMachine:score"
ITEM = {"pk": {"S": "grd_1"}, "sk": {"S": "record"}}
OTHER_ITEM = {"pk": {"S": "org_1#1"}, "sk": {"S": "x"}}
PUT = json.dumps({"TableName": "registry", "Item": ITEM}).encode()
TRANSACTION = json.dumps(
    {
        "TransactItems": [
            {"Put": {"TableName": "registry", "Item": ITEM}},
            {"Update": {"TableName": "audit", "Key": OTHER_ITEM}},
        ]
    }
).encode()
MAC_ALGORITHM = "kms:MacAlgorithm"
GENERATE_MAC = b'{"KeyId":"k","Message":"bQ==","MacAlgorithm":"HMAC_SHA_256"}'
SIGN = b'{"KeyId":"k","Message":"bQ==","SigningAlgorithm":"ECDSA_SHA_256"}'


def sqs_action(operation: str, action_of: Any = iam_actions.extract_iam_action) -> str:
    found: str = action_of("sqs", "POST", "/", {"x-amz-target": f"AmazonSQS.{operation}"}, b"", {})
    return found


def answered_arn(arn_of: Any, token: str) -> str:
    body = json.dumps({"taskToken": token, "output": "{}"}).encode()
    headers = {"x-amz-target": "AWSStepFunctions.SendTaskSuccess"}
    found: str = arn_of("states", "POST", "/", headers, body, {}, "us-east-1", "000000000000")
    return found


class TestMiniStack:
    def test_takes_loopback_for_insecure(self) -> None:
        app.pin_request_origin("127.0.0.1", secure_transport=False)
        context = EvalContext("arn", "AssumedRole", "0", "s3:GetObject", "*", "us-east-1")
        assert iam_evaluator._resolve_condition_key("aws:SecureTransport", context) == "false"

    @pytest.mark.parametrize("action", ["SendMessage", "DeleteMessage", "ChangeMessageVisibility"])
    def test_asks_sqs_for_permission_of_batches(self, action: str) -> None:
        assert sqs_action(f"{action}Batch") == f"sqs:{action}Batch"

    def test_does_not_know_the_machine_of_a_task(self) -> None:
        assert answered_arn(iam_actions.extract_resource_arn, "token") == "*"

    def test_does_not_know_leading_keys(self) -> None:
        assert LEADING_KEYS not in iam_actions.dynamodb_service_context(PUT)

    def test_does_not_know_the_leading_keys_of_a_transaction(self) -> None:
        checks = iam_actions.dynamodb_transaction_checks(
            "dynamodb:TransactWriteItems", TRANSACTION, "us-east-1", "000000000000"
        )
        assert [type(arn) for _, arn in checks] == [str, str]

    def test_does_not_know_the_algorithm_of_a_code(self) -> None:
        found = iam_actions.request_tag_context("kms", "kms:GenerateMac", GENERATE_MAC, {})
        assert MAC_ALGORITHM not in found

    def test_does_not_know_the_algorithm_of_a_signature(self) -> None:
        found = iam_actions.request_tag_context("kms", "kms:Sign", SIGN, {})
        assert "kms:SigningAlgorithm" not in found


def test_each_request_counts_as_sent_over_tls() -> None:
    as_over_tls(iam_evaluator.pin_request_origin)("127.0.0.1", secure_transport=False)
    try:
        context = EvalContext("arn", "AssumedRole", "0", "s3:GetObject", "*", "us-east-1")
        assert iam_evaluator._resolve_condition_key("aws:SecureTransport", context) == "true"
    finally:
        iam_evaluator.pin_request_origin("127.0.0.1", secure_transport=False)


@pytest.mark.parametrize(
    ("operation", "action"),
    [
        ("SendMessageBatch", "sqs:SendMessage"),
        ("DeleteMessageBatch", "sqs:DeleteMessage"),
        ("ChangeMessageVisibilityBatch", "sqs:ChangeMessageVisibility"),
        ("ReceiveMessage", "sqs:ReceiveMessage"),
    ],
)
def test_a_batch_of_messages_needs_the_permission_of_one(operation: str, action: str) -> None:
    assert sqs_action(operation, without_batches_of_sqs(iam_actions.extract_iam_action)) == action


def test_the_algorithm_of_a_code_and_of_a_signature_is_known() -> None:
    context = with_kms_algorithm(iam_actions.request_tag_context)
    assert context("kms", "kms:GenerateMac", GENERATE_MAC, {}) == {MAC_ALGORITHM: "HMAC_SHA_256"}
    assert context("kms", "kms:Sign", SIGN, {}) == {"kms:SigningAlgorithm": "ECDSA_SHA_256"}
    assert context("sqs", "sqs:SendMessage", GENERATE_MAC, {}) == {}


@pytest.mark.parametrize(
    ("request_", "keys"),
    [
        ({"TableName": "t", "Item": ITEM}, ["grd_1"]),
        ({"TableName": "t", "Key": ITEM, "UpdateExpression": "SET a = :a"}, ["grd_1"]),
        ({"RequestItems": {"t": {"Keys": [ITEM, OTHER_ITEM]}}}, ["grd_1", "org_1#1"]),
        (
            {"RequestItems": {"t": [{"PutRequest": {"Item": ITEM}}]}},
            ["grd_1"],
        ),
        (
            {"RequestItems": {"t": [{"DeleteRequest": {"Key": OTHER_ITEM}}]}},
            ["org_1#1"],
        ),
        (
            {
                "KeyConditionExpression": "#p = :partition AND begins_with(sk, :s)",
                "ExpressionAttributeValues": {":partition": {"S": "grd_1"}, ":s": {"S": "x"}},
            },
            ["grd_1"],
        ),
        ({"TableName": "t"}, []),
    ],
)
def test_partition_keys_are_those_that_a_request_names(
    request_: dict[str, Any], keys: list[str]
) -> None:
    assert leading_keys(request_) == keys
    context = with_leading_keys(iam_actions.dynamodb_service_context)
    found = context(json.dumps(request_).encode())
    assert found.get(LEADING_KEYS, []) == keys
    assert "dynamodb:Select" in found


def test_each_item_of_a_transaction_is_asked_for_with_its_own_key() -> None:
    asked = []

    def enforce(
        access_key: str, action: str, *, resource_arn: str, service_context: dict[str, Any]
    ) -> None:
        assert type(resource_arn) is str
        asked.append((action, resource_arn.rpartition("/")[2], service_context))

    checks = with_key_of_each_item(iam_actions.dynamodb_transaction_checks)(
        "dynamodb:TransactWriteItems", TRANSACTION, "us-east-1", "000000000000"
    )
    enclosing = {"dynamodb:EnclosingOperation": ["TransactWriteItems"]}
    for action, arn in checks:
        enforcing_each_item(enforce)("key", action, resource_arn=arn, service_context=enclosing)
    assert asked == [
        ("dynamodb:PutItem", "registry", {**enclosing, LEADING_KEYS: ["grd_1"]}),
        ("dynamodb:UpdateItem", "audit", {**enclosing, LEADING_KEYS: ["org_1#1"]}),
    ]


def test_an_answer_to_a_task_is_about_the_machine_of_its_token() -> None:
    waits = Waits()
    invoke = waits.noting(lambda resource, given, token, state: token)
    execute = waits.following(lambda state, given, execution, context: invoke("r", {}, "t1", {}))
    assert execute({}, {}, {"stateMachineArn": MACHINE}, {}) == "t1"
    arn_of = waits.naming_machine(iam_actions.extract_resource_arn)
    assert answered_arn(arn_of, "t1") == MACHINE
    assert answered_arn(arn_of, "of before a restart") == "*"


def test_ministack_has_what_is_followed_to_find_the_machine() -> None:
    assert stepfunctions._execute_task.__code__.co_varnames[:4] == (
        *("state_def", "raw_input", "execution", "ctx"),
    )
    assert stepfunctions._invoke_with_callback.__code__.co_varnames[:3] == (
        *("resource", "input_data", "token"),
    )


def test_an_answer_to_a_task_that_ended_is_left_to_step_functions() -> None:
    def refuse(*_: Any, **__: Any) -> str:
        return "denied"

    enforce = without_ended_tasks(refuse)
    assert enforce("key", "states:SendTaskSuccess", resource_arn="*") is None
    assert enforce("key", "states:SendTaskSuccess", resource_arn=MACHINE) == "denied"
    assert enforce("key", "states:StartExecution", resource_arn="*") == "denied"


@pytest.fixture
def access_key(monkeypatch: pytest.MonkeyPatch) -> str:
    """Of a session of a function's role, which may put graders into the registry."""
    config = {
        "FunctionName": "stack-GradersApi-1",
        "FunctionArn": "arn:aws:lambda:us-east-1:000000000000:function:stack-GradersApi-1",
        "Environment": {"Variables": {"POWERTOOLS_SERVICE_NAME": "GradersApi"}},
    }
    statement = {
        "Effect": "Allow",
        "Action": "dynamodb:PutItem",
        "Resource": TABLE,
        "Condition": {"ForAllValues:StringLike": {LEADING_KEYS: ["grd_*"]}},
    }
    policy = json.dumps({"Statement": [statement]})
    sessions: dict[str, Any] = {}
    monkeypatch.setattr(sts, "_sessions", sessions)
    monkeypatch.setattr(lambda_svc, "_functions", {"stack-GradersApi-1": {"config": config}})
    monkeypatch.setitem(iam._roles, "role-1", {"InlinePolicies": {"p": policy}})
    sessions["ASIA1"] = {
        "Arn": "arn:aws:sts::000000000000:assumed-role/role-1/stack-GradersApi-1",
        "SecretAccessKey": "s",
        "SessionToken": "t",
    }
    monkeypatch.setattr(iam_evaluator, "authenticate", lambda *_: None)
    return "ASIA1"


def test_a_role_is_kept_to_its_keys_and_each_decision_is_recorded_once(
    access_key: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LogicalNames, "of", lambda _, arn: "RegistryTable")
    file = tmp_path / "decisions.jsonl"
    enforce = recording(enforcing_each_item(iam_evaluator.enforce), DecisionRecord(file))

    def put(key: str, action: str = "dynamodb:PutItem") -> Any:
        arn = ItemOfTable(TABLE)
        arn.partition_key = key
        return enforce(access_key, action, "dynamodb", "us-east-1", resource_arn=arn)

    own = "grd_" + "0" * 26
    assert put(own) is None
    assert put(own.replace("0", "1")) is None
    assert put("task_" + "0" * 26).decision == "ImplicitDeny"
    assert put(own, "dynamodb:DeleteItem").decision == "ImplicitDeny"
    assert enforce("test", "dynamodb:PutItem", "dynamodb", "us-east-1") is None  # not a function
    expected = [
        ("dynamodb:PutItem", "grd_*", True),
        ("dynamodb:PutItem", "task_*", False),
        ("dynamodb:DeleteItem", "grd_*", False),
    ]
    assert read_decisions(file) == [
        Decision(
            function="GradersApi",
            action=action,
            resource="RegistryTable",
            keys=(key,),
            is_allowed=is_allowed,
        )
        for action, key, is_allowed in expected
    ]


def test_a_record_goes_on_after_a_restart(tmp_path: Any) -> None:
    file = tmp_path / "decisions.jsonl"
    decision = Decision(function="f", action="a:B", resource="r", keys=("k",), is_allowed=True)
    for _ in range(2):
        DecisionRecord(file).add(decision)
    assert read_decisions(file) == [decision]


@pytest.mark.parametrize(
    ("keys", "alike"),
    [
        (["grd_" + "0" * 26, "grd_" + "a" * 26], ("grd_*",)),
        (["org_" + "0" * 26 + "#2026-11-23#7"], ("org_*#*#*",)),
        (["nonce#key_" + "0" * 26 + "#" + "0" * 64], ("nonce#key_*#*",)),
        (["health#3", "health#0"], ("health#*",)),
        (["export"], ("export",)),
    ],
)
def test_keys_are_recorded_by_what_they_have_in_common(
    keys: list[str], alike: tuple[str, ...]
) -> None:
    assert patterns(keys) == alike
