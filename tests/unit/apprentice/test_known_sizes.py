"""What a process remembers of tasks fits its memory, whatever tasks are made of."""

import json
import tracemalloc
from typing import Any

from autotune.protocol.limits import MAX_APPRENTICE_PROMPT_CHARACTERS, MAX_JSON_SCHEMA_BYTES
from autotune_platform.apprentice import standing
from autotune_platform.apprentice.runs import outputs, running
from autotune_platform.checks.schemas import Schema
from infra.constructs.service_function import MEMORY_MB

MEGABYTE = 1_000_000
OF_A_PROCESS = 100 * MEGABYTE
"""What a function takes that knows no task, rounded up."""


def _largest_schema() -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {}}, "$defs": {}}
    for number in range(MAX_JSON_SCHEMA_BYTES // 17):
        schema["$defs"][f"{number:x}"] = {"not": {}}
    assert len(json.dumps(schema, separators=(",", ":"))) > MAX_JSON_SCHEMA_BYTES * 0.9
    return schema


def _taken(make: Any) -> int:
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    kept = [make() for _ in range(5)]
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) // len(kept)


def test_the_largest_tasks_fit_the_memory_of_a_function() -> None:
    schema = _largest_schema()
    prompt = "\U0001f600" * MAX_APPRENTICE_PROMPT_CHARACTERS
    document = json.dumps({"a": schema, "b": schema, "c": prompt, "d": prompt})
    text = json.dumps(schema)
    of_a_document = _taken(lambda: json.loads(document))
    of_a_schema = _taken(lambda: Schema(json.loads(text)))

    # A task as it stands, its configuration remembered apart, and earlier ones.
    documents = 2 * standing.KNOWN_TASKS + running.KNOWN_CONFIGURATIONS
    taken = documents * of_a_document + outputs.KNOWN_SCHEMAS * of_a_schema
    assert taken + OF_A_PROCESS < MEMORY_MB * MEGABYTE
