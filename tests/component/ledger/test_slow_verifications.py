"""A verification ends before its function does, however long other calls may take."""

import pytest

from autotune_platform.ledger import verifying
from tests.support.ledger import MODEL, Ledger


def test_a_model_is_not_waited_for_longer_than_the_function_lasts(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "CALL_SECONDS", 1, raising=False)
    ledger.fake.world.traps.arm(name="chat_slow", times=1, params={"seconds": 3})
    path = f"/api/v1/llm-connections/{ledger.connect(timeoutSeconds=240)}/verify"
    found = ledger.platform.call("POST", path, {"model": MODEL}).json
    assert (found["works"], found["errorCode"]) == (False, "outcome_unclear")
    assert 1_000 <= found["milliseconds"] < 3_000
    assert found["detail"] == (
        "the provider did not answer within 1 s, and a verification waits no longer; other calls "
        "of the connection have its timeoutSeconds, 240"
    )
    (row,) = ledger.platform.call("GET", "/api/v1/llm-requests").json["requests"]
    assert (row["status"], row["costNanoUsd"]) == ("error", found["costNanoUsd"])
    assert ledger.spent_and_reserved("day") == (found["costNanoUsd"], 0)


def test_a_connection_that_waits_less_is_waited_for_as_it_says(ledger: Ledger) -> None:
    ledger.fake.world.traps.arm(name="chat_slow", times=1, params={"seconds": 3})
    path = f"/api/v1/llm-connections/{ledger.connect(timeoutSeconds=1)}/verify"
    found = ledger.platform.call("POST", path, {"model": MODEL}).json
    assert found["detail"] == "the provider did not answer within 1 s"


def test_what_comes_of_a_call_has_time_to_be_stored() -> None:
    assert verifying.CALL_SECONDS <= verifying.LONGEST_SECONDS - 9
