"""Chunks as they are queued, and as they were before completions had generations."""

import json

from autotune_platform.completions.models import Chunk
from autotune_platform.scoring.dispatch import _run_id

QUEUED = {
    "organization_id": "org_1",
    "grader_id": "grd_1",
    "grader_version": "1",
    "panel_id": None,
    "completion_ids": ["cmp_1"],
    "text_bytes": 1,
}


def test_a_message_of_before_names_its_redrive_generation() -> None:
    before = Chunk.model_validate_json(json.dumps({**QUEUED, "generation": 3}))
    assert (before.generation, before.redrive) == (0, 3)
    assert Chunk.model_validate_json(json.dumps(QUEUED)).redrive == 0


def test_a_chunk_is_read_as_it_was_queued() -> None:
    chunk = Chunk.model_validate({**QUEUED, "generation": 2, "redrive": 5})
    assert Chunk.model_validate_json(chunk.model_dump_json()) == chunk


def test_a_run_is_named_for_generation_and_redrive() -> None:
    chunk = Chunk.model_validate({**QUEUED, "generation": 0, "redrive": 0})
    named = {
        _run_id(chunk.model_copy(update={"generation": generation, "redrive": redrive}))
        for generation in range(3)
        for redrive in range(12)
    }
    assert len(named) == 36
