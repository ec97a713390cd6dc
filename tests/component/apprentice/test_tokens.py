"""Tokens of tasks: they reach that task alone, and end with it."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.apprentice import configuration
from tests.support.lambdas import Answer
from tests.support.ledger import Ledger
from tests.support.platform import Platform

TOKENS = "/api/v1/llm-tokens"
TASK = "/api/v1/apprentice/tasks/intents"


@pytest.fixture
def connection_id(platform: Platform, ledger: Ledger) -> str:
    """The connection of the task intents, which is there."""
    made = ledger.connect()
    assert platform.call("PUT", TASK, configuration(made)).status == 200
    return made


def create(platform: Platform, **fields: Any) -> Answer:
    return platform.call("POST", TOKENS, {"name": "t", "apprenticeTask": "intents", **fields})


def states(platform: Platform) -> list[str]:
    return [one["state"] for one in platform.call("GET", TOKENS).json["tokens"]]


@pytest.mark.usefixtures("connection_id")
def test_a_token_is_of_a_task(platform: Platform) -> None:
    made = create(platform, scopes=["read"])

    assert made.status == 201, made.text
    token = made.json["token"]
    assert (token["apprenticeTask"], token["state"]) == ("intents", "active")
    assert (token["connectionId"], token["purpose"]) == (None, None)
    assert token["scopes"] == ["read"]
    assert platform.call("GET", f"{TOKENS}/{token['id']}").json["token"] == token
    assert platform.call("GET", TOKENS).json["tokens"] == [token]


def test_it_is_of_exactly_one(platform: Platform, connection_id: str) -> None:
    both = create(platform, connectionId=connection_id)
    neither = platform.call("POST", TOKENS, {"name": "t"})

    for one in (both, neither):
        assert one.status == 422
        assert "exactly one of connectionId and apprenticeTask" in one.text
    for field, value in (("purpose", "trial"), ("retentionDays", 3)):
        refused = create(platform, **{field: value})
        assert refused.status == 422
        assert f"{field}: for a token of a connection alone" in refused.text


@pytest.mark.usefixtures("connection_id")
def test_the_task_is_one_of_the_own_organisation(platform: Platform) -> None:
    foreign = platform.new_organization("other")
    body = {"name": "t", "apprenticeTask": "intents"}
    for answer in (
        create(platform, apprenticeTask="language"),
        platform.call("POST", TOKENS, body, api_key=foreign),
    ):
        assert (answer.status, list(answer.fields)) == (422, ["apprenticeTask"])
    assert list(create(platform, apprenticeTask="No Name").fields) == ["apprenticeTask"]
    past = create(platform, expiresAt=datetime(2020, 1, 1, tzinfo=UTC).isoformat())
    assert list(past.fields) == ["expiresAt"]


def test_it_ends_with_its_task_also_where_the_name_is_taken_again(
    platform: Platform, connection_id: str
) -> None:
    token = create(platform).json["token"]
    assert platform.call("DELETE", TASK).status == 204
    assert states(platform) == ["revoked"]
    assert platform.call("GET", f"{TOKENS}/{token['id']}").json["token"]["state"] == "revoked"

    platform.call("PUT", TASK, configuration(connection_id))
    create(platform)

    assert sorted(states(platform)) == ["active", "revoked"]


@pytest.mark.usefixtures("connection_id")
def test_it_is_revoked(platform: Platform) -> None:
    token = create(platform).json["token"]

    answer = platform.call("DELETE", f"{TOKENS}/{token['id']}")

    assert answer.json["token"]["state"] == "revoked"
    assert states(platform) == ["revoked"]


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/files"), ("GET", "/batches"), ("POST", "/batches"), ("GET", "/files/llf_1")],
)
@pytest.mark.usefixtures("connection_id")
def test_it_reaches_no_files_and_no_batches(platform: Platform, method: str, path: str) -> None:
    secret = create(platform).json["secret"]
    headers = {"authorization": f"Bearer {secret}", "content-type": "application/json"}
    body = json.dumps(
        {
            "input_file_id": "llf_1",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
        }
    )

    answer = platform.pass_on(method, f"/v1{path}", "", headers, body.encode())

    assert answer.status == 403, answer.text
    assert "the task intents" in answer.json["error"]["message"]
