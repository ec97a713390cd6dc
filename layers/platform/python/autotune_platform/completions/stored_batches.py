"""Batches as their items have them."""

from autotune_platform.completions.generations import RESCORED, Generation
from autotune_platform.completions.models import Batch
from autotune_platform.completions.sleeps import ASLEEP, Sleep
from autotune_platform.storage.due_index import DueIndex
from autotune_platform.storage.table import Item

# What its item has in another form.
_NOT_ATTRIBUTES = {"id", "sleeps", "is_open", "generation", "generations", "propagated"}


def batch_attributes(batch: Batch) -> Item:
    """Return what the item of a new batch has."""
    return batch.model_dump(mode="json", exclude=_NOT_ATTRIBUTES, exclude_none=True)


def batch_from(batch_id: str, item: Item) -> Batch:
    """Return a stored batch."""
    sleeps = [
        sleep
        for name, text in item.items()
        if name.startswith(ASLEEP) and (sleep := Sleep.unpacked(name, text))
    ]
    generations = [
        Generation.unpacked(name, text) for name, text in item.items() if name.startswith(RESCORED)
    ]
    derived = {
        "id": batch_id,
        "sleeps": sleeps,
        "generations": sorted(generations, key=lambda one: one.number),
        "is_open": DueIndex.is_open(item),
    }
    return Batch.model_validate({**item, **derived})
