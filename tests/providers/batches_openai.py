"""OpenAI's and Azure's batches: https://developers.openai.com/api/docs/guides/batch, 2026-11-22."""

from typing import Any

from tests.providers import files_openai, strict
from tests.providers.input_openai import CHAT, read_input
from tests.providers.lifecycle import admit, cancel, settle, spring
from tests.providers.limits import keep
from tests.providers.listing import page, seen
from tests.providers.results import as_jsonl, result_lines
from tests.providers.routes import Route
from tests.providers.state import Batch, Row, World
from tests.providers.synchronous import body_of
from tests.providers.wire import Answer, ProviderError, Request

_CREATE = strict.shape(
    required={
        "input_file_id": strict.text(least=1),
        "endpoint": strict.choice(*CHAT),
        "completion_window": strict.choice("24h"),
    },
    optional={
        "metadata": strict.nullable(strict.strings()),
        "output_expires_after": strict.shape(
            required={
                "anchor": strict.choice("created_at"),
                "seconds": strict.between(strict.integer, 3600, 2_592_000),
            }
        ),
    },
)
_NOT_EXECUTED = {
    "expired": (
        "batch_expired",
        "This request could not be executed before the completion window expired.",
    ),
    "canceled": ("batch_cancelled", "This request was not executed: the batch was cancelled."),
}
_TIMES = ("in_progress", "finalizing", "completed", "failed", "expired", "cancelling", "cancelled")


def create(world: World, request: Request) -> Answer:
    body = body_of(request)
    _CREATE(body, "")
    provider, now = request.provider, world.clock.now()
    stored = world.file(provider, request.workspace, body["input_file_id"])
    if stored is None or stored.hidden.hides(now):
        message = f"Cannot find file {body['input_file_id']}, or it is not accessible."
        raise ProviderError(400, "invalid", message, param="file_id")
    recent = sum(
        one.provider == provider and one.created_at > now - 3600 for one in world.batches.values()
    )
    keep(world, provider, "creations_an_hour", recent + 1, status=429)
    batch = Batch(
        id=world.ids.new("batch_"),
        provider=provider,
        workspace=request.workspace,
        key=request.key,
        created_at=now,
        rows=[],
        endpoint=body["endpoint"],
        metadata=body.get("metadata"),
        input_file_id=stored.id,
    )
    read_input(world, batch, stored.content)
    admit(world, batch)
    return Answer.json(document(world, batch))


def document(world: World, batch: Batch) -> dict[str, Any]:
    """The batch object as it is now."""
    settle(world, batch)
    status = batch.status
    times: dict[str, float | None] = dict.fromkeys(_TIMES)
    if batch.runs_from:
        times["in_progress"] = batch.runs_from
    times["cancelling"] = batch.cancel_at
    if batch.over:
        times[status] = batch.ended_at
        times["finalizing"] = batch.ended_at if status in ("completed", "expired") else None
    output, errors = _file_ids(world, batch)
    shown: dict[str, Any] = {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.endpoint,
        "model": batch.model or None,
        "errors": _errors(batch),
        "input_file_id": batch.input_file_id,
        "completion_window": "24h",
        "status": status,
        "output_file_id": output,
        "error_file_id": errors,
        "created_at": int(batch.created_at),
        "expires_at": int(batch.expires_at),
        "metadata": batch.metadata,
        **{f"{name}_at": None if at is None else int(at) for name, at in times.items()},
    }
    counts = batch.counts()
    shown["request_counts"] = {
        "total": len(batch.rows) if batch.runs_from else 0,
        "completed": counts["succeeded"],
        "failed": counts["errored"] + (counts["expired"] + counts["canceled"]) * batch.over,
    }
    if batch.over and spring(world, batch, "counts_zero") is not None:
        shown["request_counts"] = {"total": 0, "completed": 0, "failed": 0}
    if batch.over and spring(world, batch, "counts_absent") is not None:
        shown["request_counts"] = None
    if batch.over:
        shown["usage"] = _usage(batch)
    return shown


def _errors(batch: Batch) -> dict[str, Any] | None:
    if batch.error is None or batch.status != "failed":
        return None
    found = batch.extra.get("errors", [batch.error])
    data = [
        {"code": code, "message": message, "line": line, "param": None}
        for code, message, line in found
    ]
    return {"object": "list", "data": data}


def _usage(batch: Batch) -> dict[str, Any]:
    done = [row.execution for row in batch.rows if row.execution]
    inputs, outputs = sum(x.input_tokens for x in done), sum(x.output_tokens for x in done)
    return {
        "input_tokens": inputs,
        "input_tokens_details": {"cached_tokens": sum(x.cached_tokens for x in done)},
        "output_tokens": outputs,
        "output_tokens_details": {"reasoning_tokens": sum(x.reasoning_tokens for x in done)},
        "total_tokens": inputs + outputs,
    }


def _file_ids(world: World, batch: Batch) -> tuple[str | None, str | None]:
    """The ids of output and error file, once there are any to be seen."""
    if not batch.over or batch.status == "failed":
        return None, None
    if "made" not in batch.extra:
        batch.extra["made"] = True
        good = [row for row in batch.rows if row.ended == "succeeded"]
        bad = [row for row in batch.rows if row.ended != "succeeded"]
        made = {
            "output": result_lines(world, batch, good, line_of, "custom_id"),
            "error": [line_of(row) for row in bad],
        }
        for kind, lines in made.items():
            if lines and not (kind == "output" and "completed_without_output" in batch.traps):
                batch.files[kind] = files_openai.store(
                    world,
                    batch.provider,
                    batch.workspace,
                    f"{batch.id}_{kind}.jsonl",
                    as_jsonl(lines),
                    purpose="batch_output",
                )
    none = "" if spring(world, batch, "output_id_empty") is not None else None
    params = spring(world, batch, "output_id_later")
    later = 0.0 if params is None else float(params.get("seconds", 120))
    if world.clock.now() < (batch.ended_at or 0) + later:
        return none, none
    ids = [batch.files[kind].id if kind in batch.files else none for kind in ("output", "error")]
    return ids[0], ids[1]


def line_of(row: Row) -> dict[str, Any]:
    """A line of the output or error file."""
    line: dict[str, Any] = {
        "id": f"batch_req_{row.index}_{row.custom_id[:16]}",
        "custom_id": row.custom_id,
        "response": None,
        "error": None,
    }
    if row.ended in _NOT_EXECUTED:
        code, message = _NOT_EXECUTED[row.ended]
        line["error"] = {"code": code, "message": message}
    else:
        token = row.execution.token if row.execution else ""
        line["response"] = {
            "status_code": row.status,
            "request_id": f"req_{token}" if token else "",
            "body": row.body,
        }
    return line


def find(world: World, request: Request, *, looking: bool = False) -> Batch:
    """The batch that the path names, for a key that sees it."""
    return seen(world, request, request.value("id"), looking=looking)


def get(world: World, request: Request) -> Answer:
    batch = find(world, request, looking=True)
    return Answer.json(document(world, batch))


def stop(world: World, request: Request) -> Answer:
    batch = find(world, request)
    settle(world, batch)
    if batch.over:
        message = f"Cannot cancel a batch with status '{batch.status}'."
        raise ProviderError(409, "conflict", message)
    cancel(world, batch)
    return Answer.json(document(world, batch))


def listed(world: World, request: Request) -> Answer:
    return Answer.json(page(world, request, lambda batch: document(world, batch)))


def routes(provider: str, base: str) -> list[Route]:
    one = rf"{base}/batches/(?P<id>[^/]+)"
    return [
        Route("POST", rf"{base}/batches", provider, "create", create),
        Route("GET", rf"{base}/batches", provider, "list", listed),
        Route("GET", one, provider, "get", get),
        Route("POST", rf"{one}/cancel", provider, "cancel", stop),
        *files_openai.routes(provider, base),
    ]


ROUTES = [
    *routes("openai", "/v1"),
    *routes("azure", "/openai/v1"),
    *routes("azure", "/openai"),
]
