"""Google's batches: https://ai.google.dev/gemini-api/docs/batch-api, read on 2026-11-22."""

import json
from typing import Any

from tests.providers import files_gemini, strict
from tests.providers.answers import Ask
from tests.providers.chat_gemini import SHAPE
from tests.providers.dialects import DIALECTS
from tests.providers.lifecycle import admit, cancel, settle, spring
from tests.providers.limits import check_id, keep, under_way
from tests.providers.listing import seen, size_of_page, visible
from tests.providers.results import as_jsonl, result_lines
from tests.providers.routes import Route
from tests.providers.state import Batch, Row, World, rfc3339
from tests.providers.synchronous import body_of
from tests.providers.wire import Answer, ProviderError, Request

_INLINE = strict.shape(
    required={"request": SHAPE}, optional={"metadata": strict.nullable(strict.mapping)}
)
_CREATE = strict.shape(
    required={
        "batch": strict.shape(
            required={
                "inputConfig": strict.either(
                    strict.shape(required={"fileName": strict.text(pattern=r"files/.+")}),
                    strict.shape(
                        required={
                            "requests": strict.shape(
                                required={"requests": strict.items(_INLINE, least=1)}
                            )
                        }
                    ),
                )
            },
            optional={
                "displayName": strict.text(most=512),
                "priority": strict.anything,
                "webhookConfig": strict.mapping,
                "model": strict.string,
            },
        )
    }
)
_LINE = strict.shape(
    required={"request": strict.mapping},
    optional={"key": strict.string, "metadata": strict.mapping},
)
_STATES = {
    "validating": "PENDING",
    "in_progress": "RUNNING",
    "cancelling": "RUNNING",
    "completed": "SUCCEEDED",
    "failed": "FAILED",
    "expired": "EXPIRED",
    "cancelled": "CANCELLED",
}
_RPC_OF_ROWS = {"expired": (4, "The batch expired."), "canceled": (1, "The batch was cancelled.")}
_TYPE = "type.googleapis.com/google.ai.generativelanguage.v1main."


def create(world: World, request: Request) -> Answer:
    body = body_of(request)
    _CREATE(body, "")
    model = request.value("model")
    if world.prices.find("gemini", model) is None:
        raise ProviderError(404, "unknown_model", f"models/{model} is not found.")
    jobs = under_way(world, "gemini", request.workspace)
    keep(world, "gemini", "jobs", jobs + 1, status=429)
    batch = Batch(
        id=world.ids.new("batches/", 20),
        provider="gemini",
        workspace=request.workspace,
        key=request.key,
        created_at=world.clock.now(),
        rows=[],
        model=model,
        name=body["batch"].get("displayName", ""),
    )
    source = body["batch"]["inputConfig"]
    if "fileName" in source:
        stored = files_gemini.find(world, request, source["fileName"])
        batch.input_file_id = stored.id
        _read_file(world, batch, stored.content)
    else:
        keep(world, "gemini", "inline_bytes", len(request.body), status=413)
        batch.inline = True
        for index, one in enumerate(source["requests"]["requests"]):
            metadata = one.get("metadata")
            custom_id = str((metadata or {}).get("key", index))
            batch.rows.append(_row(index, custom_id, one["request"], model, metadata))
    admit(world, batch)
    batch.expires_at = batch.created_at + 48 * 3600
    if spring(world, batch, "token_limit") is not None:
        del world.batches[batch.id]
        message = "You exceeded your current quota: enqueued tokens."
        raise ProviderError(429, "rate", message, retry_after=5)
    return Answer.json(operation(world, batch))


def _read_file(world: World, batch: Batch, content: bytes) -> None:
    for number, line in enumerate(content.splitlines()):
        if not line.strip():
            continue
        try:
            document = json.loads(line)
            _LINE(document, "")
        except (ValueError, strict.RefusedError):
            # A file with a broken line fails as a whole, and no line is named.
            batch.error = ("invalid_argument", "The input file could not be parsed.", None)
            return
        key = document.get("key", str(number))
        check_id(world, "gemini", key)
        row = _row(len(batch.rows), key, document["request"], batch.model, document.get("metadata"))
        batch.rows.append(row)


def _row(index: int, custom_id: str, body: Any, model: str, metadata: Any) -> Row:
    ask: Ask | None = None
    refusal = None
    try:
        ask = DIALECTS["gemini"].read(body, model)
    except strict.RefusedError as error:
        refusal = str(error)
    return Row(
        index=index,
        custom_id=custom_id,
        ask=ask,
        raw=body,
        metadata=metadata,
        refusal=refusal,
    )


def operation(world: World, batch: Batch) -> dict[str, Any]:
    """The long-running operation that a batch is at Google."""
    settle(world, batch)
    counts = batch.counts()
    done = batch.over
    failed = counts["errored"] + counts["expired"] * done + counts["canceled"] * done
    metadata: dict[str, Any] = {
        "@type": f"{_TYPE}GenerateContentBatch",
        "name": batch.id,
        "model": f"models/{batch.model}",
        "displayName": batch.name,
        "createTime": rfc3339(batch.created_at),
        "updateTime": rfc3339(batch.ended_at or world.clock.now()),
        "state": f"BATCH_STATE_{_STATES[batch.status]}",
        # 64-bit numbers are strings in Google's JSON, and zeros are left out.
        "batchStats": {
            name: str(number)
            for name, number in (
                ("requestCount", len(batch.rows)),
                ("successfulRequestCount", counts["succeeded"]),
                ("failedRequestCount", failed),
                ("pendingRequestCount", counts["processing"]),
            )
            if number
        },
    }
    if batch.ended_at is not None:
        metadata["endTime"] = rfc3339(batch.ended_at)
    if done and spring(world, batch, "counts_zero") is not None:
        metadata["batchStats"] = {"requestCount": "0"}
    if done and spring(world, batch, "counts_absent") is not None:
        del metadata["batchStats"]
    shown: dict[str, Any] = {"name": batch.id, "metadata": metadata}
    if not done:
        return shown
    shown["done"] = True
    if batch.status == "failed" and batch.error:
        shown["error"] = {"code": 3, "message": batch.error[1]}
    elif batch.status == "completed" and (output := _output(world, batch)):
        metadata["output"] = output
        shown["response"] = {"@type": f"{_TYPE}GenerateContentBatchOutput", **output}
    return shown


def _output(world: World, batch: Batch) -> dict[str, Any] | None:
    """Where the results are, or the results; jobs that expire or are canceled have none."""
    if spring(world, batch, "completed_without_output") is not None:
        return None
    params = spring(world, batch, "output_id_later")
    later = 0.0 if params is None else float(params.get("seconds", 120))
    if world.clock.now() < (batch.ended_at or 0) + later:
        return None
    if "output" not in batch.extra:
        batch.extra["output"] = _make_output(world, batch)
    return batch.extra["output"]


def _make_output(world: World, batch: Batch) -> dict[str, Any]:
    lines = result_lines(world, batch, batch.rows, _line, "key")
    if not batch.inline:
        name = f"batch-{batch.id.removeprefix('batches/')}"
        content = as_jsonl(lines)
        files_gemini.store(world, batch.workspace, name, content, generated=True)
        return {"responsesFile": f"files/{name}"}
    keyless = spring(world, batch, "inline_without_keys", batch.rows) is not None
    shown = []
    for line in lines:
        told = {name: line[name] for name in ("response", "error") if name in line}
        if not keyless and line.get("metadata"):
            told["metadata"] = dict(line["metadata"])
            if "key" in told["metadata"]:
                told["metadata"]["key"] = line["key"]
        shown.append(told)
    return {"inlinedResponses": {"inlinedResponses": shown}}


def _line(row: Row) -> dict[str, Any]:
    line: dict[str, Any] = {"key": row.custom_id}
    if row.metadata:
        line["metadata"] = row.metadata
    if row.ended == "succeeded":
        line["response"] = row.body
    elif row.ended in _RPC_OF_ROWS:
        code, message = _RPC_OF_ROWS[row.ended]
        line["error"] = {"code": code, "message": message}
    else:
        line["error"] = row.body
    return line


def get(world: World, request: Request) -> Answer:
    batch = seen(world, request, f"batches/{request.value('id')}", looking=True)
    answer = Answer.json(operation(world, batch))
    answer.carries_results = batch.over and batch.inline
    answer.batch_id = batch.id
    return answer


def stop(world: World, request: Request) -> Answer:
    batch = seen(world, request, f"batches/{request.value('id')}")
    cancel(world, batch)
    return Answer.json({})


def delete(world: World, request: Request) -> Answer:
    batch = seen(world, request, f"batches/{request.value('id')}")
    batch.workspace = "deleted"
    return Answer.json({})


def listed(world: World, request: Request) -> Answer:
    """Operations, newest first; the list has no filters."""
    size = min(int(request.one("pageSize") or 50), 1000)
    size = size_of_page(world, request, size)
    start = int(request.one("pageToken") or 0)
    batches = visible(world, request)
    shown: dict[str, Any] = {
        "operations": [operation(world, one) for one in batches[start : start + size]]
    }
    if start + size < len(batches):
        shown["nextPageToken"] = str(start + size)
    return Answer.json(shown)


_ONE = r"/v1(beta)?/batches/(?P<id>[^/:]+)"
_CREATION = r"/v1(beta)?/models/(?P<model>[^/:]+):batchGenerateContent"
ROUTES = [
    Route("POST", _CREATION, "gemini", "create", create),
    Route("GET", r"/v1(beta)?/batches", "gemini", "list", listed),
    Route("GET", _ONE, "gemini", "get", get),
    Route("POST", rf"{_ONE}:cancel", "gemini", "cancel", stop),
    Route("DELETE", _ONE, "gemini", "file", delete),
    *files_gemini.ROUTES,
]
