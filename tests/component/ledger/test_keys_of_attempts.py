"""Each attempt says which version of its connection's key it was asked with."""

import pytest

from tests.component.ledger.test_jobs import MODELS, connect
from tests.support.ledger import KEY, MODEL, Ledger

NEW = "another-key"


def rotate(ledger: Ledger, connection: str) -> None:
    ledger.fake.world.keys["*"][NEW] = ledger.fake.world.keys["*"][KEY]
    path = f"/api/v1/llm-connections/{connection}"
    answer = ledger.platform.call("PATCH", path, {"apiKey": NEW})
    assert answer.status == 200, answer.text


def versions(ledger: Ledger, request_id: str) -> list[int | None]:
    return [one["keyVersion"] for one in ledger.read(request_id)["attempts"]]


@pytest.mark.parametrize("provider", ["simulated", "openai"])
def test_an_attempt_has_the_version_of_its_key(ledger: Ledger, provider: str) -> None:
    if provider == "simulated":
        connection, model = ledger.connect(maxWaitSeconds=0), MODEL
    else:
        connection = connect(ledger, provider, batches="always", maxWaitSeconds=0)
        model = MODELS[provider]
    (first,) = ledger.enqueue(connection, "a", model=model)
    ledger.run_jobs()
    rotate(ledger, connection)
    (second,) = ledger.enqueue(connection, "b", model=model)
    ledger.run_jobs()
    assert [versions(ledger, one) for one in (first, second)] == [[1], [2]]


def test_an_attempt_that_failed_and_the_one_behind_it_have_their_own(ledger: Ledger) -> None:
    connection = ledger.connect(maxWaitSeconds=0)
    (request_id,) = ledger.enqueue(connection, "a")
    ledger.fake.world.traps.arm(name="chat_500", times=1)
    ledger.run()
    rotate(ledger, connection)
    ledger.run_jobs()
    assert versions(ledger, request_id) == [1, 2]


def test_what_was_not_asked_has_none_and_a_verification_has_one(ledger: Ledger) -> None:
    (canceled,) = ledger.enqueue(ledger.connect(), "a")
    ledger.platform.call("POST", f"/api/v1/llm-requests/{canceled}/cancel")
    assert set(versions(ledger, canceled)) <= {None}
    calls = ledger.platform.call(
        "POST", f"/api/v1/llm-connections/{ledger.connect()}/verify", {"model": MODEL}
    )
    assert calls.json["works"]
    listed = ledger.platform.call("GET", "/api/v1/llm-requests").json["requests"]
    (verified,) = [one["id"] for one in listed if one["purpose"] == "verification"]
    assert versions(ledger, verified) == [1]
