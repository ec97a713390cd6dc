"""How many items of tables a process reads, whatever it returns of them."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autotune_platform.runtime import clients


@contextmanager
def counted_item_reads() -> Iterator[Counter[str]]:
    """Count ``items`` that are read, and ``calls`` that read them."""
    counts: Counter[str] = Counter()

    def see(model: Any, parsed: Any, **_: Any) -> None:
        if model.name == "Query":
            counts["items"] += parsed["ScannedCount"]
        elif model.name == "BatchGetItem":
            counts["items"] += sum(len(found) for found in parsed["Responses"].values())
        elif model.name == "GetItem":
            counts["items"] += "Item" in parsed
        else:
            return
        counts["calls"] += 1

    events = clients.dynamodb().meta.events
    events.register("after-call.dynamodb", see)
    try:
        yield counts
    finally:
        events.unregister("after-call.dynamodb", see)
