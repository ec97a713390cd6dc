"""Lists of jobs that a server makes up: of any length, and with any numbers."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.creations import CreationRepository
from autotune_platform.ledger.exchanges import Exchanges
from autotune_platform.ledger.jobs.contract import MOST_FOUND, Job
from autotune_platform.ledger.jobs.unnamed import jobs_like
from tests.component.ledger.test_jobs import assert_paid_once, enqueue, trap
from tests.component.ledger.test_resolving import wait
from tests.support.ledger import Ledger

MANY = 5_000


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Looks at whose a job is."""
    looks: list[Any] = []
    sound = CreationRepository.may_own

    def watched(self: CreationRepository, *args: Any) -> bool:
        looks.append(args)
        return sound(self, *args)

    monkeypatch.setattr(CreationRepository, "may_own", watched)
    return looks


def answer_lists(monkeypatch: pytest.MonkeyPatch, list_of: Any) -> list[str]:
    """Answer each page of a list of jobs with another document; return what was asked."""
    asked: list[str] = []
    sound = Exchanges.exchange

    def hostile(self: Any, method: str, url: str, *args: Any, **options: Any) -> Any:
        if method != "GET" or "/batches?" not in url:
            return sound(self, method, url, *args, **options)
        asked.append(url)
        return 200, {}, json.dumps(list_of(len(asked))).encode()

    monkeypatch.setattr(Exchanges, "exchange", hostile)
    return asked


def test_more_jobs_than_can_be_looked_at_wait_for_a_person(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, looks: list[Any]
) -> None:
    trap(ledger, "create_answer_lost")
    enqueue(ledger, "openai", count=2)

    def listed(page: int) -> dict[str, Any]:
        nonce = ledger.batches()[0]["job"]["nonce"]
        one = {"metadata": {"nonce": nonce}, "created_at": 2**40}
        jobs = [{**one, "id": f"batch_{page}_{number}"} for number in range(MANY)]
        return {"data": jobs, "has_more": True, "last_id": jobs[-1]["id"]}

    asked = answer_lists(monkeypatch, listed)
    wait(ledger, minutes=3)
    (batch,) = ledger.batches()
    assert batch["job"]["stage"] == "unknown"
    assert len(batch["job"]["candidates"]) == MOST_FOUND
    assert not [url for url in asked if "after=" in url], "one page is enough"
    assert len(looks) == MOST_FOUND * len(asked)


def test_a_list_of_jobs_without_names_is_read_no_further_than_that() -> None:
    pages: list[str] = []

    class Reply:
        succeeded = True

        def __init__(self, number: int) -> None:
            ids = [f"batch_{number}_{one}" for one in range(90)]
            self.document = {
                "data": [{"id": one} for one in ids],
                "has_more": True,
                "last_id": ids[-1],
            }

    def page(behind: str) -> Any:
        pages.append(behind)
        return Reply(len(pages))

    job = Job("lbt_1", "n", "m", 1, datetime.now(UTC), None, None)
    refused = Refusal("provider_error", "")
    found = jobs_like(job, page=page, refusal=lambda _: refused, is_like=lambda _: True)
    assert not isinstance(found, Refusal)
    assert (len(pages), len(found)) == (2, 180)


@pytest.mark.parametrize("created_at", [10**400, -(10**400)])
def test_a_time_of_a_thousand_digits_is_none(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, created_at: int
) -> None:
    trap(ledger, "create_answer_lost")
    ids = enqueue(ledger, "openai", count=2)
    with monkeypatch.context() as patched:
        jobs = [{"id": "batch_x", "created_at": created_at}]
        answer_lists(patched, lambda _: {"data": jobs, "has_more": False})
        wait(ledger, minutes=3)
    ledger.run_jobs()
    assert_paid_once(ledger, ids)
