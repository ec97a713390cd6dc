"""Bedrock's jobs, request by request: what is asked of AWS, and what its answers mean."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from autotune_platform.ledger.calls import Answer, Refusal
from autotune_platform.ledger.exchanges import Exchanges
from autotune_platform.ledger.jobs.bedrock import BedrockJobs
from autotune_platform.ledger.jobs.contract import (
    Body,
    Created,
    Ended,
    Job,
    Missing,
    NotCreated,
    Results,
    Running,
    Unclear,
)
from autotune_platform.ledger.jobs.session import Session
from autotune_platform.ledger.providers.bedrock import BedrockFormat
from autotune_platform.ledger.roles import RoleSessions
from tests.unit.ledger.asking import connection, question
from tests.unit.ledger.test_bedrock_format import ACCESS
from tests.unit.ledger.test_bedrock_roles import Sts

JOBS = BedrockJobs(BedrockFormat())
ARN = "arn:aws:bedrock:eu-west-1:123456789012:model-invocation-job/a1b2c3d4e5f6"
FOLDER = "autotune/lbt_1/"
OUTPUT = f"{FOLDER}output/a1b2c3d4e5f6/"
JOB = Job(
    batch_id="lbt_1",
    nonce="0123456789abcdef01234567",
    model="amazon.nova-lite-v1:0",
    rows=100,
    begun_at=datetime(2026, 11, 24, 12, tzinfo=UTC),
    input_file=f"{FOLDER}input.jsonl",
    job_id=ARN,
)
Reply = tuple[int, dict[str, str], bytes]


class Aws(Exchanges):
    """Answers from a list, and keeps what was sent."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.sent: list[tuple[str, str, Mapping[str, str], Any]] = []

    def exchange(  # type: ignore[override]
        self, method: str, url: str, headers: Mapping[str, str], content: Any, **_: Any
    ) -> Reply:
        self.sent.append((method, url, headers, content))
        return self._replies.pop(0)


def session(aws: Aws) -> Session:
    to_bedrock = connection("bedrock", bedrock=ACCESS)
    return Session(to_bedrock, None, aws, RoleSessions(sts=Sts()))


def said(document: Any, status: int = 200) -> Reply:
    return status, {}, json.dumps(document).encode()


def error(kind: str, status: int, message: str = "no") -> Reply:
    return status, {"x-amzn-errortype": kind}, json.dumps({"message": message}).encode()


def xml(text: str, status: int = 200) -> Reply:
    return status, {}, text.encode()


def listing(*keys: str, more: str = "") -> Reply:
    found = "".join(f"<Contents><Key>{key}</Key></Contents>" for key in keys)
    token = f"<NextContinuationToken>{more}</NextContinuationToken>" if more else ""
    return xml(f"<ListBucketResult>{token}{found}</ListBucketResult>")


def test_a_creation_names_its_job_twice_and_its_bucket_with_its_owner() -> None:
    aws = Aws(said({"jobArn": ARN}))
    assert JOBS.create(session(aws), JOB, Body(0, lambda: iter([]))) == Created(ARN)
    ((method, url, headers, content),) = aws.sent
    assert (method, url) == (
        "POST",
        "https://bedrock.eu-west-1.amazonaws.com/model-invocation-job",
    )
    assert "SignedHeaders=" in headers["Authorization"]
    assert json.loads(content) == {
        "jobName": f"autotune-{JOB.nonce}",
        "clientRequestToken": JOB.nonce,
        "roleArn": ACCESS.batch_role_arn,
        "modelId": JOB.model,
        "modelInvocationType": "Converse",
        "inputDataConfig": {
            "s3InputDataConfig": {
                "s3Uri": f"s3://lab-batches/{FOLDER}input.jsonl",
                "s3InputFormat": "JSONL",
                "s3BucketOwner": "123456789012",
            }
        },
        "outputDataConfig": {
            "s3OutputDataConfig": {
                "s3Uri": f"s3://lab-batches/{FOLDER}output/",
                "s3BucketOwner": "123456789012",
            }
        },
        "timeoutDurationInHours": 24,
    }


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (error("ConflictException", 400), None),
        (error("InternalServerException", 500), None),
        (said({"jobArn": ""}), None),
        (error("ThrottlingException", 429), "rate_limited"),
        (error("ServiceQuotaExceededException", 400), "rate_limited"),
        (error("AccessDeniedException", 403), "account"),
        (error("ValidationException", 400), "rejected"),
    ],
)
def test_what_a_creation_came_to(reply: Reply, code: str | None) -> None:
    made = JOBS.create(session(Aws(reply)), JOB, Body(0, lambda: iter([])))
    if code is None:
        assert isinstance(made, Unclear)
    else:
        assert isinstance(made, NotCreated)
        assert made.refusal.code == code


def test_a_role_that_is_refused_creates_nothing_and_sends_nothing() -> None:
    aws = Aws()
    theirs = ACCESS.model_copy(update={"external_id": "org_2"})
    one = Session(connection("bedrock", bedrock=theirs), None, aws, RoleSessions(sts=Sts()))
    made = JOBS.create(one, JOB, Body(0, lambda: iter([])))
    assert isinstance(made, NotCreated)
    assert made.refusal.code == "account"
    assert aws.sent == []


def test_a_search_reads_all_pages_and_compares_names_itself() -> None:
    mine = {"jobArn": ARN, "jobName": f"autotune-{JOB.nonce}"}
    longer = {"jobArn": f"{ARN}x", "jobName": f"autotune-{JOB.nonce}0"}
    aws = Aws(
        said({"invocationJobSummaries": [longer], "nextToken": "a b"}),
        said({"invocationJobSummaries": [mine, mine, "x"]}),
    )
    assert JOBS.search(session(aws), JOB) == [ARN]
    first, second = (parse_qs(urlsplit(url).query) for _, url, _, _ in aws.sent)
    assert first["nameContains"] == [f"autotune-{JOB.nonce}"]
    assert first["submitTimeAfter"] == ["2026-11-24T11:55:00Z"]
    assert first["submitTimeBefore"] == ["2026-11-24T12:15:00Z"]
    assert second["nextToken"] == ["a b"]


@pytest.mark.parametrize("status", ["Submitted", "Validating", "Scheduled", "InProgress", "New"])
def test_a_job_under_way(status: str) -> None:
    assert JOBS.look(session(Aws(said({"status": status}))), JOB) == Running()


def test_a_job_that_cannot_be_seen_is_missing() -> None:
    gone = error("ResourceNotFoundException", 404)
    assert JOBS.look(session(Aws(gone)), JOB) == Missing()


@pytest.mark.parametrize(
    ("status", "how"),
    [
        ("Completed", "completed"),
        ("PartiallyCompleted", "expired"),
        ("Expired", "expired"),
        ("Stopped", "canceled"),
        ("Failed", "completed"),
    ],
)
def test_all_files_of_an_ended_job_are_its_results_and_its_manifest_counts(
    status: str, how: str
) -> None:
    manifest = {
        "totalRecordCount": 100,
        "successRecordCount": 60,
        "inputTokenCount": 900,
        "outputTokenCount": 400,
    }
    aws = Aws(
        said({"status": status, "totalRecordCount": 0, "successRecordCount": 0}),
        listing(f"{OUTPUT}input.jsonl.out", f"{FOLDER}other.jsonl.out", more="n&amp;1"),
        listing(f"{OUTPUT}input-1.jsonl.out", f"{OUTPUT}manifest.json.out"),
        said(manifest),
    )
    ended = JOBS.look(session(aws), JOB)
    assert isinstance(ended, Ended)
    assert (ended.how, ended.succeeded, ended.total) == (how, 60, 100)
    assert ended.usage is not None
    assert (ended.usage.input_tokens, ended.usage.output_tokens) == (900, 400)
    places = [f"{OUTPUT}input.jsonl.out", f"{OUTPUT}input-1.jsonl.out"]
    assert ended.results == [Results(place) for place in places]
    assert parse_qs(urlsplit(aws.sent[2][1]).query)["continuation-token"] == ["n&1"]
    for _, url, headers, _ in aws.sent[1:]:
        assert url.startswith("https://lab-batches.s3.eu-west-1.amazonaws.com/")
        assert headers["x-amz-expected-bucket-owner"] == "123456789012"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("Access denied to s3://lab-batches/autotune/", "account"),
        ("Bedrock could not assume the role", "account"),
        ("Enqueued token limit reached", "rate_limited"),
        ("An internal error occurred", "provider_error"),
        ("The records are malformed", "rejected"),
        (None, "rejected"),
    ],
)
def test_why_a_job_failed(message: str | None, code: str) -> None:
    aws = Aws(said({"status": "Failed", "message": message}), listing())
    ended = JOBS.look(session(aws), JOB)
    assert isinstance(ended, Ended)
    assert ended.how == "failed"
    assert ended.refusal is not None
    assert ended.refusal.code == code


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (301, "PermanentRedirect", "account"),
        (403, "AccessDenied", "account"),
        (404, "NoSuchBucket", "account"),
        (503, "SlowDown", "provider_error"),
        (500, "InternalError", "provider_error"),
    ],
)
def test_a_bucket_that_refuses_is_named_with_what_it_said(
    status: int, kind: str, code: str
) -> None:
    body = f"<Error><Code>{kind}</Code><Message>said &amp; done</Message></Error>"
    sent = JOBS.upload(session(Aws(xml(body, status))), JOB, Body(1, lambda: iter([b"x"])))
    assert isinstance(sent, Refusal)
    assert sent.code == code
    assert sent.message == f"bucket lab-batches: {kind}: said & done"


def test_all_of_a_batchs_folder_is_deleted_and_nothing_else() -> None:
    keys = [f"{FOLDER}input.jsonl", f"{OUTPUT}manifest.json.out"]
    aws = Aws(listing(*keys, "autotune/lbt_2/input.jsonl"), xml("", 204), xml("", 204))
    assert JOBS.clean(session(aws), JOB, []) is None
    deleted = [url.partition(".com/")[2] for method, url, _, _ in aws.sent if method == "DELETE"]
    assert deleted == keys


def test_a_job_that_has_ended_cannot_be_stopped_and_that_is_fine() -> None:
    assert JOBS.cancel(session(Aws(error("ConflictException", 400))), JOB) is None
    refused = JOBS.cancel(session(Aws(error("ThrottlingException", 429))), JOB)
    assert isinstance(refused, Refusal)
    assert refused.code == "rate_limited"


def line(**members: Any) -> Any:
    raw = json.dumps({"recordId": "row1", "modelInput": {}, **members}).encode()
    return JOBS.line(raw, None)


def test_lines_of_results() -> None:
    answered = line(modelOutput={"output": {"message": {"content": [{"text": "Blue"}]}}})
    assert answered.custom_id == "row1"
    assert isinstance(answered.outcome, Answer)
    codes = [
        ({"error": {"errorCode": 400, "errorMessage": "bad request"}}, "rejected"),
        ({"error": {"errorCode": 429, "errorMessage": "slow"}}, "rate_limited"),
        ({"error": {"errorCode": 403, "errorMessage": "no access"}}, "account"),
        ({"error": {"errorCode": "x"}}, "provider_error"),
        ({"error": {"errorCode": 400, "expired": True}}, "batch_expired"),
        ({}, "result_malformed"),
    ]
    for members, code in codes:
        assert line(**members).outcome.code == code, members
    assert JOBS.line(b'{"modelOutput": {}}', None) is None
    assert JOBS.line(b"\xff not json", None) is None


def test_a_row_is_a_record_of_converse() -> None:
    row = json.loads(JOBS.row("row1", question("m")))
    assert row["recordId"] == "row1"
    assert row["modelInput"]["inferenceConfig"] == {"maxTokens": 50}
    assert "modelId" not in row["modelInput"]
