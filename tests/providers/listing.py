"""Which batches a request sees: by id, and in pages."""

from collections.abc import Callable
from typing import Any

from tests.providers.lifecycle import settle, spring
from tests.providers.state import Batch, World
from tests.providers.wire import ProviderError, Request


def seen(world: World, request: Request, batch_id: str, *, looking: bool = False) -> Batch:
    """A batch by its id.

    Args:
        looking: Whether this is the request whose answers come late after a creation.

    Raises:
        ProviderError: If this key cannot see it, or cannot see it yet.
    """
    batch = world.batches.get(batch_id)
    missing = ProviderError(404, "not_found", f"No batch found with id '{batch_id}'.")
    if batch is None or not _belongs(world, batch, request):
        raise missing
    if looking and batch.hidden_get.hides(world.clock.now()):
        spring(world, batch, "get_404_after_create")
        raise missing
    return batch


def visible(world: World, request: Request) -> list[Batch]:
    """What a list shows, newest first."""
    found = []
    for batch in reversed(world.batches.values()):
        if not _belongs(world, batch, request):
            continue
        if batch.hidden_list.hides(world.clock.now()):
            spring(world, batch, "list_lags")
            continue
        settle(world, batch)
        found.append(batch)
    return found


def size_of_page(world: World, request: Request, asked: int) -> int:
    params = world.traps.take("list_pages", request.provider)
    return asked if params is None else int(params.get("size", 1))


def filters_apply(world: World, request: Request) -> bool:
    return world.traps.take("list_ignores_filters", request.provider) is None


def page(
    world: World,
    request: Request,
    document: Callable[[Batch], dict[str, Any]],
    *,
    after: str = "after",
    keep: Callable[[Batch], bool] = lambda batch: True,
) -> dict[str, Any]:
    """A page as OpenAI, OpenRouter and Anthropic have them.

    Raises:
        ProviderError: If the limit is none, or the cursor is unknown.
    """
    most = 1000 if request.provider == "anthropic" else 100
    limit = request.one("limit") or "20"
    if not limit.isdigit() or not 1 <= int(limit) <= most:
        raise ProviderError(400, "invalid", f"limit must be from 1 to {most}.", param="limit")
    batches = visible(world, request)
    cursor = request.one(after)
    if cursor is not None:
        if cursor not in world.batches:
            raise ProviderError(404, "not_found", f"No batch found with id '{cursor}'.")
        # What is hidden has its place too: a page starts behind what was made before the cursor.
        order = list(world.batches)
        older = set(order[: order.index(cursor)])
        batches = [batch for batch in batches if batch.id in older]
    batches = [batch for batch in batches if keep(batch)]
    size = size_of_page(world, request, int(limit))
    shown = batches[:size]
    return {
        "object": "list",
        "data": [document(batch) for batch in shown],
        "first_id": shown[0].id if shown else None,
        "last_id": shown[-1].id if shown else None,
        "has_more": len(batches) > len(shown),
    }


def _belongs(world: World, batch: Batch, request: Request) -> bool:
    if (batch.provider, batch.workspace) != (request.provider, request.workspace):
        return False
    if "old_key_only" in batch.traps and batch.key != request.key:
        spring(world, batch, "old_key_only")
        return False
    return True
