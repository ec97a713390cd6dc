"""Each type of event that organisations can want is published by somebody, and no other is."""

import ast
from pathlib import Path
from typing import get_args

import autotune_platform
from autotune.protocol.events import EventType


def published_types(source: str) -> set[str]:
    """Return the types of the events that a module makes."""
    return {
        argument.value.value
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == "Event"
        for argument in call.keywords
        if argument.arg == "type" and isinstance(argument.value, ast.Constant)
    }


def test_each_type_is_published_in_one_domain() -> None:
    root = Path(autotune_platform.__path__[0])
    domains = [
        (event_type, path.relative_to(root).parts[0])
        for path in sorted(root.rglob("*.py"))
        for event_type in published_types(path.read_text())
    ]
    assert sorted(event_type for event_type, _ in domains) == sorted(get_args(EventType)), domains
