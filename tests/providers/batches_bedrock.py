"""Bedrock's batch inference, whose files are in S3.

https://docs.aws.amazon.com/bedrock/latest/userguide/batch-inference.html and botocore's model of
the service bedrock, 2023-04-20, read on 2026-11-22.
"""

import json
import re
from datetime import datetime
from typing import Any

from tests.providers import strict
from tests.providers.answers import Ask
from tests.providers.buckets import buckets_of
from tests.providers.chat_bedrock import Converse
from tests.providers.dialects import DIALECTS
from tests.providers.lifecycle import admit, cancel, settle, spring
from tests.providers.limits import check_id, limit
from tests.providers.listing import filters_apply, seen, size_of_page, visible
from tests.providers.results import as_jsonl, result_lines
from tests.providers.routes import Route
from tests.providers.state import Batch, Row, World, fingerprint, rfc3339
from tests.providers.synchronous import body_of
from tests.providers.wire import Answer, ProviderError, Request

_URI = strict.text(most=1024, pattern=r"s3://[a-z0-9][-.a-z0-9]{1,61}[a-z0-9](/.*)?")
_CREATE = strict.shape(
    required={
        "jobName": strict.text(most=63, pattern=r"[a-zA-Z0-9]{1,63}(-*[a-zA-Z0-9\+\-\.]){0,63}"),
        "roleArn": strict.text(most=2048, pattern=r"arn:aws(-[^:]+)?:iam::([0-9]{12})?:role/.+"),
        "modelId": strict.text(least=1, most=2048),
        "inputDataConfig": strict.shape(
            required={
                "s3InputDataConfig": strict.shape(
                    required={"s3Uri": _URI},
                    optional={
                        "s3InputFormat": strict.choice("JSONL"),
                        "s3BucketOwner": strict.text(pattern="[0-9]{12}"),
                    },
                )
            }
        ),
        "outputDataConfig": strict.shape(
            required={
                "s3OutputDataConfig": strict.shape(
                    required={"s3Uri": _URI},
                    optional={
                        "s3EncryptionKeyId": strict.string,
                        "s3BucketOwner": strict.text(pattern="[0-9]{12}"),
                    },
                )
            }
        ),
    },
    optional={
        "clientRequestToken": strict.text(
            most=256, pattern=r"[a-zA-Z0-9]{1,256}(-*[a-zA-Z0-9]){0,256}"
        ),
        "modelInvocationType": strict.choice("InvokeModel", "Converse"),
        "tags": strict.items(strict.mapping, most=200),
        "timeoutDurationInHours": strict.between(strict.integer, 24, 168),
        "vpcConfig": strict.mapping,
    },
)
_LINE = strict.shape(
    required={"recordId": strict.text(pattern="[a-zA-Z0-9]+"), "modelInput": strict.mapping}
)
_STATUSES = {
    "in_progress": "InProgress",
    "cancelling": "Stopping",
    "cancelled": "Stopped",
    "completed": "Completed",
    "failed": "Failed",
    "expired": "Expired",
}
_S3 = re.compile(r"s3://([^/]+)/?(.*)")


def create(world: World, request: Request) -> Answer:
    body = body_of(request)
    _CREATE(body, "")
    token = body.pop("clientRequestToken", None)
    asked = fingerprint(body)
    for one in world.batches.values():
        if token and one.provider == "bedrock" and one.extra["token"] == token:
            if one.extra["asked"] != asked:
                raise ProviderError(400, "conflict", "The token was used with other parameters.")
            world.traps.note("bedrock_token_replayed", "bedrock", one.id)
            return Answer.json({"jobArn": one.id})
    if world.prices.find("bedrock", body["modelId"]) is None:
        raise ProviderError(400, "invalid", "The provided model identifier is invalid.")
    batch = Batch(
        id=f"arn:aws:bedrock:us-east-1:123456789012:model-invocation-job/{world.ids.new(length=12)}",
        provider="bedrock",
        workspace=request.workspace,
        key=request.key,
        created_at=world.clock.now(),
        rows=[],
        model=body["modelId"],
        name=body["jobName"],
        extra={"token": token, "asked": asked, "body": body},
    )
    if body.get("modelInvocationType") != "Converse":
        batch.extra["dialect"] = "bedrock_invoke"
    _read_input(world, batch)
    admit(world, batch)
    batch.expires_at = batch.created_at + body.get("timeoutDurationInHours", 24) * 3600
    return Answer.json({"jobArn": batch.id})


def _read_input(world: World, batch: Batch) -> None:
    """Reads what S3 holds now; what is wrong with it fails the job when it is validated."""
    uri = batch.extra["body"]["inputDataConfig"]["s3InputDataConfig"]["s3Uri"]
    bucket, key = _S3.fullmatch(uri).groups()  # type: ignore[union-attr]
    store = buckets_of(world)
    keys = [key] if key.endswith(".jsonl") else store.keys(bucket, key)
    contents = {one: store.get(bucket, one) for one in keys if one.endswith(".jsonl")}
    batch.extra["names"] = [one.rpartition("/")[2] for one in contents]
    if not contents or None in contents.values():
        batch.error = ("invalid", f"The input {uri} could not be read.", None)
        return
    for content in contents.values():
        for line in (content or b"").splitlines():
            try:
                document = json.loads(line)
                _LINE(document, "")
                check_id(world, "bedrock", document["recordId"])
            except (ValueError, strict.RefusedError, ProviderError) as error:
                batch.error = ("invalid", f"The input is malformed: {error}", None)
                return
            batch.rows.append(_row(batch, document))
    least = limit(world, "bedrock", "least_rows") or 0
    if len(batch.rows) < least:
        message = f"The job has fewer records ({len(batch.rows)}) than the minimum of {least}."
        batch.error = ("invalid", message, None)


def _row(batch: Batch, document: dict[str, Any]) -> Row:
    ask: Ask | None = None
    refusal = None
    body = document["modelInput"]
    try:
        if "dialect" in batch.extra:
            ask = DIALECTS["bedrock_invoke"].read(body, batch.model)
        else:
            ask = Converse().read(body, batch.model, batch=True)
    except strict.RefusedError as error:
        refusal = str(error)
    index = len(batch.rows)
    row = Row(index=index, custom_id=document["recordId"], ask=ask, raw=body, refusal=refusal)
    row.metadata = body
    return row


def document(world: World, batch: Batch) -> dict[str, Any]:
    """The job as Get shows it; List shows the same."""
    settle(world, batch)
    if batch.over and batch.status != "failed":
        _write_output(world, batch)
    body = batch.extra["body"]
    counts = batch.counts()
    errors = counts["errored"]
    shown: dict[str, Any] = {
        "jobArn": batch.id,
        "jobName": batch.name,
        "modelId": batch.model,
        "roleArn": body["roleArn"],
        "status": _status(world, batch),
        "submitTime": rfc3339(batch.created_at),
        "lastModifiedTime": rfc3339(batch.ended_at or batch.runs_from or batch.created_at),
        "inputDataConfig": body["inputDataConfig"],
        "outputDataConfig": body["outputDataConfig"],
        "timeoutDurationInHours": body.get("timeoutDurationInHours", 24),
        "jobExpirationTime": rfc3339(batch.expires_at),
        "modelInvocationType": body.get("modelInvocationType", "InvokeModel"),
        "totalRecordCount": len(batch.rows),
        "processedRecordCount": counts["succeeded"] + errors,
        "successRecordCount": counts["succeeded"],
        "errorRecordCount": errors,
    }
    if batch.extra["token"]:
        shown["clientRequestToken"] = batch.extra["token"]
    if batch.ended_at is not None:
        shown["endTime"] = rfc3339(batch.ended_at)
    if batch.status == "failed" and batch.error:
        shown["message"] = batch.error[1]
    for name, zero in (("counts_zero", True), ("counts_absent", False)):
        if batch.over and spring(world, batch, name) is not None:
            for count in [key for key in shown if key.endswith("RecordCount")]:
                shown[count] = 0
                if not zero:
                    del shown[count]
    return shown


def _status(world: World, batch: Batch) -> str:
    if batch.status == "validating":
        waited = world.clock.now() - batch.created_at
        return "Submitted" if waited < world.timing.validate_seconds / 2 else "Validating"
    if batch.status == "completed" and "bedrock_partially_completed" in batch.traps:
        return "PartiallyCompleted"
    return _STATUSES[batch.status]


def _write_output(world: World, batch: Batch) -> None:
    """Writes the results beside the manifest, once."""
    if batch.extra.get("written") or spring(world, batch, "completed_without_output") is not None:
        return
    params = spring(world, batch, "output_id_later")
    later = 0.0 if params is None else float(params.get("seconds", 120))
    if world.clock.now() < (batch.ended_at or 0) + later:
        return
    batch.extra["written"] = True
    told = [row for row in batch.rows if row.ended in ("succeeded", "errored")]
    lines = result_lines(world, batch, told, _line, "recordId")
    uri = batch.extra["body"]["outputDataConfig"]["s3OutputDataConfig"]["s3Uri"]
    bucket, prefix = _S3.fullmatch(uri).groups()  # type: ignore[union-attr]
    folder = f"{prefix.rstrip('/')}/{batch.id.rpartition('/')[2]}".lstrip("/")
    params = spring(world, batch, "bedrock_several_outputs")
    files = 1 if params is None else int(params.get("files", 3))
    store = buckets_of(world)
    name = batch.extra["names"][0]
    for number in range(files):
        part = name if number == 0 else f"{name.removesuffix('.jsonl')}-{number}.jsonl"
        store.put(bucket, f"{folder}/{part}.out", as_jsonl(lines[number::files]))
    done = [row.execution for row in batch.rows if row.execution]
    counts = batch.counts()
    manifest = {
        "totalRecordCount": len(batch.rows),
        "processedRecordCount": len(told),
        "successRecordCount": counts["succeeded"],
        "errorRecordCount": counts["errored"],
        "inputTokenCount": sum(one.input_tokens for one in done),
        "outputTokenCount": sum(one.output_tokens for one in done),
    }
    store.put(bucket, f"{folder}/manifest.json.out", json.dumps(manifest).encode())


def _line(row: Row) -> dict[str, Any]:
    line = {"recordId": row.custom_id, "modelInput": row.metadata}
    line["modelOutput" if row.ended == "succeeded" else "error"] = row.body
    return line


def _find(world: World, request: Request, *, looking: bool = False) -> Batch:
    named = request.value("id")
    arn = next((arn for arn in world.batches if arn.rpartition("/")[2] == named), named)
    return seen(world, request, arn, looking=looking)


def get(world: World, request: Request) -> Answer:
    return Answer.json(document(world, _find(world, request, looking=True)))


def stop(world: World, request: Request) -> Answer:
    batch = _find(world, request)
    settle(world, batch)
    if batch.over:
        raise ProviderError(400, "conflict", f"The job has ended: {_status(world, batch)}.")
    cancel(world, batch)
    return Answer.json({})


def listed(world: World, request: Request) -> Answer:
    """Jobs, newest first unless asked otherwise, with the filters that AWS has."""
    batches = visible(world, request)
    if request.one("sortOrder") == "Ascending":
        batches.reverse()
    filters = {"submitTimeAfter", "submitTimeBefore", "statusEquals", "nameContains"}
    if filters.intersection(request.query) and filters_apply(world, request):
        batches = [one for one in batches if _kept(world, one, request)]
    size = size_of_page(world, request, int(request.one("maxResults") or 100))
    start = int(request.one("nextToken") or 0)
    page = batches[start : start + size]
    shown: dict[str, Any] = {"invocationJobSummaries": [document(world, one) for one in page]}
    if start + size < len(batches):
        shown["nextToken"] = str(start + size)
    return Answer.json(shown)


def _kept(world: World, batch: Batch, request: Request) -> bool:
    after, before = (request.one(name) for name in ("submitTimeAfter", "submitTimeBefore"))
    return (
        (request.one("nameContains") or "") in batch.name
        and request.one("statusEquals") in (None, _status(world, batch))
        and (after is None or batch.created_at > datetime.fromisoformat(after).timestamp())
        and (before is None or batch.created_at < datetime.fromisoformat(before).timestamp())
    )


_ONE = r"/model-invocation-job/(?P<id>[^/]+)"
ROUTES = [
    Route("POST", r"/model-invocation-job", "bedrock", "create", create),
    Route("GET", r"/model-invocation-jobs", "bedrock", "list", listed),
    Route("GET", _ONE, "bedrock", "get", get),
    Route("POST", rf"{_ONE}/stop", "bedrock", "cancel", stop),
]
