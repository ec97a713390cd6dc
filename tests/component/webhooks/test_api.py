"""Webhooks are kept within their organisation, and say what is wrong with a request."""

from datetime import timedelta
from typing import Any

import pytest

from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_WEBHOOKS
from autotune_platform.webhooks.repository import WebhookRepository
from tests.component.webhooks.conftest import publish, subscribe
from tests.support.platform import Platform
from tests.support.platform import platform as make_platform
from tests.support.subscribers import Subscriber

WEBHOOKS = "/api/v1/webhooks"
BODY = {"url": "http://127.0.0.1:1/hooks?token=t"}


def create(platform: Platform, **fields: Any) -> Any:
    answer = platform.call("POST", WEBHOOKS, {**BODY, **fields})
    assert answer.status == 201, answer.text
    return answer.json


def test_a_webhook_keeps_every_field_and_shows_its_secret_once(platform: Platform) -> None:
    fields = {"eventTypes": ["score.completed", "batch.completed"], "description": "to the team"}
    created = create(platform, **fields)
    assert created["secret"].startswith("whsec_")
    shown = created["webhook"]
    assert shown.items() >= {**BODY, **fields, "status": "active"}.items()
    assert (shown["disabledReason"], shown["failingSince"]) == (None, None)
    read = platform.call("GET", f"{WEBHOOKS}/{shown['id']}")
    assert read.json["webhook"] == shown
    listed = platform.call("GET", WEBHOOKS)
    assert listed.json == {"webhooks": [shown], "nextToken": None}
    assert created["secret"] not in read.text + listed.text


def test_a_webhook_is_told_of_everything_unless_it_says_otherwise(platform: Platform) -> None:
    assert create(platform)["webhook"]["eventTypes"] == "all"
    twice = create(platform, eventTypes=["batch.completed"] * 2)["webhook"]
    assert twice["eventTypes"] == ["batch.completed"]
    changed = platform.call("PATCH", f"{WEBHOOKS}/{twice['id']}", {"eventTypes": "all"})
    assert changed.json["webhook"]["eventTypes"] == "all"


def test_a_webhook_is_changed_in_part_disabled_and_taken_up_again(
    platform: Platform, subscriber: Subscriber
) -> None:
    subscriber.answers(500)
    subscription = subscribe(platform, subscriber, description="kept")
    (event,) = publish(platform)
    platform.deliver()
    assert subscription.shown["failingSince"] is not None

    platform.call("PATCH", subscription.path, {"status": "disabled"})
    platform.deliver()
    shown = subscription.shown
    assert (shown["status"], shown["disabledReason"]) == ("disabled", "requested")
    assert subscription.delivery(event)["lastError"] == "webhook_disabled"

    platform.call("PATCH", subscription.path, {"status": "active"})
    shown = subscription.shown
    assert (shown["status"], shown["disabledReason"]) == ("active", None)
    assert (shown["failingSince"], shown["description"]) == (None, "kept")
    subscriber.answers(200)
    (later,) = publish(platform)
    platform.deliver()
    assert subscription.delivery(later)["status"] == "delivered"


def test_a_new_url_forgets_the_failures_of_the_old_one(
    platform: Platform, subscriber: Subscriber
) -> None:
    subscriber.answers(500)
    subscription = subscribe(platform, subscriber)
    publish(platform)
    platform.deliver()
    platform.call("PATCH", subscription.path, {"url": subscriber.url})
    assert subscription.shown["failingSince"] is not None
    platform.call("PATCH", subscription.path, {"url": subscriber.url + "/new"})
    assert subscription.shown["failingSince"] is None


def test_a_deleted_webhook_is_not_there(platform: Platform) -> None:
    path = f"{WEBHOOKS}/{create(platform)['webhook']['id']}"
    assert platform.call("DELETE", path).status == 204
    assert platform.call("GET", path).status == 404
    assert platform.call("DELETE", path).status == 404


def test_another_organisations_webhook_is_not_there(
    platform: Platform, subscriber: Subscriber
) -> None:
    subscription = subscribe(platform, subscriber)
    (event,) = publish(platform)
    other = platform.new_organization("second")
    for method, rest, body in [
        ("GET", "", None),
        ("PATCH", "", {"description": "x"}),
        ("DELETE", "", None),
        ("POST", "/rotate-secret", None),
        ("GET", "/deliveries", None),
        ("GET", f"/deliveries/{event.id}", None),
        ("POST", f"/deliveries/{event.id}/replay", None),
    ]:
        answer = platform.call(method, subscription.path + rest, body, api_key=other)
        unknown = platform.call(method, f"{WEBHOOKS}/{new_id('whk')}{rest}", body, api_key=other)
        assert answer.status == unknown.status == 404, (method, rest)
        assert answer.json["title"] == unknown.json["title"]
    assert platform.call("GET", WEBHOOKS, api_key=other).json["webhooks"] == []
    assert subscription.shown["status"] == "active"


def test_ids_of_other_kinds_and_unknown_events_are_not_there(platform: Platform) -> None:
    webhook = f"{WEBHOOKS}/{create(platform)['webhook']['id']}"
    for path in [
        f"{WEBHOOKS}/{new_id('task')}",
        f"{WEBHOOKS}/{'x' * 3_000}",
        f"{webhook}/deliveries/{new_id('evt')}",
        f"{webhook}/deliveries/drain",
    ]:
        assert platform.call("GET", path).status == 404, path


def test_whoever_reads_scores_keeps_the_organisations_webhooks(platform: Platform) -> None:
    for role in ("training_operator", "admin"):
        path = f"{WEBHOOKS}/{create(platform)['webhook']['id']}"
        key = platform.new_key(role)
        assert platform.call("POST", WEBHOOKS, BODY, api_key=key).status == 201, role
        assert platform.call("GET", path, api_key=key).status == 200, role
        assert platform.call("PATCH", path, {"description": "x"}, api_key=key).status == 200, role
        assert platform.call("DELETE", path, api_key=key).status == 204, role


def test_who_may_not_read_scores_is_not_told_of_them_either(platform: Platform) -> None:
    for role in ("reviewer", "grader_owner"):
        key = platform.new_key(role)
        assert platform.call("GET", WEBHOOKS, api_key=key).status == 403, role
        assert platform.call("POST", WEBHOOKS, BODY, api_key=key).status == 403, role


WRONG_BODIES: list[tuple[dict[str, Any], set[str]]] = [
    ({}, {"url"}),
    ({"url": ""}, {"url"}),
    ({"url": "x" * 2_001}, {"url"}),
    ({"url": "hooks"}, {"url"}),
    ({"url": "ftp://example.com"}, {"url"}),
    ({"url": "http://user@127.0.0.1:1"}, {"url"}),
    ({"url": "http://127.0.0.1:1#here"}, {"url"}),
    ({**BODY, "eventTypes": []}, {"eventTypes"}),
    ({**BODY, "eventTypes": ["score.deleted"]}, {"eventTypes"}),
    ({**BODY, "eventTypes": "none"}, {"eventTypes"}),
    ({**BODY, "eventTypes": None}, {"eventTypes"}),
    ({**BODY, "description": "x" * 4_001}, {"description"}),
    ({**BODY, "secret": "mine", "status": "active"}, {"secret", "status"}),
]


def test_missing_and_wrong_fields_are_named(platform: Platform) -> None:
    for body, fields in WRONG_BODIES:
        answer = platform.call("POST", WEBHOOKS, body)
        assert (answer.status, answer.json["code"]) == (422, "invalid_request"), body
        assert set(answer.fields) == fields, body


def test_types_of_events_are_named_to_whoever_misspells_one(platform: Platform) -> None:
    answer = platform.call("POST", WEBHOOKS, {**BODY, "eventTypes": ["score.complete"]})
    assert "score.completed, batch.completed" in answer.fields["eventTypes"]


WRONG_QUERIES: list[tuple[dict[str, Any], str]] = [
    ({"status": "lost"}, "status"),
    ({"limit": 0}, "limit"),
    ({"limit": 201}, "limit"),
    ({"nextToken": "x"}, "nextToken"),
    ({"nextToken": "WyJhIiwiYiJd"}, "nextToken"),
    ({"nextToken": "WyIyMDI2LTExLTIxIiwiYiJd"}, "nextToken"),
]


def test_a_wrong_parameter_is_named(platform: Platform) -> None:
    path = f"{WEBHOOKS}/{create(platform)['webhook']['id']}/deliveries"
    for query, field in WRONG_QUERIES:
        answer = platform.call("GET", path, query=query)
        assert answer.status == 422, query
        assert set(answer.fields) == {field}, query


INWARD = [
    "https://127.0.0.1",
    "https://10.1.2.3/hooks",
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]",
    "http://93.184.215.14",
    "https://93.184.215.14:22",
]


def test_a_url_that_leads_inside_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with make_platform(monkeypatch, admit_private=False) as aws_platform:
        path = f"{WEBHOOKS}/{create(aws_platform, url='https://93.184.215.14')['webhook']['id']}"
        for method, where in [("POST", WEBHOOKS), ("PATCH", path)]:
            for url in INWARD:
                answer = aws_platform.call(method, where, {"url": url})
                assert (answer.status, set(answer.fields)) == (422, {"url"}), (method, url)


def test_an_organisation_has_at_most_twenty(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(MAX_WEBHOOKS - 1):
        create(platform)
    # Somebody else takes the last place between the look and the write.
    add = WebhookRepository.add

    def overtaken(self: WebhookRepository, webhook: Any) -> None:
        add(self, webhook.model_copy(update={"id": new_id("whk")}))
        add(self, webhook)

    with monkeypatch.context() as racing:
        racing.setattr(WebhookRepository, "add", overtaken)
        answer = platform.call("POST", WEBHOOKS, BODY)
    assert (answer.status, answer.json["code"]) == (409, "conflict")
    answer = platform.call("POST", WEBHOOKS, BODY)
    assert answer.status == 409
    assert answer.json["limit"].items() >= {"name": "webhooks", "maximum": 20}.items()
    assert len(platform.call("GET", WEBHOOKS).json["webhooks"]) == MAX_WEBHOOKS


def test_two_changes_at_the_same_time_are_told(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{WEBHOOKS}/{create(platform)['webhook']['id']}"
    change = WebhookRepository.change

    def overtaken(self: WebhookRepository, before: Any, after: Any, **options: Any) -> bool:
        first = {"description": "first", "updated_at": before.updated_at + timedelta(seconds=1)}
        change(self, before, before.model_copy(update=first), unless_changed=[])
        return change(self, before, after, **options)

    monkeypatch.setattr(WebhookRepository, "change", overtaken)
    assert platform.call("PATCH", path, {"description": "second"}).status == 409
    assert platform.call("GET", path).json["webhook"]["description"] == "first"
