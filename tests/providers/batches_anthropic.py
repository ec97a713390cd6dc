"""Message batches: https://platform.claude.com/docs/en/api/messages/batches, read on 2026-11-22."""

from typing import Any

from tests.providers import strict
from tests.providers.answers import Ask
from tests.providers.chat_anthropic import PARAMS, read_checked
from tests.providers.lifecycle import admit, cancel, settle, spring
from tests.providers.limits import check_id, keep
from tests.providers.listing import page, seen
from tests.providers.results import as_jsonl, result_lines
from tests.providers.routes import Route
from tests.providers.state import Batch, Row, World, rfc3339
from tests.providers.synchronous import body_of
from tests.providers.wire import Answer, ProviderError, Request

_CREATE = strict.shape(
    required={
        "requests": strict.items(
            strict.shape(
                required={
                    "custom_id": strict.text(pattern=r"[a-zA-Z0-9_-]+"),
                    "params": strict.mapping,
                }
            ),
            least=1,
        )
    }
)


def create(world: World, request: Request) -> Answer:
    body = body_of(request)
    keep(world, "anthropic", "bytes", len(request.body), status=413)
    _CREATE(body, "")
    keep(world, "anthropic", "rows", len(body["requests"]))
    ids = [one["custom_id"] for one in body["requests"]]
    for custom_id in ids:
        check_id(world, "anthropic", custom_id)
    if len(set(ids)) < len(ids):
        raise ProviderError(400, "invalid", "requests: custom_id must be unique")
    batch = Batch(
        id=world.ids.new("msgbatch_"),
        provider="anthropic",
        workspace=request.workspace,
        key=request.key,
        created_at=world.clock.now(),
        rows=[_row(index, one) for index, one in enumerate(body["requests"])],
    )
    admit(world, batch)
    _refuse_at_once(world, batch)
    return Answer.json(document(world, batch, request))


def _row(index: int, one: dict[str, Any]) -> Row:
    """The parameters are checked when the row runs, as at the provider."""
    ask: Ask | None = None
    refusal = None
    try:
        PARAMS(one["params"], "")
        ask = read_checked(one["params"])
    except strict.RefusedError as error:
        refusal = f"{error.param}: {error}"
    return Row(index=index, custom_id=one["custom_id"], ask=ask, raw=one["params"], refusal=refusal)


def _refuse_at_once(world: World, batch: Batch) -> None:
    """Anthropic knows no failed batches: what fails one elsewhere is refused at its creation.

    Raises:
        ProviderError: If a trap says so; there is no batch then.
    """
    for row in batch.rows:
        if "poison_row" in row.traps:
            del world.batches[batch.id]
            world.traps.note("poison_row", "anthropic", None, [row.custom_id])
            raise ProviderError(400, "invalid", f"requests.{row.index}.params: invalid request")
    if spring(world, batch, "token_limit") is not None:
        del world.batches[batch.id]
        message = "Too many requests are waiting in batches."
        raise ProviderError(429, "rate", message, retry_after=5)


def document(world: World, batch: Batch, request: Request) -> dict[str, Any]:
    settle(world, batch)
    counts = batch.counts()
    over = batch.over
    results = None
    if over and spring(world, batch, "completed_without_output") is None:
        results = f"{request.base_url}/v1/messages/batches/{batch.id}/results"
        params = spring(world, batch, "output_id_later")
        later = 0.0 if params is None else float(params.get("seconds", 120))
        if world.clock.now() < (batch.ended_at or 0) + later:
            results = None
    shown = {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended" if over else _status(batch),
        # All are processing until the whole batch has ended.
        "request_counts": {
            "processing": 0 if over else len(batch.rows),
            **{
                name: counts[name] if over else 0
                for name in ("succeeded", "errored", "canceled", "expired")
            },
        },
        "created_at": rfc3339(batch.created_at),
        "expires_at": rfc3339(batch.expires_at),
        "ended_at": rfc3339(batch.ended_at),
        "cancel_initiated_at": rfc3339(batch.cancel_at),
        "archived_at": None,
        "results_url": results,
    }
    if over and spring(world, batch, "counts_zero") is not None:
        shown["request_counts"] = dict.fromkeys(shown["request_counts"], 0)
    return shown


def _status(batch: Batch) -> str:
    return "canceling" if batch.cancel_at is not None else "in_progress"


def line_of(row: Row) -> dict[str, Any]:
    """A line of the results."""
    result: dict[str, Any] = {"type": row.ended}
    if row.ended == "succeeded":
        result["message"] = row.body
    elif row.ended == "errored":
        result["error"] = row.body
    return {"custom_id": row.custom_id, "result": result}


def results(world: World, request: Request) -> Answer:
    batch = seen(world, request, request.value("id"))
    if document(world, batch, request)["results_url"] is None:
        message = f"Batch {batch.id} has no available results."
        raise ProviderError(404, "not_found", message)
    if "results" not in batch.extra:
        lines = result_lines(world, batch, batch.rows, line_of, "custom_id")
        batch.extra["results"] = as_jsonl(lines)
    return Answer(
        body=batch.extra["results"],
        headers={"content-type": "application/x-jsonl"},
        jsonl=True,
        batch_id=batch.id,
    )


def get(world: World, request: Request) -> Answer:
    batch = seen(world, request, request.value("id"), looking=True)
    return Answer.json(document(world, batch, request))


def stop(world: World, request: Request) -> Answer:
    batch = seen(world, request, request.value("id"))
    settle(world, batch)
    if batch.over:
        raise ProviderError(400, "invalid", f"Batch {batch.id} has already ended.")
    cancel(world, batch)
    return Answer.json(document(world, batch, request))


def listed(world: World, request: Request) -> Answer:
    found = page(world, request, lambda one: document(world, one, request), after="after_id")
    del found["object"]
    return Answer.json(found)


def delete(world: World, request: Request) -> Answer:
    batch = seen(world, request, request.value("id"))
    settle(world, batch)
    if not batch.over:
        raise ProviderError(400, "invalid", f"Batch {batch.id} has not ended.")
    batch.workspace = "deleted"
    return Answer.json({"id": batch.id, "type": "message_batch_deleted"})


_BASE = r"/v1/messages/batches"
_ONE = rf"{_BASE}/(?P<id>[^/]+)"
ROUTES = [
    Route("POST", _BASE, "anthropic", "create", create),
    Route("GET", _BASE, "anthropic", "list", listed),
    Route("GET", _ONE, "anthropic", "get", get),
    Route("DELETE", _ONE, "anthropic", "file", delete),
    Route("POST", rf"{_ONE}/cancel", "anthropic", "cancel", stop),
    Route("GET", rf"{_ONE}/results", "anthropic", "download", results),
]
