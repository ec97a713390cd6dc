"""Reports that are sent to webhooks, when somebody asks for it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from autotune_platform.apprentice.reporting import sending
from tests.component.ledger.test_events import delivered
from tests.support.apprentice_folding import Apprentice
from tests.support.lambdas import Answer
from tests.support.ledger import Ledger
from tests.support.platform import Platform
from tests.support.subscribers import Subscriber, loopback_subscriber

REPORT = "/api/v1/apprentice/tasks/intents/report"


@pytest.fixture
def apprentice(platform: Platform, ledger: Ledger) -> Apprentice:
    made = Apprentice(platform, ledger.connect())
    made.add_version(1)
    made.store([made.answered(1.0, created_at=datetime.now(UTC))])
    made.follow()
    return made


@pytest.fixture
def subscriber() -> Iterator[Subscriber]:
    with loopback_subscriber() as made:
        yield made


def subscribe(platform: Platform, subscriber: Subscriber) -> str:
    wish = {"url": subscriber.url, "eventTypes": ["apprentice.report"]}
    return str(platform.call("POST", "/api/v1/webhooks", wish).json["secret"])


def send(platform: Platform, key: str | None = None, **query: Any) -> Answer:
    headers = {} if key is None else {"idempotency-key": key}
    return platform.call("POST", REPORT, query=query, headers=headers)


def test_webhooks_get_the_report_once_for_each_key(
    platform: Platform, apprentice: Apprentice, subscriber: Subscriber
) -> None:
    secret = subscribe(platform, subscriber)
    first = send(platform, "monday", days=7)
    again = send(platform, "monday", days=7)

    assert (first.status, again.json) == (202, first.json)
    (event,) = delivered(platform, subscriber, secret)
    assert event["event"] == "apprentice.report"
    assert event["data"] == platform.call("GET", REPORT, query={"days": 7}).json["report"]
    assert event["data"]["totals"]["remote"] == 1
    assert subscriber.event_ids == [first.json["eventId"]]
    others = {send(platform, "monday", days=8).json["eventId"], send(platform).json["eventId"]}
    assert len(delivered(platform, subscriber, secret)) == 3
    assert {*subscriber.event_ids[1:]} == others
    logged = platform.call("GET", "/api/v1/audit").json["entries"]
    sent = [one for one in logged if one["action"] == "send_apprentice_report"]
    assert {one["ids"]["event_id"] for one in sent} == {first.json["eventId"], *others}


def test_what_cannot_be_sent_is_refused(
    platform: Platform, apprentice: Apprentice, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert send(platform, days=91).status == 422
    assert send(platform, dyas=7).json["errors"][0]["field"] == "dyas"
    assert platform.call("POST", REPORT.replace("intents", "none")).status == 404
    monkeypatch.setattr(sending, "MAX_SENT_REPORT_BYTES", 100)
    refused = send(platform)
    assert (refused.status, refused.json["errors"][0]["field"]) == (422, "days")
    assert platform.stored_events() == []
