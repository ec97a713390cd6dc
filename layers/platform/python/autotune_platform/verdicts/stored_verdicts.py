"""How verdicts and opinions look as items of the ``completions`` table."""

import json

from autotune_platform.storage.changes import Change, ChangeKind
from autotune_platform.storage.item_format import Item
from autotune_platform.verdicts.models import Verdict

VERDICT_PREFIX = "verdict#"
_OPINION_PREFIX = "opinion#"
# Lists are kept as text, which loses no digit.
_LISTS = ("dimensions", "opinions")

NEW_VERDICTS = [ChangeKind("INSERT", VERDICT_PREFIX), ChangeKind("INSERT", _OPINION_PREFIX)]
"""Changes by which verdicts and opinions are stored; none is ever changed or removed."""


def verdict_in(change: Change) -> Verdict:
    """Return the verdict or opinion that a change stores."""
    return verdict_from(change.new)


def verdict_key(grader_id: str, version: str) -> str:
    """Return the sort key of a grader's, or a panel's, verdict."""
    return f"{VERDICT_PREFIX}{grader_id}#{version}"


def opinion_key(grader_id: str, version: str) -> str:
    """Return the sort key of a panel member's opinion."""
    return f"{_OPINION_PREFIX}{grader_id}#{version}"


def verdict_attributes(verdict: Verdict) -> Item:
    """Return what is stored of a verdict, or an opinion, beside its key."""
    item: Item = verdict.model_dump(mode="json", exclude_none=True, exclude={"completion_id"})
    if verdict.decided_by == "grader":
        del item["decided_by"]  # so are nearly all
    for name in _LISTS:
        if name in item:
            item[name] = json.dumps(item[name], separators=(",", ":"))
    return item


def verdict_from(item: Item) -> Verdict:
    """Return the verdict, or the opinion, that an item stores."""
    lists = {name: json.loads(item[name]) for name in _LISTS if name in item}
    return Verdict.model_validate({**item, "completion_id": item["pk"], **lists})
