"""Rows that ask the same: a first one, and those that were asked in the place of the one before."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from autotune_platform.storage.item_format import Item
from tests.chaos_ledger.counts import Check
from tests.providers.state import Execution

MOST_REASKS = 2

Placed = tuple[int, Execution]
"""An execution with its place on the bill."""


def first_of(row_id: str, row: Item) -> str:
    """Return the id of the row that was sent."""
    return str(row.get("first_request_id", row_id))


def chains(rows: Mapping[str, Item]) -> dict[str, list[str]]:
    """Return the ids of those that ask the same, in order, by the first one's."""
    found: dict[str, list[str]] = defaultdict(list)
    for row_id, row in sorted(rows.items(), key=lambda one: one[1].get("reasks", 0)):
        found[first_of(row_id, row)].append(row_id)
    return found


def executed_by(
    chain: Sequence[str], executions: Iterable[Placed], outputs: Mapping[str, str]
) -> dict[str, list[Placed]]:
    """Return which executions are of which row of a chain.

    A job names the row. Single calls name none: the next row is asked once the one before it has
    its answer.
    """
    found: dict[str, list[Placed]] = defaultdict(list)
    at = 0
    for place, one in executions:
        named = f"llm_{(one.custom_id or '').partition('x')[0]}"
        found[named if named in chain else chain[at]].append((place, one))
        if at + 1 < len(chain) and one.token in outputs.get(chain[at], ""):
            at += 1
    return found


def check_chains(rows: Mapping[str, Item], asks_again: Mapping[str, bool], check: Check) -> None:
    """See that what could not be read is asked again, once and at most twice, or says why not.

    Args:
        asks_again: whether the ledger is to ask again, by the id of the row that was sent.
    """
    name = "what cannot be read is asked again once, or says why not"
    for row_id, row in rows.items():
        after, skipped = row.get("reasked_as"), row.get("reask_skipped")
        before = rows.get(row.get("reask_of", ""))
        if "reask_of" in row:
            fits = before is not None and before.get("reasked_as") == row_id
            fits = fits and row["reasks"] == before.get("reasks", 0) + 1 <= MOST_REASKS
            check(name, fits, f"{row_id} follows {row['reask_of']} as number {row.get('reasks')}")
        if after is not None:
            check(name, rows.get(after, {}).get("reask_of") == row_id, f"{row_id} names {after}")
        if asks_again[first_of(row_id, row)]:
            is_wanted = row["status"] == "completed" and row.get("parse_error") is not None
            is_seen_to = (after is None) != (skipped is None)
            fits = is_seen_to if is_wanted else after is None and skipped is None
            text = f"{row_id} is {row['status']}, {row.get('parse_error')}: {after}, {skipped}"
            check(name, fits and "reask" not in row, text)
