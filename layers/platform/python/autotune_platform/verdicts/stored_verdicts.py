"""How verdicts and opinions look as items of the ``completions`` table."""

import json

from autotune_platform.storage.item_format import Item
from autotune_platform.verdicts.models import Unlisted, Verdict

VERDICT_PREFIX = "verdict#"
OPINION_PREFIX = "opinion#"
ALONE = "alone"
"""Attribute that marks the verdict and the opinions of a batch of one: the stream brings them."""

# Lists are kept as text, which loses no digit.
_LISTS = ("dimensions", "opinions")
_IN_THE_KEY = {"completion_id", "generation"}


def verdict_key(grader_id: str, version: str, generation: int = 0) -> str:
    """Return the sort key of a grader's, or a panel's, verdict."""
    return f"{VERDICT_PREFIX}{of_generation(generation)}{grader_id}#{version}"


def opinion_key(grader_id: str, version: str, generation: int = 0) -> str:
    """Return the sort key of a panel member's opinion."""
    return f"{OPINION_PREFIX}{of_generation(generation)}{grader_id}#{version}"


def of_generation(generation: int) -> str:
    """Return what stands before a grader's id in a sort key: nothing for the first generation.

    A grader's id starts with a letter, so that it is never taken for a generation.
    """
    return f"{generation}#" if generation else ""


def _generation_in(sort_key: str) -> int:
    first = sort_key.split("#", 2)[1]
    return int(first) if first.isdecimal() else 0


def verdict_attributes(verdict: Verdict) -> Item:
    """Return what is stored of a verdict, or an opinion, beside its key."""
    item: Item = verdict.model_dump(mode="json", exclude_none=True, exclude=_IN_THE_KEY)
    if verdict.decided_by == "grader":
        del item["decided_by"]  # so are nearly all
    if not verdict.alone:
        del item[ALONE]
    for name in _LISTS:
        if name in item:
            item[name] = json.dumps(item[name], separators=(",", ":"))
    return item


def verdict_from(item: Item) -> Verdict:
    """Return the verdict, or the opinion, that an item stores."""
    key = {"completion_id": item["pk"], "generation": _generation_in(item["sk"])}
    return Verdict.model_validate({**item, **key, **_lists_in(item)})


def unlisted_from(item: Item) -> Unlisted:
    """Return what an item stores of a verdict that lists of scores lack."""
    return Unlisted.model_validate({**item, **_lists_in(item)})


def _lists_in(item: Item) -> Item:
    return {name: json.loads(item[name]) for name in _LISTS if name in item}
