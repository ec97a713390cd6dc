"""Batches that are jobs of a provider: created once, paid once, and every result comes home."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from autotune_platform.ledger.jobs import openai as openai_jobs
from tests.support.ledger import Ledger, row

MODELS = {
    "anthropic": "claude-haiku-4-5",
    "azure": "gpt-5-mini",
    "gemini": "gemini-2.5-flash",
    "openai": "gpt-5-mini",
    "openrouter": "openai/gpt-5-mini",
}
BASES = {"openai": "/v1", "openrouter": "/api/v1"}
PRICES = {
    "gpt-5-mini": {
        "inputUsd": "0.25",
        "outputUsd": "2",
        "batchInputUsd": "0.125",
        "batchOutputUsd": "1",
        "batchCachedInputUsd": "0.0125",
    },
    "openai/gpt-5-mini": {
        "inputUsd": "0.25",
        "outputUsd": "2",
        "batchInputUsd": "0.125",
        "batchOutputUsd": "1",
        "batchCachedInputUsd": "0.0125",
    },
    "claude-haiku-4-5": {
        "inputUsd": "1",
        "outputUsd": "5",
        "batchInputUsd": "0.5",
        "batchOutputUsd": "2.5",
        "batchCachedInputUsd": "0.05",
    },
    "gemini-2.5-flash": {
        "inputUsd": "0.3",
        "outputUsd": "2.5",
        "batchInputUsd": "0.15",
        "batchOutputUsd": "1.25",
        "batchCachedInputUsd": "0.03",
    },
}


def connect(ledger: Ledger, provider: str, **fields: Any) -> str:
    return ledger.connect(
        provider=provider,
        baseUrl=f"{ledger.fake.base_url}{BASES.get(provider, '')}",
        prices=PRICES,
        **fields,
    )


def enqueue(ledger: Ledger, provider: str, count: int = 6, **fields: Any) -> list[str]:
    connection = connect(ledger, provider, **fields)
    users = [f"question {number}" for number in range(count)]
    return ledger.enqueue(connection, *users, model=MODELS[provider])


def assert_paid_once(ledger: Ledger, ids: list[str]) -> None:
    bill = ledger.fake.world.bill()["total_nano_usd"]
    assert sum(ledger.read(one)["costNanoUsd"] or 0 for one in ids) == bill
    # A job may end on the second day after it was paid for, in which that day is settled no more.
    spent, reserved = ledger.spent_and_reserved("week")
    assert (spent, reserved) == (bill, 0)
    ran = Counter(one.custom_id for one in ledger.fake.world.executions)
    assert set(ran.values()) <= {1}
    assert ledger.fake.world.bugs == []


@pytest.mark.parametrize("provider", sorted(MODELS))
def test_rows_go_in_one_job_and_come_home(ledger: Ledger, provider: str) -> None:
    ids = enqueue(ledger, provider)
    ledger.run_jobs()
    for one in ids:
        found = ledger.read(one)
        assert found["status"] == "completed", (
            found["error"],
            ledger.batches(),
            ledger.fake.world.refusals,
        )
        assert found["rawOutput"]
    # Another execution may have read the queue before this one took its rows: it sends none.
    (batch,) = [one for one in ledger.batches() if one["job"]["id"]]
    assert batch["status"] == "completed"
    assert batch["counts"]["completed"] == 6
    assert_paid_once(ledger, ids)
    assert ledger.fake.world.files == {}


CALM = [
    ("create_answer_lost", {}),
    ("create_429", {}),
    ("create_500", {}),
    ("upload_429", {}),
    ("upload_500", {}),
    ("upload_answer_lost", {}),
    ("upload_not_visible", {}),
    ("get_429", {}),
    ("get_500", {}),
    ("get_404_after_create", {"looks": 3}),
    ("list_lags", {"looks": 3}),
    ("list_pages", {}),
    ("download_500", {}),
    ("download_502", {}),
    ("download_cut", {}),
    ("output_id_later", {"seconds": 900}),
    ("output_id_empty", {}),
    ("counts_zero", {}),
    ("counts_absent", {}),
    ("expires_partial", {}),
    ("expires_empty", {}),
    ("rows_shuffled", {}),
    ("rows_doubled_alike", {}),
    ("rows_doubled_conflicting", {}),
    ("rows_unknown_id", {}),
    ("rows_foreign_id", {}),
    ("jsonl_empty_lines", {}),
    ("jsonl_long_line", {"bytes": 14_000_000}),
    ("succeeds_late", {}),
    ("token_limit", {}),
    ("finish_length", {}),
    ("finish_refusal", {}),
    ("cached_tokens", {}),
    ("other_model", {}),
    ("row_error", {"status": 500}),
    ("row_error", {"status": 429}),
    ("row_error", {"status": 0}),
    ("file_500", {}),
]
"""Traps after which every row is answered, and paid exactly once, at any provider."""


EVERYWHERE = frozenset(
    {
        "create_answer_lost",
        "get_404_after_create",
        "counts_zero",
        "expires_partial",
        "rows_doubled_conflicting",
        "succeeds_late",
        "token_limit",
        "cached_tokens",
    }
)
"""Those that are tried with each provider; the others differ in what its part answers alone."""

TRAPS = [
    pytest.param(provider, name, params, id=f"{provider}-{name}-{number}")
    for number, (name, params) in enumerate(CALM)
    for provider in sorted(MODELS)
    if provider == "openai" or name in EVERYWHERE
]


@pytest.mark.parametrize(("provider", "name", "params"), TRAPS)
def test_a_trap_costs_time_and_nothing_else(
    ledger: Ledger, provider: str, name: str, params: dict[str, Any]
) -> None:
    ledger.fake.world.traps.arm(name=name, times=1, params=params)
    if name.startswith("list"):
        ledger.fake.world.traps.arm(name="create_answer_lost", times=1)
    ids = enqueue(ledger, provider)
    ledger.run_jobs()
    assert [ledger.read(one)["status"] for one in ids] == ["completed"] * len(ids)
    assert_paid_once(ledger, ids)
    differences = [one["difference"] for one in ledger.batches() if one["difference"]]
    assert [one for one in differences if not one["withinTolerance"]] == []
    assert [one.trap for one in ledger.fake.world.traps.firings if one.trap == name]


def trap(ledger: Ledger, name: str, *, times: int | None = 1, **params: Any) -> None:
    ledger.fake.world.traps.arm(name=name, times=times, params=params)


def read_all(ledger: Ledger, ids: list[str]) -> list[dict[str, Any]]:
    return [ledger.read(one) for one in ids]


def test_a_row_that_is_refused_by_its_line_ends_and_the_others_go_again(ledger: Ledger) -> None:
    ledger.fake.world.traps.arm(name="poison_row", times=None, contains="question 3")
    ids = enqueue(ledger, "openai")
    ledger.run_jobs()
    found = read_all(ledger, ids)
    statuses = {one["input"]["user"]: one["status"] for one in found}
    assert statuses.pop("question 3") == "error"
    assert set(statuses.values()) == {"completed"}
    assert_paid_once(ledger, ids)


def test_credit_that_ends_midway_pauses_the_connection_and_rows_wait(ledger: Ledger) -> None:
    trap(ledger, "credit_ends", share=0.5)
    connection = connect(ledger, "openai")
    ids = ledger.enqueue(connection, *(f"q {n}" for n in range(6)), model="gpt-5-mini")
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=3)
    shown = ledger.platform.call("GET", f"/api/v1/llm-connections/{connection}").json
    assert shown["connection"]["status"] == "paused"
    found = Counter(one["status"] for one in read_all(ledger, ids))
    assert found == {"completed": 3, "queued": 3}
    ledger.platform.call("PATCH", f"/api/v1/llm-connections/{connection}", {"name": "paid"})
    ledger.run_jobs()
    assert {one["status"] for one in read_all(ledger, ids)} == {"completed"}
    assert {one["attempt"] for one in read_all(ledger, ids)} == {1}
    assert_paid_once(ledger, ids)


def test_a_refused_account_pauses_and_nothing_is_created(ledger: Ledger) -> None:
    trap(ledger, "account_refused", times=1)
    connection = connect(ledger, "openai")
    ids = ledger.enqueue(connection, "q", model="gpt-5-mini")
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=2)
    assert ledger.fake.world.batches == {}
    ledger.platform.call("PATCH", f"/api/v1/llm-connections/{connection}", {"name": "paid"})
    ledger.run_jobs()
    assert ledger.read(ids[0])["status"] == "completed"
    assert_paid_once(ledger, ids)


def test_a_job_is_looked_at_with_the_key_that_created_it(ledger: Ledger) -> None:
    trap(ledger, "old_key_only", times=1)
    ledger.fake.world.timing.run_seconds = 3 * 3600
    connection = connect(ledger, "openai")
    ids = ledger.enqueue(connection, *(f"q {n}" for n in range(3)), model="gpt-5-mini")
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=1)
    changed = ledger.platform.call(
        "PATCH", f"/api/v1/llm-connections/{connection}", {"apiKey": "fake-key-2"}
    )
    assert changed.status == 200, changed.text
    ledger.run_jobs()
    assert {one["status"] for one in read_all(ledger, ids)} == {"completed"}
    assert_paid_once(ledger, ids)


@pytest.mark.parametrize("trap_name", ["rows_missing", "completed_without_output"])
def test_what_was_paid_and_never_came_is_charged_at_its_bound_and_tried_again(
    ledger: Ledger, trap_name: str
) -> None:
    trap(ledger, trap_name)
    ids = enqueue(ledger, "openai")
    ledger.run_jobs()
    found = read_all(ledger, ids)
    assert {one["status"] for one in found} == {"completed"}
    bill = ledger.fake.world.bill()["total_nano_usd"]
    spent, reserved = ledger.spent_and_reserved("day")
    assert reserved == 0
    assert spent == sum(one["costNanoUsd"] for one in found) >= bill
    again = [one for one in found if one["attempt"] > 1]
    assert {one["attempts"][0]["error"]["code"] for one in again} == {"result_missing"}
    assert len(again) == (1 if trap_name == "rows_missing" else 6)


def test_a_canceled_batch_keeps_what_was_paid(ledger: Ledger) -> None:
    ledger.fake.world.timing.run_seconds = 1800
    ids = enqueue(ledger, "openai")
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=0.25)
    (batch,) = ledger.batches()
    ledger.platform.call("POST", f"/api/v1/llm-batches/{batch['id']}/cancel", {})
    ledger.run_jobs()
    found = Counter(one["status"] for one in read_all(ledger, ids))
    paid = len(ledger.fake.world.executions)
    assert found == Counter({"completed": paid, "canceled": 6 - paid})
    (batch,) = ledger.batches()
    assert batch["status"] == "canceled"
    assert_paid_once(ledger, ids)


def test_a_canceled_job_that_says_nothing_of_what_it_did_counts_as_paid(ledger: Ledger) -> None:
    ledger.fake.world.timing.run_seconds = 1800
    trap(ledger, "completed_without_output")
    trap(ledger, "counts_absent")
    ids = enqueue(ledger, "openai")
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=0.25)
    (batch,) = ledger.batches()
    ledger.platform.call("POST", f"/api/v1/llm-batches/{batch['id']}/cancel", {})
    ledger.run_jobs()
    found = read_all(ledger, ids)
    missing = [one for one in found if one["error"]["code"] == "result_missing"]
    assert len(missing) == len(ledger.fake.world.executions) > 0
    assert all(one["costNanoUsd"] > 0 for one in missing)
    # The others are in the file of errors, each by its name.
    assert {one["status"] for one in found if one not in missing} == {"canceled"}
    spent, reserved = ledger.spent_and_reserved("day")
    assert spent >= ledger.fake.world.bill()["total_nano_usd"]
    assert reserved == 0


def test_a_batch_that_is_canceled_before_it_is_sent_is_not_sent(ledger: Ledger) -> None:
    trap(ledger, "create_429", times=None, retry_after=600)
    ids = enqueue(ledger, "openai")
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=0.25)
    (batch,) = ledger.batches()
    ledger.platform.call("POST", f"/api/v1/llm-batches/{batch['id']}/cancel", {})
    ledger.run_jobs()
    assert {one["status"] for one in read_all(ledger, ids)} == {"canceled"}
    assert ledger.fake.world.batches == {}
    assert_paid_once(ledger, ids)


def test_a_connection_that_is_revoked_under_way_ends_its_rows_as_paid(ledger: Ledger) -> None:
    ledger.fake.world.timing.run_seconds = 3600
    connection = connect(ledger, "openai")
    ids = ledger.enqueue(connection, "q 1", "q 2", model="gpt-5-mini")
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=0.25)
    ledger.platform.call("DELETE", f"/api/v1/llm-connections/{connection}")
    ledger.run_jobs()
    found = read_all(ledger, ids)
    assert {one["error"]["code"] for one in found} == {"account"}
    spent, reserved = ledger.spent_and_reserved("day")
    assert spent == sum(one["costNanoUsd"] for one in found) > 0 == reserved


def test_rows_that_do_not_fit_go_in_another_job(ledger: Ledger) -> None:
    text = "word " * 6_000
    connection = connect(ledger, "openai", maxBytes=100_000)
    users = [f"{number} {text}" for number in range(8)]
    ids = ledger.enqueue(connection, *users, model="gpt-5-mini")
    ledger.run_jobs()
    assert {one["status"] for one in read_all(ledger, ids)} == {"completed"}
    assert len(ledger.fake.world.batches) >= 3
    assert ledger.fake.world.broken_limits == []
    assert_paid_once(ledger, ids)


def test_an_urgent_row_is_asked_at_once_at_the_standard_price(ledger: Ledger) -> None:
    connection = connect(ledger, "openai", maxWaitSeconds=0)
    soon = (datetime.now(UTC) + timedelta(hours=2)).isoformat()
    (urgent,) = ledger.enqueue(connection, "now", model="gpt-5-mini", completeBy=soon)
    (patient,) = ledger.enqueue(connection, "then", model="gpt-5-mini")
    ledger.run_jobs()
    modes = {one.custom_id is None: one.mode for one in ledger.fake.world.executions}
    assert modes == {True: "synchronous", False: "batch"}
    assert ledger.read(urgent)["usage"]["assumed"] is False
    assert_paid_once(ledger, [urgent, patient])


def test_a_model_without_a_batch_price_is_refused_by_name(ledger: Ledger) -> None:
    prices = {"gpt-5-mini": {"inputUsd": "0.25", "outputUsd": "2"}}
    connection = ledger.connect(
        provider="azure", baseUrl=ledger.fake.base_url, prices=prices, batches="always"
    )
    body = row(connection, model="gpt-5-mini")
    answer = ledger.platform.call("POST", "/api/v1/llm-requests", body)
    assert (answer.status, list(answer.fields)) == (422, ["model"])
    assert "batchInputUsd" in answer.text


def test_a_simulated_connection_has_no_jobs(ledger: Ledger) -> None:
    body = {"name": "n", "provider": "simulated", "baseUrl": ledger.fake.base_url}
    answer = ledger.platform.call("POST", "/api/v1/llm-connections", {**body, "batches": "always"})
    assert answer.status == 422
    connection = ledger.connect()
    changed = ledger.platform.call(
        "PATCH", f"/api/v1/llm-connections/{connection}", {"batches": "always"}
    )
    assert (changed.status, list(changed.fields)) == (422, ["batches"])


def test_a_model_that_the_provider_does_not_know_is_refused_once(ledger: Ledger) -> None:
    connection = ledger.connect(
        provider="openrouter",
        baseUrl=f"{ledger.fake.base_url}/api/v1",
        prices={"nobody": PRICES["gpt-5-mini"]},
    )
    ids = ledger.enqueue(connection, *(f"q {n}" for n in range(5)), model="nobody")
    ledger.run_jobs()
    assert {one["error"]["code"] for one in read_all(ledger, ids)} == {"rejected"}
    assert ledger.fake.world.requests["openrouter.create"] == 1
    assert_paid_once(ledger, ids)


def test_a_file_that_is_not_ready_is_waited_for_whatever_the_refusal_says(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_jobs, "_INPUT_FIELDS", frozenset())
    trap(ledger, "upload_not_visible", looks=3)
    ids = enqueue(ledger, "azure")
    ledger.run_jobs()
    assert {one["status"] for one in read_all(ledger, ids)} == {"completed"}
    assert {one["attempt"] for one in read_all(ledger, ids)} == {1}
    assert_paid_once(ledger, ids)
