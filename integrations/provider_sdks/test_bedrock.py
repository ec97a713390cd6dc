"""boto3, unchanged: Converse, batch inference, and the buckets in between."""

import json

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

MODEL = "amazon.nova-lite-v1:0"
CLAUDE = "us.anthropic.claude-haiku-4-5-20251001-v1:0"


@pytest.fixture
def made(fake):
    """Clients of bedrock, bedrock-runtime and S3 at the fake."""

    def made(service, url=fake.url):
        return boto3.client(
            service,
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id="fake-key",
            aws_secret_access_key="secret",
            config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}),
        )

    return made


@pytest.fixture
def bedrock(made):
    return made("bedrock")


@pytest.fixture
def buckets(made, fake):
    return made("s3", f"{fake.url}/_s3")


def converse_record(number):
    return {
        "recordId": f"row{number}",
        "modelInput": {
            "messages": [{"role": "user", "content": [{"text": f"Is claim {number} right?"}]}],
            "inferenceConfig": {"maxTokens": 200},
        },
    }


def invoke_record(number):
    return {
        "recordId": f"row{number}",
        "modelInput": {
            "anthropic_version": "bedrock-2023-05-31",
            "max_tokens": 200,
            "messages": [{"role": "user", "content": f"Is claim {number} right?"}],
        },
    }


@pytest.fixture
def start(bedrock, buckets):
    def start(count=100, record=converse_record, **fields):
        lines = [json.dumps(record(number)) + "\n" for number in range(count)]
        buckets.put_object(Bucket="in-bucket", Key="a/in.jsonl", Body="".join(lines).encode())
        asked = {
            "jobName": "job-1",
            "roleArn": "arn:aws:iam::123456789012:role/batch",
            "modelId": MODEL,
            "modelInvocationType": "Converse",
            "inputDataConfig": {"s3InputDataConfig": {"s3Uri": "s3://in-bucket/a/in.jsonl"}},
            "outputDataConfig": {"s3OutputDataConfig": {"s3Uri": "s3://out-bucket/b/"}},
        }
        return bedrock.create_model_invocation_job(**{**asked, **fields})["jobArn"]

    return start


def output_of(buckets, arn):
    prefix = f"b/{arn.rpartition('/')[2]}/"
    listed = buckets.list_objects_v2(Bucket="out-bucket", Prefix=prefix).get("Contents", [])
    keys = [one["Key"] for one in listed if not one["Key"].endswith("manifest.json.out")]
    bodies = [buckets.get_object(Bucket="out-bucket", Key=key)["Body"].read() for key in keys]
    return keys, [json.loads(line) for body in bodies for line in body.splitlines()]


def test_a_job_from_creation_to_results(bedrock, buckets, start, fake, token_in):
    arn = start()
    assert bedrock.get_model_invocation_job(jobIdentifier=arn)["status"] == "Submitted"
    fake.advance(30)
    assert bedrock.get_model_invocation_job(jobIdentifier=arn)["status"] == "InProgress"
    fake.advance()
    job = bedrock.get_model_invocation_job(jobIdentifier=arn)
    assert (job["status"], job["successRecordCount"]) == ("Completed", 100)
    _, lines = output_of(buckets, arn)
    texts = [line["modelOutput"]["output"]["message"]["content"][0]["text"] for line in lines]
    assert {token_in(text) for text in texts} == fake.paid("bedrock")
    manifest_key = f"b/{arn.rpartition('/')[2]}/manifest.json.out"
    manifest = buckets.get_object(Bucket="out-bucket", Key=manifest_key)["Body"].read()
    assert json.loads(manifest)["outputTokenCount"] == sum(
        line["modelOutput"]["usage"]["outputTokens"] for line in lines
    )


def test_a_job_of_anthropics_bodies(buckets, start, fake, token_in, bedrock):
    arn = start(record=invoke_record, modelId=CLAUDE, modelInvocationType="InvokeModel")
    fake.advance()
    bedrock.get_model_invocation_job(jobIdentifier=arn)
    _, lines = output_of(buckets, arn)
    texts = [line["modelOutput"]["content"][0]["text"] for line in lines]
    assert {token_in(text) for text in texts} == fake.paid("bedrock")


def test_the_same_token_is_the_same_job(bedrock, start):
    arn = start(clientRequestToken="token1")
    assert start(clientRequestToken="token1") == arn
    with pytest.raises(ClientError) as conflict:
        start(clientRequestToken="token1", jobName="job-2")
    assert conflict.value.response["Error"]["Code"] == "ConflictException"
    assert start(jobName="other-3") != arn
    found = bedrock.list_model_invocation_jobs(nameContains="job-1")["invocationJobSummaries"]
    assert [one["jobArn"] for one in found] == [arn]


def test_all_jobs_are_found_page_by_page(bedrock, start):
    made = [start(jobName=f"job-{number}") for number in range(3)]
    pages = bedrock.get_paginator("list_model_invocation_jobs").paginate(
        PaginationConfig={"PageSize": 1}
    )
    found = [one["jobArn"] for page in pages for one in page["invocationJobSummaries"]]
    assert found == made[::-1]


def test_records_that_fail(bedrock, buckets, start, fake, token_in):
    fake.arm("row_error", rows=[0], params={"status": 500})
    arn = start()
    fake.advance()
    job = bedrock.get_model_invocation_job(jobIdentifier=arn)
    assert (job["successRecordCount"], job["errorRecordCount"]) == (99, 1)
    _, lines = output_of(buckets, arn)
    assert [line["recordId"] for line in lines if "error" in line] == ["row0"]
    texts = [
        line["modelOutput"]["output"]["message"]["content"][0]["text"]
        for line in lines
        if "error" not in line
    ]
    assert {token_in(text) for text in texts} == fake.paid("bedrock")


def test_a_job_that_expires_has_what_was_done(bedrock, buckets, start, fake):
    fake.arm("expires_partial")
    arn = start()
    fake.advance()
    assert bedrock.get_model_invocation_job(jobIdentifier=arn)["status"] == "Expired"
    assert len(output_of(buckets, arn)[1]) == len(fake.paid("bedrock")) == 50


def test_a_job_that_is_stopped(bedrock, buckets, start, fake):
    arn = start()
    fake.advance(31)
    bedrock.stop_model_invocation_job(jobIdentifier=arn)
    assert bedrock.get_model_invocation_job(jobIdentifier=arn)["status"] == "Stopping"
    fake.advance(10)
    assert bedrock.get_model_invocation_job(jobIdentifier=arn)["status"] == "Stopped"
    assert len(output_of(buckets, arn)[1]) == 50 == len(fake.paid("bedrock"))


def test_partial_completion_in_several_files(bedrock, buckets, start, fake):
    fake.arm("bedrock_partially_completed")
    fake.arm("bedrock_several_outputs")
    arn = start()
    fake.advance()
    job = bedrock.get_model_invocation_job(jobIdentifier=arn)
    assert (job["status"], job["successRecordCount"]) == ("PartiallyCompleted", 50)
    keys, lines = output_of(buckets, arn)
    assert (len(keys), len(lines)) == (3, 50)


def test_fewer_records_than_the_least_fail_the_job(bedrock, start, fake):
    arn = start(count=99)
    fake.advance()
    job = bedrock.get_model_invocation_job(jobIdentifier=arn)
    assert (job["status"], "minimum of 100" in job["message"]) == ("Failed", True)
    assert fake.paid("bedrock") == set()


def test_a_call_and_its_errors(made, fake, token_in):
    runtime = made("bedrock-runtime")
    asked = {"messages": [{"role": "user", "content": [{"text": "Right?"}]}]}
    answer = runtime.converse(modelId=MODEL, inferenceConfig={"maxTokens": 99}, **asked)
    text = answer["output"]["message"]["content"][0]["text"]
    assert {token_in(text)} == fake.paid("bedrock")
    fake.arm("chat_429")
    with pytest.raises(ClientError) as limited:
        runtime.converse(modelId=MODEL, **asked)
    assert limited.value.response["Error"]["Code"] == "ThrottlingException"
    with pytest.raises(ClientError) as missing:
        runtime.converse(modelId="no.such-model", **asked)
    assert missing.value.response["Error"]["Code"] == "ResourceNotFoundException"
