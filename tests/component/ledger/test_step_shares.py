"""Steps of batches hold functions for minutes: each organisation has a share of them."""

from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest

from autotune_platform.budgets.waiting import VERIFICATIONS_AT_ONCE
from autotune_platform.ledger.model_calls import ModelCalls
from autotune_platform.ledger.step_shares import StepShares
from tests.component.access.test_limits import caller_of
from tests.component.ledger.test_journeys import assert_settled, statuses
from tests.component.ledger.test_revoking import revoke, under_way
from tests.support.ledger import MODEL, Ledger, later

FUNCTIONS = 8  # two of an organisation, six of all


@pytest.fixture(autouse=True)
def _bounded(monkeypatch: pytest.MonkeyPatch, ledger: Ledger) -> None:
    monkeypatch.setenv("MODEL_FUNCTIONS", str(FUNCTIONS))


def shares() -> StepShares:
    from functions.ledger import work_batch

    return work_batch.parts().batch_work.shares


def begun(ledger: Ledger, batches: int) -> tuple[list[str], list[dict[str, Any]]]:
    ids = [one for _ in range(batches) for one in ledger.enqueue(ledger.connect(), "q1", "q2")]
    return ids, [ledger.step(state) for state in ledger.started()]


def test_a_step_beyond_its_organisations_share_asks_nothing_and_waits_in_its_execution(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, states = begun(ledger, 3)
    ask = ModelCalls.ask
    nested = [*states[1:]]
    left: list[dict[str, Any]] = []

    def asked(self: Any, *given: Any) -> Any:
        if nested:
            left.append(ledger.step(nested.pop(0)))
        return ask(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(ModelCalls, "ask", asked)
        ledger.finish(ledger.step(states[0]))
    # The second one ran within the first, and the third within the second.
    (third, second) = left
    assert second["done"]
    assert not third["done"]
    assert 30 <= third["wait_seconds"] <= 90
    assert statuses(ledger, ids) == {"completed": 4, "submitted": 2}
    with later(timedelta(seconds=third["wait_seconds"] + 170)):
        ledger.sweep()
        redriven = [state for state in ledger.started() if "batch_id" in state]
        assert redriven == [], "what waits for its share is not lost"
    ledger.finish(third)
    assert statuses(ledger, ids) == {"completed": 6}
    assert_settled(ledger)


def test_no_organisation_fills_the_functions_of_all() -> None:
    with ExitStack() as held:

        def place(organization_id: str) -> bool:
            return held.enter_context(shares().place(organization_id, 300))

        assert [place("org_1") for _ in range(3)] == [True, True, False]
        assert [place("org_2") for _ in range(3)] == [True, True, False]
        assert [place("org_3") for _ in range(3)] == [True, True, False]
        # Two functions of the eight are left to those who look.
        assert not place("org_4")
    with shares().place("org_4", 300) as has_place:
        assert has_place


def test_a_queue_whose_organisation_has_no_place_is_begun_by_the_sweeper(ledger: Ledger) -> None:
    begun(ledger, 1)
    ids = ledger.enqueue(ledger.connect(), "q1", "q2")
    (state,) = ledger.started()
    own = caller_of(ledger.platform).organization_id
    with ExitStack() as held:
        for _ in range(2):
            held.enter_context(shares().place(own, 300))
        assert ledger.step(state) == {"done": True}
        ledger.sweep()
        assert ledger.started() == [], "it is not begun again at once"
    assert statuses(ledger, ids) == {"queued": 2}
    ledger.run_jobs(hours=1)
    assert statuses(ledger, ids) == {"completed": 2}


def test_so_many_verifications_of_an_organisations_connections_are_under_way(
    ledger: Ledger,
) -> None:
    from functions.ledger import connections_api

    path = f"/api/v1/llm-connections/{ledger.connect()}/verify"
    assert ledger.platform.call("POST", path, {"model": MODEL}).json["works"]
    with ExitStack() as held:
        for _ in range(VERIFICATIONS_AT_ONCE):
            held.enter_context(
                connections_api.parts().waiting.verification(caller_of(ledger.platform), 29)
            )
        refused = ledger.platform.call("POST", path, {"model": MODEL})
        assert (refused.status, refused.json["limit"]["maximum"]) == (429, VERIFICATIONS_AT_ONCE)
        assert "this organization's connections" in refused.json["detail"]
    assert ledger.platform.call("POST", path, {"model": MODEL}).json["works"]


def test_a_job_is_looked_at_for_an_organisation_within_the_same_share(ledger: Ledger) -> None:
    from functions.ledger import connections_api

    under_way(ledger)
    path = f"/api/v1/llm-batches/{ledger.batches()[0]['id']}/resolve"
    body = {"action": "adopt", "jobId": "batch_x"}
    with ExitStack() as held:
        for _ in range(VERIFICATIONS_AT_ONCE):
            held.enter_context(
                connections_api.parts().waiting.verification(caller_of(ledger.platform), 29)
            )
        refused = ledger.platform.call("POST", path, body)
        assert (refused.status, refused.json["limit"]["maximum"]) == (429, VERIFICATIONS_AT_ONCE)
    assert ledger.platform.call("POST", path, body).status == 409


def test_a_connection_is_revoked_also_where_the_share_leaves_no_time_to_ask(
    ledger: Ledger,
) -> None:
    from functions.ledger import connections_api

    connection = under_way(ledger)
    (job,) = ledger.fake.world.batches.values()
    with ExitStack() as held:
        for _ in range(VERIFICATIONS_AT_ONCE):
            held.enter_context(
                connections_api.parts().waiting.verification(caller_of(ledger.platform), 29)
            )
        found = revoke(ledger, connection)
    assert (found["jobs"], found["moreJobs"]) == ([], True)
    assert job.cancel_at is None
