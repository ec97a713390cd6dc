"""What the checkers of webhooks take for a missed, a wrong and a changed event."""

import json
import random
from datetime import UTC, datetime
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.chaos import telling
from tests.chaos.load import Accepted
from tests.chaos.subscribers import Received, Subscriber

ACCEPTED = [Accepted(id_, "bat_1", "healthy 1", "calm") for id_ in ("cmp_1", "cmp_2")]
VERDICTS: dict[str, list[Any]] = {
    "cmp_1": [{"pk": "cmp_1", "state": "scored", "value": 0.25}],
    "cmp_2": [{"pk": "cmp_2", "state": "failed", "reason_code": "grader_error"}],
}
COUNTS = {"expected": 2, "scored": 1, "abstained": 0, "failed": 1, "canceled": 0, "pending": 0}


def event(event_id: str, type_: str, **data: Any) -> Received:
    return Received(event_id, json.dumps({"event": type_, "data": data}))


def scored(event_id: str = "evt_1", value: float = 0.25) -> Received:
    score = {"value": value}
    return event(event_id, "score.completed", completionId="cmp_1", state="scored", score=score)


FAILED = event("evt_2", "score.completed", completionId="cmp_2", state="failed", score=None)
BATCH = event("evt_3", "batch.completed", batchId="bat_1", counts=COUNTS)


def subscriber(*received: Received) -> Subscriber:
    return Subscriber("healthy", random.Random(1), received=list(received))


def test_each_verdict_is_told_once_however_often_it_is_repeated() -> None:
    told = subscriber(scored(), FAILED, FAILED)
    assert not telling.every_verdict_is_told(told, VERDICTS).violations


@pytest.mark.parametrize(
    "received",
    [
        [scored()],  # one was missed
        [scored(value=0.5), FAILED],
        [scored(), scored("evt_4"), FAILED],  # one verdict, two events
        [scored(), FAILED, event("evt_5", "score.completed", completionId="cmp_3", state="failed")],
        [
            scored(),
            event("evt_2", "score.completed", completionId="cmp_2", state="canceled", score=None),
        ],
    ],
)
def test_a_verdict_that_is_not_told_as_it_stands_is_a_violation(received: list[Received]) -> None:
    assert len(telling.every_verdict_is_told(subscriber(*received), VERDICTS).violations) == 1


def test_each_batch_is_told_with_its_counts() -> None:
    assert not telling.every_batch_is_told(subscriber(BATCH), ACCEPTED, VERDICTS).violations


@pytest.mark.parametrize(
    "received",
    [
        [],
        [event("evt_3", "batch.completed", batchId="bat_1", counts=COUNTS | {"scored": 2})],
        [BATCH, event("evt_4", "batch.completed", batchId="bat_1", counts=COUNTS)],
        [BATCH, event("evt_5", "batch.completed", batchId="bat_2", counts=COUNTS)],
    ],
)
def test_a_batch_that_is_missed_or_told_wrongly_is_a_violation(received: list[Received]) -> None:
    found = telling.every_batch_is_told(subscriber(*received), ACCEPTED, VERDICTS)
    assert len(found.violations) == 1


def test_an_event_that_changes_when_it_is_told_again_is_a_violation() -> None:
    assert not telling.repeats_are_alike([subscriber(scored(), scored(), FAILED)]).violations
    changed = subscriber(scored(), scored(value=0.26))
    assert len(telling.repeats_are_alike([changed]).violations) == 1


def test_a_call_without_a_right_signature_is_refused_and_a_violation() -> None:
    secret = "whsec_" + "c2VjcmV0" * 4
    told = subscriber()
    told.secret = secret
    now = datetime.now(UTC)
    body = scored().body
    headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign("evt_1", now, body),
    }
    assert told.take(headers, body.encode()) == 204
    assert told.take(headers, body.encode() + b" ") == 401
    assert [one.event_id for one in told.received] == ["evt_1"]
    assert len(telling.repeats_are_alike([told]).violations) == 1


def test_what_is_told_while_the_tables_are_read_is_not_compared_with_them() -> None:
    told = subscriber(scored())
    heard = told.so_far()
    told.received.append(FAILED)
    assert heard.received == [scored()]
    assert not telling.every_verdict_is_told(heard, {"cmp_1": VERDICTS["cmp_1"]}).violations
