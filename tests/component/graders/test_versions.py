"""A grader's version is that of its code: who changes the code is noticed, and told of."""

from typing import Any

import boto3

from autotune_platform.storage.changes import Change
from autotune_platform.webhooks.outbox import event_in
from tests.support.graders import Exchange, LoopbackGrader
from tests.support.health import health, shown
from tests.support.lambdas import forget_processes
from tests.support.platform import Platform
from tests.support.subscribers import loopback_subscriber


def changes(platform: Platform) -> list[tuple[str, str]]:
    """Every change of a version that is on its way out: from and to."""
    events = [event_in(Change.from_record(record)) for record in platform.stored_events()]
    data = [one.data for one in events if one.type == "grader.version_changed"]
    return [(one["previousVersion"], one["currentVersion"]) for one in data]


def probed(platform: Platform, grader_id: str, times: int = 1) -> str:
    for _ in range(times):
        platform.probe_graders()
    version: str = shown(platform, grader_id)["version"]
    return version


def test_two_probes_in_a_row_change_the_version(platform: Platform, grader: LoopbackGrader) -> None:
    grader_id = platform.new_grader(grader)
    before = shown(platform, grader_id)
    grader.version = "2.0.0"
    assert probed(platform, grader_id) == "1.0.0"
    assert health(platform, grader_id)["lastProbe"]["version"] == "2.0.0"
    assert probed(platform, grader_id) == "2.0.0"
    assert probed(platform, grader_id, times=2) == "2.0.0"
    assert changes(platform) == [("1.0.0", "2.0.0")]
    after = shown(platform, grader_id)
    kept = ("status", "statusChangedAt", "verifiedAt")
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}


def test_while_a_version_is_rolled_out_both_answer_and_nothing_changes(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader)
    for version in ("2.0.0", "1.0.0", "2.0.0", "1.0.0"):
        grader.version = version
        assert probed(platform, grader_id) == "1.0.0"
    assert changes(platform) == []


def test_a_probe_that_fails_names_no_version_and_forgets_none(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader)
    grader.version = "2.0.0"
    assert probed(platform, grader_id) == "1.0.0"
    grader.health["status"] = "nonsense"
    assert probed(platform, grader_id) == "1.0.0"
    grader.health.clear()
    assert probed(platform, grader_id) == "2.0.0"


def test_an_answer_and_a_probe_are_two_witnesses(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader)
    task_id = platform.new_task(grader_id)
    grader.version = "2.0.0"
    platform.submit(task_id, {}, {})
    platform.score_everything()
    platform.project()
    assert shown(platform, grader_id)["version"] == "1.0.0"
    assert probed(platform, grader_id) == "2.0.0"
    # What it was submitted for is what verdicts are kept under; what answered is shown.
    accepted = platform.submit(task_id, {}).json
    platform.score_everything()
    [verdict] = platform.batch(accepted["batchId"])["verdicts"]
    assert verdict["score"]["graderVersion"] == "2.0.0"
    assert changes(platform) == [("1.0.0", "2.0.0")]


def test_an_answer_alone_changes_nothing(platform: Platform, grader: LoopbackGrader) -> None:
    """Its health names another: that is what a grader says of itself."""
    grader_id = platform.new_grader(grader)

    def answers_as_another(exchange: Exchange) -> None:
        exchange.answer["graderVersion"] = "3.0.0"

    grader.disease = answers_as_another
    for _ in range(3):
        platform.submit(platform.new_task(grader_id), {})
        platform.score_everything()
        platform.project()
        forget_processes()
        assert probed(platform, grader_id) == "1.0.0"
    assert changes(platform) == []


def test_of_a_version_that_an_answer_names_only_a_digest_is_kept(
    platform: Platform, grader: LoopbackGrader
) -> None:
    """A grader may say what it was asked."""
    grader_id = platform.new_grader(grader)

    def echo(exchange: Exchange) -> None:
        exchange.answer["graderVersion"] = "the text of a prompt"

    grader.disease = echo
    platform.submit(platform.new_task(grader_id), {})
    platform.score_everything()
    platform.project()
    items = boto3.resource("dynamodb").Table("registry").scan()["Items"]
    [noted] = [item for item in items if item["pk"].startswith("health#")]
    assert len(noted["scored_as"]) == 32
    assert "the text" not in str([item for item in items if item["sk"] != "record"]).replace(
        "statistics#the text of a prompt", ""
    )


def test_another_configuration_of_a_builtin_grader_is_another_version_and_an_event(
    platform: Platform,
) -> None:
    exact = {"type": "exact_match", "reference": "4"}
    body = {"name": "n", "kind": "builtin", "builtin": exact}
    grader = platform.call("POST", "/api/v1/graders", body).json["grader"]
    path = f"/api/v1/graders/{grader['id']}"
    changed = platform.call("PATCH", path, {"builtin": {**exact, "reference": "5"}}).json["grader"]
    assert changed["status"] == "active"
    assert changes(platform) == [(grader["version"], changed["version"])]
    platform.call("PATCH", path, {"name": "m"})
    assert len(changes(platform)) == 1


def test_verifying_again_finds_another_version(platform: Platform, grader: LoopbackGrader) -> None:
    grader_id = platform.new_grader(grader)
    grader.version = "2.0.0"
    platform.call("POST", f"/api/v1/graders/{grader_id}/verify")
    assert changes(platform) == [("1.0.0", "2.0.0")]


def test_a_changed_version_reaches_a_webhook(platform: Platform, grader: LoopbackGrader) -> None:
    with loopback_subscriber() as subscriber:
        wish = {"url": subscriber.url, "eventTypes": ["grader.version_changed"]}
        webhook = platform.call("POST", "/api/v1/webhooks", wish).json
        grader_id = platform.new_grader(grader)
        grader.version = "2.0.0"
        probed(platform, grader_id, times=2)
        platform.publish_events()
        platform.deliver()
    [body] = [received.verified(webhook["secret"]) for received in subscriber.received]
    assert body["event"] == "grader.version_changed"
    assert body["data"] == {
        "graderId": grader_id,
        "previousVersion": "1.0.0",
        "currentVersion": "2.0.0",
    }


def test_a_verified_grader_that_is_busy_stays_verified(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader)

    def busy(exchange: Exchange) -> None:
        exchange.status = 429

    grader.question_disease = busy
    answer: Any = platform.call("POST", f"/api/v1/graders/{grader_id}/verify").json
    assert [check["passed"] for check in answer["checks"]].count(False) == 1
    assert answer["verified"] is True
    assert shown(platform, grader_id)["status"] == "active"


def test_a_verified_grader_that_does_wrong_is_not_verified_any_more(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader)
    grader.refuses_strangers = False
    assert platform.call("POST", f"/api/v1/graders/{grader_id}/verify").json["verified"] is False
    assert shown(platform, grader_id)["status"] == "inactive"
