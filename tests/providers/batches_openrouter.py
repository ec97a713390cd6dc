"""OpenRouter's batches: https://openrouter.ai/docs/batch-quickstart, read on 2026-11-22."""

from datetime import UTC, datetime
from typing import Any

from tests.providers import strict
from tests.providers.answers import Ask
from tests.providers.dialects import DIALECTS
from tests.providers.lifecycle import admit, settle, spring
from tests.providers.limits import check_id, keep
from tests.providers.listing import filters_apply, page, seen
from tests.providers.results import result_lines
from tests.providers.routes import Route
from tests.providers.state import Batch, Row, World
from tests.providers.synchronous import body_of
from tests.providers.wire import Answer, ProviderError, Request

_CREATE = strict.shape(
    required={
        "endpoint": strict.choice("/v1/chat/completions"),
        "model": strict.text(least=1),
        "requests": strict.items(
            strict.shape(required={"custom_id": strict.text(least=1), "body": strict.mapping}),
            least=1,
        ),
    },
    optional={
        "callback_url": strict.text(pattern=r"https://.+"),
        "completion_window": strict.choice("24h"),
        "provider": strict.nullable(
            strict.shape(
                optional={
                    "only": strict.nullable(strict.items(strict.string)),
                    "allow_fallbacks": strict.nullable(strict.boolean),
                }
            )
        ),
    },
)
_NOT_EXECUTED = {"expired": "The batch expired.", "canceled": "The batch was cancelled."}


def create(world: World, request: Request) -> Answer:
    body = body_of(request)
    keep(world, "openrouter", "bytes", len(request.body), status=413)
    # The body is read as a stream: what is needed for the requests has to come before them.
    names = list(body)
    if "requests" in names:
        later = {"endpoint", "model", "callback_url"}.intersection(
            names[names.index("requests") + 1 :]
        )
        if later:
            raise ProviderError(400, "invalid", f"{min(later)} must come before requests")
    _CREATE(body, "")
    keep(world, "openrouter", "rows", len(body["requests"]), status=413)
    ids = [one["custom_id"] for one in body["requests"]]
    for custom_id in ids:
        check_id(world, "openrouter", custom_id)
    if len(set(ids)) < len(ids):
        raise ProviderError(400, "invalid", "custom_id must be unique within a batch")
    for one in body["requests"]:
        if one["body"].get("model", body["model"]) != body["model"]:
            raise ProviderError(400, "invalid", "A request's model is not the batch's model")
    if world.prices.find("openrouter", body["model"]) is None:
        raise ProviderError(404, "unknown_model", f"No endpoints found for {body['model']}.")
    batch = Batch(
        id=world.ids.new("batch_"),
        provider="openrouter",
        workspace=request.workspace,
        key=request.key,
        created_at=world.clock.now(),
        rows=[_row(index, one, body["model"]) for index, one in enumerate(body["requests"])],
        endpoint=body["endpoint"],
        model=body["model"],
        metadata={"callback_url": body["callback_url"]} if "callback_url" in body else None,
    )
    admit(world, batch)
    return Answer.json(document(world, batch), 202)


def _row(index: int, one: dict[str, Any], model: str) -> Row:
    ask: Ask | None = None
    refusal = None
    try:
        ask = DIALECTS["openrouter"].read(one["body"], model)
    except strict.RefusedError as error:
        refusal = str(error)
    return Row(index=index, custom_id=one["custom_id"], ask=ask, raw=one["body"], refusal=refusal)


def document(world: World, batch: Batch, *, results: bool = False) -> dict[str, Any]:
    """The batch object; results are in it once it is over, and never in lists."""
    settle(world, batch)
    counts = batch.counts()
    failed = counts["errored"] + (counts["expired"] + counts["canceled"]) * batch.over
    shown: dict[str, Any] = {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.endpoint,
        "model": batch.model,
        "provider": "openai" if batch.runs_from else None,
        "status": batch.status,
        "completion_window": "24h",
        "created_at": int(batch.created_at),
        "expires_at": int(batch.expires_at),
        "finalized_at": None if batch.ended_at is None else int(batch.ended_at),
        "request_counts": {
            "total": len(batch.rows),
            "completed": counts["succeeded"],
            "failed": failed,
        },
        # It names no request: whoever sent the batch has to find out.
        "error": {"message": batch.error[1]} if batch.status == "failed" and batch.error else None,
        "results": None,
        "usage": None,
    }
    if not batch.over or batch.status == "failed":
        return shown
    shown["usage"] = _usage(batch)
    if spring(world, batch, "counts_zero") is not None:
        shown["request_counts"] = {"total": 0, "completed": 0, "failed": 0}
    if results:
        shown["results"] = _results(world, batch)
    return shown


def _usage(batch: Batch) -> dict[str, Any]:
    done = [row.execution for row in batch.rows if row.execution]
    inputs, outputs = sum(x.input_tokens for x in done), sum(x.output_tokens for x in done)
    return {
        "prompt_tokens": inputs,
        "completion_tokens": outputs,
        "total_tokens": inputs + outputs,
        "cost": sum(x.cost_nano_usd for x in done) / 1e9,
        "prompt_tokens_details": {"cached_tokens": sum(x.cached_tokens for x in done)},
        "completion_tokens_details": {"reasoning_tokens": sum(x.reasoning_tokens for x in done)},
    }


def _results(world: World, batch: Batch) -> list[dict[str, Any]] | None:
    if spring(world, batch, "completed_without_output") is not None:
        return None
    params = spring(world, batch, "output_id_later")
    later = 0.0 if params is None else float(params.get("seconds", 120))
    if world.clock.now() < (batch.ended_at or 0) + later:
        return None
    if "results" not in batch.extra:
        lines = result_lines(world, batch, batch.rows, _line, "custom_id")
        if spring(world, batch, "inline_without_keys", batch.rows) is not None:
            lines = [{**line, "custom_id": ""} for line in lines]
        batch.extra["results"] = lines
    return batch.extra["results"]


def _line(row: Row) -> dict[str, Any]:
    line: dict[str, Any] = {
        "id": f"batch_req_{row.index}",
        "custom_id": row.custom_id,
        "response": None,
        "error": None,
    }
    if row.ended in _NOT_EXECUTED:
        line["error"] = {"type": row.ended, "message": _NOT_EXECUTED[row.ended], "param": None}
    elif row.ended == "errored":
        detail = row.body["error"] if isinstance(row.body, dict) else {"message": "No answer."}
        kind = {400: "invalid_request_error", 402: "insufficient_credits", 429: "rate_limit_error"}
        line["error"] = {
            "type": row.error_code or kind.get(row.status, "server_error"),
            "message": detail["message"],
            "param": None,
        }
    else:
        token = row.execution.token if row.execution else None
        line["response"] = {"status_code": 200, "request_id": token, "body": row.body}
    return line


def get(world: World, request: Request) -> Answer:
    batch = seen(world, request, request.value("id"), looking=True)
    answer = Answer.json(document(world, batch, results=True))
    answer.carries_results, answer.batch_id = batch.over, batch.id
    return answer


def listed(world: World, request: Request) -> Answer:
    statuses = request.query.get("status", [])
    after, before = (_seconds(request.one(name)) for name in ("created_after", "created_before"))
    apply = True
    if statuses or after is not None or before is not None:
        apply = filters_apply(world, request)

    def keeps(batch: Batch) -> bool:
        return (
            (not statuses or batch.status in statuses)
            and (after is None or batch.created_at > after)
            and (before is None or batch.created_at < before)
        )

    def shown(batch: Batch) -> dict[str, Any]:
        return document(world, batch)

    if not apply:
        return Answer.json(page(world, request, shown))
    return Answer.json(page(world, request, shown, keep=keeps))


def _seconds(value: str | None) -> float | None:
    """A timestamp, in seconds since 1970 or as RFC 3339."""
    if value is None:
        return None
    if value.replace(".", "", 1).isdigit():
        return float(value)
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        raise ProviderError(400, "invalid", f"Invalid timestamp: {value}") from None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


def delete(world: World, request: Request) -> Answer:
    batch = seen(world, request, request.value("id"))
    settle(world, batch)
    if not batch.over:
        raise ProviderError(409, "conflict", "Only a batch that has ended can be deleted.")
    batch.workspace = "deleted"
    deletion = {"openrouter": "deleted"}
    return Answer.json({"id": batch.id, "object": "batch", "deletion": deletion})


_BASE = r"/api/(v1|beta)/batches"
_ONE = rf"{_BASE}/(?P<id>[^/]+)"
ROUTES = [
    Route("POST", _BASE, "openrouter", "create", create),
    Route("GET", _BASE, "openrouter", "list", listed),
    Route("GET", _ONE, "openrouter", "get", get),
    Route("DELETE", _ONE, "openrouter", "file", delete),
]
