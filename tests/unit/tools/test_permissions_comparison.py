"""A permission too few or too many is found, from templates and records made up here."""

import pytest

from local.decisions import Decision, pattern
from tests.support.permissions import (
    Comparison,
    Grant,
    Reviewed,
    granted_resource,
    grants_of,
    roles_of,
)

EXPORTED = "autotune-data:ExportsOutputFnGetAtt"


def function(name):
    return {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "Role": {"Fn::GetAtt": [f"{name}Role0A1B2C3D", "Arn"]},
            "Environment": {"Variables": {"POWERTOOLS_SERVICE_NAME": name}},
        },
    }


def policy(name, *statements):
    return {
        "Type": "AWS::IAM::Policy",
        "Properties": {
            "Roles": [{"Ref": f"{name}Role0A1B2C3D"}],
            "PolicyDocument": {"Statement": list(statements)},
        },
    }


def on_registry(*actions, keys=None):
    condition = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [keys]}}
    return {
        "Effect": "Allow",
        "Action": list(actions) if len(actions) > 1 else actions[0],
        "Resource": {"Fn::ImportValue": f"{EXPORTED}RegistryTable0A1B2C3DArn4E5F6071"},
        **({"Condition": condition} if keys else {}),
    }


TEMPLATE = {
    "Resources": {
        "F": function("TasksApi"),
        "P": policy(
            "TasksApi",
            on_registry("dynamodb:GetItem", "dynamodb:Query"),
            on_registry("dynamodb:PutItem", keys="task_*"),
            {
                "Effect": "Allow",
                "Action": "sqs:SendMessage",
                "Resource": {"Fn::GetAtt": ["HighPriorityQueue0A1B2C3D", "Arn"]},
            },
            {"Effect": "Allow", "Action": "xray:PutTraceSegments", "Resource": "*"},
        ),
    }
}
GRANTS = {
    Grant("TasksApi", "dynamodb:GetItem", "Registry"),
    Grant("TasksApi", "dynamodb:Query", "Registry"),
    Grant("TasksApi", "dynamodb:PutItem", "Registry", "task_*"),
    Grant("TasksApi", "sqs:SendMessage", "HighPriority"),
    Grant("TasksApi", "xray:PutTraceSegments", "*"),
}
TRACES = Reviewed(function="*", action="xray:*", resource="*", why="Lambda sends them.")
QUERY = Reviewed(function="TasksApi", action="dynamodb:Query", resource="Registry", why="rare")


def decision(action, resource="RegistryTable", keys=(), *, is_allowed=True, name="TasksApi"):
    return Decision(
        function=name, action=action, resource=resource, keys=keys, is_allowed=is_allowed
    )


USED = [
    decision("dynamodb:GetItem", keys=("key_*",)),
    decision("dynamodb:PutItem", keys=("task_*",)),
    decision("sqs:SendMessage", "HighPriorityQueue"),
]


def compared(*decisions, grants=GRANTS, functions=("TasksApi",), reviewed=(TRACES, QUERY)):
    return Comparison(
        functions=functions,
        grants=grants,
        decisions=decisions,
        reviewed=reviewed,
        silent={"Quiet": "asks for nothing"},
        rarely_called={"Rare": "ends what failed"},
    )


def test_grants_are_those_of_the_template():
    assert grants_of(TEMPLATE) == GRANTS
    assert roles_of(TEMPLATE) == {"TasksApi": "TasksApiRole0A1B2C3D"}


@pytest.mark.parametrize(
    "parts",
    [
        ["arn:", {"Ref": "AWS::Partition"}, ":sagemaker:us-east-1:000000000000:model/apt-*"],
        [
            *("arn:", {"Ref": "AWS::Partition"}, ":sagemaker:", {"Ref": "AWS::Region"}, ":"),
            *({"Ref": "AWS::AccountId"}, ":model/apt-*"),
        ],
    ],
)
def test_what_sagemaker_has_by_name_is_granted_by_kind(parts):
    granted = Grant("Host", "sagemaker:CreateModel", granted_resource({"Fn::Join": ["", parts]}))
    arn = "arn:aws:sagemaker:us-east-1:000000000000:model/apt-1"
    decision = {"function": "Host", "action": granted.action, "is_allowed": True}
    assert granted.allows(Decision(resource=pattern(arn), **decision))
    assert not granted.allows(
        Decision(resource=pattern(arn.replace("model", "endpoint")), **decision)
    )


def test_what_is_used_or_reviewed_is_in_order():
    found = compared(*USED)
    assert found.denied() + found.unused() + found.used_after_all() == []
    assert found.summary() == (
        "permissions: 1 of 1 functions seen, 3 of 5 grants used, 2 reviewed, 0 denials"
    )


def test_a_permission_too_few_is_a_denial():
    refused = decision("dynamodb:DeleteItem", keys=("task_*",), is_allowed=False)
    assert compared(*USED, refused).denied() == [
        "TasksApi was denied dynamodb:DeleteItem on Registry ['task_*']"
    ]


def test_a_permission_too_many_is_unused():
    more = Grant("TasksApi", "dynamodb:DeleteItem", "Registry")
    assert compared(*USED, grants={*GRANTS, more}).unused() == [
        "TasksApi dynamodb:DeleteItem Registry is granted, not used and not reviewed"
    ]


def test_what_was_denied_used_nothing():
    refused = decision("dynamodb:PutItem", keys=("task_*",), is_allowed=False)
    assert len(compared(USED[0], refused, USED[2]).unused()) == 1


@pytest.mark.parametrize("keys", [("grd_*",), ("task_*", "grd_*")])
def test_other_keys_use_no_grant_of_these(keys):
    found = compared(USED[0], decision("dynamodb:PutItem", keys=keys), USED[2])
    assert found.unused() == [
        "TasksApi dynamodb:PutItem Registry task_* is granted, not used and not reviewed"
    ]


def test_another_function_uses_no_grant_of_this_one():
    other = [decision(each.action, each.resource, each.keys, name="RunsApi") for each in USED]
    assert len(compared(*other, functions=("TasksApi", "RunsApi")).unused()) == 4


def test_a_function_that_is_never_called_is_found_unless_there_is_a_reason():
    functions = ("TasksApi", "Idle", "Quiet", "Rare")
    assert compared(*USED, functions=functions).unused() == [
        "Idle was not called and is not reviewed"
    ]


def test_what_is_never_used_by_the_list_and_was_is_found():
    found = compared(*USED, decision("dynamodb:Query"), decision("s3:GetObject", name="Quiet"))
    assert found.used_after_all() == [
        "TasksApi dynamodb:Query Registry is used, and the list says: rare",
        "Quiet is called",
    ]


def test_what_is_rare_may_be_seen_or_not():
    rare = Reviewed(
        function="TasksApi", action="dynamodb:Query", resource="Registry", why="w", is_rare=True
    )
    for decisions in (USED, [*USED, decision("dynamodb:Query")]):
        found = compared(*decisions, reviewed=(TRACES, rare))
        assert found.unused() + found.used_after_all() == []


def test_a_suite_of_chaos_has_to_use_what_is_said_to_be_seen_there():
    said = Reviewed(
        function="TasksApi", action="dynamodb:Query", resource="Registry", why="w", suite="storm"
    )
    reviewed = (TRACES, said)
    assert compared(*USED, reviewed=reviewed).missed_by("storm") == [
        "TasksApi dynamodb:Query Registry * is not used in storm"
    ]
    assert compared(*USED, reviewed=reviewed).missed_by("outage") == []
    seen = compared(*USED, decision("dynamodb:Query"), reviewed=reviewed)
    assert seen.missed_by("storm") + seen.used_after_all() == []
