"""How tasks of the apprentice lie in the table ``apprentice``.

``pk=org_…#tasks`` is the list of an organisation: ``sk=task#<name>`` is a task, and ``sk=counts``
says how many there are. ``pk=apt_…`` is what belongs to one: ``sk=configuration#<number>``.
"""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from autotune.protocol.compact_json import compact
from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.storage.counting import Check
from autotune_platform.storage.table import Item

TASK = "task#"
COUNTS = "counts"
CONFIGURATION = "configuration#"
_DOCUMENT = "document"

ModelT = TypeVar("ModelT", bound=BaseModel)


def tasks_of(organization_id: str) -> str:
    """Return the partition that lists an organisation's tasks."""
    return f"{organization_id}#tasks"


def configuration_key(version: int) -> str:
    """Return the sort key of a version; such keys sort as the numbers do."""
    return f"{CONFIGURATION}{version:06d}"


def unchanged(table: str, task: ApprenticeTask) -> Check:
    """Return the check that a task is not being deleted, and that its rules are as they were.

    Of whoever writes about a deleted task, nothing would ever be erased.
    """
    return Check(
        table=table,
        pk=tasks_of(task.organization_id),
        sk=TASK + task.name,
        only_if={"id": task.id, "state": "kept", "version": task.version},
    )


def item_of(model: BaseModel, *, pk: str, sk: str) -> Item:
    """Return the item that stores a model; callers' JSON is kept as text, which loses no digit."""
    attributes = model.model_dump(mode="json")
    if _DOCUMENT in attributes:
        # As it is: an escape would take three times the bytes of the longest prompts' characters.
        attributes[_DOCUMENT] = compact(attributes[_DOCUMENT])
    return {"pk": pk, "sk": sk, **attributes}


def model_from(item: Mapping[str, Any], model: type[ModelT]) -> ModelT:
    """Return what an item stores."""
    attributes = {name: item[name] for name in model.model_fields if name in item}
    if _DOCUMENT in attributes:
        attributes[_DOCUMENT] = json.loads(attributes[_DOCUMENT])
    return model.model_validate(attributes)
