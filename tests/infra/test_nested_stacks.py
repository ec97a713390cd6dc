"""What MiniStack knows of the resources of a nested stack, after that was updated."""

import json

import pytest

from local.endpoint import free_port
from local.ministack import MiniStack
from tests.infra.test_local_stack import client_of

BUCKET = "templates"


@pytest.fixture
def port(tmp_path):
    ministack = MiniStack(directory=tmp_path, environment={})
    port = free_port()
    pid = ministack.start(port=port)
    try:
        yield port
    finally:
        ministack.stop(pid)


def nesting(port, *, changed):
    """Upload a nested stack's template; return that of the stack that it is nested in."""
    nested = {
        "Resources": {
            "Kept": {"Type": "AWS::SQS::Queue"},
            "Changing": {
                "Type": "AWS::SQS::Queue",
                "Properties": {
                    "VisibilityTimeout": 60 if changed else 30,
                    "RedrivePolicy": {
                        "deadLetterTargetArn": {"Fn::GetAtt": ["Kept", "Arn"]},
                        "maxReceiveCount": 5,
                    },
                },
            },
        },
        "Outputs": {
            "Kept": {"Value": {"Fn::GetAtt": ["Kept", "Arn"]}},
            "Changing": {"Value": {"Fn::GetAtt": ["Changing", "Arn"]}},
        },
    }
    key = f"{changed}.json"
    s3 = client_of("s3", port)
    s3.create_bucket(Bucket=BUCKET)
    s3.put_object(Bucket=BUCKET, Key=key, Body=json.dumps(nested).encode())
    url = f"https://s3.us-east-1.amazonaws.com/{BUCKET}/{key}"
    template = {
        "Resources": {
            "Nested": {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": url}}
        },
        "Outputs": {
            name: {"Value": {"Fn::GetAtt": ["Nested", f"Outputs.{name}"]}}
            for name in ("Kept", "Changing")
        },
    }
    return json.dumps(template)


def test_what_has_not_changed_is_known_after_an_update(port):
    stacks = client_of("cloudformation", port)

    def outputs():
        [stack] = stacks.describe_stacks(StackName="outer")["Stacks"]
        return {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}

    stacks.create_stack(StackName="outer", TemplateBody=nesting(port, changed=False))
    stacks.get_waiter("stack_create_complete").wait(StackName="outer", WaiterConfig={"Delay": 1})
    before = outputs()
    stacks.update_stack(StackName="outer", TemplateBody=nesting(port, changed=True))
    stacks.get_waiter("stack_update_complete").wait(StackName="outer", WaiterConfig={"Delay": 1})
    assert outputs() == before
    queues = client_of("sqs", port)
    url = queues.get_queue_url(QueueName=before["Changing"].rpartition(":")[2])["QueueUrl"]
    changed = queues.get_queue_attributes(QueueUrl=url, AttributeNames=["VisibilityTimeout"])
    assert changed["Attributes"] == {"VisibilityTimeout": "60"}
