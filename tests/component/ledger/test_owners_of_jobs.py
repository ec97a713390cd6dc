"""Whose a provider's job is: a server names its jobs as it likes, and each is created once."""

from collections import Counter
from typing import Any

import pytest

from autotune_platform.ledger.jobs.contract import Created
from autotune_platform.ledger.jobs.openai import OpenAiJobs
from tests.component.ledger.test_jobs import enqueue, trap
from tests.component.ledger.test_resolving import resolve, wait
from tests.providers.server import serve
from tests.providers.state import Ids
from tests.support.ledger import Ledger


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that count their jobs, so that those of two servers are named alike."""
    numbers: Counter[tuple[int, str]] = Counter()

    def new(self: Ids, prefix: str = "", length: int = 24) -> str:
        numbers[id(self), prefix] += 1
        return f"{prefix}{numbers[id(self), prefix]}"

    monkeypatch.setattr(Ids, "new", new)


def jobs_elsewhere(ledger: Ledger, *, count: int) -> list[str]:
    """Jobs that a server of their own made for others; return their names."""
    own = ledger.fake
    with serve() as other:
        ledger.fake = other
        for _ in range(count):
            enqueue(ledger, "openai", count=1)
            ledger.run_jobs()
        ledger.fake = own
        return list(other.world.batches)


@pytest.mark.usefixtures("counted")
@pytest.mark.parametrize("is_foreign", [True, False])
def test_jobs_of_another_server_of_the_same_name_are_others(
    ledger: Ledger, is_foreign: bool
) -> None:
    own = ledger.platform.api_key
    if is_foreign:
        ledger.platform.api_key = ledger.platform.new_organization("others")
    names = jobs_elsewhere(ledger, count=3)
    ledger.platform.api_key = own
    ids = enqueue(ledger, "openai", count=2)
    ledger.run_jobs()
    (job,) = ledger.fake.world.batches
    assert job in names
    bill = ledger.fake.world.bill()["total_nano_usd"]
    assert sum(ledger.read(one)["costNanoUsd"] for one in ids) == bill


def named_again(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> tuple[str, list[str]]:
    """A server that answers a creation with a job that it answered another with before."""
    enqueue(ledger, "openai", count=1)
    ledger.run_jobs()
    (first,) = ledger.fake.world.batches
    create = OpenAiJobs.create

    def created(self: Any, *args: Any) -> Any:
        made = create(self, *args)
        return Created(first) if isinstance(made, Created) else made

    monkeypatch.setattr(OpenAiJobs, "create", created)
    monkeypatch.setattr(OpenAiJobs, "search", lambda *_: [])
    return first, enqueue(ledger, "openai", count=2)


def test_a_creation_that_is_answered_with_anothers_job_is_not_asked_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, ids = named_again(ledger, monkeypatch)
    wait(ledger, minutes=180)
    assert len(ledger.fake.world.batches) == 2
    query = {"needsOperator": "true"}
    (batch,) = ledger.platform.call("GET", "/api/v1/llm-batches", query=query).json["batches"]
    assert batch["job"]["candidates"] == [first]
    answer = resolve(ledger, batch, action="adopt", jobId=first)
    assert (answer.status, answer.json["detail"]) == (409, "the job is another batch's")
    (second,) = set(ledger.fake.world.batches) - {first}
    assert resolve(ledger, batch, action="adopt", jobId=second).status == 200
    ledger.run_jobs()
    assert {ledger.read(one)["status"] for one in ids} == {"completed"}
    assert len(ledger.fake.world.batches) == 2


def test_a_job_of_our_name_that_is_anothers_is_not_made_a_second_time(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueue(ledger, "openai", count=1)
    ledger.run_jobs()
    (first,) = ledger.fake.world.batches
    trap(ledger, "create_answer_lost")
    enqueue(ledger, "openai", count=2)
    monkeypatch.setattr(OpenAiJobs, "search", lambda *_: [first])
    wait(ledger, minutes=180)
    assert len(ledger.fake.world.batches) == 2
    (batch,) = (one for one in ledger.batches() if one["job"]["stage"] == "unknown")
    assert batch["job"]["candidates"] == [first]
