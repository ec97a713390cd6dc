"""A paid model whose account has a dearer service tier: the ledger is its bill all the same."""

import json
from typing import Any

import pytest

from autotune_platform.ledger.providers import openai
from tests.chaos.teacher import MODEL, PRICES
from tests.support.apprentice import configuration
from tests.support.apprentice_runs import Runs


@pytest.fixture
def tiers(runs: Runs) -> Runs:
    """The task has a model of OpenAI's."""
    connection_id = runs.ledger.connect(
        name="tiers", provider="openai", baseUrl=f"{runs.ledger.fake.base_url}/v1", prices=PRICES
    )
    runs.connection_id = connection_id
    made = configuration(connection_id, model=MODEL)
    answer = runs.platform.call("PUT", "/api/v1/apprentice/tasks/intents", made)
    assert answer.status == 200, answer.text
    return runs


def test_an_answer_at_a_dearer_tier_that_costs_more_than_its_bound_is_charged_what_it_costs(
    tiers: Runs,
) -> None:
    made = configuration(tiers.connection_id, model=MODEL)
    made["remote"]["primary"]["maxOutputTokens"] = 200
    assert tiers.platform.call("PUT", "/api/v1/apprentice/tasks/intents", made).status == 200
    tiers.say(json.dumps({"intent": "lost card", "reason": "because " * 90}))
    arm(tiers, insists=1)
    row = asked_row(tiers)

    assert row["usage"]["assumed"]
    assert row["costNanoUsd"] >= tiers.bill["total_nano_usd"] > row["boundNanoUsd"]


def test_an_answer_at_a_dearer_tier_that_does_not_say_its_usage_is_charged_twice_its_bound(
    tiers: Runs,
) -> None:
    arm(tiers, insists=1)
    tiers.ledger.fake.world.traps.arm("no_usage", times=None)
    row = asked_row(tiers)

    assert row["usage"]["assumed"]
    assert row["costNanoUsd"] == 2 * row["boundNanoUsd"] > tiers.bill["total_nano_usd"]


def arm(runs: Runs, **params: Any) -> None:
    runs.ledger.fake.world.traps.arm("dearer_tier", times=None, params=params)


def asked_row(runs: Runs) -> dict[str, Any]:
    """Have an input answered; return the row that paid for it."""
    run = runs.start(wait=20).json["run"]
    assert (run["state"], run["routing"]["answers"]) == ("answered", "remote"), run
    (row_id,) = run["routing"]["requestIds"]
    row = runs.ledger.read(row_id)
    assert row["costNanoUsd"] == run["routing"]["costNanoUsd"]
    return row


def test_the_standard_tier_is_asked_for_whatever_the_accounts_is(
    tiers: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai, "OPENAI_HOSTS", ("127.0.0.1",))  # the fake is OpenAI here
    arm(tiers)
    row = asked_row(tiers)

    assert row["costNanoUsd"] == tiers.bill["total_nano_usd"] > 0
    assert not row["usage"].get("assumed", False)


def test_an_answer_at_a_dearer_tier_is_charged_at_its_bound(tiers: Runs) -> None:
    arm(tiers, insists=1)
    row = asked_row(tiers)

    assert row["usage"]["assumed"]
    assert row["costNanoUsd"] == row["boundNanoUsd"] >= tiers.bill["total_nano_usd"] > 0
