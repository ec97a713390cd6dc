"""The shared secret of a grader is rotated, and no request is lost while its owner replaces it."""

from datetime import timedelta
from typing import Any

import pytest

from autotune_platform.graders import directory
from tests.support.clock import TurnedClock
from tests.support.graders import LoopbackGrader
from tests.support.platform import Platform


def rotated(platform: Platform, grader_id: str) -> str:
    answer = platform.call("POST", f"/api/v1/graders/{grader_id}/rotate-secret")
    assert answer.status == 200, answer.text
    secret: str = answer.json["credentials"]["sharedSecret"]
    return secret


def scores(platform: Platform, task_id: str) -> bool:
    """Have one completion graded; return whether it was scored in the first round."""
    platform.submit(task_id, {})
    platform.dispatch(platform.queued())
    run = platform.runs()[0]
    return not platform.grade(run)["remaining"]


def later(monkeypatch: pytest.MonkeyPatch, **by: float) -> None:
    monkeypatch.setattr(directory, "SYSTEM_CLOCK", TurnedClock(timedelta(**by)))


def test_a_grader_is_reached_with_the_secret_before_and_with_the_new_one(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader)
    task_id, before = platform.new_task(grader_id), grader.secret
    new = rotated(platform, grader_id)
    assert new != before
    assert scores(platform, task_id)
    grader.secret = new
    assert scores(platform, task_id)
    assert platform.call("POST", f"/api/v1/graders/{grader_id}/verify").json["verified"]


def test_the_secret_before_ends_after_a_day(
    platform: Platform, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    grader_id = platform.new_grader(grader)
    new = rotated(platform, grader_id)
    verify = f"/api/v1/graders/{grader_id}/verify"
    later(monkeypatch, hours=23, minutes=59)
    assert platform.call("POST", verify).json["verified"]
    later(monkeypatch, hours=24, minutes=1)
    assert not platform.call("POST", verify).json["verified"]
    grader.secret = new
    assert platform.call("POST", verify).json["verified"]


def test_a_second_rotation_ends_the_first_secret_at_once(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader)
    second = rotated(platform, grader_id)
    third = rotated(platform, grader_id)
    verify = f"/api/v1/graders/{grader_id}/verify"
    assert not platform.call("POST", verify).json["verified"]
    for secret in (second, third):
        grader.secret = secret
        assert platform.call("POST", verify).json["verified"]


def test_only_its_organisation_sees_that_a_secret_was_rotated(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader, visibility="public")
    path = f"/api/v1/graders/{grader_id}"
    assert platform.call("GET", path).json["grader"]["previousSecretUntil"] is None
    rotated(platform, grader_id)
    assert platform.call("GET", path).json["grader"]["previousSecretUntil"] is not None
    stranger = platform.new_organization("stranger")
    seen = platform.call("GET", path, api_key=stranger).json["grader"]
    assert seen["previousSecretUntil"] is None
    assert platform.call("POST", f"{path}/rotate-secret", api_key=stranger).status == 404


@pytest.mark.parametrize("fields", [{"kind": "human"}])
def test_a_grader_without_an_endpoint_has_no_secret(
    platform: Platform, fields: dict[str, Any]
) -> None:
    made = platform.call("POST", "/api/v1/graders", {"name": "people", **fields}).json
    answer = platform.call("POST", f"/api/v1/graders/{made['grader']['id']}/rotate-secret")
    assert answer.status == 422
    assert "has no secret" in answer.json["detail"]
