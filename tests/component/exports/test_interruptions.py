"""Neither a crash at any call of AWS nor a second worker loses a record, or doubles one."""

import random
from collections import Counter
from typing import Any

import pytest

from autotune_platform.exports.files import ExportFiles
from autotune_platform.exports.segments import ExportSegments
from autotune_platform.runtime.environment.exports import ExportEnvironment
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.wiring.exports import ExportParts
from tests.support.exports import (
    ExportedTask,
    Finished,
    Scored,
    finish,
    read,
    start,
    stored_keys,
)
from tests.support.killing import Killed, Killer
from tests.support.platform import Platform

SHAPES = ("scores", "preference")


@pytest.fixture(autouse=True)
def _small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make many segments of few verdicts."""
    monkeypatch.setattr("autotune_platform.exports.formats.MOST_RECORDS", 3)
    monkeypatch.setattr("autotune_platform.exports.reading.PAGE_VERDICTS", 5)
    monkeypatch.setattr("autotune_platform.exports.segments.CANDIDATES_PER_FILE", 5)
    monkeypatch.setattr("autotune_platform.exports.pairing.PAIRS_PER_FILE", 2)
    monkeypatch.setattr("autotune_platform.exports.pairing._ROWS_AT_A_TIME", 1)


@pytest.fixture
def filled(task: ExportedTask) -> ExportedTask:
    task.add(*(Scored(f"p{n // 2}", f"r{n}", n / 10) for n in range(8)), Scored(state="abstained"))
    return task


def sides(record: dict[str, Any]) -> tuple[Any, ...]:
    return record["prompt"], record.get("response"), record.get("chosen"), record.get("rejected")


def told(made: Finished) -> Any:
    """Return what must not depend on where an export was interrupted."""
    counts = made.manifest["counts"]
    assert made.manifest["totalRecords"] == len(made.records)
    # Sums of the same in another order differ in their last digit.
    std = round(made.manifest["scoreDistribution"]["std"], 12)
    return Counter(map(sides, made.records)), counts, std


@pytest.mark.parametrize("shape", SHAPES)
def test_a_crash_at_any_call_loses_and_doubles_nothing(
    platform: Platform, filled: ExportedTask, shape: str
) -> None:
    """One segment calls as the next does: each call is tried once after the same one."""
    whole = start(platform, shape=shape)
    killer = Killer()
    finish(platform, whole)
    steps = list(killer.called)
    expected = told(Finished.of(read(platform, whole)))
    assert sum(expected[0].values()) == len(expected[0]) == (8 if shape == "scores" else 4)
    assert {"PutObject", "TransactWriteItems", "BatchGetItem", "Query"} <= set(steps)
    # After a call is before the next one: whatever was done up to some call is tried.
    for step in _unlike(steps):
        export_id = start(platform, shape=shape)
        killer.kill("after-call", after=step)
        with pytest.raises(Killed):
            finish(platform, export_id)
        killer.spare()
        finish(platform, export_id)
        made = Finished.of(read(platform, export_id))
        assert told(made) == expected, f"after {steps[step]}, step {step}"


def _unlike(steps: list[str]) -> list[int]:
    """Return the indexes of calls of which no earlier one comes after the same call."""
    pairs = list(zip(["", *steps], steps, strict=False))
    return [place for place, two in enumerate(pairs) if two not in pairs[:place]]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_step_without_time_comes_a_little_further(
    platform: Platform, filled: ExportedTask, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = start(platform, shape=shape)
    finish(platform, whole)
    expected = told(Finished.of(read(platform, whole)))
    export_id = start(platform, shape=shape)
    steps = 0
    # Time for one look alone: each step begins a segment, and has to end it at once.
    while True:
        looks = iter([900.0, 900.0])
        steps += 1
        if ExportParts(ExportEnvironment.parse()).export_work.advance(
            export_id, redrive=0, seconds_left=lambda looks=looks: next(looks, 0.0)
        ):
            break
    assert steps > 5
    assert told(Finished.of(read(platform, export_id))) == expected


@pytest.mark.parametrize("shape", SHAPES)
def test_two_at_the_same_segment_write_it_once(
    platform: Platform, filled: ExportedTask, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At some of the uploads, another worker runs a whole segment first."""
    whole = start(platform, shape=shape)
    finish(platform, whole)
    expected = told(Finished.of(read(platform, whole)))
    store = ExportFiles.store
    chance = random.Random(7)
    overtaken: list[str] = []
    inside = False

    def overtake(self: ExportFiles, *arguments: Any, **named: Any) -> Any:
        nonlocal inside
        stored = store(self, *arguments, **named)
        if not inside and chance.random() < 0.5:
            inside = True
            try:
                looks = iter([900.0, 900.0])
                ExportParts(ExportEnvironment.parse()).export_work.advance(
                    export_id, redrive=0, seconds_left=lambda: next(looks, 0.0)
                )
            finally:
                inside = False
            overtaken.append(stored.key)
        return stored

    export_id = start(platform, shape=shape)
    monkeypatch.setattr(ExportFiles, "store", overtake)
    finish(platform, export_id)
    made = Finished.of(read(platform, export_id))
    assert told(made) == expected
    assert len(overtaken) > 1
    # What the slower one had stored is gone: nobody would come back for it.
    kept = {key for key in stored_keys() if export_id in key}
    assert not kept & set(overtaken)


def test_what_is_deleted_while_it_is_written_leaves_nothing(
    platform: Platform, filled: ExportedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_id = start(platform)
    store = ExportFiles.store
    calls = 0

    def deleted_meanwhile(self: ExportFiles, *arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            answer = platform.call("DELETE", f"/api/v1/exports/{export_id}")
            assert answer.status == 204
        return store(self, *arguments, **named)

    monkeypatch.setattr(ExportFiles, "store", deleted_meanwhile)
    finish(platform, export_id)
    export = read(platform, export_id)
    assert (export["state"], export.get("downloads")) == ("canceled", None)
    assert calls == 2
    assert stored_keys() == set()


def test_files_of_a_failed_export_are_deleted_by_the_retry_where_they_could_not_be(
    platform: Platform, filled: ExportedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.exports.segments.MAX_EXPORT_PARTS", 1)
    export_id = start(platform)
    with monkeypatch.context() as busy:
        busy.setattr(ExportFiles, "delete_all", _refused)
        with pytest.raises(UnavailableError):
            finish(platform, export_id)
    failed = read(platform, export_id)
    assert failed["errorCode"] == "too_large"
    assert (failed["limit"]["name"], failed["limit"]["maximum"]) == ("parts of an export", 1)
    assert stored_keys()
    finish(platform, export_id)
    assert stored_keys() == set()


def test_more_completions_than_one_step_can_pair_are_refused_before_it(
    platform: Platform, filled: ExportedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.exports.segments.MAX_EXPORT_CANDIDATES", 7)
    export_id = start(platform, shape="preference")
    finish(platform, export_id)
    failed = read(platform, export_id)
    assert (failed["errorCode"], failed["limit"]["maximum"]) == ("too_large", 7)
    assert failed["limit"]["unit"] == "completions"
    assert stored_keys() == set()


def test_what_a_killed_step_uploads_after_a_deletion_is_deleted_by_its_retry(
    platform: Platform, filled: ExportedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_id = start(platform)
    store = ExportFiles.store

    def killed_behind_it(self: ExportFiles, *arguments: Any, **named: Any) -> Any:
        assert platform.call("DELETE", f"/api/v1/exports/{export_id}").status == 204
        store(self, *arguments, **named)
        raise Killed

    with monkeypatch.context() as killed:
        killed.setattr(ExportFiles, "store", killed_behind_it)
        with pytest.raises(Killed):
            finish(platform, export_id)
    assert stored_keys()
    finish(platform, export_id)
    assert stored_keys() == set()


def _refused(*_: Any) -> None:
    raise UnavailableError("the bucket is busy", retry_after_seconds=1)


def test_texts_deleted_after_pairing_are_counted_and_never_written(
    platform: Platform, filled: ExportedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_id = start(platform, shape="preference")
    write_pairs = ExportSegments._write_pairs
    gone: list[str] = []

    def after_deletion(self: ExportSegments, export: Any, directory: Any, has_time: Any) -> Any:
        if not gone:
            asked = {"taskId": filled.id, "state": "scored"}
            scores = platform.call("GET", "/api/v1/scores", query=asked).json
            gone.append(scores["scores"][0]["completionId"])
            assert platform.call("DELETE", f"/api/v1/completions/{gone[0]}").status == 204
        return write_pairs(self, export, directory, has_time)

    monkeypatch.setattr(ExportSegments, "_write_pairs", after_deletion)
    finish(platform, export_id)
    made = Finished.of(read(platform, export_id))
    assert made.manifest["counts"]["skipped"]["pair_text_gone"] == 1
    assert len(made.records) == 3
    for record in made.records:
        metadata = record["metadata"]
        assert gone[0] not in (
            metadata["chosen_completion_id"],
            metadata["rejected_completion_id"],
        )
