"""What an organisation sees of all that happens in it, from counters."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from autotune_platform.access.models import PERMISSIONS
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.overview import service
from autotune_platform.runtime import clients
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.table import Table
from functions.overview import api
from tests.support.graders import LoopbackGrader
from tests.support.platform import Platform

MIXED = (
    *({"metadata": {"value": value}} for value in (0.0, 0.25, 1.0)),
    {"metadata": {"abstain": True}},
    {"metadata": {"value": 2}},
)
NOTHING = {
    "submitted": 0,
    "counts": {"scored": 0, "abstained": 0, "failed": 0, "canceled": 0},
    "failures": {},
    "avgScore": None,
    "p50TurnaroundMs": None,
    "p99TurnaroundMs": None,
}
BUCKETS = {"1h": (12, 300), "24h": (24, 3_600), "7d": (168, 3_600), "30d": (30, 86_400)}


@pytest.fixture
def task_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_task(platform.new_grader(grader, capabilities={"maxBatchSize": 50}))


def overview(platform: Platform, window: str = "24h", **options: Any) -> dict[str, Any]:
    answer = platform.call("GET", "/api/v1/overview", query={"window": window}, **options)
    assert answer.status == 200, answer.text
    found: dict[str, Any] = answer.json["overview"]
    return found


@pytest.mark.parametrize("window", BUCKETS)
def test_an_organisation_without_traffic_has_zeros_and_nulls(
    platform: Platform, window: str
) -> None:
    found = overview(platform, window)
    count, seconds = BUCKETS[window]
    assert (len(found["buckets"]), found["bucketSeconds"]) == (count, seconds)
    starts = [datetime.fromisoformat(one.pop("start")) for one in found["buckets"]]
    assert found["buckets"] == [NOTHING] * count
    apart = {later - earlier for earlier, later in pairwise(starts)}
    assert apart == {timedelta(seconds=seconds)}
    assert starts[-1] <= datetime.fromisoformat(found["to"]) < starts[-1] + apart.pop()
    assert found["totals"] == {**NOTHING, "start": found["from"]}
    assert found["open"] == {
        "completions": 0,
        "batches": 0,
        "oldestSubmittedAt": None,
        "isComplete": True,
    }
    assert found["stuck"] == {"total": 0, "batches": [], "isComplete": True}
    assert (found["circuits"], found["isComplete"]) == ([], True)
    assert [one["spentNanoUsd"] for one in found["budgets"]] == [0, 0, 0]


def test_what_is_submitted_and_decided_is_seen_in_every_window(
    platform: Platform, task_id: str
) -> None:
    before = datetime.now(UTC)
    accepted = platform.submit(task_id, *MIXED).json
    waiting = overview(platform)
    assert waiting["totals"]["submitted"] == 5
    assert waiting["totals"]["counts"]["scored"] == 0
    assert (waiting["open"]["completions"], waiting["open"]["batches"]) == (5, 1)
    oldest = datetime.fromisoformat(waiting["open"]["oldestSubmittedAt"])
    assert before <= oldest <= datetime.now(UTC)

    platform.score_everything()
    platform.project()
    for window in BUCKETS:
        found = overview(platform, window)
        total = found["totals"]
        assert total["submitted"] == 5
        assert total["counts"] == {"scored": 3, "abstained": 1, "failed": 1, "canceled": 0}
        assert total["failures"] == {"item_malformed": 1}
        assert total["avgScore"] == pytest.approx(1.25 / 3)
        assert 0 < total["p50TurnaroundMs"] <= total["p99TurnaroundMs"] < 120_000
        assert sum(one["counts"]["scored"] for one in found["buckets"]) == 3
        assert (found["open"]["completions"], found["open"]["batches"]) == (0, 0)

    # What is scored again is submitted and decided once more.
    again = {"completionIds": accepted["completionIds"][:2]}
    assert platform.call("POST", "/api/v1/completions/rescore", again).status == 202
    assert overview(platform)["totals"]["submitted"] == 7
    platform.score_everything()
    platform.project()
    assert overview(platform)["totals"]["counts"]["scored"] == 5


def test_a_repeated_submission_counts_once(platform: Platform, task_id: str) -> None:
    for _ in range(2):
        platform.submit(task_id, *MIXED, headers={"Idempotency-Key": "once"})
    assert overview(platform)["totals"]["submitted"] == 5


def test_an_organisation_never_sees_anothers(platform: Platform, task_id: str) -> None:
    stranger = platform.new_organization("second")
    platform.submit(task_id, *MIXED)
    found = overview(platform, api_key=stranger)
    assert found["totals"] == {**NOTHING, "start": found["from"]}
    assert found["open"]["completions"] == found["open"]["batches"] == 0
    assert found["stuck"]["total"] == 0


def test_overdue_batches_and_open_circuits_are_named(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    batch_id = platform.submit(task_id, *MIXED).json["batchId"]
    assert overview(platform)["stuck"]["total"] == 0
    since = datetime.now(UTC) - timedelta(minutes=5)
    table = Table("completions", clients.dynamodb())
    table.update(batch_id, "batch", {"due_at": moment(since), "sweeps": 2})
    grader_id = platform.call("GET", f"/api/v1/tasks/{task_id}").json["task"]["graderId"]
    now = datetime.now(UTC).timestamp()
    BudgetRepository(Table("budgets", clients.dynamodb())).change_circuit(
        grader_id, now, lambda circuit: (circuit.opened(now, "grader_error"), None)
    )

    found = overview(platform)
    (stuck,) = found["stuck"]["batches"]
    assert (stuck["batchId"], stuck["sweeps"], found["stuck"]["total"]) == (batch_id, 2, 1)
    assert datetime.fromisoformat(stuck["dueAt"]) == pytest.approx(since, abs=timedelta(seconds=1))
    (circuit,) = found["circuits"]
    assert (circuit["graderId"], circuit["state"]) == (grader_id, "open")
    assert circuit["reasonCode"] == "grader_error"
    assert circuit["openUntil"] > circuit["lastFailedAt"]


def test_the_number_of_reads_does_not_grow(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    calls: Counter[str] = Counter()
    clients.dynamodb().meta.events.register(
        "before-call", lambda model, **_: calls.update([model.name])
    )

    def reads() -> Counter[str]:
        overview(platform)
        calls.clear()
        overview(platform)
        return Counter(
            {name: count for name, count in calls.items() if "Item" in name or "Q" in name}
        )

    platform.submit(task_id, *MIXED)
    first = reads()
    # A window, what is open, sixteen shards of open batches, the graders.
    assert first["Query"] == 19
    assert first["BatchGetItem"] == 2
    for number in range(12):
        task = platform.new_task(platform.new_grader(grader, name=f"grader {number}"))
        platform.submit(task, *MIXED)
    assert reads() == first


def test_whoever_reloads_it_does_not_use_up_what_all_share(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Open batches of all organisations lie in 16 partitions, which sweeps read, too."""
    monkeypatch.setattr(service, "_READ_OF_A_LONG_LOOK", 2)
    stranger = platform.new_organization("second")
    calls: Counter[str] = Counter()
    clients.dynamodb().meta.events.register(
        "before-parameter-build.dynamodb.Query",
        lambda params, **_: calls.update([params.get("IndexName", "")]),
    )
    for _ in range(2):
        platform.submit(task_id, *MIXED)
        overview(platform)
    assert calls.pop("openBatches") == 2 * 16, (
        "a short look is done anew, and so it is seen at once"
    )
    platform.submit(task_id, *MIXED)
    assert overview(platform)["open"]["batches"] == 2, "a long one holds for ten seconds"
    assert "openBatches" not in calls
    assert overview(platform, api_key=stranger)["open"]["batches"] == 0
    looked = api.parts().overview._looked
    assert len(looked) == 2, "each organisation has its own"
    looked.clear()
    assert overview(platform)["open"]["batches"] == 3


@pytest.mark.parametrize("window", ["2h", "", "1H"])
def test_a_window_that_is_none_is_refused(platform: Platform, window: str) -> None:
    refused = platform.call("GET", "/api/v1/overview", query={"window": window})
    assert (refused.status, set(refused.fields)) == (422, {"window"})


def test_who_may_read_the_overview_may_read_all_of_its_parts() -> None:
    for grants in PERMISSIONS.values():
        if grants.get(("completions", "read")):
            parts = [("graders", "read"), ("llm_budget", "read"), ("scores", "read")]
            assert [grants.get(one) for one in parts] == ["organization"] * 3
