"""What each role may do is what is spelled out, and nothing else."""

import json

import pytest

from tests.infra.permissions import COMPLETIONS, EXPECTED, LOGS_AND_TRACES, REGISTRY

NAMES = (
    *("Registry", "Completions", "Budgets", "Content", "DataKey"),
    *(f"SecretsKeys{kind}" for kind in ("ApiKey", "Grader", "Webhook", "ReviewLink", "RewardUrl")),
    *("HighPriority", "NormalPriority", "LowPriority", "ScoreCompletions"),
    *("Audit", "AuditArchive", "Deliveries", "Webhooks", "Outbox", "VerdictStream"),
    *("CompletionChanges", "ReviewTopic", "Exports", "ExportScores"),
)


EXPORT_PREFIX = "autotune-data:ExportsOutputFnGetAtt"


def readable(resource):
    """Name of the thing that a policy's resource refers to, with what follows its ARN."""
    if resource == "*":
        return "*"
    suffix = ""
    if "Fn::Join" in resource:
        resource, suffix = resource["Fn::Join"][1]
    if "Ref" in resource:
        identifier = resource["Ref"]
    elif "Fn::GetAtt" in resource:
        identifier = resource["Fn::GetAtt"][0]
    else:
        identifier = resource["Fn::ImportValue"].removeprefix(EXPORT_PREFIX)
    if "Logs" in identifier:
        return "own log group"
    # "Audit" is also what the name of its archive starts with.
    name = max((name for name in NAMES if identifier.startswith(name)), key=len)
    return name + suffix


def statements_of(synthesized, role_logical_id):
    return [
        statement
        for policy in synthesized.service.find_resources("AWS::IAM::Policy").values()
        if {"Ref": role_logical_id} in policy["Properties"]["Roles"]
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    ]


def listed(value):
    return value if isinstance(value, list) else [value]


def allowed(synthesized, role_logical_id):
    return {
        (action, readable(resource))
        for statement in statements_of(synthesized, role_logical_id)
        for action in listed(statement["Action"])
        for resource in listed(statement["Resource"])
    }


@pytest.mark.parametrize("name", EXPECTED)
def test_a_function_may_do_what_it_needs_and_nothing_else(aws, name):
    role = aws.functions()[name]["Role"]["Fn::GetAtt"][0]
    assert allowed(aws, role) == EXPECTED[name] | LOGS_AND_TRACES


@pytest.mark.parametrize(
    ("name", "action", "where", "keys"),
    [
        ("DispatchChunks", "dynamodb:PutItem", COMPLETIONS, "run_* queue#*"),
        ("GradeChunk", "dynamodb:UpdateItem", REGISTRY, "grd_*"),
        ("TasksApi", "dynamodb:PutItem", "Audit", "org_*"),
        ("CallbacksApi", "dynamodb:PutItem", "Audit", "org_*"),
        ("ProjectVerdicts", "dynamodb:UpdateItem", "Audit", "org_*"),
        ("SweepBatches", "dynamodb:UpdateItem", "Audit", "org_*"),
        ("ExportAudit", "dynamodb:PutItem", "Audit", "export"),
        ("AwaitAnswers", "dynamodb:UpdateItem", COMPLETIONS, "run_*"),
        ("AwaitAnswers", "dynamodb:PutItem", COMPLETIONS, "parked#*"),
        ("CallbacksApi", "dynamodb:UpdateItem", REGISTRY, "grd_*"),
        ("CallbacksApi", "dynamodb:PutItem", REGISTRY, "nonce#*"),
        ("WriteExport", "dynamodb:PutItem", REGISTRY, "exp_*"),
        ("WriteExport", "dynamodb:DeleteItem", REGISTRY, "exp_*"),
        ("FailExport", "dynamodb:PutItem", REGISTRY, "exp_*"),
        ("SweepExports", "dynamodb:DeleteItem", REGISTRY, "exp_*"),
        ("TrainersApi", "dynamodb:PutItem", REGISTRY, "question#*"),
        ("TrainersApi", "dynamodb:PutItem", "Audit", "org_*"),
    ],
)
def test_a_function_that_adds_to_a_table_of_others_is_kept_to_its_items(
    aws, name, action, where, keys
):
    role = aws.functions()[name]["Role"]["Fn::GetAtt"][0]
    conditions = [
        statement["Condition"]
        for statement in statements_of(aws, role)
        if action in listed(statement["Action"])
        and where in map(readable, listed(statement["Resource"]))
    ]
    assert conditions == [
        {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [each]}} for each in keys.split()
    ]


@pytest.mark.parametrize(
    ("workflow", "functions"),
    [
        ("ScoreCompletions", {"GradeChunk", "AwaitAnswers", "ContinueRun", "FailRun"}),
        ("ExportScores", {"WriteExport", "FailExport"}),
    ],
)
def test_a_workflow_may_invoke_its_functions(aws, workflow, functions):
    [machine] = [
        each
        for logical_id, each in aws.service.find_resources(
            "AWS::StepFunctions::StateMachine"
        ).items()
        if logical_id.startswith(workflow)
    ]
    role = machine["Properties"]["RoleArn"]["Fn::GetAtt"][0]
    invoked = set()
    for statement in statements_of(aws, role):
        for action in listed(statement["Action"]):
            assert action.split(":")[0] in {"lambda", "logs", "xray"}
            if action == "lambda:InvokeFunction":
                invoked |= {aws.function_name(each) for each in listed(statement["Resource"])}
    assert invoked == functions


def test_no_role_has_a_managed_policy(aws):
    for stack in (aws.data, aws.service):
        for role in stack.find_resources("AWS::IAM::Role").values():
            assert "ManagedPolicyArns" not in role["Properties"]


def test_no_role_may_do_a_wildcard_of_actions_or_scan(aws):
    actions = {
        action
        for policy in aws.service.find_resources("AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        for action in listed(statement["Action"])
    }
    assert not {action for action in actions if "*" in action}
    assert "dynamodb:Scan" not in actions


def test_no_role_may_delete_from_the_audit_log_or_its_archive(aws):
    deleting = {
        (action, resource)
        for policy in aws.service.find_resources("AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        for action in listed(statement["Action"])
        for resource in map(json.dumps, listed(statement["Resource"]))
        if "Audit" in resource and ("Delete" in action or "BatchWrite" in action)
    }
    assert not deleting


def test_only_the_data_services_may_use_the_data_key_for_a_function(aws):
    via = {
        json.dumps(statement["Condition"], sort_keys=True)
        for policy in aws.service.find_resources("AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if "kms:Decrypt" in listed(statement["Action"])
    }
    assert via == {
        json.dumps({"StringEquals": {"kms:ViaService": f"{service}.eu-west-1.amazonaws.com"}})
        for service in ("dynamodb", "s3", "sns")
    }


def test_no_route_reaches_the_function_of_operators(aws):
    permissions = aws.service.find_resources("AWS::Lambda::Permission").values()
    invocable = {aws.function_name(each["Properties"]["FunctionName"]) for each in permissions}
    assert "CreateOrganization" not in invocable
    principals = {each["Properties"]["Principal"] for each in permissions}
    assert principals == {"apigateway.amazonaws.com", "events.amazonaws.com", "*"}


def test_anybody_may_call_one_function_and_only_at_its_address(aws):
    open_ones = [
        each["Properties"]
        for each in aws.service.find_resources("AWS::Lambda::Permission").values()
        if each["Properties"]["Principal"] == "*"
    ]
    assert {aws.function_name(each["FunctionName"]) for each in open_ones} == {"TrainersApi"}
    for each in open_ones:
        by_url = each.get("FunctionUrlAuthType") == "NONE" or each.get("InvokedViaFunctionUrl")
        assert by_url, each
