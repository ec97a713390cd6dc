"""Counts of what is under way, each compared with what a scan of everything finds.

They are written in the same transactions as what they count, so that they are right at every
moment: between two steps that were killed, too.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from autotune_platform.storage.item_format import Item

NAME = "counts of what is under way are what a scan finds"
_ENDED = frozenset(["completed", "error", "canceled"])

Check = Callable[[str, bool, str], None]


def check_counts(
    items: Iterable[Item], rows: Mapping[str, Item], batches: Mapping[str, Item], check: Check
) -> None:
    """Compare the counts of rows, jobs and batches of single calls that have not ended."""
    stored = list(items)
    open_batches = [one for one in batches.values() if one["phase"] != "settled"]
    _rows(stored, rows, {one["pk"] for one in open_batches}, check)
    expected: Counter[tuple[str, str, str]] = Counter()
    for one in open_batches:
        connection, model = one["connection_id"], one["model"]
        if one.get("is_counted"):
            expected[f"calls#{connection}#{model}", "openCalls", "batches"] += 1
        if one.get("counted_tokens") is not None:
            expected[f"live#{connection}", "all", "jobs"] += 1
            expected[f"live#{connection}", "all", "rows"] += one["rows"]
            expected[f"live#{connection}", f"model#{model}", "tokens"] += one["counted_tokens"]
    counted = Counter(
        {
            (one["pk"], one["sk"], name): one[name]
            for one in stored
            if one["pk"].startswith(("calls#", "live#"))
            for name in ("batches", "jobs", "rows", "tokens")
            if name in one
        }
    )
    for key in sorted(expected.keys() | counted.keys()):
        check(NAME, counted[key] == expected[key], f"{key}: {counted[key]}, not {expected[key]}")


def _rows(
    stored: Iterable[Item], rows: Mapping[str, Item], open_batches: set[str], check: Check
) -> None:
    """Compare counts of rows and bytes: what ended in a batch counts until that is settled."""
    expected: Counter[tuple[str, str]] = Counter()
    for row in rows.values():
        if row["status"] not in _ENDED or row.get("batch_id") in open_batches:
            expected[row["organization_id"], "rows"] += 1
            expected[row["organization_id"], "bytes"] += row["input_bytes"]
    counted: Counter[tuple[str, str]] = Counter()
    accepting = set()
    for one in stored:
        if one["pk"].startswith("open#") and one["sk"] == "rows":
            for what in ("rows", "bytes"):
                counted[one["pk"].partition("#")[2], what] = one.get(what, 0)
        elif one["sk"] == "claim" and one["pk"].startswith("enqueue#") and not one["done"]:
            accepting.add(one["organization_id"])  # its rows are counted before they are stored
    for name, what in sorted(expected.keys() | counted.keys()):
        found, wanted = counted[name, what], expected[name, what]
        fits = found >= wanted if name in accepting else found == wanted
        check(NAME, fits, f"open#{name}: {found} {what}, not {wanted}")


def none_left(items: Iterable[Item]) -> list[str]:
    """Return the counts of what is under way that are not 0, in words."""
    return [
        f"{one['pk']} {one['sk']} has {name} {one[name]}"
        for one in items
        if one["pk"].startswith(("open#", "calls#", "live#"))
        for name in ("batches", "bytes", "imports", "jobs", "rows", "tokens")
        if one.get(name, 0) != 0
    ]
