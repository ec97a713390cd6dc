"""How runs lie in the table ``apprentice``.

``pk=apr_…, sk=run`` is a run. ``pk=apt_…#runs#<day>, sk=<time>#<run id>`` lists those of a UTC day:
it is written by whoever counts them.
"""

import json
from collections.abc import Mapping
from typing import Any

from autotune.protocol.compact_json import compact
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.storage.table import Item

RUN = "run"
TEXTS = ("input", "local_output", "shadow_output")
_INPUT = "input"
_ADDITIONAL = "additional"
ADDITIONAL_COST = "additional_cost_nano_usd"


def runs_of(task_id: str, day: str) -> str:
    """Return the partition that lists a task's runs of a day, such as ``2026-11-27``."""
    return f"{task_id}#runs#{day}"


def attributes_of(run: Run, fields: set[str] | None = None) -> Item:
    """Return what a run's workers write of it; what is None is left out, and JSON is text.

    Args:
        fields: what is wanted of it; None for all.
    """
    attributes = run.model_dump(mode="json", include=fields, exclude_none=True)
    if _INPUT in attributes:
        attributes[_INPUT] = compact(run.input)
    # Those who ask additional models write these, whatever else becomes of the run.
    for name in (_ADDITIONAL, ADDITIONAL_COST):
        attributes.pop(name, None)
    return attributes


def changes_of(run: Run, before: Run) -> tuple[Item, tuple[str, ...]]:
    """Return what is written of a run that stood otherwise before, and which attributes go."""
    was = vars(before)
    changed = {name: value for name, value in vars(run).items() if value != was[name]}
    gone = tuple([name for name, value in changed.items() if value is None])
    return attributes_of(run, set(changed)), gone


def additional_key(place: int) -> str:
    """Return the attribute that names the row of an additional model, by its place from 0."""
    return f"{_ADDITIONAL}#{place}"


def item_of(run: Run) -> Item:
    """Return the item that stores a run."""
    return {"pk": run.id, "sk": RUN, **attributes_of(run)}


def input_of(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the input of the run that an item stores."""
    found: Mapping[str, Any] = json.loads(item[_INPUT])
    return found


def run_from(item: Mapping[str, Any]) -> Run:
    """Return the run that an item stores, also one from the table's stream."""
    attributes = {name: item[name] for name in Run.model_fields if name in item}
    attributes[_INPUT] = input_of(item) if _INPUT in item else {}
    attributes[_ADDITIONAL] = {
        name.partition("#")[2]: row_id
        for name, row_id in item.items()
        if name.startswith(f"{_ADDITIONAL}#")
    }
    return Run.model_validate(attributes)


def listed_run(entry: Mapping[str, Any]) -> Run:
    """Return the run that an entry of a day's list is of, without its input and answers."""
    attributes = {name: entry[name] for name in Run.model_fields if name in entry}
    return Run.model_validate({**attributes, _INPUT: {}})
