"""Workers that are killed at any call of AWS: each run ends, and nothing is paid twice."""

from contextlib import suppress
from datetime import timedelta

import pytest

from tests.support.apprentice_folding import Apprentice
from tests.support.apprentice_runs import ANSWER, Runs
from tests.support.killing import Killed, Killer
from tests.support.lambdas import LambdaContext, handler
from tests.support.ledger import in_one, later

_MOST_CALLS = 60


def end(runs: Runs, run_id: str) -> None:
    """Let time pass: the ledger charges calls that were lost, and the queue redelivers."""
    for minutes in (1, 11, 12, 13):
        with later(timedelta(minutes=minutes)):
            if minutes > 10:
                runs.ledger.sweep()
            runs.work(run_id)


@pytest.mark.parametrize("moment", ["before-call", "after-call"])
@in_one("day")
def test_a_worker_that_is_killed_anywhere_leaves_a_run_that_ends(runs: Runs, moment: str) -> None:
    runs.work(runs.start().json["run"]["id"])  # what a process reads once is read
    killer = Killer()
    for place in range(_MOST_CALLS):
        run_id = runs.start().json["run"]["id"]
        paid = runs.bill["executions"]
        killer.kill(moment, after=place)
        with suppress(Killed):
            runs.work(run_id)
        was_killed = killer.calls_left[moment] < 0
        killer.spare()
        end(runs, run_id)

        run = runs.read(run_id)
        assert run["state"] == "answered", place
        assert run["output"] == {"intent": "open_door"}
        rows = [runs.ledger.read(row_id) for row_id in run["routing"]["requestIds"]]
        assert all(row["status"] in ("completed", "error") for row in rows)
        assert run["routing"]["costNanoUsd"] == sum(row["costNanoUsd"] for row in rows), place
        assert runs.bill["executions"] - paid <= len(rows) <= 2
        used = runs.ledger.budget()["day"]
        assert used["reservedNanoUsd"] == 0, place
        assert used["spentNanoUsd"] >= runs.bill["total_nano_usd"]
        if not was_killed:
            assert place > 4
            return
    pytest.fail("it never came to its end")


def test_a_run_of_the_paid_model_takes_four_calls_of_aws(runs: Runs) -> None:
    runs.work(runs.start().json["run"]["id"])
    killer = Killer()
    run_id = runs.start().json["run"]["id"]
    killer.called.clear()

    runs.work(run_id)

    # The run, since a message has its id alone; then the connection, what is reserved and stored
    # before the call, the question, and what is settled and stored after it.
    reads = ["GetItem", "GetItem"]
    assert killer.called == [*reads, "TransactWriteItems", "PutItem", "TransactWriteItems"]


def test_a_run_with_a_call_under_way_is_not_handed_over_again(runs: Runs) -> None:
    run_id = killed_while_asking(runs, key="k")

    for _ in range(3):
        assert runs.start(key="k").json["run"]["id"] == run_id
    assert runs.messages() == []
    end(runs, run_id)
    assert runs.start(key="k").json["run"]["state"] == "answered"


def killed_while_asking(runs: Runs, *, key: str | None = None) -> str:
    """Return a run whose worker was killed once the question was sent."""
    run_id: str = runs.start(key=key).json["run"]["id"]
    killer = Killer()

    def die(ask: object) -> None:
        killer.kill("before-call", after=0)

    runs.ledger.fake.world.answers.answerer = die
    with suppress(Killed):
        runs.work(*runs.messages())
    killer.spare()
    runs.say(ANSWER)
    return run_id


def test_a_lost_call_is_charged_to_its_run_by_whoever_settles_it(runs: Runs) -> None:
    run_id = killed_while_asking(runs)
    stored = runs.stored(run_id)
    assert stored is not None
    assert (stored.state, len(stored.remote_row_ids)) == ("pending", 1)
    assert stored.remote_asking == stored.remote_row_ids[0]

    with later(timedelta(minutes=11)):
        runs.ledger.sweep()

    charged = runs.stored(run_id)
    assert charged is not None
    assert (charged.state, charged.remote_asking) == ("pending", None)
    assert charged.cost_nano_usd == runs.ledger.read(stored.remote_row_ids[0])["costNanoUsd"] > 0


def test_an_attempt_that_may_be_under_way_is_looked_at_again_later(runs: Runs) -> None:
    run_id = killed_while_asking(runs)
    paid = runs.bill["executions"]

    assert runs.work(run_id) == []

    assert (runs.messages(), runs.delayed()) == ([], 1)
    assert runs.read(run_id)["state"] == "pending"
    assert runs.bill["executions"] == paid


def test_a_run_whose_last_attempt_was_lost_has_failed(runs: Runs) -> None:
    primary = {"connectionId": runs.connection_id, "model": "small", "maxOutputTokens": 50}
    runs.put(remote={"primary": {**primary, "maxRetries": 0}})
    run_id = killed_while_asking(runs)

    with later(timedelta(minutes=11)):
        runs.ledger.sweep()

    run = runs.read(run_id)
    assert (run["state"], run["error"]["code"]) == ("failed", "remote_unavailable")
    assert "outcome_unclear: the call" in run["error"]["message"]
    assert run["routing"]["costNanoUsd"] > 0
    Apprentice.follow(None, Apprentice.records())  # type: ignore[arg-type]
    path = f"/api/v1/apprentice/tasks/{run['taskName']}/runs"
    (listed,) = runs.platform.call("GET", path).json["runs"]
    # What a provider says may be long; whoever wants it reads the run.
    assert listed["error"]["message"].endswith(": outcome_unclear")


def test_a_lost_call_of_a_run_that_the_sweep_ended_checked_nothing(runs: Runs) -> None:
    primary = {"connectionId": runs.connection_id, "model": "small", "maxOutputTokens": 50}
    runs.put(remote={"primary": {**primary, "maxRetries": 0}})
    run_id = killed_while_asking(runs)

    with later(timedelta(minutes=21)):
        Apprentice.follow(None, Apprentice.records())  # type: ignore[arg-type]
        handler("functions.apprentice.sweep_runs")({}, LambdaContext(300))
        ended = runs.stored(run_id)
        assert ended is not None
        assert (ended.state, ended.check) == ("failed", "none")
        assert ended.remote_asking is not None
        runs.ledger.sweep()

    settled = runs.stored(run_id)
    assert settled is not None
    assert (settled.state, settled.check, settled.remote_asking) == ("failed", "none", None)
    assert settled.cost_nano_usd > 0


def test_nothing_is_paid_for_a_run_that_was_not_asked_by_its_deadline(runs: Runs) -> None:
    """The sweep ends it five minutes later, and what is paid by then is no part of it."""
    run_id = runs.start().json["run"]["id"]

    with later(timedelta(minutes=16)):
        assert runs.work(run_id) == []

    run = runs.read(run_id)
    assert (run["state"], run["error"]["code"]) == ("failed", "remote_unavailable")
    assert "deadline_passed" in run["error"]["message"]
    assert (run["routing"]["requestIds"], runs.bill["executions"]) == ([], 0)
