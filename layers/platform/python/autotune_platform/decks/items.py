"""How decks and what belongs to them lie in the table ``decks``.

``pk`` is a deck's id, and ``sk`` says what of it an item is; ``docs/adr`` has the table. Every item
names its organisation, so that all of them are found when it is deleted.
"""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from autotune.protocol.compact_json import compact_sorted
from autotune_platform.storage.table import Item

DECK = "deck"
COUNTS = "counts"
# What its runs cost, and how far its graders agreed with people when that was last read.
FIGURES = "figures"
VERSION = "version#"
GRADER = "grader#"
# A grader that is deleted and not yet erased.
GONE = "gone#"
RUBRIC = "rubric#"
SAMPLE = "sample#"
EDIT = "edit#"
# An edit of the deck's system prompt; and which looks such edits have spent.
PROMPT_EDIT = "prompt-edit#"
PROMPT_LOOKS = "prompt-looks"
# Which looks at the held-out labels of a grader were spent.
LOOKS = "looks#"
# Which sample was the first with its texts.
TEXT = "text#"
# Which sample has an id of the caller's own.
EXTERNAL = "external#"
# In the partition of a sample: which ones were generated from its input.
MADE = "made#"
# Which samples a request with an idempotency key makes.
REQUEST = "request#"
# Kept as text, which loses no digit.
_FREE_FORM = (
    "rubric",
    "judge",
    "proposer",
    "metadata",
    "patch",
    "trial",
    "effect",
    "proposal",
    "published",
    "generator",
    "effects",
)

ModelT = TypeVar("ModelT", bound=BaseModel)


def number(version: int) -> str:
    """Return a version's number as keys have it: they sort as the numbers do."""
    return f"{version:06d}"


def version_key(version: int) -> str:
    """Return the sort key of a deck's version."""
    return VERSION + number(version)


def grader_key(grader_id: str) -> str:
    """Return the sort key of a grader of a deck."""
    return GRADER + grader_id


def rubrics_of(grader_id: str) -> str:
    """Return what the sort keys of a grader's versions start with."""
    return f"{RUBRIC}{grader_id}#"


def rubric_key(grader_id: str, version: int) -> str:
    """Return the sort key of a version of a grader."""
    return rubrics_of(grader_id) + number(version)


DELETED_DECKS = "deleted#decks"
"""Collection of all organisations' decks that are deleted and not yet erased."""

DELETED_GRADERS = "deleted#graders"
"""The same of graders of decks."""


def decks_of(organization_id: str) -> str:
    """Return the collection of an organisation's decks, and the partition of its counts."""
    return f"{organization_id}#decks"


def item_of(model: BaseModel, *, pk: str, sk: str) -> Item:
    """Return the item that stores a model."""
    dumped = model.model_dump(mode="json").items()
    attributes = {
        name: compact_sorted(value) if name in _FREE_FORM else value
        for name, value in dumped
        if value is not None
    }
    return {**attributes, "pk": pk, "sk": sk}


def model_from(item: Mapping[str, Any], model: type[ModelT]) -> ModelT:
    """Return the model that an item stores."""
    attributes = {name: item[name] for name in model.model_fields if name in item}
    for name in _FREE_FORM:
        if name in attributes:
            attributes[name] = json.loads(attributes[name])
    return model.model_validate(attributes)
