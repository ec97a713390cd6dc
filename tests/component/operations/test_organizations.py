"""Operators list organisations, suspend them, and take them up again."""

from typing import Any

import pytest

from autotune.protocol.ids import new_id
from autotune_platform.access import service
from tests.support.graders import LoopbackGrader
from tests.support.lambdas import forget_processes, handler
from tests.support.platform import Platform

manage = handler("functions.operations.manage_organizations")


def ask(**event: Any) -> Any:
    return manage(event, None)


def change(action: str, organization_id: str) -> Any:
    """Change an organisation; other processes learn of it within half a minute."""
    changed = ask(action=action, organizationId=organization_id)["organization"]
    forget_processes()
    return changed


def test_all_organisations_are_listed_in_pages(platform: Platform) -> None:
    for number in range(3):
        platform.new_organization(f"org {number}")
    names: list[str] = []
    after = None
    while True:
        page = ask(action="list", limit=2, after=after)
        names += [one["name"] for one in page["organizations"]]
        after = page["nextAfter"]
        if after is None:
            break
    assert names == ["first", "org 0", "org 1", "org 2"]


def test_of_a_suspended_organisation_nothing_is_accepted_or_returned(platform: Platform) -> None:
    other = platform.new_organization("second")
    organization_id = platform.me()["organizationId"]
    assert change("suspend", organization_id)["status"] == "suspended"
    for method, path in (("GET", "/api/v1/keys/me"), ("GET", "/api/v1/tasks")):
        refused = platform.call(method, path)
        assert (refused.status, refused.json["code"]) == (403, "organization_suspended")
    assert platform.call("GET", "/api/v1/keys/me", api_key=other).status == 200
    assert change("resume", organization_id)["status"] == "active"
    assert platform.call("GET", "/api/v1/keys/me").status == 200


def test_a_wrong_signature_learns_nothing_of_a_suspension(platform: Platform) -> None:
    me = platform.me()
    change("suspend", me["organizationId"])
    answer = platform.call("GET", "/api/v1/keys/me", api_key=f"{me['id']}.{'0' * 64}")
    assert (answer.status, answer.json["code"]) == (401, "unauthenticated")


def test_links_and_reward_urls_of_a_suspended_organisation_open_nothing(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    link = platform.call("POST", "/api/v1/review-links", {"reviewerId": "anna"}).json
    body = {"name": "n", "taskId": task_id, "modelId": "m"}
    url = platform.call("POST", "/api/v1/reward-urls", body).json["url"]
    organization_id = platform.me()["organizationId"]
    bearer = {"authorization": f"Bearer {link['url'].partition('#')[2]}"}
    assert platform.call("GET", "/api/v1/reviews", signed=bearer).status == 200
    change("suspend", organization_id)
    by_link = platform.call("GET", "/api/v1/reviews", signed=bearer)
    assert (by_link.status, by_link.json["code"]) == (403, "organization_suspended")
    question = {"query": ["2 + 2 = 4"], "prompts": ["2 + 2 = "], "labels": [""]}
    path = url.partition("/r/")[2]
    by_url = platform.call("POST", f"/r/{path}/openrlhf", question, signed={})
    assert (by_url.status, by_url.json["code"]) == (403, "organization_suspended")


def test_what_was_accepted_before_is_scored(platform: Platform, grader: LoopbackGrader) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    platform.submit(task_id, {})
    organization_id = platform.me()["organizationId"]
    change("suspend", organization_id)
    platform.dispatch(platform.queued())
    (run,) = platform.runs()
    assert platform.grade(run)["remaining"] == 0
    change("resume", organization_id)
    (score,) = platform.call("GET", "/api/v1/scores", query={"taskId": task_id}).json["scores"]
    assert score["state"] == "scored"


def test_a_suspension_is_read_once_in_half_a_minute(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    get = service.AccessRepository.get_organization

    def note(self: service.AccessRepository, organization_id: str) -> Any:
        read.append(organization_id)
        return get(self, organization_id)

    monkeypatch.setattr(service.AccessRepository, "get_organization", note)
    for _ in range(3):
        platform.call("GET", "/api/v1/keys/me")
    assert len(read) <= 1


@pytest.mark.parametrize(
    "event",
    [{}, {"action": "delete"}, {"action": "suspend"}, {"action": "list", "limit": 201}],
)
def test_what_is_no_request_is_named(platform: Platform, event: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        manage(event, None)


@pytest.mark.parametrize(
    "organization_id",
    [new_id("org"), new_id("key"), "", "x" * 3_000],
    ids=["unknown", "a key", "empty", "long"],
)
def test_an_unknown_organisation_is_not_made(platform: Platform, organization_id: str) -> None:
    with pytest.raises(Exception, match="no organization"):
        ask(action="suspend", organizationId=organization_id)
