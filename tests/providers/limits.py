"""What a provider admits of batches at most; what goes beyond is refused and remembered."""

from tests.providers.state import World
from tests.providers.wire import ProviderError

# As the providers' guides name them, read on 2026-11-22.
LIMITS = {
    "openai": {"rows": 50_000, "bytes": 200_000_000, "creations_an_hour": 2_000, "id": 512},
    "azure": {"rows": 100_000, "bytes": 200_000_000, "files": 500, "id": 512},
    "anthropic": {"rows": 100_000, "bytes": 256_000_000, "id": 64},
    "gemini": {"bytes": 2_000_000_000, "inline_bytes": 20_000_000, "jobs": 100, "id": 512},
    "openrouter": {"rows": 5_000, "bytes": 200_000_000, "id": 512},
    "bedrock": {"rows": 50_000, "least_rows": 100, "bytes": 1_000_000_000, "id": 512},
}
_MESSAGES = {
    "rows": "The batch has {given} requests; at most {limit} are allowed.",
    "bytes": "The batch has {given} bytes; at most {limit} are allowed.",
    "inline_bytes": "Request payload size exceeds the limit: {limit} bytes.",
    "creations_an_hour": "Batches created in the last hour: {given}; at most {limit} are allowed.",
    "files": "The resource has {given} files; at most {limit} are allowed.",
    "jobs": "There are {given} jobs; at most {limit} may be under way.",
    "enqueued_tokens": "Enqueued tokens: {given}; at most {limit} are allowed.",
    "id": "An id has {given} characters; at most {limit} are allowed.",
}


def limit(world: World, provider: str, name: str) -> int | None:
    """A limit, as a test lowered it or as it is documented; None if there is none."""
    lowered = world.limits.get(provider, {}).get(name)
    return LIMITS.get(provider, {}).get(name) if lowered is None else lowered


def keep(world: World, provider: str, name: str, given: int, *, status: int = 400) -> None:
    """Refuses what is over a limit.

    Raises:
        ProviderError: If it is.
    """
    most = limit(world, provider, name)
    if most is None or given <= most:
        return
    world.broken_limits.append({"provider": provider, "limit": name, "most": most, "given": given})
    code = "rate" if status == 429 else "too_large" if status == 413 else "invalid"
    raise ProviderError(status, code, _MESSAGES[name].format(given=given, limit=most))


def keep_rate(world: World, provider: str) -> None:
    """Refuses a call beyond those that a test lets a provider take in a minute.

    Raises:
        ProviderError: It asks to be left alone for ``retry_after`` seconds, 5 unless a test says
            otherwise.
    """
    most = world.limits.get(provider, {}).get("calls_a_minute")
    if most is None:
        return
    now, calls = world.clock.now(), world.calls[provider]
    calls[:] = [at for at in calls if at > now - 60]
    if len(calls) >= most:
        wait = world.limits[provider].get("retry_after", 5)
        raise ProviderError(429, "rate", "Rate limit reached.", retry_after=wait)
    calls.append(now)


def under_way(world: World, provider: str, workspace: str) -> int:
    """How many of a workspace's batches have not ended."""
    return sum(
        (one.provider, one.workspace) == (provider, workspace) and not one.over
        for one in world.batches.values()
    )


def check_id(world: World, provider: str, custom_id: str) -> None:
    """Refuses an id that is too long: as documented, or over 64 where that trap is set.

    Raises:
        ProviderError: If it is.
    """
    too_long = len(custom_id) > 64
    if too_long and world.traps.take("custom_id_65", provider, custom_id=custom_id) is not None:
        raise ProviderError(400, "invalid", f"custom_id is too long: {custom_id}")
    if too_long and len(custom_id) > (limit(world, provider, "id") or 512):
        world.traps.note("custom_id_65", provider, None, [custom_id])
    keep(world, provider, "id", len(custom_id))


def enqueued_tokens(world: World, provider: str, model: str) -> int:
    """Tokens of the prompts that wait in batches that have not ended."""
    return sum(
        row.ask.input_tokens
        for one in world.batches.values()
        if one.provider == provider and one.model == model and not one.over
        for row in one.rows
        if row.ask is not None
    )
