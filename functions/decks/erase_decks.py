"""Erases what belongs to deleted decks; runs every two minutes."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.decks import SampleEnvironment
from autotune_platform.wiring.decks import DeckErasureParts

# For what is under way when the time is over.
_RESERVED_MS = 20_000


@cache
def parts() -> DeckErasureParts:
    """Return what this process is put together from."""
    return DeckErasureParts(SampleEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Erase as far as there is time; return how many decks were looked at."""

    def has_time() -> bool:
        return bool(context.get_remaining_time_in_millis() > _RESERVED_MS)

    return {"decks": parts().deck_erasure.erase(has_time=has_time)}
