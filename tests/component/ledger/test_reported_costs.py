"""What a batch was charged, compared with what its provider reports of the whole job."""

from typing import Any

import pytest

from autotune_platform.ledger import comparing, settling
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.comparing import ABOVE_BOUND, DIFFERS
from tests.component.ledger.test_events import delivered, subscribe
from tests.component.ledger.test_jobs import MODELS, assert_paid_once, connect, enqueue, trap
from tests.providers import batches_openai, batches_openrouter
from tests.providers.answers import Ask
from tests.support.ledger import MODEL, Ledger
from tests.support.subscribers import loopback_subscriber

NOTHING = {
    "inputTokens": 0,
    "cachedInputTokens": 0,
    "outputTokens": 0,
    "costNanoUsd": None,
    "assumedRows": 0,
    "droppedResults": 0,
    "withinTolerance": True,
}


class KilledError(BaseException):
    """The process is gone: nothing catches it."""


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """What the log said that alarms count."""
    lines: list[tuple[str, dict[str, Any]]] = []

    def error(message: str, **fields: Any) -> None:
        lines.append((message, fields))

    monkeypatch.setattr(settling.logger, "error", error)
    monkeypatch.setattr(comparing.logger, "error", error)
    return lines


def the_batch(ledger: Ledger) -> dict[str, Any]:
    (batch,) = [one for one in ledger.batches() if one["job"] and one["job"]["id"]]
    return batch


def listed(ledger: Ledger) -> list[str]:
    answer = ledger.platform.call("GET", "/api/v1/llm-batches", query={"differs": "true"})
    assert answer.status == 200, answer.text
    return [one["id"] for one in answer.json["batches"]]


def report_more(monkeypatch: pytest.MonkeyPatch, module: Any, **more: float) -> None:
    """Have the fake report more of a job than it ran."""
    original = module._usage

    def usage(batch: Any) -> dict[str, Any]:
        told = original(batch)
        return {**told, **{name: told[name] + by for name, by in more.items()}}

    monkeypatch.setattr(module, "_usage", usage)


@pytest.mark.parametrize("provider", ["azure", "openai", "openrouter"])
def test_what_is_reported_of_a_job_is_what_was_charged(
    ledger: Ledger, provider: str, said: list[Any]
) -> None:
    ledger.fake.world.traps.arm(name="cached_tokens", times=3)
    ids = enqueue(ledger, provider)
    ledger.run_jobs()
    batch = the_batch(ledger)
    bill = ledger.fake.world.bill()
    assert batch["reported"] == {
        "usage": {
            "inputTokens": bill["tokens"]["input"],
            "cachedInputTokens": bill["tokens"]["cached"],
            "outputTokens": bill["tokens"]["output"],
        },
        "costNanoUsd": bill["total_nano_usd"] if provider == "openrouter" else None,
    }
    assert bill["tokens"]["cached"] > 0
    cost = 0 if provider == "openrouter" else None
    assert batch["difference"] == {**NOTHING, "costNanoUsd": cost}
    assert batch["aboveBound"] == 0
    assert listed(ledger) == said == []
    assert_paid_once(ledger, ids)


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_where_nothing_is_reported_nothing_is_compared(ledger: Ledger, provider: str) -> None:
    enqueue(ledger, provider)
    ledger.run_jobs()
    batch = the_batch(ledger)
    assert (batch["reported"], batch["difference"]) == (None, None)
    assert batch["status"] == "completed"


@pytest.mark.parametrize("fault", ["expires_partial", "canceled"])
@pytest.mark.parametrize("provider", ["openai", "azure"])
def test_a_job_that_ends_midway_reports_what_it_ran(
    ledger: Ledger, provider: str, fault: str, said: list[Any]
) -> None:
    ledger.fake.world.timing.run_seconds = 1_800
    if fault != "canceled":
        trap(ledger, fault)
    ids = enqueue(ledger, provider)
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=0.25)
    (batch,) = ledger.batches()
    if fault == "canceled":
        ledger.platform.call("POST", f"/api/v1/llm-batches/{batch['id']}/cancel", {})
    ledger.run_jobs()
    jobs = [one for one in ledger.batches() if one["job"]["id"]]
    first = next(one for one in jobs if one["id"] == batch["id"])
    assert first["reported"]["usage"]["outputTokens"] > 0
    assert 0 < first["counts"]["completed"] < 6
    assert [one["difference"] for one in jobs] == [NOTHING] * len(jobs)
    assert said == []
    assert_paid_once(ledger, ids)


@pytest.mark.parametrize(
    ("name", "assumed"), [("no_usage", 6), ("rows_missing", 1), ("completed_without_output", 6)]
)
def test_what_was_charged_at_its_bound_explains_that_less_is_reported(
    ledger: Ledger, name: str, assumed: int, said: list[Any]
) -> None:
    trap(ledger, name, times=None if name == "no_usage" else 1)
    enqueue(ledger, "openai")
    ledger.run_jobs()
    (batch,) = [one for one in ledger.batches() if one["difference"]["assumedRows"]]
    difference = batch["difference"]
    assert difference["assumedRows"] == assumed
    assert difference["inputTokens"] < 0 > difference["outputTokens"]
    assert difference["withinTolerance"] is True
    assert listed(ledger) == said == []


def test_results_that_come_twice_are_counted_apart(ledger: Ledger, said: list[Any]) -> None:
    trap(ledger, "rows_doubled_conflicting", count=2)
    ids = enqueue(ledger, "openai")
    ledger.run_jobs()
    assert the_batch(ledger)["difference"] == {**NOTHING, "droppedResults": 2}
    assert said == []
    assert_paid_once(ledger, ids)


def test_what_was_charged_at_its_bound_explains_no_more_than_that(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, said: list[Any]
) -> None:
    trap(ledger, "no_usage", times=1)
    report_more(monkeypatch, batches_openai, output_tokens=101)
    enqueue(ledger, "openai", count=3)
    ledger.run_jobs()
    batch = the_batch(ledger)
    # It was charged for 100 tokens of output, and can have had no more.
    assert batch["difference"]["assumedRows"] == 1
    assert batch["difference"]["outputTokens"] > 0
    assert batch["difference"]["withinTolerance"] is False
    assert listed(ledger) == [batch["id"]]
    assert [message for message, _ in said] == [DIFFERS]


@pytest.mark.parametrize(
    ("provider", "more", "found"),
    [
        ("openai", {"output_tokens": 1}, {"outputTokens": 1}),
        ("azure", {"input_tokens": -1}, {"inputTokens": -1}),
        ("openrouter", {"prompt_tokens": 2, "total_tokens": 2}, {"inputTokens": 2}),
        ("openrouter", {"cost": 0.00001}, {"costNanoUsd": 10_000}),
        ("openrouter", {"cost": -0.00001}, {"costNanoUsd": -10_000}),
    ],
)
def test_other_figures_of_the_provider_call_a_person_and_show_everywhere(
    ledger: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    said: list[Any],
    provider: str,
    more: dict[str, float],
    found: dict[str, int],
) -> None:
    module = batches_openrouter if provider == "openrouter" else batches_openai
    report_more(monkeypatch, module, **more)
    ids = enqueue(ledger, provider, count=2)
    ledger.run_jobs()
    batch = the_batch(ledger)
    cost = 0 if provider == "openrouter" else None
    assert batch["difference"] == {
        **NOTHING,
        "costNanoUsd": cost,
        "withinTolerance": False,
        **found,
    }
    assert listed(ledger) == [batch["id"]]
    ((message, fields),) = said
    assert message == DIFFERS
    assert (fields["batch_id"], fields["job_id"]) == (batch["id"], batch["job"]["id"])
    assert_paid_once(ledger, ids)


def test_the_webhook_has_what_is_reported_and_how_it_differs(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    report_more(monkeypatch, batches_openai, output_tokens=1)
    with loopback_subscriber() as subscriber:
        secret = subscribe(ledger.platform, subscriber)
        enqueue(ledger, "openai", count=2)
        ledger.run_jobs()
        events = {
            one["data"]["batchId"]: one for one in delivered(ledger.platform, subscriber, secret)
        }
    batch = the_batch(ledger)
    told = events[batch["id"]]["data"]
    assert (
        told["difference"]
        == batch["difference"]
        == {
            **NOTHING,
            "outputTokens": 1,
            "withinTolerance": False,
        }
    )
    assert told["reported"] == batch["reported"]
    assert told["reported"]["usage"]["outputTokens"] > 1
    assert told["aboveBound"] == 0


@pytest.mark.parametrize("less", [6, 7])
def test_a_cost_may_be_off_by_a_nano_dollar_for_each_row(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, less: int
) -> None:
    report_more(monkeypatch, batches_openrouter, cost=-less / 1e9)
    enqueue(ledger, "openrouter")
    ledger.run_jobs()
    difference = the_batch(ledger)["difference"]
    assert difference["costNanoUsd"] == -less
    assert difference["withinTolerance"] is (less == 6)


def test_a_step_that_is_killed_as_it_settles_has_said_it_before(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, said: list[Any]
) -> None:
    report_more(monkeypatch, batches_openai, output_tokens=1)
    write = BatchRepository.write
    killed: list[int] = []

    def killing(self: BatchRepository, *args: Any, **fields: Any) -> bool:
        if not killed:
            killed.append(len(said))
            raise KilledError
        assert len(said) == 1 + len(killed)
        return write(self, *args, **fields)

    monkeypatch.setattr(BatchRepository, "write", killing)
    ids = enqueue(ledger, "openai", count=2)
    ledger.run_jobs(killed_by=KilledError)
    assert killed == [1], "it was said before anything was written"
    assert_paid_once(ledger, ids)


@pytest.mark.parametrize("mode", ["job", "calls"])
def test_usage_above_the_bound_is_charged_and_calls_a_person(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, said: list[Any], mode: str
) -> None:
    monkeypatch.setattr(Ask, "input_tokens", property(lambda _: 50_000))
    batches = "always" if mode == "job" else "never"
    ids = enqueue(ledger, "openai", count=2, batches=batches)
    ledger.run_jobs()
    (batch,) = ledger.batches()
    assert (batch["mode"], batch["aboveBound"]) == (mode, 2)
    assert listed(ledger) == [batch["id"]]
    assert sorted(fields["request_id"] for _, fields in said) == sorted(ids)
    for message, fields in said:
        assert message == ABOVE_BOUND
        assert fields["batch_id"] == batch["id"]
        assert fields["charged_nano_usd"] > fields["bound_nano_usd"] > 0
        assert fields["usage"]["input_tokens"] == 50_000 > fields["most_input_tokens"]
    bill = ledger.fake.world.bill()["total_nano_usd"]
    assert (batch["costNanoUsd"], ledger.spent_and_reserved("day")) == (bill, (bill, 0))


def test_a_call_that_somebody_waits_for_says_so_too(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, said: list[Any]
) -> None:
    monkeypatch.setattr(Ask, "input_tokens", property(lambda _: 50_000))
    connection = ledger.connect()
    path = f"/api/v1/llm-connections/{connection}/verify"
    answer = ledger.platform.call("POST", path, {"model": MODEL})
    assert answer.status == 200, answer.text
    ((message, fields),) = said
    assert (message, fields["connection_id"]) == (ABOVE_BOUND, connection)


def test_what_is_right_is_said_of_no_row(ledger: Ledger, said: list[Any]) -> None:
    connection = connect(ledger, "openai", batches="never")
    ledger.enqueue(connection, "a", "b", model=MODELS["openai"])
    ledger.run_jobs()
    (batch,) = ledger.batches()
    assert (batch["aboveBound"], batch["difference"]) == (0, None)
    assert listed(ledger) == said == []
