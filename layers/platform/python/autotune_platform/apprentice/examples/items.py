"""How examples lie in the table ``apprentice``.

``pk=apt_…#examples#<definition hash>#<00..0f>, sk=exm_…`` is an example without its texts: sixteen
partitions, so that no one takes all writes. Texts of a run are where the run has them, in its item
and in the ledger. ``pk=apt_…#imported#exm_…, sk=texts`` has those of an imported one.
``pk=apt_…, sk=examples#<definition hash>`` counts them, and ``sk=data#…`` is about data sets. A
count that has changed is in the index of what is due until somebody looked whether a training is;
so is one whose task was given another ``configuration``.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.examples.models import Example, Selection
from autotune_platform.storage.due_index import OPEN_SHARD
from autotune_platform.storage.item_format import Item, moment
from autotune_platform.storage.table import Key
from autotune_platform.storage.transactions import Add

SHARDS = 16
TEXTS = "texts"
COUNTED = "examples#"
DATA = "data#"
EXAMPLES_COUNTED = "examples"
GROWN = "grown-examples"
"""The partition of the index that has counts which changed since somebody looked."""
LOOKED_BY = "configuration"
_EXAMPLES = "#examples#"


def shard_of(example_id: str) -> int:
    """Return which partition an example is in."""
    return hashlib.sha256(example_id.encode()).digest()[0] % SHARDS


def examples_of(task_id: str, definition_hash: str, shard: int) -> str:
    """Return a partition of a definition's examples."""
    return f"{task_id}{_EXAMPLES}{definition_hash}#{shard:02x}"


def example_key(task_id: str, definition_hash: str, example_id: str) -> Key:
    """Return the key of an example."""
    return examples_of(task_id, definition_hash, shard_of(example_id)), example_id


def texts_key(task_id: str, example_id: str) -> Key:
    """Return the key of an imported example's texts."""
    return f"{task_id}#imported#{example_id}", TEXTS


def counts_key(definition_hash: str) -> str:
    """Return the sort key of the number of a definition's examples."""
    return COUNTED + definition_hash


def grown(task: ApprenticeTask) -> Item:
    """Return what a count has that changed: by that somebody looks whether a training is due.

    It is always the same, so that the index is written when it comes and goes, and not each time.
    """
    return {
        "organization_id": task.organization_id,
        "task_name": task.name,
        OPEN_SHARD: GROWN,
        "due_at": "0",
    }


def reconfigured(task: ApprenticeTask) -> Add:
    """Return what has somebody look whether a training is due by a task's new configuration.

    Whoever looks by the one before may be about to take the count off the index: it names this one.
    """
    return Add(
        pk=task.id,
        sk=counts_key(task.definition_hash),
        name=EXAMPLES_COUNTED,
        by=0,
        changes={**grown(task), LOOKED_BY: task.version},
    )


def stored_count(selection: Selection) -> str:
    """Return the attribute that counts the stored examples of a selection."""
    return f"stored_{selection}"


def attributes_of(example: Example) -> Item:
    """Return what an example's item has beside its key; what is None is left out."""
    attributes = example.model_dump(exclude_none=True)
    return {**attributes, "at": moment(example.at)}


def example_from(item: Mapping[str, Any]) -> Example:
    """Return the example that an item stores."""
    return Example.model_validate(
        {name: item[name] for name in Example.model_fields if name in item}
    )
