"""Exports whose execution was lost, or never started, are redriven or end as failed."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from autotune_platform.exports.repository import ExportRepository
from autotune_platform.runtime import clients
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.storage.table import Table
from functions.exports import sweep_exports, write_export
from tests.support.exports import (
    ExportedTask,
    Scored,
    finish,
    read,
    start,
)
from tests.support.lambdas import handler
from tests.support.platform import Platform

PATH = "/api/v1/exports"


def test_an_execution_that_broke_fails_its_export(platform: Platform, task: ExportedTask) -> None:
    export_id = start(platform)
    fail = handler("functions.exports.fail_export")
    fail({"export_id": export_id, "redrive": 1, "error": {}}, None)
    assert read(platform, export_id)["state"] == "pending"
    fail({"export_id": export_id, "redrive": 0, "error": {}}, None)
    failed = read(platform, export_id)
    assert (failed["state"], failed["errorCode"]) == ("failed", "platform_error")


def sweep() -> int:
    return int(handler("functions.exports.sweep_exports")({}, None)["overdue"])


def test_an_export_whose_execution_was_lost_is_redriven_and_the_old_one_has_no_effect(
    platform: Platform, task: ExportedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    task.add(Scored())
    monkeypatch.setattr("autotune_platform.exports.models.START_WITHIN", timedelta(0))
    export_id = start(platform)
    assert sweep() == 1
    assert sweep() == 0
    assert {"export_id": export_id, "redrive": 1} in platform.exports_started()
    assert platform.write_export({"export_id": export_id, "redrive": 0})["done"]
    assert read(platform, export_id)["state"] == "pending"
    finish(platform, export_id, redrive=1)
    assert read(platform, export_id)["state"] == "completed"
    assert sweep() == 0


def test_of_two_sweeps_at_once_one_redrives_an_export(
    platform: Platform, task: ExportedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.exports.models.START_WITHIN", timedelta(0))
    export_id = start(platform)
    replace = ExportRepository.replace

    def replace_after_another(self: ExportRepository, *export: Any) -> bool:
        monkeypatch.setattr(ExportRepository, "replace", replace)
        assert sweep() == 1
        return replace(self, *export)

    monkeypatch.setattr(ExportRepository, "replace", replace_after_another)
    assert sweep() == 1
    redrives = [
        one["redrive"] for one in platform.exports_started() if one["export_id"] == export_id
    ]
    assert sorted(redrives) == [0, 1]


def test_an_export_that_is_lost_again_and_again_fails(
    platform: Platform, task: ExportedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("models", "work"):
        monkeypatch.setattr(
            f"autotune_platform.exports.{module}.START_WITHIN", timedelta(seconds=-1)
        )
    export_id = start(platform)
    assert [sweep() for _ in range(11)] == [*[1] * 10, 0]
    assert read(platform, export_id)["errorCode"] == "platform_error"
    assert len(platform.exports_started()) == 10


def test_an_export_that_does_not_start_is_given_more_time_with_each_redrive(
    platform: Platform, task: ExportedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_id = start(platform)
    repository = ExportRepository(Table("registry", clients.dynamodb()))
    waited = []
    while (export := repository.get(export_id)) is not None and export.is_open:
        now = export.due_at + timedelta(seconds=1)
        sweep_exports.parts().export_sweeper.clock = _Clock(now)
        assert sweep() == 1
        waited.append(now - export.created_at)
    assert [round(one / timedelta(minutes=1)) for one in waited] == [
        2 * (2**redrives - 1) for redrives in range(1, 11)
    ]


def test_an_export_whose_steps_wait_for_a_function_is_not_failed_for_it(
    platform: Platform, task: ExportedTask
) -> None:
    """Functions that write are few: before each step, others' may hold all of them for long."""
    task.add(Scored())
    export_id = start(platform)
    repository = ExportRepository(Table("registry", clients.dynamodb()))
    now = SYSTEM_CLOCK.now()
    for step in range(20):
        now += timedelta(minutes=30)
        sweep_exports.parts().export_sweeper.clock = _Clock(now)
        sweep()
        export = repository.get(export_id)
        assert export is not None
        assert export.state != "failed", f"before step {step}"
        write_export.parts().export_work.clock = _Clock(now)
        # Each but the last ends before it has written anything.
        seconds = 1 if step < 19 else 900
        platform.write_export({"export_id": export_id, "redrive": export.redrive}, seconds=seconds)
    assert read(platform, export_id)["state"] == "completed"


def test_an_export_that_is_not_written_within_two_days_fails(
    platform: Platform, task: ExportedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    task.add(Scored())
    export_id = start(platform)
    platform.write_export({"export_id": export_id, "redrive": 0}, seconds=3 * 86_400)
    late = start(platform)
    platform.write_export({"export_id": late, "redrive": 0}, seconds=1)
    repository = ExportRepository(Table("registry", clients.dynamodb()))
    begun = repository.get(late)
    assert begun is not None
    assert repository.replace(begun, begun.model_copy(update={"due_at": begun.expires_at}))
    two_days = begun.created_at + timedelta(days=2)
    for moment, overdue in ((two_days - timedelta(seconds=1), 0), (two_days, 1), (two_days, 0)):
        sweep_exports.parts().export_sweeper.clock = _Clock(moment)
        assert sweep() == overdue
    assert read(platform, late)["errorCode"] == "platform_error"
    assert read(platform, export_id)["state"] == "completed"


def test_a_bad_export_does_not_keep_those_behind_it_from_being_redriven(
    platform: Platform, task: ExportedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.exports.models.START_WITHIN", timedelta(0))
    bad, busy, good = (start(platform) for _ in range(3))
    table = Table("registry", clients.dynamodb())
    table.update(bad, "record", {"request": {"format": "of another version"}})
    replace = ExportRepository.replace

    def refuse_one(self: ExportRepository, before: Any, after: Any) -> bool:
        if before.id == busy:
            raise UnavailableError("the table is busy", retry_after_seconds=1)
        return replace(self, before, after)

    monkeypatch.setattr(ExportRepository, "replace", refuse_one)
    with pytest.raises(ExceptionGroup) as raised:
        sweep()
    assert len(raised.value.exceptions) == 2
    assert {"export_id": good, "redrive": 1} in platform.exports_started()


class _Clock(Clock):
    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def now(self) -> datetime:
        return self._moment
