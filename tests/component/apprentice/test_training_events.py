"""Webhooks and the audit log hear that a training began, and what it came to: once each."""

from datetime import UTC, datetime, timedelta

import pytest

from autotune_platform.audit.events import AUDITED_MESSAGE
from tests.component.ledger.test_events import delivered
from tests.support.apprentice_folding import Apprentice
from tests.support.console_trainings import filled_trainings
from tests.support.executions import inputs_of
from tests.support.lambdas import LambdaContext, handler
from tests.support.subscribers import loopback_subscriber

TRAININGS = "/api/v1/apprentice/tasks/intents/trainings"


@pytest.fixture
def heard(platform):
    """What was delivered so far."""
    with loopback_subscriber() as subscriber:
        wish = {"url": subscriber.url, "eventTypes": ["apprentice.training"]}
        secret = platform.call("POST", "/api/v1/webhooks", wish).json["secret"]
        yield lambda: [one["data"] for one in delivered(platform, subscriber, secret)]


def entries(platform, kind):
    since = (datetime.now(UTC) - timedelta(days=8)).isoformat()
    query, found = {"from": since, "limit": 200}, []
    while True:
        page = platform.call("GET", "/api/v1/audit", query=query).json
        found += [one for one in page["entries"] if one["kind"] == kind]
        if (token := page["nextToken"]) is None:
            return found
        query["nextToken"] = token


def test_one_that_fails_began_and_ended_once_each(platform, ledger, heard):
    made = Apprentice(platform, ledger.connect())
    training = platform.call("POST", TRAININGS).json["training"]
    refused = platform.call("POST", TRAININGS)  # one at a time
    assert refused.status == 409
    [began] = heard()
    (event,) = inputs_of("train_student").values()
    for _ in range(2):
        handler("functions.apprentice.fail_training")(event, LambdaContext())

    [again, ended] = heard()
    assert again == began
    of = {"taskId": made.task.id, "taskName": "intents", "trainingId": training["id"], "number": 1}
    assert began.items() >= {**of, "change": "began", "state": "running"}.items()
    assert ended.items() >= {**of, "change": "ended", "state": "failed"}.items()
    assert (ended["error"], ended["version"]) == ("platform_error", None)
    logged = {one["data"]["change"]: one for one in entries(platform, "event")}
    assert logged.keys() == {"began", "ended"}
    assert {one["action"] for one in logged.values()} == {"apprentice_training"}
    assert "taskName" not in logged["ended"]["data"]


def test_an_event_that_comes_again_is_no_further_count(platform, ledger, caplog):
    filled_trainings(platform, ledger.connect())
    told = []
    for _ in range(3):
        caplog.clear()
        platform.publish_events()
        told.append(
            {
                one.event_id: (one.delivery, one.action, one.data)
                for one in caplog.records
                if one.message == AUDITED_MESSAGE
            }
        )
    first, *again = told
    assert [data["change"] for _, _, data in first.values()].count("ended") == 4
    assert {delivery for delivery, _, _ in first.values()} == {"first"}
    same = {id_: ("again", *rest) for id_, (_, *rest) in first.items()}
    assert again == [same, same]


def test_a_canceled_one_is_of_whoever_asked(platform, ledger, heard):
    made = Apprentice(platform, ledger.connect())
    training = platform.call("POST", TRAININGS).json["training"]
    for _ in range(2):
        assert platform.call("POST", f"{TRAININGS}/1/cancel").status == 200
    told = {one["change"]: one["error"] for one in heard()}
    assert told == {"began": None, "ended": "canceled"}
    ids = {"apprentice_task_id": made.task.id, "apprentice_training_id": training["id"]}
    calls = {one["action"]: one["ids"] for one in entries(platform, "call")}
    assert calls["start_apprentice_training"].items() >= ids.items()
    assert calls["cancel_apprentice_training"].items() >= ids.items()


def test_the_log_has_what_came_of_each(platform, ledger):
    filled_trainings(platform, ledger.connect())
    platform.publish_events()
    changes = [one["data"] for one in entries(platform, "event")]
    ended = {one["number"]: one for one in changes if one["change"] == "ended"}
    states = [ended[number]["state"] for number in sorted(ended)]
    assert states == ["discarded", "hosted", "discarded", "failed"]
    assert ended[2]["version"] == 1
    assert ended[3]["objections"] == ["agreement", "worse_than_before"]
