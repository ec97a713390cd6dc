"""How runs lie in the table ``apprentice``.

``pk=apr_…, sk=run`` is a run. ``pk=apt_…#runs#<day>, sk=<time>#<run id>`` lists those of a UTC day:
it is written by whoever counts them.
"""

import json
from collections.abc import Mapping
from typing import Any

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


def attributes_of(run: Run) -> Item:
    """Return what a run's workers write of it; what is None is left out, and JSON is text."""
    attributes = run.model_dump(mode="json", exclude_none=True)
    attributes[_INPUT] = compact(run.input)
    # Those who ask additional models write these, whatever else becomes of the run.
    for name in (_ADDITIONAL, ADDITIONAL_COST):
        attributes.pop(name, None)
    return attributes


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


def compact(value: Mapping[str, Any]) -> str:
    """Return JSON without spaces, with its names in their order."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
