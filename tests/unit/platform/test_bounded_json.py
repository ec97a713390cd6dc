"""Counting the structure of JSON before it is built, and that nothing reads it otherwise."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune_platform.runtime.bounded_json import (
    MAX_DEPTH,
    TooDeepError,
    TooManyValuesError,
    parse_document,
    parse_strictly,
    require_bounded,
)

ROOT = Path(__file__).parents[3]
SOURCES = [ROOT / "layers/platform/python/autotune_platform", ROOT / "functions"]
READERS = {"loads", "from_json", "model_validate_json", "validate_json", "raw_decode"}
OURS = {
    # What these read was written by the platform itself: tables, queues and files of its own.
    "apprentice/configuration/items.py",
    "apprentice/coverage.py",
    "apprentice/examples/splits.py",
    "apprentice/folding/models.py",
    "apprentice/folding/refolds.py",
    "apprentice/runs/items.py",
    "apprentice/students/features.py",
    "apprentice/training/certifying.py",
    "audit/repository.py",
    "completions/generations.py",
    "completions/sleeps.py",
    "decks/figures.py",
    "decks/items.py",
    "decks/labels/hands.py",
    "decks/results.py",
    "decks/runs/repository.py",
    "exports/pairing.py",
    "exports/statistics.py",
    "http/api.py",
    "ledger/compatible/shapes.py",
    "ledger/parses.py",
    "ledger/texts.py",
    "runs/repository.py",
    "scoring/dispatch.py",
    "runtime/dynamodb_wire.py",
    "storage/packing.py",
    "storage/registry.py",
    "storage/versioned_states.py",
    "verdicts/decisions.py",
    "verdicts/stored_verdicts.py",
    "webhooks/delivering.py",
    "webhooks/outbox.py",
    # A response of at most ``MAX_JSON_CHARACTERS``, in which fewer values fit than are admitted.
    "checks/templates.py",
    "runtime/bounded_json.py",
}

texts = st.text(alphabet='ab"\\,[]{}:\n\u00e9\U0001f600')
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=60,
)


def counted(value: Any) -> int:
    """Return how many values there are, each empty array and object twice."""
    if isinstance(value, dict | list):
        members = value.values() if isinstance(value, dict) else value
        return 1 + (sum(map(counted, members)) if members else 1)
    return 1


@given(documents, st.booleans())
def test_values_are_counted_as_they_are_built(document: Any, escaped: bool) -> None:
    padding = ["p" * 100]  # what is short is not looked at
    whole = [padding, document]
    sent = json.dumps(whole, ensure_ascii=escaped).encode()
    values = counted(whole)
    require_bounded(sent, most_values=values)
    with pytest.raises(TooManyValuesError) as refused:
        require_bounded(sent, most_values=values - 1)
    assert refused.value.maximum == values - 1
    assert refused.value.values >= values


@pytest.mark.parametrize(
    "document",
    [
        b"[" + b"{}," * 100_000 + b"1",
        b"[" + b'"",' * 100_000 + b"1]",
        b'["\\\\",' + b"1," * 100_000 + b"1]",
        b'["\\\\\\",",' + b"1," * 100_000 + b"1]",
        b"{" + b'"a":1,' * 100_000 + b'"b":1}',
        "[1]".encode("utf-16") * 100_000,
    ],
)
def test_many_values_are_refused(document: bytes) -> None:
    with pytest.raises(TooManyValuesError):
        parse_document(document, most_values=50_000)


def test_structure_inside_of_texts_does_not_count() -> None:
    assert parse_document(b'["' + b'{},[]\\"' * 100_000 + b'"]', most_values=100)


def test_depth_is_bounded() -> None:
    assert parse_document(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, most_values=10_000)
    deeper = b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1)
    with pytest.raises(TooDeepError):
        parse_document(deeper, most_values=10_000)
    with pytest.raises(json.JSONDecodeError):
        parse_strictly(deeper, most_values=10_000)


def test_nothing_else_reads_json_from_outside() -> None:
    found: set[str] = set()
    for source in SOURCES:
        for path in source.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Attribute | ast.Name):
                    name = node.attr if isinstance(node, ast.Attribute) else node.id
                    if name in READERS:
                        found.add(str(path.relative_to(source)))
    assert found == OURS, "read it with autotune_platform.runtime.bounded_json"
