"""What lists of requests read: items of rows by key, and queries of the table and its indexes."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autotune_platform.runtime import clients


@contextmanager
def counted_row_reads() -> Iterator[Counter[str]]:
    """Count what this process reads: ``rows`` and ``queries``, ``table`` queries apart."""
    counts: Counter[str] = Counter()

    def see(model: Any, params: Any, **_: Any) -> None:
        asked = json.loads(params["body"])
        if model.name == "BatchGetItem":
            for wanted in asked["RequestItems"].values():
                keys = [key["pk"]["S"] for key in wanted["Keys"]]
                counts["rows"] += sum(key.startswith("llm_") for key in keys)
        elif model.name == "Query":
            counts["queries" if "IndexName" in asked else "table"] += 1

    events = clients.dynamodb().meta.events
    events.register("before-call.dynamodb", see)
    try:
        yield counts
    finally:
        events.unregister("before-call.dynamodb", see)
