"""How verdicts and opinions look as items of the ``completions`` table."""

import json

from autotune_platform.storage.item_format import Item
from autotune_platform.verdicts.models import Verdict

VERDICT_PREFIX = "verdict#"
OPINION_PREFIX = "opinion#"
ALONE = "alone"
"""Attribute that marks the verdict and the opinions of a batch of one: the stream brings them."""

# Lists are kept as text, which loses no digit.
_LISTS = ("dimensions", "opinions")


def verdict_key(grader_id: str, version: str) -> str:
    """Return the sort key of a grader's, or a panel's, verdict."""
    return f"{VERDICT_PREFIX}{grader_id}#{version}"


def opinion_key(grader_id: str, version: str) -> str:
    """Return the sort key of a panel member's opinion."""
    return f"{OPINION_PREFIX}{grader_id}#{version}"


def verdict_attributes(verdict: Verdict) -> Item:
    """Return what is stored of a verdict, or an opinion, beside its key."""
    item: Item = verdict.model_dump(mode="json", exclude_none=True, exclude={"completion_id"})
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
    lists = {name: json.loads(item[name]) for name in _LISTS if name in item}
    return Verdict.model_validate({**item, "completion_id": item["pk"], **lists})
