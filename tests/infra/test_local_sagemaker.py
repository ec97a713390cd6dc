"""SageMaker on the local stack: at MiniStack's address, with its S3, logs and permissions."""

import io
import json
import re
import time
import zipfile

import boto3
import psutil
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from local.decisions import DECISIONS_FILE, Decision, pattern, read_decisions
from local.endpoint import ACCOUNT, REGION, endpoint_url, free_port
from local.logs import read_logs
from local.ministack import MiniStack
from local.sagemaker_beside import resources_of
from tests.support.local_sagemaker import INSTANCE, is_alive, packed, unpacked, until

ROLE = f"arn:aws:iam::{ACCOUNT}:role/training"
SCRIPT = """
import os, pathlib
rows = pathlib.Path(os.environ["SM_CHANNEL_CODE"], "rows").read_text()
pathlib.Path(os.environ["SM_MODEL_DIR"], "m").write_text(rows)
print("trained here")
"""
CALLER = """
import boto3
from botocore.exceptions import ClientError

def lambda_handler(event, context):
    client = boto3.client(event["service"])
    try:
        getattr(client, event["operation"])(**event["request"])
    except ClientError as error:
        return error.response["Error"]["Code"]
    return "done"
"""


class Stack:
    def __init__(self, directory):
        self.directory = directory
        self.port = free_port()
        self._ministack = MiniStack(directory=directory, environment={"AUTH": "true"})
        self.pid = self._ministack.start(port=self.port)
        self.clients = []

    def client(self, service):
        made = boto3.client(
            service,
            endpoint_url=endpoint_url(self.port),
            region_name=REGION,
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}),
        )
        self.clients.append(made)
        return made

    def stop(self):
        for client in self.clients:
            client.close()
        self._ministack.stop(self.pid)

    def commands(self):
        return [" ".join(one.cmdline()) for one in psutil.Process(self.pid).children()]


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    made = Stack(tmp_path_factory.mktemp("stack"))
    try:
        yield made
    finally:
        made.stop()


def job(name, **changes):
    return {
        "TrainingJobName": name,
        "RoleArn": ROLE,
        "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
        "HyperParameters": {
            "sagemaker_program": "train.py",
            "sagemaker_submit_directory": "/opt/ml/input/data/code/sourcedir.tar.gz",
        },
        "InputDataConfig": [
            {
                "ChannelName": "code",
                "DataSource": {
                    "S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://training/code/"}
                },
            }
        ],
        "OutputDataConfig": {"S3OutputPath": "s3://training/out"},
        "ResourceConfig": {"InstanceType": INSTANCE, "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 100},
        **changes,
    }


def allow(iam, role, *statements):
    """Give a role of the stack some permissions."""
    allowed = [
        {"Effect": "Allow", "Action": action, "Resource": resource, **dict(more)}
        for action, resource, *more in statements
    ]
    document = json.dumps({"Version": "2012-10-17", "Statement": allowed})
    iam.put_role_policy(RoleName=role, PolicyName="own", PolicyDocument=document)


def create_role(iam, role, service, *statements):
    trust = {
        "Effect": "Allow",
        "Principal": {"Service": f"{service}.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    iam.create_role(
        RoleName=role,
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
    )
    if statements:
        allow(iam, role, *statements)


def ended(sagemaker, name):
    describe = sagemaker.describe_training_job
    return until(
        lambda: (at := describe(TrainingJobName=name))["TrainingJobStatus"] != "InProgress" and at
    )


def test_it_is_started_by_the_first_request_and_trains_with_the_stack_s_s3_and_logs(stack):
    s3, sagemaker = stack.client("s3"), stack.client("sagemaker")
    s3.create_bucket(Bucket="training")
    s3.put_object(Bucket="training", Key="code/sourcedir.tar.gz", Body=packed({"train.py": SCRIPT}))
    s3.put_object(Bucket="training", Key="code/rows", Body=b"rows")
    assert not any("local.sagemaker" in command for command in stack.commands())
    create_role(
        stack.client("iam"),
        "training",
        "sagemaker",
        ("s3:ListBucket", "arn:aws:s3:::training"),
        (["s3:GetObject", "s3:PutObject"], "arn:aws:s3:::training/*"),
    )
    sagemaker.create_training_job(**job("whole"))
    assert any("local.sagemaker" in command for command in stack.commands())
    found = ended(sagemaker, "whole")
    assert found["TrainingJobStatus"] == "Completed", found.get("FailureReason")
    stored = s3.get_object(Bucket="training", Key="out/whole/output/model.tar.gz")
    assert unpacked(stored["Body"].read()) == {"m": b"rows"}
    lines = read_logs(endpoint_url(stack.port), since=int((time.time() - 600) * 1000))
    assert "trained here" in [line.text for line in lines if line.source == "TrainingJobs"]


def test_a_job_may_what_its_role_may(stack):
    iam, sagemaker = stack.client("iam"), stack.client("sagemaker")
    create_role(
        iam,
        "reader",
        "sagemaker",
        ("s3:ListBucket", "arn:aws:s3:::training"),
        ("s3:GetObject", "arn:aws:s3:::training/code/*"),
    )
    reader = f"arn:aws:iam::{ACCOUNT}:role/reader"
    sagemaker.create_training_job(**job("unwritten", RoleArn=reader))
    assert re.search(
        "Artifact upload failed.*(AccessDenied|403)", ended(sagemaker, "unwritten")["FailureReason"]
    )
    create_role(iam, "somebody", "lambda")
    for name in ("somebody", "nobody"):
        role = f"arn:aws:iam::{ACCOUNT}:role/{name}"
        with pytest.raises(ClientError, match="Could not assume role"):
            sagemaker.create_training_job(**job("unassumed", RoleArn=role))
        with pytest.raises(ClientError, match="Could not assume role"):
            sagemaker.create_model(
                ModelName="m", ExecutionRoleArn=role, PrimaryContainer={"Image": "i"}
            )


def test_an_error_is_sagemaker_s_own(stack):
    with pytest.raises(ClientError) as missing:
        stack.client("sagemaker-runtime").invoke_endpoint(EndpointName="none", Body=b"")
    assert missing.value.response["Error"]["Code"] == "ValidationError"
    with pytest.raises(ClientError, match="Could not find endpoint"):
        stack.client("sagemaker").describe_endpoint(EndpointName="none")


@pytest.fixture(scope="module")
def caller(stack):
    """A function whose role may train under some names, and pass one role on."""
    iam, functions = stack.client("iam"), stack.client("lambda")
    create_role(
        iam,
        "caller",
        "lambda",
        (
            "sagemaker:CreateTrainingJob",
            f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-job/ours-*",
        ),
        (
            *("iam:PassRole", ROLE),
            ("Condition", {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}),
        ),
    )
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("caller.py", CALLER)
    functions.create_function(
        FunctionName="caller",
        Runtime="python3.13",
        Role=f"arn:aws:iam::{ACCOUNT}:role/caller",
        Handler="caller.lambda_handler",
        Code={"ZipFile": code.getvalue()},
        Timeout=30,
        Environment={"Variables": {"POWERTOOLS_SERVICE_NAME": "Caller"}},
    )

    def call(operation, service="sagemaker", **request):
        event = {"service": service, "operation": operation, "request": request}
        answer = functions.invoke(FunctionName="caller", Payload=json.dumps(event).encode())
        return json.loads(answer["Payload"].read())

    return call


def test_a_function_needs_permission_for_names_roles_and_tags(stack, caller):
    denied = "AccessDeniedException"
    assert caller("create_training_job", **job("ours-1")) == "done"
    assert caller("create_training_job", **job("theirs-1")) == denied
    other = f"arn:aws:iam::{ACCOUNT}:role/administrator"
    assert caller("create_training_job", **job("ours-2", RoleArn=other)) == denied
    tagged = job("ours-3", Tags=[{"Key": "a", "Value": "b"}])
    assert caller("create_training_job", **tagged) == denied
    assert caller("list_training_jobs") == denied
    asked = {"EndpointName": "any", "Body": "1"}
    assert caller("invoke_endpoint", service="sagemaker-runtime", **asked) == denied
    described = stack.client("sagemaker").list_training_jobs(NameContains="ours-")
    assert [one["TrainingJobName"] for one in described["TrainingJobSummaries"]] == ["ours-1"]

    decisions = read_decisions(stack.directory / DECISIONS_FILE)
    for is_allowed in (True, False):
        expected = Decision(
            function="Caller",
            action="sagemaker:CreateTrainingJob",
            resource="training-job/*",
            is_allowed=is_allowed,
        )
        assert expected in decisions
    assert any(one.action == "iam:PassRole" and not one.is_allowed for one in decisions)


@pytest.mark.parametrize(
    ("path", "target", "headers", "asked", "resources"),
    [
        ("/", "CreateModel", {}, {"ModelName": "M"}, ["model/m"]),
        (
            *("/", "CreateEndpoint", {}),
            {"EndpointName": "e", "EndpointConfigName": "c"},
            ["endpoint/e", "endpoint-config/c"],
        ),
        (
            *("/", "CreateInferenceComponent", {}),
            {"InferenceComponentName": "i", "EndpointName": "e"},
            ["inference-component/i", "endpoint/e"],
        ),
        ("/", "ListModels", {}, {}, ["*"]),
        ("/endpoints/e/invocations", "", {}, {}, ["endpoint/e"]),
        (
            *("/endpoints/e/invocations", ""),
            {"x-amzn-sagemaker-inference-component": "i"},
            *({}, ["endpoint/e", "inference-component/i"]),
        ),
    ],
)
def test_a_request_is_about_what_it_names(path, target, headers, asked, resources):
    found = resources_of(
        path, {"x-amz-target": f"SageMaker.{target}", **headers}, json.dumps(asked).encode()
    )
    prefix = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:"
    assert [one.removeprefix(prefix) for one in found] == resources


def test_names_of_sagemaker_are_no_kinds_of_decisions():
    prefix = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:"
    assert pattern(f"{prefix}endpoint/apt-1-v2") == "endpoint/*"


def test_it_ends_with_the_stack(stack):
    request = job("lasting")
    del request["InputDataConfig"], request["HyperParameters"]
    request["AlgorithmSpecification"]["ContainerEntrypoint"] = ["sleep", "100"]
    sagemaker = stack.client("sagemaker")
    sagemaker.create_training_job(**request)
    describe = sagemaker.describe_training_job
    until(lambda: describe(TrainingJobName="lasting")["SecondaryStatus"] == "Training")
    children = psutil.Process(stack.pid).children
    # It is said to train before its program has taken the place of the one that starts it.
    until(lambda: any("sleep" in one.name() for one in children(recursive=True)))
    started = children(recursive=True)
    stack.stop()  # the last test of the module: nothing is there any more
    until(lambda: not any(map(is_alive, started)))
