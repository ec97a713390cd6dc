"""What services need that act for a function or call one: MiniStack does not model it.

Principal, policy of the resource, policy of the key: each link is looked up in the templates.
"""

import pytest

from infra.constructs.customer_keys import SECRET_KINDS
from tests.infra.conftest import DATA_STACK_NAME
from tests.support.permissions import granted_resource, grants_of, listed, statements_of

OF_QUEUES = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}
OF_STREAMS = {
    f"dynamodb:{operation}"
    for operation in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
}
ENCRYPTED = {"s3": ("Content", "Exports", "AuditArchive"), "dynamodb": ("Registry", "Completions")}
STORING = ("PutObject", "PutItem", "UpdateItem", "BatchWriteItem")


def granted(aws, function, resource):
    return {
        grant.action
        for grant in grants_of(aws.service_template)
        if grant.function == function and grant.resource.partition("/")[0] == resource
    }


def used_keys(aws, function, service):
    """What a function may do with the data key through a service."""
    role = aws.functions()[function]["Role"]["Fn::GetAtt"][0]
    return {
        action
        for statement in statements_of(aws.service_template, role)
        if "DataKey" in map(granted_resource, listed(statement["Resource"]))
        and statement["Condition"]
        == {"StringEquals": {"kms:ViaService": f"{service}.eu-west-1.amazonaws.com"}}
        for action in listed(statement["Action"])
    }


def test_lambda_may_take_for_each_function_what_it_is_to_pass_on(aws):
    sources = aws.service.find_resources("AWS::Lambda::EventSourceMapping").values()
    assert len(list(sources)) == 13
    for source in sources:
        function = aws.function_name({"Fn::GetAtt": [source["Properties"]["FunctionName"]["Ref"]]})
        resource = granted_resource(source["Properties"]["EventSourceArn"])
        allowed = granted(aws, function, resource)
        if "DestinationConfig" in source["Properties"]:
            assert allowed >= OF_STREAMS, function
            assert "kms:Decrypt" in used_keys(aws, function, "dynamodb")
            failed = source["Properties"]["DestinationConfig"]["OnFailure"]["Destination"]
            assert "sqs:SendMessage" in granted(aws, function, granted_resource(failed))
        else:
            assert allowed >= OF_QUEUES, function


def test_each_schedule_may_invoke_its_function(aws):
    permitted = {
        (
            each["Properties"]["SourceArn"]["Fn::GetAtt"][0],
            aws.function_name(each["Properties"]["FunctionName"]),
        )
        for each in aws.service.find_resources("AWS::Lambda::Permission").values()
        if each["Properties"]["Principal"] == "events.amazonaws.com"
    }
    invoked = {
        (rule, aws.function_name(target["Arn"]))
        for rule, each in aws.service.find_resources("AWS::Events::Rule").items()
        for target in each["Properties"]["Targets"]
    }
    assert invoked == permitted


def test_a_review_is_announced_to_an_encrypted_topic(aws):
    [topic] = [
        each["Properties"]
        for each in aws.service.find_resources("AWS::SNS::Topic").values()
        if each["Properties"]["DisplayName"] == "Autotune reviews"
    ]
    assert granted_resource(topic["KmsMasterKeyId"]) == "DataKey"
    assert granted(aws, "FollowChanges", "ReviewTopic") == {"sns:Publish"}
    assert used_keys(aws, "FollowChanges", "sns") >= {"kms:Decrypt", "kms:GenerateDataKey"}


@pytest.mark.parametrize("service", ENCRYPTED)
def test_who_reads_or_stores_data_may_use_its_key_through_the_service(aws, service):
    for function in aws.functions():
        actions = set().union(*(granted(aws, function, name) for name in ENCRYPTED[service]))
        stored = {action for action in actions if action.endswith(STORING)}
        read = {action for action in actions if "Get" in action or action.endswith("Query")}
        keys = used_keys(aws, function, service)
        assert "kms:Decrypt" in keys or not (stored or read), function
        assert "kms:GenerateDataKey" in keys or not stored, function


def test_policies_of_roles_decide_on_every_key(aws):
    """Without the account in the key's own policy, what a role is granted counts for nothing."""
    keys = [
        each["Properties"]["KeyPolicy"]["Statement"]
        for each in aws.templates[DATA_STACK_NAME]["Resources"].values()
        if each["Type"] == "AWS::KMS::Key"
    ]
    # One for data, one for other people's keys to providers, one for certificates.
    assert len(keys) == 3 + len(SECRET_KINDS)
    for statements in keys:
        assert {"kms:*"} == {
            statement["Action"]
            for statement in statements
            if ":root" in str(statement["Principal"].get("AWS"))
        }


def test_roles_are_passed_to_sagemaker_alone_and_endpoints_are_in_no_template(aws):
    resources = aws.service_template["Resources"].values()
    passed = [
        statement
        for each in resources
        if each["Type"] == "AWS::IAM::Policy"
        for statement in each["Properties"]["PolicyDocument"]["Statement"]
        if "iam:PassRole" in listed(statement["Action"])
    ]
    assert passed
    for statement in passed:
        assert statement["Action"] == "iam:PassRole"
        assert statement["Condition"] == {
            "StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}
        }
        assert "*" not in str(statement["Resource"])
    assert not [each for each in resources if each["Type"].startswith("AWS::SageMaker")]
