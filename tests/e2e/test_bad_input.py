"""Bad input on the real way in, through the gateway: each gets a clear problem and adds nothing."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from autotune import AutotuneClient
from autotune.protocol.ids import new_id
from autotune.protocol.signing import sign_api_request
from local.deployment import SERVICE_STACK_NAME
from local.endpoint import cloudformation_client
from local.first_organization import create_organization
from local.records import LocalProfile
from tests.e2e.conftest import verified
from tests.support.graders import loopback_grader


class RawClient:
    """Sends what no SDK would."""

    def __init__(self, profile: LocalProfile) -> None:
        self._http = httpx.Client(timeout=180)
        self._base_url = profile.base_url
        self.api_key = profile.api_key

    def send(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        headers: dict[str, str] | None = None,
        **signing: Any,
    ) -> httpx.Response:
        signed = self.sign(method, path, body, **signing) if headers is None else headers
        return self._http.request(
            method,
            self._base_url + path,
            content=body,
            headers={"content-type": "application/json", **signed},
        )

    def sign(self, method: str, path: str, body: bytes = b"", **changes: Any) -> dict[str, str]:
        key_id, secret = self.api_key.split(".")
        request = {
            "key_id": key_id,
            "secret": secret,
            "method": method,
            "path": path,
            "query": "",
            "body": body,
            "request_id": new_id("req"),
        }
        return sign_api_request(**{**request, **changes})

    def close(self) -> None:
        self._http.close()


@pytest.fixture
def raw(profile: LocalProfile) -> Iterator[RawClient]:
    made = RawClient(profile)
    yield made
    made.close()


def code(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    problem = answer.json()
    assert problem["requestId"] == answer.headers["x-autotune-request-id"]
    assert problem["detail"]
    return answer.status_code, problem["code"]


def completion(**fields: Any) -> bytes:
    filled = {"taskId": new_id("task"), "modelId": "m", "prompt": "p", "response": "r", **fields}
    return json.dumps({key: value for key, value in filled.items() if value is not ...}).encode()


def test_an_unknown_task_is_named(raw: RawClient) -> None:
    answer = raw.send("POST", "/api/v1/completions", completion())
    assert code(answer) == (422, "invalid_request")
    assert answer.json()["errors"][0]["field"] == "taskId"


def test_missing_and_wrong_fields_are_named(raw: RawClient) -> None:
    body = completion(prompt=..., response=7, colour="red")
    answer = raw.send("POST", "/api/v1/completions", body)
    assert code(answer) == (422, "invalid_request")
    assert {error["field"] for error in answer.json()["errors"]} == {"prompt", "response", "colour"}


def test_six_megabytes_are_too_many(raw: RawClient) -> None:
    answer = raw.send("POST", "/api/v1/completions", completion(response="x" * 6_000_000))
    assert code(answer) == (413, "request_too_large")
    assert answer.json()["limit"]["maximum"] == 5_000_000


def test_an_unsigned_request_is_refused(raw: RawClient) -> None:
    assert code(raw.send("GET", "/api/v1/tasks", headers={})) == (401, "unauthenticated")


def test_a_wrongly_signed_request_is_refused(raw: RawClient) -> None:
    answer = raw.send("GET", "/api/v1/tasks", secret="0" * 64)
    assert code(answer) == (401, "unauthenticated")


def test_a_stale_request_is_refused(raw: RawClient) -> None:
    answer = raw.send("GET", "/api/v1/tasks", timestamp=int(time.time()) - 301)
    assert code(answer) == (401, "stale_request")


def test_a_replayed_request_is_refused(raw: RawClient) -> None:
    headers = raw.sign("GET", "/api/v1/tasks")
    assert raw.send("GET", "/api/v1/tasks", headers=headers).status_code == 200
    answer = raw.send("GET", "/api/v1/tasks", headers=headers)
    assert code(answer) == (401, "replayed_request")


def test_what_is_not_there_is_a_problem_too(raw: RawClient) -> None:
    assert code(raw.send("GET", "/api/v1/nothing")) == (404, "not_found")
    assert code(raw.send("PUT", "/api/v1/tasks", b"{}")) == (405, "method_not_allowed")


def test_a_key_of_another_organisation_finds_nothing(
    raw: RawClient, client: AutotuneClient, profile: LocalProfile
) -> None:
    with loopback_grader() as grader:
        task = client.tasks.create(name="ours", grader_id=verified(client, grader))
        submitted = client.completions.submit(
            task_id=task.id, model_id="m", prompt="p", response="r"
        )
        ours = submitted.completion.id
        client.completions.wait_for_score(ours, timeout=180)
    outputs = cloudformation_client(profile.aws_endpoint_url).describe_stacks(
        StackName=SERVICE_STACK_NAME
    )["Stacks"][0]["Outputs"]
    function = next(
        output["OutputValue"]
        for output in outputs
        if output["OutputKey"] == "CreateOrganizationFunctionName"
    )
    raw.api_key = create_organization(
        endpoint=profile.aws_endpoint_url, function_name=function, name="Others"
    ).api_key
    for method, path in [
        ("GET", f"/api/v1/tasks/{task.id}"),
        ("DELETE", f"/api/v1/tasks/{task.id}"),
        ("GET", f"/api/v1/graders/{task.grader_id}"),
        ("POST", f"/api/v1/graders/{task.grader_id}/verify"),
        ("GET", f"/api/v1/completions/{ours}"),
        ("GET", f"/api/v1/completions/{ours}/score"),
        ("DELETE", f"/api/v1/completions/{ours}"),
    ]:
        assert code(raw.send(method, path)) == (404, "not_found"), path
    foreign = raw.send("POST", "/api/v1/completions", completion(taskId=task.id))
    unknown = raw.send("POST", "/api/v1/completions", completion())
    assert code(foreign) == code(unknown) == (422, "invalid_request")
    assert client.completions.get(ours).prompt == "p"
