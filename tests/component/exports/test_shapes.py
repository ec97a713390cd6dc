"""Each shape has its columns, in each format, and counts what it leaves out."""

import json
from pathlib import Path
from typing import Any

import pytest
from tfrecord.reader import tfrecord_loader

from tests.support.exports import ExportedTask, Finished, Scored, export
from tests.support.platform import Platform

NASTY = "Ünïcode ☃ \u0000 'quotes' \"double\" \\ \r\n\u2028 end"


def test_scores_are_training_records(platform: Platform, task: ExportedTask) -> None:
    (first, second) = task.add(
        Scored(NASTY, "one", 0.25, metadata={"deep": [1, {"k": None}]}),
        Scored("p", NASTY, 1.0, confidence=0.125, dimensions={"tone": 0.5, "form": 1.0}),
    )
    made = export(platform)
    by_id = {record["metadata"]["completionId"]: record for record in made.records}
    assert by_id[first] == {
        "prompt": NASTY,
        "response": "one",
        "score": 0.25,
        "metadata": {
            "taskId": task.id,
            "modelId": "m",
            "completionId": first,
            "graderId": "grd_" + "a" * 26,
            "graderVersion": "1",
            "confidence": 0.5,
        },
        "completionMetadata": {"deep": [1, {"k": None}]},
    }
    assert by_id[second]["dimensions"] == {"tone": 0.5, "form": 1.0}
    assert list(made.parts) == ["part-00001.jsonl.gz"]


def test_what_has_no_score_is_counted_and_never_a_record(
    platform: Platform, task: ExportedTask
) -> None:
    ids = task.add(
        *(Scored(state=state) for state in ("failed", "abstained", "canceled")),
        *(Scored(value=value) for value in (0.0, 0.5, 1.0)),
    )
    assert platform.call("DELETE", f"/api/v1/completions/{ids[-1]}").status == 204
    made = export(platform)
    assert sorted(record["score"] for record in made.records) == [0.0, 0.5]
    assert made.manifest["counts"] == {
        "scanned": 6,
        "scored": 3,
        "abstained": 1,
        "failed": 1,
        "canceled": 1,
        "textGone": 1,
        "skipped": {},
    }


def test_the_manifest_describes_the_records(platform: Platform, task: ExportedTask) -> None:
    task.add(*(Scored(value=n / 100, model=f"m{n % 3}") for n in range(101)))
    made = export(platform, filters={"taskId": task.id, "minScore": 0.2})
    manifest = made.manifest
    assert manifest["schemaVersion"] == 1
    assert manifest["exportId"] == made.export["id"]
    assert manifest["request"]["filters"] == {"taskId": task.id, "minScore": 0.2}
    assert (manifest["taskIds"], manifest["modelIds"]) == ([task.id], ["m0", "m1", "m2"])
    assert manifest["totalRecords"] == 81
    assert manifest["scoreDistribution"]["mean"] == pytest.approx(0.6)
    assert manifest["scoreDistribution"]["percentiles"] == {
        "p25": 0.4,
        "p50": 0.6,
        "p75": 0.8,
        "p95": 0.96,
    }
    (part,) = made.export["downloads"]["parts"]
    (told,) = manifest["parts"]
    assert {name: part[name] for name in told} == told


def test_unpaired_responses_have_a_label(platform: Platform, task: ExportedTask) -> None:
    task.add(Scored(value=0.7), Scored(value=0.69), Scored(value=1.0))
    made = export(platform, shape="unpaired", unpaired={"threshold": 0.7})
    labels = {record["score"]: record["label"] for record in made.records}
    assert labels == {0.7: True, 0.69: False, 1.0: True}
    assert {"prompt", "completion", "label"} <= set(made.records[0])


@pytest.mark.parametrize("name", ["step_{}", "step {}", "step-{}"])
def test_steps_have_the_labels_of_their_dimensions(
    platform: Platform, task: ExportedTask, name: str
) -> None:
    def steps(*values: float) -> dict[str, float]:
        return {name.format(place): value for place, value in enumerate(values, 1)}

    task.add(
        Scored(response="a\n\nb\n c", dimensions={**steps(1.0, 0.5, 0.2), "tone": 0.1}),
        Scored(response="a\nb", dimensions=steps(1.0)),
        Scored(response="a\nb"),
    )
    made = export(platform, shape="stepwise")
    (record,) = made.records
    assert record["completions"] == ["a", "b", " c"]
    assert record["labels"] == [True, True, False]
    assert made.manifest["counts"]["skipped"] == {"steps_mismatched": 2}


def test_pairs_are_of_one_prompt_one_grader_and_one_version(
    platform: Platform, task: ExportedTask
) -> None:
    task.add(
        Scored("same", "best", 0.9),
        Scored("same", "middle", 0.5),
        Scored("same", "worst", 0.1),
        Scored("same", "of another version", 1.0, version="2"),
        Scored("same", "of another grader", 0.0, grader="grd_" + "b" * 26),
        Scored("other", "alone", 0.3),
        Scored("unsure", "yes", 0.9, confidence=0.1),
    )
    made = export(platform, shape="preference", preference={"minConfidence": 0.2})
    (pair,) = made.records
    assert (pair["prompt"], pair["chosen"], pair["rejected"]) == ("same", "best", "worst")
    assert (pair["chosenScore"], pair["rejectedScore"]) == (0.9, 0.1)
    assert pair["metadata"]["task_id"] == task.id
    assert pair["metadata"]["grader_version"] == "1"
    assert made.manifest["counts"]["skipped"] == {"low_confidence": 1, "unpaired": 4}
    assert made.manifest["scoreDistribution"]["min"] == 0.1


@pytest.mark.parametrize("shape", ["scores", "preference", "unpaired", "stepwise"])
def test_every_format_holds_the_same(
    platform: Platform, task: ExportedTask, tmp_path: Path, shape: str
) -> None:
    steps = {"step_1": 1.0, "step_2": 0.0}
    task.add(
        *(
            Scored(
                f"{NASTY}{n // 2}",
                f"{n}\nsecond",
                n / 10,
                dimensions=steps,
                metadata={"n": n, "text": NASTY},
            )
            for n in range(10)
        )
    )
    lines = export(platform, shape=shape).records
    rows = export(platform, shape=shape, format="parquet").rows(tmp_path)
    assert sorted(map(_comparable, rows)) == sorted(map(_comparable, lines))
    examples = _examples(export(platform, shape=shape, format="tfrecord"), tmp_path)
    assert sorted(map(_rounded, examples)) == sorted(map(_rounded, lines))
    assert len(lines) == (5 if shape == "preference" else 10)


def test_what_is_missing_is_null_or_empty(
    platform: Platform, task: ExportedTask, tmp_path: Path
) -> None:
    task.add(Scored())
    (row,) = export(platform, format="parquet").rows(tmp_path)
    assert row["dimensions"] is None
    (example,) = _examples(export(platform, format="tfrecord"), tmp_path)
    assert example["dimensions"] == ""


def test_nothing_that_matches_makes_no_part(platform: Platform, task: ExportedTask) -> None:
    task.add(Scored(state="failed"))
    for shape in ("scores", "preference"):
        made = export(platform, shape=shape, format="parquet")
        assert made.parts == {}
        assert made.manifest["totalRecords"] == 0
        assert "scoreDistribution" not in made.manifest


def _comparable(record: dict[str, Any]) -> str:
    whole = {
        name: json.loads(value) if name in NESTED and isinstance(value, str) else value
        for name, value in record.items()
    }
    return json.dumps(whole, sort_keys=True)


NESTED = {"metadata", "completionMetadata", "dimensions"}


def _rounded(record: dict[str, Any]) -> str:
    told = {
        name: round(value, 5) if isinstance(value, float) else value
        for name, value in record.items()
    }
    return _comparable(told)


def _examples(made: Finished, directory: Path) -> list[dict[str, Any]]:
    """Read examples back with another library than wrote them."""
    found: list[dict[str, Any]] = []
    for name, body in made.parts.items():
        path = directory / name
        path.write_bytes(body)
        found += [
            {name: _plain(name, value) for name, value in example.items()}
            for example in tfrecord_loader(str(path), None)
        ]
    return found


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    if value.dtype.kind == "S":
        return [one.decode() for one in value]
    if value.dtype.kind == "f":
        return float(value[0])
    if value.dtype.kind == "i":
        flags = [bool(one) for one in value]
        return flags if name == "labels" else flags[0]
    raise AssertionError(f"{name} is of no kind that exports write")
