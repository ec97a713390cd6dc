"""Graders are probed; their status follows, and every change is told of."""

from collections.abc import Callable
from typing import Any

import pytest

from autotune_platform.graders.repository import HEALTH_SHARDS
from autotune_platform.runtime import clients
from autotune_platform.storage.changes import Change
from autotune_platform.storage.table import Table
from autotune_platform.webhooks.outbox import event_in
from tests.support.graders import LoopbackGrader, loopback_grader
from tests.support.health import VERIFIED, falls_ill, health, recovers, shown, told
from tests.support.platform import Platform
from tests.support.subscribers import loopback_subscriber


def test_a_grader_falls_ill_and_recovers(platform: Platform, grader: LoopbackGrader) -> None:
    grader_id = platform.new_grader(grader)
    seen = []
    for makes in (falls_ill, recovers):
        makes(grader)
        for _ in range(6):
            assert platform.probe_graders()["probed"] == 1
            seen.append(shown(platform, grader_id)["status"])
    assert seen == [
        "active",
        *["degraded"] * 4,
        *["inactive"] * 2,
        *["active"] * 5,
    ]
    assert told(platform) == [
        VERIFIED,
        ("active", "degraded", "grader_unhealthy"),
        ("degraded", "inactive", "grader_unhealthy"),
        ("inactive", "active", "probes_passed"),
    ]


def test_health_says_what_the_status_is_founded_on(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader)
    verified = shown(platform, grader_id)
    assert health(platform, grader_id) == {
        "graderId": grader_id,
        "status": "active",
        "statusChangedAt": verified["statusChangedAt"],
        "probed": True,
        "lastProbe": None,
        "consecutiveHealthy": 0,
        "consecutiveFailed": 0,
        "circuit": {
            "state": "closed",
            "openUntil": None,
            "lastFailedAt": None,
            "lastAnsweredAt": None,
        },
        "nextTurnAt": None,
    }
    platform.probe_graders()
    answer = health(platform, grader_id)
    assert (answer["consecutiveHealthy"], answer["consecutiveFailed"]) == (1, 0)
    assert (answer["lastProbe"]["outcome"], answer["lastProbe"]["reasonCode"]) == ("healthy", None)
    grader.secret = "another"
    platform.probe_graders()
    platform.probe_graders()
    answer = health(platform, grader_id)
    assert (answer["consecutiveHealthy"], answer["consecutiveFailed"]) == (0, 2)
    assert answer["lastProbe"]["reasonCode"] == "grader_rejected"
    assert answer["lastProbe"]["latencyMs"] >= 0
    assert answer["status"] == "degraded"
    assert answer["statusChangedAt"] > answer["lastProbe"]["probedAt"] > verified["verifiedAt"]


def test_only_the_organisation_of_a_grader_reads_its_health(
    platform: Platform, grader: LoopbackGrader
) -> None:
    path = f"/api/v1/graders/{platform.new_grader(grader, visibility='public')}"
    other = platform.new_organization("second")
    assert platform.call("GET", path, api_key=other).status == 200
    assert platform.call("GET", f"{path}/health", api_key=other).status == 404
    stranger = platform.new_key("grader_owner")
    assert platform.call("GET", f"{path}/health", api_key=stranger).status == 404


def test_a_grader_that_is_inactive_is_still_submitted_to_and_asked(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader)
    task_id = platform.new_task(grader_id)
    falls_ill(grader)
    for _ in range(6):
        platform.probe_graders()
    assert shown(platform, grader_id)["status"] == "inactive"
    accepted = platform.submit(task_id, {}).json
    platform.score_everything()
    assert platform.batch(accepted["batchId"])["counts"]["scored"] == 1


def test_probes_leave_the_grader_itself_alone(platform: Platform, grader: LoopbackGrader) -> None:
    grader_id = platform.new_grader(grader)
    before = shown(platform, grader_id)
    platform.probe_graders()
    falls_ill(grader)
    platform.probe_graders()
    assert shown(platform, grader_id) == before


def test_a_grader_that_was_never_verified_is_not_probed(
    platform: Platform, grader: LoopbackGrader
) -> None:
    body = {"name": "g", "endpoint": grader.url}
    grader_id = platform.call("POST", "/api/v1/graders", body).json["grader"]["id"]
    assert platform.probe_graders()["probed"] == 0
    assert health(platform, grader_id)["probed"] is False
    assert told(platform) == []


@pytest.mark.parametrize(
    ("leave", "reason"),
    [
        (
            lambda platform, path, _: platform.call(
                "PATCH", path, {"endpoint": "http://127.0.0.1:1"}
            ),
            "endpoint_changed",
        ),
        (
            lambda platform, path, grader: (
                falls_ill(grader),
                platform.call("POST", f"{path}/verify"),
            ),
            "verification_failed",
        ),
    ],
    ids=["a new endpoint", "a failed verification"],
)
def test_a_grader_that_is_not_verified_any_more_is_not_probed(
    platform: Platform, grader: LoopbackGrader, leave: Callable[..., Any], reason: str
) -> None:
    grader_id = platform.new_grader(grader)
    leave(platform, f"/api/v1/graders/{grader_id}", grader)
    assert platform.probe_graders()["probed"] == 0
    answer = health(platform, grader_id)
    assert (answer["status"], answer["probed"]) == ("inactive", False)
    assert told(platform) == [VERIFIED, ("active", "inactive", reason)]


def test_verifying_again_starts_anew_and_tells_nothing_that_is_not_new(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader)
    falls_ill(grader)
    platform.probe_graders()
    recovers(grader)
    platform.call("POST", f"/api/v1/graders/{grader_id}/verify")
    assert health(platform, grader_id)["consecutiveFailed"] == 0
    assert told(platform) == [VERIFIED]


def test_a_deleted_grader_is_gone_from_the_probes(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader)
    platform.call("DELETE", f"/api/v1/graders/{grader_id}")
    assert platform.probe_graders()["probed"] == 0
    assert all(
        Table("registry", clients.dynamodb()).query(f"health#{shard}").items == []
        for shard in range(HEALTH_SHARDS)
    )


@pytest.mark.usefixtures("one_shard")
def test_graders_of_all_organisations_share_a_shard_and_no_news(
    platform: Platform, grader: LoopbackGrader
) -> None:
    mine = platform.new_grader(grader)
    other = platform.new_organization("second")
    with loopback_grader() as theirs:
        body = {"name": "theirs", "endpoint": theirs.url}
        registered = platform.call("POST", "/api/v1/graders", body, api_key=other).json
        theirs.secret = registered["credentials"]["sharedSecret"]
        path = f"/api/v1/graders/{registered['grader']['id']}"
        platform.call("POST", f"{path}/verify", api_key=other)
        falls_ill(theirs)
        for _ in range(2):
            platform.probe_graders()
        their = platform.call("GET", path, api_key=other).json["grader"]
    assert (their["status"], shown(platform, mine)["status"]) == ("degraded", "active")

    events = [event_in(Change.from_record(record)) for record in platform.stored_events()]
    owner = shown(platform, mine)["owner"]
    assert [event.organization_id == owner for event in events] == [True, False, False]
    assert their["owner"] not in str(events[0])


def test_no_word_of_a_grader_is_in_an_event(platform: Platform, grader: LoopbackGrader) -> None:
    grader_id = platform.new_grader(grader)
    grader.health.update(status="degraded", notes="SECRET WORDS")
    for _ in range(2):
        platform.probe_graders()
    assert told(platform)[-1] == ("active", "degraded", "grader_degraded")
    assert "SECRET" not in str(platform.stored_events())
    assert "SECRET" not in str(health(platform, grader_id))


def test_every_status_change_reaches_a_webhook_once(
    platform: Platform, grader: LoopbackGrader
) -> None:
    with loopback_subscriber() as subscriber:
        wish = {"url": subscriber.url, "eventTypes": ["grader.status_changed"]}
        webhook = platform.call("POST", "/api/v1/webhooks", wish).json
        grader_id = platform.new_grader(grader)
        falls_ill(grader)
        for _ in range(6):
            platform.probe_graders()
        for _ in range(2):
            platform.publish_events()
            platform.deliver()
    bodies = [received.verified(webhook["secret"]) for received in subscriber.received]
    assert [body["event"] for body in bodies] == ["grader.status_changed"] * 3
    told_of = [body["data"] for body in bodies]
    assert {
        "graderId": grader_id,
        "previousStatus": "degraded",
        "currentStatus": "inactive",
        "reason": "grader_unhealthy",
    } in told_of
    assert len({one["currentStatus"] for one in told_of}) == 3
