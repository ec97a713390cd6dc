"""Results that cannot be fetched for hours are paid: they are waited for, and not bought again."""

from datetime import timedelta

import pytest

from autotune_platform.ledger.batching import fetching
from tests.component.ledger.test_jobs import assert_paid_once, enqueue, trap
from tests.support.ledger import Ledger


@pytest.mark.parametrize(("provider", "fault"), [("openai", "429"), ("gemini", "timeout")])
def test_results_out_of_reach_for_hours_come_home(
    ledger: Ledger, provider: str, fault: str
) -> None:
    trap(ledger, f"download_{fault}", times=None, stall_seconds=0)
    ids = enqueue(ledger, provider)
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=3)
    ledger.fake.world.traps.disarm()
    ledger.run_jobs()
    assert {ledger.read(one)["status"] for one in ids} == {"completed"}
    assert_paid_once(ledger, ids)


def test_results_out_of_reach_for_too_long_are_given_up_and_count_as_paid(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert timedelta(days=1) < fetching.FETCHED_WITHIN
    monkeypatch.setattr(fetching, "FETCHED_WITHIN", timedelta(hours=2.5))
    trap(ledger, "download_500", times=None)
    ids = enqueue(ledger, "openai")
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=3)
    ledger.fake.world.traps.disarm()
    ledger.run_jobs()
    for one in ids:
        first, second = ledger.read(one)["attempts"]
        assert first["error"]["code"] == "result_missing"
        assert first["costNanoUsd"] > second["costNanoUsd"] > 0
