"""What each role may do is what is spelled out, and nothing else."""

import json

import pytest

from tests.infra.permissions import EXPECTED, LOGS_AND_TRACES
from tests.infra.reviewed_permissions import RARELY_CALLED, REVIEWED, SILENT
from tests.support.permissions import granted_resource, grants_of, listed, statements_of


def test_every_function_is_spelled_out(aws):
    assert EXPECTED.keys() == aws.functions().keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_function_may_do_what_it_needs_and_nothing_else(aws, name):
    allowed = {
        (grant.action, grant.resource, grant.keys)
        for grant in grants_of(aws.service_template)
        if grant.function == name
    }
    assert allowed == EXPECTED[name] | LOGS_AND_TRACES


def test_each_reviewed_permission_is_granted_still(aws):
    grants = grants_of(aws.service_template)
    assert [str(each) for each in REVIEWED if not any(map(each.covers, grants))] == []
    assert {*SILENT, *RARELY_CALLED} <= aws.functions().keys()


def test_every_review_gives_its_reason():
    assert [str(each) for each in REVIEWED if len(each.why.split()) < 6] == []


def test_what_anybody_may_call_deletes_nothing():
    assert not {action for action, _, _ in EXPECTED["TrainersApi"] if "Delete" in action}


def test_an_api_writes_only_what_it_owns_in_the_registry():
    """All of them use up request ids, count requests, and note that a key was used."""
    written = {
        name: {
            keys
            for action, resource, keys in grants
            if resource == "Registry" and action.endswith(("PutItem", "UpdateItem", "DeleteItem"))
        }
        - {"nonce#*", "rate#*", "use#key_*"}
        for name, grants in EXPECTED.items()
        if name.endswith("Api")
    }
    assert {name: keys for name, keys in written.items() if keys} == {
        "AccessApi": {"key_*", "ses_*", "entities#*"},
        "TasksApi": {"task_*", "entities#*"},
        "GradersApi": {"grd_*", "health#*", "entities#*"},
        # Deleted samples go from what is published of their deck.
        "SamplesApi": {"grd_*"},
        # A deck is a task with all that it has published.
        "DecksApi": {"task_*", "entities#*"},
        # Fresh labels suspend calibrations of graders that are published.
        "DeckFeedbackApi": {"grd_*"},
        # Graders of decks are published with what is measured there.
        "DeckMeasuresApi": {"grd_*", "health#*", "entities#*"},
        "IngestUrlsApi": {"igu_*", "entities#*"},
        "WebhooksApi": {"*#webhooks"},
        "RewardsApi": {"rwu_*", "entities#*"},
        "ConnectionsApi": {"llc_*", "llt_*", "entities#*"},
        "OpenAiApi": {"llf_*", "lob_*", "openai-batch#*"},
        "ReviewsApi": {"rvl_*"},
        "TrainersApi": {"question#*"},
        "ExportsApi": {"exp_*"},
        "CallbacksApi": {"grd_*"},
    }


@pytest.mark.parametrize(
    ("workflow", "functions"),
    [
        ("ScoreCompletions", {"GradeChunk", "AwaitAnswers", "ContinueRun", "FailRun"}),
        ("ExportScores", {"WriteExport", "FailExport"}),
        ("SubmitLlmBatch", {"WorkLlmBatch"}),
        ("ImportLlmRequests", {"ImportRequests"}),
        ("WorkDeckRun", {"AdvanceDeckRun", "AdvanceDeckEdits"}),
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
    for statement in statements_of(aws.service_template, role):
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
    """But one that is on no request's path: what deletes an organisation reads all."""
    actions = {
        (policy["Properties"]["PolicyName"], action)
        for policy in aws.service.find_resources("AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        for action in listed(statement["Action"])
    }
    assert not {action for _, action in actions if "*" in action}
    scanning = {policy for policy, action in actions if action == "dynamodb:Scan"}
    assert len(scanning) == 1
    assert "DeleteOrganization" in scanning.pop()


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
        and "DataKey" in map(granted_resource, listed(statement["Resource"]))
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
