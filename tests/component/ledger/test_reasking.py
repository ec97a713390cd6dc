"""A verdict that cannot be read is asked for again: as a request of its own, made once."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import boto3
import pytest

from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.access.models import Caller
from autotune_platform.ledger import reasking
from autotune_platform.ledger.claims import ClaimRepository
from autotune_platform.ledger.enqueuing import EnqueuingService
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.settling import BatchSettling
from autotune_platform.runtime.errors import InvalidRequestError
from tests.component.ledger.test_imports import limit
from tests.component.ledger.test_jobs import MODELS, connect
from tests.component.ledger.test_journeys import assert_settled, handler_parts
from tests.support.ledger import MODEL, Ledger, later, row

FORM = {"type": "label", "labels": ["good", "bad"], "onParseFailure": "reask"}
UNREADABLE = "I cannot say."


class KilledError(BaseException):
    """A function was killed."""


def say(ledger: Ledger, *answers: str) -> None:
    """Have the model answer these, one after the other; then the last one for ever."""
    left = list(answers)
    ledger.fake.world.answers.answerer = lambda _: left.pop(0) if len(left) > 1 else left[0]


def run(ledger: Ledger) -> None:
    """Run what is started, and what the sweeper starts a minute later, until nothing is due."""
    for minutes in range(0, 30, 2):
        with later(timedelta(minutes=minutes)):
            ledger.run()
            ledger.sweep()
    with later(timedelta(minutes=30)):
        ledger.run()


def enqueue(ledger: Ledger, *users: str, **fields: Any) -> Any:
    return ledger.enqueue(ledger.connect(maxWaitSeconds=0), *users, verdict=FORM, **fields)


def chain(ledger: Ledger, request_id: str) -> list[dict[str, Any]]:
    """A request and those that came of it; each names the one before and the one after."""
    found = [ledger.read(request_id)]
    while (after := found[-1].get("reaskedAs")) is not None:
        found.append(ledger.read(after))
        assert found[-1]["reaskOf"] == found[-2]["id"]
        assert found[-1]["firstRequestId"] == request_id
    assert not any(one["reaskDue"] for one in found)
    return found


def open_rows(ledger: Ledger) -> int:
    organization_id = ledger.platform.me(ledger.platform.api_key)["organizationId"]
    return int(handler_parts().llm_claims.open_amount(organization_id).rows)


def test_what_cannot_be_read_is_asked_again_and_the_answer_is_of_a_row_of_its_own(
    ledger: Ledger,
) -> None:
    say(ledger, UNREADABLE, "Fine.\nVERDICT: good")
    carried = {
        "trace": {"experimentId": "e1"},
        "labels": {"run": "7"},
        "customId": "mine",
        "completionId": "c1",
        "priority": "high",
        "retentionDays": 9,
    }
    (request_id,) = enqueue(ledger, "Is it good?", **carried)
    run(ledger)
    first, second = chain(ledger, request_id)
    assert first["parseError"]["code"] == "verdict_missing"
    assert second["parsedVerdict"] == "good"
    for name in ("input", "params", "verdict", "purpose", "model", "expiresAt", *carried):
        if name != "retentionDays":
            assert second[name] == first[name], name
    assert second["batchId"] != first["batchId"]
    assert first["costNanoUsd"] > 0 < second["costNanoUsd"]
    assert len(ledger.fake.world.executions) == 2
    counts = {one["id"]: one["counts"] for one in ledger.batches()}
    assert counts[first["batchId"]]["completed"] == counts[second["batchId"]]["completed"] == 1
    assert_settled(ledger)
    assert open_rows(ledger) == 0


def test_a_request_is_asked_again_at_most_twice(ledger: Ledger) -> None:
    say(ledger, UNREADABLE)
    (request_id,) = enqueue(ledger, "q")
    run(ledger)
    found = chain(ledger, request_id)
    assert len(found) == 3 == len(ledger.fake.world.executions)
    assert [one.get("reaskSkipped") for one in found] == [None, None, "asked_enough"]
    assert {one["status"] for one in found} == {"completed"}
    assert_settled(ledger)
    assert open_rows(ledger) == 0


def test_only_what_asks_for_it_is_asked_again(ledger: Ledger) -> None:
    say(ledger, UNREADABLE)
    connection = ledger.connect(maxWaitSeconds=0)
    kept = {**FORM, "onParseFailure": "keep"}
    ids = [*ledger.enqueue(connection, "a", verdict=kept), *ledger.enqueue(connection, "b")]
    run(ledger)
    assert len(ledger.fake.world.executions) == 2
    for one in ids:
        assert {ledger.read(one).get(name) for name in ("reaskedAs", "reaskSkipped")} == {None}


def test_an_answer_that_was_cut_is_not_asked_again(ledger: Ledger) -> None:
    say(ledger, "x" * 900)
    (request_id,) = enqueue(ledger, "q", params={"maxTokens": 10})
    run(ledger)
    (found,) = chain(ledger, request_id)
    assert (found["parseError"]["code"], found["reaskSkipped"]) == ("output_cut", "output_cut")
    assert len(ledger.fake.world.executions) == 1


def between(act: Callable[[], object]) -> Any:
    """Have something happen between the end of a row and its being asked again."""
    real = RowRepository.end

    def end(self: RowRepository, *args: Any) -> Any:
        ended = real(self, *args)
        act()
        return ended

    return patch.object(RowRepository, "end", end)


def test_what_is_not_wanted_any_more_is_not_asked_again(ledger: Ledger) -> None:
    say(ledger, UNREADABLE)
    (request_id,) = enqueue(ledger, "q")

    def cancel() -> None:
        (batch,) = ledger.batches()
        ledger.platform.call("POST", f"/api/v1/llm-batches/{batch['id']}/cancel")

    with between(cancel):
        run(ledger)
    (found,) = chain(ledger, request_id)
    assert (found["status"], found["reaskSkipped"]) == ("completed", "canceled")


def test_a_row_whose_canceling_came_too_late_is_not_asked_again(ledger: Ledger) -> None:
    (request_id,) = enqueue(ledger, "q")

    def answer(_: Any) -> str:
        ledger.platform.call("POST", f"/api/v1/llm-requests/{request_id}/cancel")
        return UNREADABLE

    ledger.fake.world.answers.answerer = answer
    run(ledger)
    (found,) = chain(ledger, request_id)
    assert (found["status"], found["reaskSkipped"]) == ("completed", "canceled")


def test_what_is_too_late_is_not_asked_again_and_what_is_not_keeps_its_time(
    ledger: Ledger,
) -> None:
    say(ledger, UNREADABLE)
    by = (datetime.now(UTC) + timedelta(hours=3)).isoformat()
    (request_id,) = enqueue(ledger, "q", completeBy=by)
    ledger.run()
    again = ledger.read(request_id)["reaskedAs"]
    assert ledger.read(again)["completeBy"] == ledger.read(request_id)["completeBy"]
    with later(timedelta(hours=4)):
        ledger.sweep()
        ledger.run()
    assert ledger.read(again)["error"]["code"] == "expired"
    (late,) = enqueue(ledger, "r", completeBy=by)

    def pass_over() -> None:
        boto3.client("dynamodb").update_item(
            TableName="ledger",
            Key={"pk": {"S": late}, "sk": {"S": "state"}},
            UpdateExpression="SET complete_by = :past",
            ExpressionAttributeValues={":past": {"S": "2026-01-01T00:00:00Z"}},
        )

    with between(pass_over):
        run(ledger)
    (found,) = chain(ledger, late)
    assert (found["status"], found["reaskSkipped"]) == ("completed", "expired")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("llm-connections/{connection}", "connection_revoked"),
        ("llm-requests/{request}/content", "texts_deleted"),
    ],
)
def test_what_cannot_be_asked_again_says_why(ledger: Ledger, path: str, reason: str) -> None:
    say(ledger, UNREADABLE)
    connection = ledger.connect(maxWaitSeconds=0)
    (request_id,) = ledger.enqueue(connection, "q", verdict=FORM)
    deleted = "/api/v1/" + path.format(connection=connection, request=request_id)
    with between(lambda: ledger.platform.call("DELETE", deleted)):
        run(ledger)
    (found,) = chain(ledger, request_id)
    assert (found["status"], found["reaskSkipped"]) == ("completed", reason)
    assert_settled(ledger)
    assert open_rows(ledger) == 0


def test_a_model_without_a_price_by_then_is_not_asked_again(ledger: Ledger) -> None:
    say(ledger, UNREADABLE)
    connection = ledger.connect(maxWaitSeconds=0)
    (request_id,) = ledger.enqueue(connection, "q", verdict=FORM)
    path = f"/api/v1/llm-connections/{connection}"
    prices = {"other": {"inputUsd": "1", "outputUsd": "1"}}
    with between(lambda: ledger.platform.call("PATCH", path, {"prices": prices})):
        run(ledger)
    assert chain(ledger, request_id)[0]["reaskSkipped"] == "model_unpriced"


def test_the_limit_of_open_requests_has_room_for_what_takes_anothers_place(
    ledger: Ledger,
) -> None:
    say(ledger, UNREADABLE, UNREADABLE, "ok\nVERDICT: bad")
    limit(ledger.platform, openLlmRows=2)
    ids = enqueue(ledger, "a", "b")
    assert open_rows(ledger) == 2
    ledger.run()
    assert open_rows(ledger) == 2  # the two that took the places of the first
    run(ledger)
    assert [[one.get("parsedVerdict") for one in chain(ledger, id_)] for id_ in ids] == [
        [None, "bad"],
        [None, "bad"],
    ]
    assert open_rows(ledger) == 0


KILLS = {
    "before anything of it": (EnqueuingService, "take_place", False),
    "once it is counted": (ClaimRepository, "add", True),
    "once its texts and its row are stored": (EnqueuingService, "_store", True),
    "before its queue is open": (EnqueuingService, "_open_queues", False),
    "before it is noted as stored": (ClaimRepository, "finish", False),
    "before the first row shows it": (RowRepository, "note_reask", False),
    "before the batch is settled": (BatchSettling, "settle", False),
}


@pytest.mark.parametrize("provider", ["simulated", "openai"])
@pytest.mark.parametrize("where", KILLS)
def test_a_kill_anywhere_loses_nothing_and_asks_nothing_twice(
    ledger: Ledger, where: str, provider: str
) -> None:
    say(ledger, UNREADABLE, UNREADABLE, "ok\nVERDICT: bad")
    if provider == "simulated":
        connection, model = ledger.connect(maxWaitSeconds=0), MODEL
    else:
        connection, model = connect(ledger, "openai", maxWaitSeconds=0), MODELS["openai"]
    ids = ledger.enqueue(connection, "a", "b", verdict=FORM, model=model)
    holder, name, after = KILLS[where]
    real = getattr(holder, name)
    killed: list[str] = []

    def dies(*args: Any, **options: Any) -> Any:
        if len(killed) >= 2:
            return real(*args, **options)
        if after:
            real(*args, **options)
        killed.append(where)
        raise KilledError

    with patch.object(holder, name, dies):
        ledger.run_jobs(killed_by=KilledError)
    assert len(killed) == 2
    for one in ids:
        assert [found.get("parsedVerdict") for found in chain(ledger, one)] == [None, "bad"]
    assert len(ledger.fake.world.executions) == 4
    assert_settled(ledger)
    assert open_rows(ledger) == 0


def test_two_that_are_at_the_same_row_make_one(ledger: Ledger) -> None:
    say(ledger, UNREADABLE, "ok\nVERDICT: bad")
    (request_id,) = enqueue(ledger, "q")
    real = EnqueuingService.take_place

    def twice(*args: Any, **options: Any) -> None:
        real(*args, **options)
        real(*args, **options)

    with patch.object(EnqueuingService, "take_place", twice):
        run(ledger)
    assert len(chain(ledger, request_id)) == 2 == len(ledger.fake.world.executions)
    assert open_rows(ledger) == 0


def test_what_comes_of_a_row_of_an_import_belongs_to_that_import(ledger: Ledger) -> None:
    say(ledger, UNREADABLE, "ok\nVERDICT: bad")
    (request_id,) = enqueue(ledger, "q")
    boto3.client("dynamodb").update_item(
        TableName="ledger",
        Key={"pk": {"S": request_id}, "sk": {"S": "state"}},
        UpdateExpression="SET import_id = :import",
        ExpressionAttributeValues={":import": {"S": "lim_" + "0" * 26}},
    )
    run(ledger)
    assert [one["importId"] for one in chain(ledger, request_id)] == ["lim_" + "0" * 26] * 2


def test_a_call_that_somebody_waits_for_says_that_it_is_not_asked_again(ledger: Ledger) -> None:
    connection = ledger.connect()
    planner, asked = handler_parts().row_planner, row(connection, verdict=FORM)
    me = ledger.platform.me(ledger.platform.api_key)
    caller = Caller(
        key_id="k",
        organization_id=me["organizationId"],
        principal_id="p",
        role="admin",
        request_id="r",
    )
    request = EnqueueLlmRequest.model_validate(asked)
    with pytest.raises(InvalidRequestError) as refused:
        planner.plan(caller, [request], ["llm_0"], alone=True, at_once=True)
    assert [one.field for one in refused.value.fields] == ["verdict.onParseFailure"]


@pytest.mark.parametrize("provider", ["simulated", "openai"])
def test_a_batch_is_not_settled_before_there_was_time_to_ask_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    say(ledger, UNREADABLE, "ok\nVERDICT: bad")
    if provider == "simulated":
        connection, model = ledger.connect(maxWaitSeconds=0), MODEL
    else:
        connection, model = connect(ledger, "openai", maxWaitSeconds=0), MODELS["openai"]
    (request_id,) = ledger.enqueue(connection, "q", verdict=FORM, model=model)
    monkeypatch.setattr(reasking, "_SPARE_SECONDS", 10_000)
    with (
        pytest.raises(AssertionError, match="under way"),
        patch.object(Ledger, "_is_over", lambda _: False),
    ):
        ledger.run_jobs(hours=0.2)
    found = ledger.read(request_id)
    assert (found["status"], found["reaskDue"]) == ("completed", True)
    assert found.get("reaskedAs") is None
    (batch,) = ledger.batches()
    assert batch["status"] == "submitted"
    assert open_rows(ledger) == 1
    monkeypatch.setattr(reasking, "_SPARE_SECONDS", 30)
    ledger.run_jobs()
    assert [one.get("parsedVerdict") for one in chain(ledger, request_id)] == [None, "bad"]
    assert_settled(ledger)
    assert open_rows(ledger) == 0
