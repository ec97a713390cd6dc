"""Who waits for a run has a place until it ends, whoever works on it."""

import time
from contextlib import ExitStack
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from botocore.exceptions import ReadTimeoutError

from autotune_platform.apprentice.runs.starting import WORKER_SECONDS
from autotune_platform.budgets.slots import Slots
from functions.apprentice import runs_api
from tests.component.access.test_limits import caller_of, limit
from tests.support.apprentice_runs import WORKER, Runs
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.ledger import later


def test_a_worker_that_does_not_answer_in_time_goes_on(runs: Runs) -> None:
    def late(event: dict[str, Any]) -> dict[str, Any]:
        raise ReadTimeoutError(endpoint_url="lambda")

    runs.worker.instead = late
    answer = runs.start(wait=20, key="k")

    assert answer.status == 202, answer.text
    run_id = answer.json["run"]["id"]
    assert runs.messages() == [run_id]
    assert runs.work(run_id) == []
    assert runs.read(run_id)["state"] == "answered"


def test_a_worker_that_goes_on_keeps_the_place_of_who_waited(runs: Runs) -> None:
    def late(event: dict[str, Any]) -> dict[str, Any]:
        time.sleep(1)
        raise ReadTimeoutError(endpoint_url="lambda")

    runs.worker.instead = late
    limit(runs.platform, waitingRequests=1)

    assert runs.start(wait=1).status == 202
    assert runs.worker.invoked == 1
    # Whoever waits for a second at a time has no second worker.
    queued = runs.start(wait=1)
    assert (queued.status, runs.worker.invoked) == (202, 1)
    assert queued.json["run"]["id"] in runs.messages()
    with later(timedelta(seconds=WORKER_SECONDS - 20)):
        assert runs.start(wait=1).status == 202
    assert runs.worker.invoked == 1


def test_a_worker_that_goes_on_gives_the_place_back_when_it_ends(runs: Runs) -> None:
    handed: list[dict[str, Any]] = []

    def late(event: dict[str, Any]) -> dict[str, Any]:
        handed.append(event)
        time.sleep(1)
        raise ReadTimeoutError(endpoint_url="lambda")

    runs.worker.instead = late
    limit(runs.platform, waitingRequests=1)
    first = runs.start(wait=1)

    worked = handler(WORKER)(handed[0], LambdaContext(299))
    assert worked["run"]["id"] == first.json["run"]["id"]
    runs.worker.instead = None
    assert (runs.start(wait=1).status, runs.worker.invoked) == (200, 2)


def test_a_worker_that_is_in_time_leaves_the_place_to_who_waits(runs: Runs) -> None:
    released: list[Any] = []
    with patch.object(Slots, "release", lambda *given: released.append(given)):
        assert runs.start(wait=20).status == 200
    assert len(released) == 1  # by the API


@pytest.fixture
def few(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Four runs are waited for at once in an installation."""
    monkeypatch.setenv("WAITING_RUNS", "4")
    forget_processes()
    return runs


def tenant(runs: Runs, name: str) -> Any:
    """Return who calls for a new organisation."""
    return caller_of(runs.platform, runs.platform.new_organization(name), waiting_requests=50)


def hold(places: ExitStack, caller: Any, times: int) -> list[float]:
    """Have an organisation wait for so many runs at once; return how long each may."""
    shares = runs_api.parts().waiting
    return [places.enter_context(shares.share(caller, 20)) for _ in range(times)]


def test_so_many_runs_of_all_organisations_are_waited_for_and_no_other_is_lost(few: Runs) -> None:
    with ExitStack() as places:
        assert hold(places, tenant(few, "second"), 3) == [20, 20, 0]  # half of them at most
        assert hold(places, tenant(few, "third"), 2) == [20, 20]
        answer = few.start(wait=20)
        assert (answer.status, few.worker.invoked) == (202, 0)
    assert few.work() == []
    assert few.read(answer.json["run"]["id"])["state"] == "answered"
    assert few.start(wait=20).status == 200  # all places were given back


def test_a_worker_that_goes_on_keeps_a_place_of_all_until_it_ends(few: Runs) -> None:
    handed: list[dict[str, Any]] = []

    def late(event: dict[str, Any]) -> dict[str, Any]:
        handed.append(event)
        time.sleep(1)
        raise ReadTimeoutError(endpoint_url="lambda")

    few.worker.instead = late
    second, third = tenant(few, "second"), tenant(few, "third")
    assert few.start(wait=1).status == 202
    with ExitStack() as places:
        assert [hold(places, one, 2) for one in (second, third)] == [[20, 20], [20, 0]]
    handler(WORKER)(handed[0], LambdaContext(299))
    with ExitStack() as places:
        assert [hold(places, one, 2) for one in (second, third)] == [[20, 20], [20, 20]]


def test_places_that_nobody_gives_back_are_free_when_the_worker_has_ended(few: Runs) -> None:
    def killed(event: dict[str, Any]) -> dict[str, Any]:
        time.sleep(1)
        raise ReadTimeoutError(endpoint_url="lambda")

    few.worker.instead = killed
    callers = [tenant(few, "second"), tenant(few, "third")]
    assert few.start(wait=1).status == 202
    for seconds, free in ((WORKER_SECONDS - 20, 3), (WORKER_SECONDS + 20, 4)):
        with later(timedelta(seconds=seconds)), ExitStack() as places:
            held = [one for caller in callers for one in hold(places, caller, 2)]
            assert held.count(20) == free
