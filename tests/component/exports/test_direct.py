"""A small export is answered at once; a larger one is refused with its limit and the way."""

import base64
import json
from typing import Any

import pytest

from autotune.protocol.ids import new_id
from tests.support.exports import (
    ExportedTask,
    Scored,
)
from tests.support.platform import Platform


def direct(platform: Platform, **query: Any) -> Any:
    return platform.call("GET", "/api/v1/scores/export", query=query)


def test_a_small_export_is_answered_at_once(platform: Platform, task: ExportedTask) -> None:
    task.add(Scored(value=0.25, dimensions={"d": 1.0}), Scored(value=0.75), Scored(state="failed"))
    answer = direct(platform, taskId=task.id, minScore=0.5)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/jsonl")
    (record,) = map(json.loads, base64.b64decode(answer.text).splitlines())
    assert record["score"] == 0.75
    parquet = base64.b64decode(direct(platform, taskId=task.id, format="parquet").text)
    assert (parquet[:4], parquet[-4:]) == (b"PAR1", b"PAR1")
    assert direct(platform, taskId=task.id, format="tfrecord").status == 200


def test_what_is_too_large_for_an_answer_names_the_limit_and_the_way(
    platform: Platform, task: ExportedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    task.add(Scored(), Scored())
    for name, unit in (("RECORDS", "verdicts"), ("BYTES", "bytes")):
        with monkeypatch.context() as small:
            small.setattr(f"autotune_platform.exports.direct.MAX_DIRECT_EXPORT_{name}", 1)
            for kind in ("jsonl", "tfrecord"):
                answer = direct(platform, format=kind)
                assert (answer.status, answer.json["code"]) == (422, "answer_too_large")
                assert answer.json["limit"]["unit"] == unit
                assert "POST /api/v1/exports" in answer.json["detail"]
    unknown = direct(platform, taskId=new_id("task"))
    assert unknown.status == 404
    assert direct(platform, format="csv").status == 422
