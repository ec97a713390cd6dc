"""Runs are stored on condition of where they stood."""

from datetime import UTC, datetime, timedelta

import pytest

from autotune.protocol.ids import new_id
from autotune_platform.apprentice.routing import Local, Model
from autotune_platform.apprentice.runs.models import Run, RunPair
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.support.platform import Platform

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)


@pytest.fixture
def table(platform: Platform) -> Table:
    return Table("apprentice", clients.dynamodb())


def run(**fields: object) -> Run:
    return Run.model_validate(
        {
            "id": new_id("apr"),
            "organization_id": "org_1",
            "task_id": "apt_1",
            "task_name": "intents",
            "configuration_version": 1,
            "definition_hash": "0" * 64,
            "created_by": "key_1",
            "input": {"text": "Wo ist die Tür? ☃", "n": 1.5},
            "fingerprint": "1" * 64,
            "created_at": NOW,
            "deadline_at": NOW + timedelta(seconds=900),
            **fields,
        }
    )


def test_a_run_is_read_as_it_was_written(table: Table) -> None:
    runs = RunRepository(table)
    ended = run(
        state="answered",
        phase=3,
        local=Local.ANSWERED,
        local_output='{"intent":"door"}',
        answers=Model.LOCAL,
        pairs=[RunPair(version=1, score=0.5, is_drawn=True)],
        remote_row_ids=["llm_1"],
        ended_at=NOW,
    )

    assert runs.add(ended)
    assert runs.get(ended.id) == ended
    assert not runs.add(ended.model_copy(update={"state": "failed"}))
    assert runs.get(ended.id) == ended
    assert runs.get("apr_other") is None


def test_of_two_that_change_a_run_one_does(table: Table) -> None:
    runs = RunRepository(table)
    before = run()
    assert runs.add(before)
    begun = before.model_copy(update={"attempts": 1, "remote_row_ids": ("llm_1",)})

    assert runs.change(before, begun)
    assert not runs.change(before, before.model_copy(update={"state": "failed"}))
    assert runs.get(before.id) == begun


def test_what_became_of_a_run_is_all_that_is_written(table: Table) -> None:
    runs = RunRepository(table)
    asking = run(attempts=1, remote_row_ids=["llm_1"], remote_asking="llm_1")
    ended = asking.model_copy(
        update={"state": "answered", "remote_asking": None, "cost_nano_usd": 5, "ended_at": NOW}
    )

    written = runs.writing(ended, before=asking)

    assert written.changes.keys() == {"state", "cost_nano_usd", "ended_at"}
    assert written.remove == ("remote_asking",)
    assert runs.add(asking)
    assert runs.change(asking, ended)
    assert runs.get(ended.id) == ended
