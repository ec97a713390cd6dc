"""What pydantic and the protocol find, in the words of the file: its keys are in snake_case."""

import re
from collections.abc import Mapping

from pydantic import ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from autotune.client.apprentice_files.faults import Path
from autotune.client.apprentice_files.replaced import CUSTOM_GRADER, replaced_by
from autotune.protocol import apprentice_models, apprentice_tasks
from autotune.protocol.types import RequestModel

_EVALUATORS = ("structured_match", "exact_match", "semantic_similarity", "custom")
_OWN_WORDS: Mapping[str, str] = {
    "missing": "is missing",
    "model_type": "expected keys with their values",
    "model_attributes_type": "expected keys with their values",
    "dict_type": "expected keys with their values",
    "list_type": "expected a list",
    "string_type": "expected a text; in quotes, where it looks like a number",
    "union_tag_not_found": f"expected type, one of {', '.join(_EVALUATORS)}",
    "union_tag_invalid": f"expected type, one of {', '.join(_EVALUATORS)}",
}
_NAMED = re.compile(r"^([A-Za-z][A-Za-z0-9]*(?:\.[A-Za-z][A-Za-z0-9]*)*): ")
_WORD = re.compile(r"[a-z]+[A-Za-z0-9]*")


def _names_of_fields() -> dict[str, str]:
    """Return the names of all fields of a configuration by those on the wire."""
    names = {"connectionId": "connection"}
    for module in (apprentice_models, apprentice_tasks):
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, RequestModel):
                for name in kind.model_fields:
                    names.setdefault(to_camel(name), name)
    return names


_NAMES = _names_of_fields()


def findings(error: ValidationError) -> list[tuple[Path, str]]:
    """Return what pydantic found: where in a task, and what was expected there."""
    found = []
    for one in error.errors(include_url=False, include_input=False):
        path = _without_tag(one["loc"])
        if path[-1:] == ("connection_id",):
            continue  # which the file does not say
        if one["type"] == "extra_forbidden":
            found.append((path, _unknown(path)))
        elif path == ("evaluator",) and one["type"] in _OWN_WORDS:
            found.append(_of_evaluator(path, one))
        else:
            found.append(named(path, _OWN_WORDS.get(one["type"]) or one["msg"]))
    return found


def named(path: Path, said: str) -> tuple[Path, str]:
    """Return the field that a message of the protocol begins with, and the rest in our words."""
    said = said.removeprefix("Value error, ")
    begins = _NAMED.match(said)
    if begins is not None:
        parts = begins[1].split(".")
        if all(part in _NAMES for part in parts):
            path = (*path, *(_NAMES[part] for part in parts))
            said = said[begins.end() :]
    return path, _WORD.sub(lambda word: _NAMES.get(word[0], word[0]), said)


def path_on_wire(field: str) -> Path:
    """Return where a task has a field that the API names, as ``remote.additional[0].model``."""
    parts = re.findall(r"[^.\[\]]+", field)
    return tuple(int(part) if part.isdigit() else _NAMES.get(part, part) for part in parts)


def _unknown(path: Path) -> str:
    if (replacement := replaced_by(path)) is not None:
        return replacement
    name = _NAMES.get(str(path[-1]))
    meant = f"; {name} is meant" if name not in (None, path[-1]) else ""
    return f"no key of this name{meant}"


def _of_evaluator(path: Path, error: ErrorDetails) -> tuple[Path, str]:
    tag = error.get("ctx", {}).get("tag")
    if tag is None:
        return path, _OWN_WORDS["union_tag_not_found"]
    is_code = "." in str(tag) or ":" in str(tag)
    expected = CUSTOM_GRADER if is_code else _OWN_WORDS["union_tag_invalid"]
    return (*path, "type"), expected


def _without_tag(location: Path) -> Path:
    """Return a path without the type of evaluator that pydantic puts into it."""
    if location[:1] == ("evaluator",) and location[1:2] and location[1] in _EVALUATORS:
        return (location[0], *location[2:])
    return location
