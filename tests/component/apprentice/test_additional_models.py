"""Pairs are put to additional models, while the budget has room."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

from autotune_platform.apprentice.local.contract import Reason, Unavailable
from tests.support.apprentice import configuration
from tests.support.apprentice_runs import ANSWER
from tests.support.killing import Killed, Killer
from tests.support.ledger import later
from tests.support.phased_runs import Phased


def also(phased: Phased, **fields: Any) -> dict[str, Any]:
    """Return the ``remote`` of a task that asks another connection's model, too."""
    model = {"maxOutputTokens": 50, **fields}
    remote: dict[str, Any] = configuration(phased.runs.connection_id)["remote"]
    other = phased.runs.ledger.connect(name="other")
    return {**remote, "additional": [{**remote["primary"], **model, "connectionId": other}]}


def test_pairs_are_put_to_additional_models_after_the_run(phased: Phased) -> None:
    remote = also(phased)
    phased.shadowed(remote=remote)

    run = phased.ran()

    assert (phased.paid, run["routing"]["additionalRequestIds"]) == (1, [])
    phased.runs.work()
    read = phased.runs.read(run["id"])
    (row_id,) = read["routing"]["additionalRequestIds"]
    row = phased.runs.ledger.read(row_id)
    assert row["connectionId"] == remote["additional"][0]["connectionId"]
    assert (row["purpose"], row["rawOutput"]) == ("apprentice_additional", ANSWER)
    assert phased.paid == 2
    assert read["routing"]["costNanoUsd"] + row["costNanoUsd"] == phased.runs.bill["total_nano_usd"]
    assert read["routing"]["pairs"] == run["routing"]["pairs"]
    phased.runs.work(run["id"], run["id"])
    assert phased.paid == 2, "each is asked once, however often the run comes"
    assert phased.stored(run["id"]).additional_cost_nano_usd == row["costNanoUsd"] > 0


def test_an_additional_models_call_that_was_lost_is_a_cost_of_its_run(phased: Phased) -> None:
    phased.shadowed(remote=also(phased))
    run = phased.ran()
    killer = Killer()

    def die(ask: object) -> None:
        killer.kill("before-call", after=0)

    phased.runs.ledger.fake.world.answers.answerer = die
    with suppress(Killed):
        phased.runs.work()
    killer.spare()

    with later(timedelta(minutes=11)):
        phased.runs.ledger.sweep()

    (row_id,) = phased.stored(run["id"]).additional.values()
    lost = phased.runs.ledger.read(row_id)["costNanoUsd"]
    assert phased.stored(run["id"]).additional_cost_nano_usd == lost > 0


def test_additional_models_are_asked_while_the_budget_has_room_alone(phased: Phased) -> None:
    # Room for the primary one, and for no other.
    phased.shadowed(remote=also(phased, maxOutputTokens=100_000), budgets={"daily": "0.01"})

    run = phased.ran()
    phased.runs.work()

    assert (run["state"], phased.paid) == ("answered", 1)
    assert phased.runs.read(run["id"])["routing"]["additionalRequestIds"] == []


def test_a_run_that_made_no_pair_is_put_to_nobody_else(phased: Phased) -> None:
    phased.shadowed(remote=also(phased))
    phased.small.says["small-1"] = Unavailable(Reason.TIMED_OUT, "too slow")

    run = phased.ran()

    assert (run["routing"]["pairs"], phased.runs.messages(), phased.paid) == ([], [], 1)
