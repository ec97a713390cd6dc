"""Calls of tables: what they change, and what a busy table leaves undone of them."""

from collections.abc import Iterator
from typing import Any

from tests.support.tables import decoded


def by_half(name: str, asked: dict[str, Any]) -> dict[str, Any] | None:
    """Return the answer to a call that did nothing of what it was to do; None where it is none.

    Bytes are bytes in it: who sends them again would encode what is encoded.
    """
    if name == "BatchGetItem":
        return {"Responses": {}, "UnprocessedKeys": decoded(asked["RequestItems"])}
    if name == "BatchWriteItem":
        return {"UnprocessedItems": decoded(asked["RequestItems"])}
    return None


def changed(name: str, asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the keys of rows and batches that a call changes."""
    updates: list[dict[str, Any]] = []
    if name == "UpdateItem":
        updates = [asked]
    elif name == "TransactWriteItems":
        updates = [one["Update"] for one in asked["TransactItems"] if "Update" in one]
    for one in updates:
        if one["TableName"] == "ledger" and one["Key"]["pk"]["S"].startswith(("llm_", "lbt_")):
            yield one["Key"]
