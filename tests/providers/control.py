"""The control API under ``/_fake/``, for tests alone: it needs no key."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from tests.providers.answers import Rule
from tests.providers.catalogue import CATALOGUE
from tests.providers.lifecycle import settle_all
from tests.providers.state import Batch, World
from tests.providers.wire import Answer, Request

Handler = Callable[[World, Request], Any]


def answer(world: World, request: Request) -> Answer:
    """Answers one request; 404 for what is unknown, 400 for what makes no sense."""
    wanted = (request.method, request.path.removeprefix("/_fake"))
    handler = _HANDLERS.get(wanted) or world.more_controls.get(wanted)
    if handler is None:
        return Answer.json({"error": f"no {request.method} {request.path}"}, 404)
    try:
        settle_all(world)
        return Answer.json(handler(world, request))
    except (KeyError, TypeError, ValueError) as error:
        return Answer.json({"error": f"{type(error).__name__}: {error}"}, 400)


def _health(world: World, request: Request) -> Any:
    return {"seed": world.seed, "now": world.clock.now(), "bugs": world.bugs}


def _bill(world: World, request: Request) -> Any:
    return world.bill()


def _executions(world: World, request: Request) -> Any:
    """All of them, or those of one batch: ``?batch_id=``."""
    wanted = request.one("batch_id")
    found = [one for one in world.executions if wanted in (None, one.batch_id)]
    return {"executions": [asdict(one) for one in found]}


def _batches(world: World, request: Request) -> Any:
    """All batches, newest last; ``?rows=1`` with the ids of their rows."""
    with_rows = request.one("rows") == "1"
    return {"batches": [_batch(one, with_rows=with_rows) for one in world.batches.values()]}


def _batch(batch: Batch, *, with_rows: bool) -> dict[str, Any]:
    costs = [row.execution.cost_nano_usd for row in batch.rows if row.execution]
    shown = {
        "id": batch.id,
        "provider": batch.provider,
        "workspace": batch.workspace,
        "status": batch.status,
        "live": not batch.over,
        "model": batch.model,
        "name": batch.name,
        "metadata": batch.metadata,
        "created_at": batch.created_at,
        "ended_at": batch.ended_at,
        "total": len(batch.rows),
        "counts": dict(batch.counts()),
        "cost_nano_usd": sum(costs),
        "traps": sorted(batch.traps),
        "error": batch.error,
    }
    if with_rows:
        shown["rows"] = [
            {
                "custom_id": row.custom_id,
                "ended": row.ended,
                "status": row.status,
                "token": row.execution.token if row.execution else None,
                "traps": sorted(row.traps),
            }
            for row in batch.rows
        ]
    return shown


def _requests(world: World, request: Request) -> Any:
    """How often each operation was asked for, by provider, and what was refused."""
    return {
        "requests": dict(world.requests),
        "refusals": world.refusals,
        "broken_limits": world.broken_limits,
    }


def _advance(world: World, request: Request) -> Any:
    """Moves the clock on: ``{"seconds": 60}``."""
    world.clock.advance(float(request.document()["seconds"]))
    settle_all(world)
    return {"now": world.clock.now()}


def _catalogue(world: World, request: Request) -> Any:
    return {"traps": [asdict(trap) for trap in CATALOGUE.values()]}


def _traps(world: World, request: Request) -> Any:
    return world.traps.report()


def _arm(world: World, request: Request) -> Any:
    """Sets one trap, or several in a list: ``{"name": "create_429", "times": 2, …}``."""
    document = request.document()
    wanted = document if isinstance(document, list) else [document]
    return {"armed": [asdict(world.traps.arm(one.pop("name"), **one)) for one in wanted]}


def _disarm(world: World, request: Request) -> Any:
    world.traps.disarm()
    return world.traps.report()


def _keys(world: World, request: Request) -> Any:
    """Adds and revokes keys: ``{"provider": "openai", "add": {"key": "workspace"}, "revoke": []}``.

    A provider that has keys of its own takes those that all take, too.
    """
    document = request.document()
    keys = world.keys.setdefault(document.get("provider", "*"), {})
    keys.update(document.get("add", {}))
    for key in document.get("revoke", []):
        for owner in world.keys.values():
            owner.pop(key, None)
    return {"keys": {name: sorted(set(found.values())) for name, found in world.keys.items()}}


def _models(world: World, request: Request) -> Any:
    """Adds a model: ``{"provider", "name", "usd_per_million": [input, cached, output]}``."""
    document = request.document()
    first, cached, output = document["usd_per_million"]
    world.prices.add(document["provider"], document["name"], (first, cached, output))
    return _prices(world, request)


def _prices(world: World, request: Request) -> Any:
    return {
        "nano_usd_per_thousand_tokens": {
            provider: {
                model.name: {"standard": asdict(model.standard), "batch": asdict(model.batch)}
                for model in models.values()
            }
            for provider, models in world.prices.models.items()
        }
    }


def _answers(world: World, request: Request) -> Any:
    """Sets labels and rules: ``{"labels": ["a"], "rules": [{"contains": "x", "text": "y"}]}``."""
    document = request.document()
    world.answers.labels = document.get("labels", world.answers.labels)
    if "rules" in document:
        world.answers.rules = [Rule(**rule) for rule in document["rules"]]
    return {"labels": world.answers.labels, "rules": [asdict(one) for one in world.answers.rules]}


def _limits(world: World, request: Request) -> Any:
    """Lowers limits: ``{"provider": "openai", "limits": {"rows": 10}}``."""
    document = request.document()
    world.limits.setdefault(document["provider"], {}).update(document["limits"])
    return {"limits": world.limits}


def _timing(world: World, request: Request) -> Any:
    """Sets how long batches take from now on: ``{"run_seconds": 2}``."""
    for name, seconds in request.document().items():
        if name not in asdict(world.timing):
            raise ValueError(f"no timing is called {name!r}")
        setattr(world.timing, name, float(seconds))
    return asdict(world.timing)


def _s3(world: World, request: Request) -> Any:
    """Where Bedrock finds its buckets: ``{"endpoint": "http://127.0.0.1:4566"}``."""
    world.s3_endpoint = request.document()["endpoint"]
    return {"endpoint": world.s3_endpoint}


_HANDLERS: dict[tuple[str, str], Handler] = {
    ("GET", "/health"): _health,
    ("GET", "/bill"): _bill,
    ("GET", "/executions"): _executions,
    ("GET", "/batches"): _batches,
    ("GET", "/requests"): _requests,
    ("GET", "/traps"): _traps,
    ("GET", "/traps/catalogue"): _catalogue,
    ("GET", "/prices"): _prices,
    ("POST", "/clock/advance"): _advance,
    ("POST", "/traps"): _arm,
    ("DELETE", "/traps"): _disarm,
    ("POST", "/keys"): _keys,
    ("POST", "/models"): _models,
    ("POST", "/answers"): _answers,
    ("POST", "/limits"): _limits,
    ("POST", "/timing"): _timing,
    ("POST", "/s3"): _s3,
}
