"""When a queue is looked at: once there is something to do, and no execution finds nothing."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from autotune.protocol.ids import new_id
from autotune_platform.ledger import queue_repository, sweeping
from autotune_platform.ledger.models import Group
from autotune_platform.runtime.executions import Executions
from autotune_platform.storage.due_index import DueIndex
from tests.component.ledger.test_journeys import assert_settled, statuses
from tests.support.ledger import MODEL, Ledger, in_one, later

DAY = 86_400


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that executions were asked to be started under."""
    asked: list[str] = []
    try_start = Executions.try_start

    def start(self: Any, name: str, document: str) -> bool:
        asked.append(name)
        return try_start(self, name, document)

    monkeypatch.setattr(Executions, "try_start", start)
    return asked


def sweep_at(ledger: Ledger, seconds: float) -> int:
    """Sweep after a while, and do the first step of what that starts; return how much it was."""
    with later(timedelta(seconds=seconds)):
        swept = ledger.sweep()
        for state in ledger.started():
            ledger.step(state)
    return swept


def test_a_queue_with_too_few_rows_is_not_looked_at_before_the_first_has_waited(
    ledger: Ledger, starts: list[str]
) -> None:
    ids = ledger.enqueue(ledger.connect(minRows=20, maxWaitSeconds=DAY), "q")
    assert [sweep_at(ledger, 61 * minute) for minute in range(1, 6)] == [0] * 5
    assert starts == []
    assert sweep_at(ledger, DAY + 61) == 1
    assert statuses(ledger, ids) == {"submitted": 1}


def test_rows_that_come_one_by_one_are_asked_once_they_are_enough(
    ledger: Ledger, starts: list[str]
) -> None:
    connection = ledger.connect(minRows=3, maxWaitSeconds=DAY)
    ids = ledger.enqueue(connection, "q1") + ledger.enqueue(connection, "q2")
    assert starts == []
    ids += ledger.enqueue(connection, "q3")
    assert len(starts) == 1
    ledger.run()
    assert statuses(ledger, ids) == {"completed": 3}
    # The count began anew.
    ids += ledger.enqueue(connection, "q4") + ledger.enqueue(connection, "q5")
    assert len(starts) == 1
    assert_settled(ledger)


def test_rows_that_a_look_found_too_few_count_with_those_that_come(
    ledger: Ledger, starts: list[str]
) -> None:
    connection = ledger.connect(minRows=3, maxWaitSeconds=DAY)
    ids = ledger.enqueue(connection, "q1", "q2")
    assert ledger.step({"group": f"group#{connection}#calls#{MODEL}"}) == {"done": True}
    ids += ledger.enqueue(connection, "q3")
    assert len(starts) == 1
    ledger.run()
    assert statuses(ledger, ids) == {"completed": 3}


@in_one("month")
def test_a_queue_without_money_is_looked_at_more_and_more_seldom(
    ledger: Ledger, starts: list[str]
) -> None:
    connection = ledger.connect()
    # The month's, too: a day may end within the hour that follows.
    limits = {"dayUsd": "0.0001", "monthUsd": "0.0001"}
    assert ledger.platform.call("PUT", "/api/v1/llm-budget", limits).status == 200
    spent = ledger.enqueue(connection, "q")
    ledger.run()
    # What is left has room for no other, although a whole day has.
    ids = ledger.enqueue(connection, "q", params={"maxTokens": 200})
    for state in ledger.started():
        ledger.step(state)
    starts.clear()
    looks = [minute for minute in range(1, 61) if sweep_at(ledger, 60 * minute + 1)]
    assert len(looks) <= 7, looks
    assert max(after - before for before, after in pairwise(looks)) <= 16
    before = len(starts)
    with later(timedelta(seconds=30)):
        ids += ledger.enqueue(connection, "another", params={"maxTokens": 200})
    assert len(starts) == before, "what is enqueued meanwhile changes nothing"
    assert ledger.platform.call("PUT", "/api/v1/llm-budget", {}).status == 200
    for minute in range(61, 78):
        sweep_at(ledger, 60 * minute + 1)
    assert statuses(ledger, ids)["queued"] == 0
    assert statuses(ledger, spent) == {"completed": 1}


def test_an_organisation_with_many_queues_holds_up_nobody(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    from functions.ledger import sweep_ledger

    monkeypatch.setattr(sweeping, "MOST_STARTED", 4)
    queues = sweep_ledger.parts().ledger_sweeper.queues
    now = sweep_ledger.parts().ledger_sweeper.clock.now()
    connection = new_id("llc")
    for number in range(30):
        group = Group(organization_id="org_1", connection_id=connection, model=f"m{number}")
        queues.open(group, now - timedelta(hours=1))
    quiet = Group(organization_id="org_2", connection_id=connection, model="quiet")
    queues.open(quiet, now - timedelta(minutes=1))
    assert ledger.sweep() == 4
    started = [state["group"] for state in ledger.started()]
    assert len(started) == 4
    assert quiet.key in started


def test_rows_that_come_one_by_one_within_a_moment_start_one_execution(
    ledger: Ledger, starts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The moment is long on a busy machine.
    monkeypatch.setattr(queue_repository, "_START_READS_AFTER", timedelta(minutes=5))
    connection = ledger.connect()
    ids = [one for number in range(10) for one in ledger.enqueue(connection, f"q{number}")]
    assert len(starts) == 1
    ledger.run()
    assert statuses(ledger, ids) == {"completed": 10}
    assert len(ledger.batches()) == 1


def test_what_comes_after_an_execution_may_have_read_the_queue_starts_another(
    ledger: Ledger, starts: list[str]
) -> None:
    connection = ledger.connect()
    ledger.enqueue(connection, "q1")
    with later(timedelta(seconds=2)):
        ledger.enqueue(connection, "q2")
    assert len(starts) == 2


def test_of_two_that_enqueue_at_the_same_moment_one_starts_an_execution(
    ledger: Ledger, starts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_repository, "_START_READS_AFTER", timedelta(minutes=5))
    connection = ledger.connect(minRows=2, maxWaitSeconds=DAY)
    ledger.enqueue(connection, "q1")
    add = DueIndex.add
    nested: list[Any] = []

    def added(self: Any, *given: Any, **named: Any) -> Any:
        item = add(self, *given, **named)
        if not nested:
            nested.append("the other one")
            ledger.enqueue(connection, "q3")
        return item

    monkeypatch.setattr(DueIndex, "add", added)
    ledger.enqueue(connection, "q2")
    assert len(starts) == 1


def test_what_waits_for_nobody_is_asked_without_a_sweep(ledger: Ledger) -> None:
    """The first example of the guide to language models ends within a minute."""
    connection = ledger.connect(batches="never", minRows=20, maxWaitSeconds=0)
    (request_id,) = ledger.enqueue(connection, "ready?")
    ledger.run()
    assert ledger.read(request_id)["status"] == "completed"
