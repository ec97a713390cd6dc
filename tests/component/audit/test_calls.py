"""Every call leaves one entry: who, what, outcome, and never a text."""

import json
import logging
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from autotune.protocol.ids import new_id
from autotune.protocol.signing import sign_api_request
from autotune_platform.access.grants import Open
from autotune_platform.access.routes import ROUTES
from autotune_platform.audit import calls
from autotune_platform.http.api import Api, UndeclaredRouteError
from autotune_platform.runtime.environment.base import Environment
from autotune_platform.wiring.access import ApiParts
from tests.component.audit.log import entries
from tests.support.graders import LoopbackGrader
from tests.support.lambdas import LambdaContext
from tests.support.platform import Platform

MAKING = ("create_key", "create_review_link")


def test_a_call_is_entered_once_with_who_what_and_outcome(platform: Platform) -> None:
    key = platform.me()
    task_id = new_id("task")
    answer = platform.call("GET", f"/api/v1/tasks/{task_id}")
    (entry,) = entries(action="read_task")
    assert entry.pop("durationMs") >= 0
    assert entry.pop("id").startswith("aud_")
    assert entry.pop("time")
    assert entry == {
        "organization": key["organizationId"],
        "kind": "call",
        "action": "read_task",
        "keyId": key["id"],
        "principalId": key["principalId"],
        "role": "admin",
        "authenticated": True,
        "method": "GET",
        "route": "/api/v1/tasks/{task_id}",
        "ids": {"task_id": task_id},
        "status": 404,
        "code": "not_found",
        "requestId": answer.headers["x-autotune-request-id"],
        "sourceAddress": "192.0.2.7",
    }


def test_what_a_call_made_is_entered_by_its_id(platform: Platform) -> None:
    made = platform.call("POST", "/api/v1/keys", {"name": "n", "role": "reviewer"}).json
    link = platform.call("POST", "/api/v1/review-links", {"reviewerId": "anna"}).json["link"]
    ids = [entry["ids"] for action in MAKING for entry in entries(action=action)]
    assert {"key_id": made["key"]["id"]} in ids
    assert {"link_id": link["id"]} in ids


def test_a_call_costs_one_write_unit(platform: Platform) -> None:
    path = f"/api/v1/webhooks/{new_id('whk')}/deliveries/{new_id('evt')}/replay"
    platform.call("POST", path)
    items = boto3.resource("dynamodb").Table("audit").scan()["Items"]
    assert items
    for item in items:
        assert sum(len(name) + len(str(value)) for name, value in item.items()) < 900


def test_reads_writes_and_refusals_are_entered(platform: Platform) -> None:
    reviewer = platform.new_key("reviewer")
    platform.call("GET", "/api/v1/tasks", api_key=reviewer)
    platform.call("POST", "/api/v1/keys", raw=b"{")
    platform.call("PUT", "/api/v1/keys")
    platform.call("GET", "/api/v1/nothing/at/all")
    told = [(entry["action"], entry["status"], entry.get("code")) for entry in entries()]
    assert told == [
        ("create_key", 201, None),
        ("list_tasks", 403, "forbidden"),
        ("create_key", 400, "invalid_request"),
        ("unknown_route", 405, "method_not_allowed"),
        ("unknown_route", 404, "not_found"),
    ]


def signed_by(key_id: str, secret: str = "0" * 64) -> dict[str, str]:
    return sign_api_request(
        key_id=key_id,
        secret=secret,
        method="GET",
        path="/api/v1/tasks",
        query="",
        body=b"",
        request_id=new_id("req"),
    )


def test_a_known_key_with_a_wrong_signature_is_entered_where_it_belongs(
    platform: Platform,
) -> None:
    key = platform.me()
    assert platform.call("GET", "/api/v1/tasks", signed=signed_by(key["id"])).status == 401
    (entry,) = entries(action="list_tasks")
    assert (entry["organization"], entry["keyId"]) == (key["organizationId"], key["id"])
    assert (entry["authenticated"], entry["code"]) == (False, "unauthenticated")


def test_a_revoked_key_is_entered_where_it_belonged(platform: Platform) -> None:
    key_id, secret = platform.new_key("admin").split(".")
    platform.call("DELETE", f"/api/v1/keys/{key_id}")
    assert platform.call("GET", "/api/v1/tasks", signed=signed_by(key_id, secret)).status == 401
    (entry,) = entries(action="list_tasks")
    assert (entry["keyId"], entry["authenticated"]) == (key_id, False)


def test_a_call_of_nobody_is_in_the_log_and_in_no_organisations_entries(
    platform: Platform, caplog: pytest.LogCaptureFixture
) -> None:
    before = len(entries())
    with caplog.at_level(logging.INFO):
        platform.call("GET", "/api/v1/tasks", signed={})
        platform.call("GET", "/api/v1/tasks", signed=signed_by(new_id("key")))
    assert len(entries()) == before
    told = [one for one in caplog.records if one.message == "call of no organisation"]
    assert [one.__dict__["entry"]["status"] for one in told] == [401, 401]


def test_a_path_that_holds_text_leaves_none_of_it(platform: Platform) -> None:
    for path in ("/api/v1/tasks/secret-plan", "/api/v1/secret-plan", "/api/v1/keys/secret-plan"):
        platform.call("DELETE", path, query={"note": "secret-plan"})
    told = entries()[-3:]
    assert "secret-plan" not in json.dumps(told)
    assert told[0]["ids"] == {"task_id": "invalid"}


def test_an_entry_that_cannot_be_written_is_in_the_log_and_the_call_is_answered(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise ClientError({"Error": {"Code": "InternalServerError"}}, "PutItem")

    monkeypatch.setattr("autotune_platform.audit.repository.AuditRepository.add", refuse)
    assert platform.call("POST", "/api/v1/keys", {"name": "k", "role": "admin"}).status == 201
    (record,) = [one for one in caplog.records if one.message == calls.NOT_WRITTEN]
    assert record.levelno == logging.ERROR
    assert record.__dict__["organization_id"] == platform.me()["organizationId"]
    assert record.__dict__["entry"]["action"] == "create_key"


def test_no_entry_and_no_log_holds_a_text(
    platform: Platform, grader: LoopbackGrader, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    grader_id = platform.new_grader(
        grader, name="planted-grader", description="planted-description", shareReasoning=True
    )
    task_id = platform.new_task(
        grader_id, name="planted-task", promptTemplate="planted-template", description="planted-d"
    )
    completion: dict[str, Any] = {
        "prompt": "planted-prompt",
        "response": "planted-response",
        "modelId": "planted-model",
        "metadata": {"planted-key": "planted-metadata", "reasoning": "planted-reasoning"},
    }
    submitted = platform.submit(task_id, completion, {**completion, "metadata": {"abstain": True}})
    platform.score_everything()
    platform.project()
    first, second = submitted.json["completionIds"]
    query = {"taskId": task_id, "include": "completion", "nextToken": "planted-token"}
    platform.call("GET", "/api/v1/scores", query=query)
    platform.call("GET", "/api/v1/scores", query={"taskId": "planted-id"})
    platform.call("GET", f"/api/v1/completions/{first}")
    platform.call("DELETE", f"/api/v1/completions/{second}")
    platform.call("PATCH", f"/api/v1/tasks/{task_id}", {"name": "planted-other", "planted": 1})
    headers = {"idempotency-key": "planted-idempotency", "user-agent": "planted-agent"}
    platform.submit(task_id, completion, headers=headers)
    assert len(entries(kind="decision")) == 1
    assert len(entries()) > 10
    items = boto3.resource("dynamodb").Table("audit").scan()["Items"]
    assert "planted" not in json.dumps(items, default=str)
    assert "planted" not in json.dumps([one.__dict__ for one in caplog.records], default=str)


def parts() -> ApiParts:
    return ApiParts(Environment.parse())


def test_a_route_without_a_row_cannot_be_made() -> None:
    with pytest.raises(UndeclaredRouteError, match="GET /api/v1/forgotten has no row"):
        Api(parts).get("/api/v1/forgotten")


def test_a_public_route_needs_no_key_and_tells_for_whom_it_was(platform: Platform) -> None:
    app = Api(parts, rules={**ROUTES, ("POST", "/api/v1/open/<token>"): Open.PUBLIC})
    organization_id = new_id("org")

    @app.post("/api/v1/open/<token>")
    def open_up(token: str) -> dict[str, str]:
        """Let whoever has the token in."""
        app.acts_for(organization_id, principal_id="link", is_outsider=True)
        return {"token": token, "body": app.signed_request.body.decode()}

    token = new_id("run")
    event = {
        "rawPath": f"/api/v1/open/{token}",
        "headers": {},
        "requestContext": {
            "stage": "$default",
            "http": {"method": "POST", "path": f"/api/v1/open/{token}", "sourceIp": "192.0.2.9"},
        },
        "body": "{",
    }
    answer = app.handle(event, LambdaContext())
    assert answer["statusCode"] == 200
    assert json.loads(answer["body"]) == {"token": token, "body": "{"}
    (entry,) = entries(action="open_up")
    assert (entry["organization"], entry["principalId"]) == (organization_id, "link")
    assert "keyId" not in entry
    # What is in a public path is what lets its bearer in.
    assert token not in json.dumps(entry)
