"""Keys that are replaced while a job is under way: it comes home, and nothing else waits for it."""

from collections import Counter
from typing import Any

import pytest

from autotune_platform.ledger.batching.fetching import JobFetching
from autotune_platform.ledger.jobs.openai import OpenAiJobs
from tests.component.ledger.test_jobs import MODELS, assert_paid_once, connect, trap
from tests.support.ledger import KEY, Ledger

MODEL = MODELS["openai"]
NEW, NEWER = "fake-key-2", "fake-key-3"


def wait(ledger: Ledger, *, hours: float) -> None:
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=hours)


def rotate(ledger: Ledger, connection: str, key: str = NEW) -> None:
    answer = ledger.platform.call("PATCH", f"/api/v1/llm-connections/{connection}", {"apiKey": key})
    assert answer.status == 200, answer.text


def refuse(ledger: Ledger, key: str = KEY) -> None:
    ledger.fake.world.keys["*"].pop(key, None)


def state(ledger: Ledger, connection: str) -> str:
    found = ledger.platform.call("GET", f"/api/v1/llm-connections/{connection}").json
    return str(found["connection"]["status"])


def statuses(ledger: Ledger, ids: list[str]) -> set[str]:
    return {ledger.read(one)["status"] for one in ids}


@pytest.fixture
def connection(ledger: Ledger) -> str:
    return connect(ledger, "openai")


@pytest.fixture
def ids(ledger: Ledger, connection: str) -> list[str]:
    """Rows whose job runs for two hours, and has been looked at."""
    ledger.fake.world.timing.run_seconds = 2 * 3600
    found: list[str] = ledger.enqueue(connection, "q 1", "q 2", model=MODEL)
    wait(ledger, hours=0.5)
    return found


def test_a_job_whose_key_was_replaced_and_refused_comes_home_with_the_new_one(
    ledger: Ledger, connection: str, ids: list[str]
) -> None:
    rotate(ledger, connection)
    refuse(ledger)
    wait(ledger, hours=0.5)
    assert state(ledger, connection) == "active"
    later_ids = ledger.enqueue(connection, "q 3", "q 4", model=MODEL)
    ledger.run_jobs()
    assert statuses(ledger, [*ids, *later_ids]) == {"completed"}
    assert state(ledger, connection) == "active"
    assert_paid_once(ledger, [*ids, *later_ids])
    # The key that works is known from then on: only the first look asks with the other one.
    assert len(ledger.fake.world.refusals) == 1
    assert ledger.fake.world.files == {}


def test_a_connection_whose_present_key_is_refused_goes_on_by_itself_once_it_has_another(
    ledger: Ledger, connection: str, ids: list[str]
) -> None:
    rotate(ledger, connection)
    refuse(ledger)
    refuse(ledger, NEW)
    wait(ledger, hours=1)
    assert state(ledger, connection) == "paused"
    ledger.fake.world.keys["*"][NEWER] = "main"
    rotate(ledger, connection, NEWER)
    ledger.run_jobs()
    assert statuses(ledger, ids) == {"completed"}
    assert state(ledger, connection) == "active"
    assert_paid_once(ledger, ids)


def test_a_job_that_neither_key_sees_is_lost_sight_of_and_holds_nothing_else(
    ledger: Ledger, connection: str
) -> None:
    timings = {"timings": {"lostAfterSeconds": 86_400}}
    path = f"/api/v1/llm-connections/{connection}"
    assert ledger.platform.call("PATCH", path, timings).status == 200
    trap(ledger, "old_key_only")
    ledger.fake.world.timing.run_seconds = 3600
    ids = ledger.enqueue(connection, "q 1", "q 2", model=MODEL)
    wait(ledger, hours=0.5)
    rotate(ledger, connection)
    refuse(ledger)
    later_ids = ledger.enqueue(connection, "q 3", model=MODEL)
    wait(ledger, hours=3)
    assert state(ledger, connection) == "active"
    assert statuses(ledger, later_ids) == {"completed"}
    assert statuses(ledger, ids) == {"submitted"}
    ledger.run_jobs()
    found = [ledger.read(one) for one in ids]
    assert {one["status"] for one in found} == {"completed"}
    assert {one["attempts"][0]["error"]["code"] for one in found} == {"result_missing"}
    # After more than a day it may be the second one after the first, which is settled no more.
    assert ledger.spent_and_reserved("week")[1] == 0


def test_a_key_that_is_refused_for_a_while_is_not_forgotten_for_one_that_sees_nothing(
    ledger: Ledger, connection: str
) -> None:
    trap(ledger, "old_key_only")
    ledger.fake.world.timing.run_seconds = 2 * 3600
    ids = ledger.enqueue(connection, "q 1", model=MODEL)
    wait(ledger, hours=0.5)
    rotate(ledger, connection)
    refuse(ledger)
    wait(ledger, hours=1)
    ledger.fake.world.keys["*"][KEY] = "main"
    ledger.run_jobs()
    assert statuses(ledger, ids) == {"completed"}
    assert_paid_once(ledger, ids)


@pytest.mark.parametrize("phase", ["fetching", "cleaning"])
def test_a_key_that_is_refused_when_results_are_there_is_followed_by_the_new_one(
    ledger: Ledger,
    connection: str,
    ids: list[str],
    phase: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rotate(ledger, connection)
    place: Any = JobFetching if phase == "fetching" else OpenAiJobs
    name = "fetch" if phase == "fetching" else "clean"
    whole = getattr(place, name)

    def refused_first(self: Any, *args: Any) -> Any:
        refuse(ledger)
        return whole(self, *args)

    monkeypatch.setattr(place, name, refused_first)
    ledger.run_jobs()
    assert statuses(ledger, ids) == {"completed"}
    assert state(ledger, connection) == "active"
    assert ledger.fake.world.files == {}
    assert_paid_once(ledger, ids)


def test_results_are_not_given_up_while_somebody_may_give_a_key_that_fetches_them(
    ledger: Ledger, connection: str, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = JobFetching.fetch

    def refused_first(self: Any, *args: Any) -> Any:
        refuse(ledger)
        return whole(self, *args)

    monkeypatch.setattr(JobFetching, "fetch", refused_first)
    wait(ledger, hours=5)
    assert statuses(ledger, ids) == {"submitted"}
    assert state(ledger, connection) == "paused"
    rotate(ledger, connection)
    ledger.run_jobs()
    assert statuses(ledger, ids) == {"completed"}
    assert_paid_once(ledger, ids)


def test_a_job_whose_creation_is_unclear_is_found_with_the_new_key(
    ledger: Ledger, connection: str
) -> None:
    trap(ledger, "create_answer_lost")
    trap(ledger, "list_lags", looks=3)
    ids = ledger.enqueue(connection, "q 1", "q 2", model=MODEL)
    wait(ledger, hours=0.02)
    assert [one["job"]["stage"] for one in ledger.batches()] == ["unknown"]
    rotate(ledger, connection)
    refuse(ledger)
    ledger.run_jobs()
    assert statuses(ledger, ids) == {"completed"}
    ran = Counter(one.custom_id for one in ledger.fake.world.executions)
    assert set(ran.values()) == {1}
    assert_paid_once(ledger, ids)
