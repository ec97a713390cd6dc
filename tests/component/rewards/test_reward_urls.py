"""A reward URL is a capability: what lets in is shown once, kept nowhere, and can be taken back."""

import json
import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient

from autotune.protocol.ids import new_id
from tests.component.audit.log import entries
from tests.component.rewards.conftest import Rewarded
from tests.support.aws import REWARD_URL
from tests.support.lambdas import Answer
from tests.support.platform import Platform

BODY = {"prompt": "p", "response": "r"}
UNKNOWN = "no such reward URL, or it was revoked or has expired"


def _create(platform: Platform, task_id: str, **fields: Any) -> Answer:
    body = {"name": "r", "taskId": task_id, "modelId": "m", **fields}
    return platform.call("POST", "/api/v1/reward-urls", body)


def _ask(platform: Platform, path: str, **options: Any) -> Answer:
    headers = {"x-autotune-request-id": "the-same"}
    return platform.ask(f"{path}/slime", BODY, headers=headers, **options)


def test_a_url_is_shown_once(rewarded: Rewarded) -> None:
    platform = rewarded.platform
    made = _create(platform, rewarded.task_id, name="trainer").json
    url, told = made["url"], made["rewardUrl"]
    assert url.startswith(f"{REWARD_URL}/r/{told['id']}-")
    secret = url.rpartition("-")[2]
    assert len(secret) == 64
    assert {told["name"], told["modelId"], told["taskId"], told["state"]} == {
        *("trainer", "m", rewarded.task_id, "active"),
    }
    read = platform.call("GET", f"/api/v1/reward-urls/{told['id']}")
    assert read.json == {"rewardUrl": told}
    listed = platform.call("GET", "/api/v1/reward-urls")
    assert told in listed.json["rewardUrls"]
    stored = boto3.resource("dynamodb").Table("registry").scan()["Items"]
    assert secret not in listed.text + read.text + json.dumps(stored, default=str)


def test_a_list_goes_on_page_after_page(rewarded: Rewarded) -> None:
    for _ in range(4):
        _create(rewarded.platform, rewarded.task_id)
    found, token = [], None
    while True:
        query = {"limit": 2, **({"nextToken": token} if token else {})}
        page = rewarded.platform.call("GET", "/api/v1/reward-urls", query=query).json
        found += [one["id"] for one in page["rewardUrls"]]
        token = page["nextToken"]
        if token is None:
            break
    assert len(found) == 5
    assert found == sorted(set(found))


def test_a_revoked_url_stays_on_the_list_and_answers_no_more(rewarded: Rewarded) -> None:
    assert rewarded.slime().status == 503
    path = f"/api/v1/reward-urls/{rewarded.reward_url().id}"
    for _ in range(2):
        revoked = rewarded.platform.call("DELETE", path)
        assert (revoked.status, revoked.json["rewardUrl"]["state"]) == (200, "revoked")
    answer = rewarded.slime()
    assert (answer.status, answer.json["detail"]) == (404, UNKNOWN)
    (listed,) = rewarded.platform.call("GET", "/api/v1/reward-urls").json["rewardUrls"]
    assert listed["state"] == "revoked"


@pytest.mark.parametrize(
    ("expires_at", "fault"),
    [
        ("2020-01-01T00:00:00Z", "a moment in the future"),
        ("2020-01-01T00:00:00", "timezone"),
        ("soon", "ISO 8601 time with a zone"),
        (4102444800, "ISO 8601 time with a zone"),
    ],
)
def test_an_expiry_lies_ahead(rewarded: Rewarded, expires_at: Any, fault: str) -> None:
    answer = _create(rewarded.platform, rewarded.task_id, expiresAt=expires_at)
    assert answer.status == 422
    assert fault in answer.fields["expiresAt"]


def test_an_expiry_is_answered_in_utc(rewarded: Rewarded) -> None:
    made = _create(rewarded.platform, rewarded.task_id, expiresAt="2999-01-01T05:00:00+05:00")
    assert made.json["rewardUrl"]["expiresAt"] == "2999-01-01T00:00:00Z"


def test_who_may_not_ask_learns_nothing(
    rewarded: Rewarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = rewarded.platform
    revoked, expired = (platform.new_reward_url(rewarded.task_id) for _ in range(2))
    platform.call("DELETE", f"/api/v1/reward-urls/{revoked[3:].rpartition('-')[0]}")
    registry = boto3.resource("dynamodb").Table("registry")
    registry.update_item(
        Key={"pk": expired[3:].rpartition("-")[0], "sk": "record"},
        UpdateExpression="SET expires_at = :at",
        ExpressionAttributeValues={":at": (datetime.now(UTC) - timedelta(seconds=1)).isoformat()},
    )
    wrong = f"{rewarded.path[:-1]}{'0' if rewarded.path[-1] != '0' else '1'}"
    another = f"/r/{revoked[3:].rpartition('-')[0]}-{rewarded.path.rpartition('-')[2]}"
    unknown = f"/r/{new_id('rwu')}-{'0' * 64}"
    _ask(platform, unknown)  # what is fetched once is fetched by now
    called: list[str] = []
    call = BaseClient._make_api_call

    def note(client: Any, operation: str, arguments: dict[str, Any]) -> Any:
        called.append(f"{operation} {arguments.get('TableName')}")
        return call(client, operation, arguments)

    monkeypatch.setattr(BaseClient, "_make_api_call", note)
    seen = []
    for path in (unknown, wrong, another, revoked, expired):
        called.clear()
        answer = _ask(platform, path)
        seen.append((answer.status, answer.headers, answer.text, tuple(called)))
    assert len({repr(one[:3]) for one in seen}) == 1
    assert seen[0][0] == 404
    # Only the owner sees the use of a URL; made-up URLs do not show which URLs exist.
    assert {one[3] for one in seen[:3]} == {("GetItem registry",)}
    assert {one[3] for one in seen[3:]} == {("GetItem registry", "PutItem audit")}
    called.clear()
    shapeless = [_ask(platform, path) for path in ("/r/x", f"/r/{new_id('key')}-{'0' * 64}")]
    assert {answer.text for answer in shapeless} == {seen[0][2]}
    assert called == []


def test_the_body_of_who_may_not_ask_is_not_read(rewarded: Rewarded) -> None:
    unknown = f"/r/{new_id('rwu')}-{'0' * 64}/slime"
    assert rewarded.platform.ask(unknown, None, raw=b"{").status == 404


@pytest.mark.parametrize(
    ("method", "below", "status"),
    [("GET", "/slime", 405), ("POST", "/other", 404), ("POST", "", 404), ("PUT", "/nova", 405)],
)
def test_what_is_no_question_is_told_without_the_token(
    rewarded: Rewarded, method: str, below: str, status: int
) -> None:
    answer = rewarded.platform.call(method, f"{rewarded.path}{below}", BODY, signed={})
    assert answer.status == status
    assert rewarded.path[3:] not in answer.text + json.dumps(answer.headers)


def test_a_token_is_kept_nowhere(
    rewarded: Rewarded, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)  # as deployed
    token = rewarded.path[3:]
    secret = token.rpartition("-")[2]
    said = [rewarded.slime(), rewarded.slime(response=7), _ask(rewarded.platform, "/r/x")]  # type: ignore[arg-type]
    said.append(rewarded.platform.call("POST", f"{rewarded.path}/none", BODY, signed={}))
    rewarded.platform.score_everything()
    said.append(rewarded.slime())
    with monkeypatch.context() as broken:
        broken.setattr("autotune_platform.rewards.scoring.RewardScoring.score", _break)
        said.append(rewarded.slime())
    assert [answer.status for answer in said] == [503, 422, 404, 404, 200, 500]
    rewarded.platform.project()
    tables = ("registry", "completions", "audit")
    kept = [boto3.resource("dynamodb").Table(name).scan()["Items"] for name in tables]
    logged = [one.__dict__ for one in caplog.records if not one.name.startswith("botocore")]
    assert secret not in repr(kept)
    assert not [one for one in logged if secret in repr(one)]
    assert not [answer for answer in said if secret in f"{answer.text} {answer.headers}"]


def _break(*_: object, **__: object) -> None:
    raise RuntimeError("unforeseen")


def test_what_is_asked_is_in_the_audit_log_of_its_organisation(rewarded: Rewarded) -> None:
    rewarded.slime()
    (made,) = entries(action="create_reward_url")
    (asked,) = entries(action="score_for_slime")
    assert made["ids"] == {"reward_url_id": rewarded.reward_url().id}
    assert asked["organization"] == made["organization"]
    assert asked["principalId"] == rewarded.reward_url().id
    assert (asked["route"], asked["status"]) == ("/r/{token}/slime", 503)
    assert asked["ids"] == {}
    assert asked["sourceAddress"] == "192.0.2.7"


def test_who_uses_a_revoked_url_is_in_the_audit_log_of_its_organisation(
    rewarded: Rewarded,
) -> None:
    revoked = rewarded.reward_url().id
    rewarded.platform.call("DELETE", f"/api/v1/reward-urls/{revoked}")
    assert rewarded.slime().status == 404
    (asked,) = entries(action="score_for_slime")
    assert (asked["principalId"], asked["status"]) == (revoked, 404)
    assert (asked["code"], asked["sourceAddress"]) == ("not_found", "192.0.2.7")
