"""A connection that is revoked leaves no job running that could be ended, and names the others."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.batching import revoking
from autotune_platform.ledger.keys import ProviderKeys
from tests.component.ledger.test_connections_changing import stored_keys
from tests.component.ledger.test_jobs import MODELS, connect, trap
from tests.support.ledger import KEY, Ledger


def under_way(ledger: Ledger, provider: str = "openai", *, jobs: int = 1) -> str:
    """Make a connection whose jobs run for two hours; return it half an hour later."""
    ledger.fake.world.timing.run_seconds = 2 * 3600
    connection = connect(ledger, provider, maxRows=2)
    users = [f"q {number}" for number in range(2 * jobs)]
    ledger.enqueue(connection, *users, model=MODELS[provider])
    wait(ledger, hours=0.5)
    assert len(ledger.fake.world.batches) == jobs
    return connection


def wait(ledger: Ledger, *, hours: float) -> None:
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=hours)


def revoke(ledger: Ledger, connection: str) -> dict[str, Any]:
    answer = ledger.platform.call("DELETE", f"/api/v1/llm-connections/{connection}")
    assert answer.status == 200, answer.text
    found: dict[str, Any] = answer.json["connection"]
    assert found["status"] == "revoked"
    assert stored_keys(connection) == []
    return found


def asked(ledger: Ledger) -> int:
    return sum(one.cancel_at is not None for one in ledger.fake.world.batches.values())


@pytest.mark.parametrize("provider", ["anthropic", "azure", "gemini", "openai"])
def test_a_job_under_way_is_asked_to_end_before_the_key_goes(ledger: Ledger, provider: str) -> None:
    connection = under_way(ledger, provider)
    (job,) = ledger.fake.world.batches.values()
    found = revoke(ledger, connection)
    (told,) = found["jobs"]
    assert told == {
        "batchId": ledger.batches()[0]["id"],
        "jobId": ledger.batches()[0]["job"]["id"],
        "isAskedToEnd": True,
        "detail": None,
    }
    assert found["moreJobs"] is False
    assert job.cancel_at is not None
    ran = len(ledger.fake.world.executions)
    ledger.run_jobs()
    assert len(ledger.fake.world.executions) == ran < 2
    # Again it is revoked already, and nothing is left to say.
    assert revoke(ledger, connection)["jobs"] == []


def test_a_job_that_cannot_be_ended_is_named(ledger: Ledger) -> None:
    connection = under_way(ledger, "openrouter")
    (job,) = ledger.fake.world.batches
    (told,) = revoke(ledger, connection)["jobs"]
    assert (told["jobId"], told["isAskedToEnd"]) == (job, False)
    assert told["detail"] == "openrouter cancels no jobs"


def test_a_provider_that_does_not_answer_holds_up_no_revocation(ledger: Ledger) -> None:
    connection = under_way(ledger)
    trap(ledger, "cancel_500")
    (told,) = revoke(ledger, connection)["jobs"]
    assert told["isAskedToEnd"] is False
    assert told["detail"]


def test_a_key_that_cannot_be_read_holds_up_no_revocation(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = under_way(ledger)

    def of(*_: Any) -> str:
        raise ClientError({"Error": {"Code": "ThrottlingException"}}, "Decrypt")

    monkeypatch.setattr(ProviderKeys, "of", of)
    (told,) = revoke(ledger, connection)["jobs"]
    assert (told["isAskedToEnd"], told["detail"]) == (False, "its key could not be read")


def test_a_table_that_refuses_holds_up_no_revocation(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = under_way(ledger)

    def refused(*_: Any, **__: Any) -> Any:
        raise ClientError({"Error": {"Code": "ThrottlingException"}}, "Query")

    with monkeypatch.context() as patched:
        patched.setattr(BatchRepository, "get", refused)
        (told,) = revoke(ledger, connection)["jobs"]
    assert told["isAskedToEnd"] is True
    with monkeypatch.context() as patched:
        patched.setattr(BatchRepository, "page", refused)
        found = revoke(ledger, connect(ledger, "openai"))
    assert (found["jobs"], found["moreJobs"]) == ([], True)


def test_a_job_whose_key_was_replaced_is_asked_with_the_present_one(ledger: Ledger) -> None:
    connection = under_way(ledger)
    path = f"/api/v1/llm-connections/{connection}"
    assert ledger.platform.call("PATCH", path, {"apiKey": "fake-key-2"}).status == 200
    del ledger.fake.world.keys["*"][KEY]
    (told,) = revoke(ledger, connection)["jobs"]
    assert told["isAskedToEnd"] is True
    assert asked(ledger) == 1


def test_more_jobs_than_a_few_are_only_named(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revoking, "MOST_JOBS", 2)
    connection = under_way(ledger, jobs=3)
    jobs = revoke(ledger, connection)["jobs"]
    assert [one["isAskedToEnd"] for one in jobs] == [True, True, False]
    assert jobs[2]["detail"] == "at most 2 are asked to end"
    assert {one["jobId"] for one in jobs} == set(ledger.fake.world.batches)
    assert asked(ledger) == 2


def test_what_there_is_no_time_for_is_said(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = under_way(ledger)
    with monkeypatch.context() as patched:
        patched.setattr(revoking, "ASK_SECONDS", 0)
        (told,) = revoke(ledger, connection)["jobs"]
    assert told["detail"] == "there was no time to ask"
    other = connect(ledger, "openai")
    monkeypatch.setattr(revoking, "SEARCH_SECONDS", 0)
    assert revoke(ledger, other)["moreJobs"] is True


def test_jobs_of_other_connections_go_on(ledger: Ledger) -> None:
    under_way(ledger)
    assert revoke(ledger, connect(ledger, "openai"))["jobs"] == []
    assert asked(ledger) == 0


def test_a_job_that_was_being_created_is_named(ledger: Ledger) -> None:
    trap(ledger, "create_answer_lost")
    trap(ledger, "list_lags", looks=1_000)
    connection = connect(ledger, "openai")
    ledger.enqueue(connection, "q 1", model=MODELS["openai"])
    wait(ledger, hours=0.05)
    (told,) = revoke(ledger, connection)["jobs"]
    assert (told["jobId"], told["isAskedToEnd"]) == (None, False)
    assert "being created" in told["detail"]
