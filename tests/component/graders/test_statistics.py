"""What owners, and those who may see a grader, learn of how it does and is used."""

from typing import Any

import pytest

from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.support.graders import LoopbackGrader
from tests.support.lambdas import Answer
from tests.support.platform import Platform

MIXED = (
    *({"metadata": {"value": value}} for value in (0.0, 0.25, 1.0)),
    {"metadata": {"abstain": True}},
    {"metadata": {"value": 2}},
)
NOTHING = {
    "totalScored": 0,
    "counts": {"scored": 0, "abstained": 0, "failed": 0, "canceled": 0},
    "failures": {},
    "errorRate": None,
    "avgScore": None,
    "scoreDistribution": [0] * 20,
    "avgLatencyMs": None,
    "p50LatencyMs": None,
    "p99LatencyMs": None,
    "lateAnswers": 0,
    "overTime": None,
}


@pytest.fixture
def grader_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_grader(grader, capabilities={"maxBatchSize": 50}, visibility="public")


def score(platform: Platform, grader_id: str, *completions: Any, api_key: str | None = None) -> str:
    """Have completions scored and counted; return the organisation that submitted them."""
    key = api_key or platform.api_key
    task = platform.call(
        "POST", "/api/v1/tasks", {"name": "t", "graderId": grader_id}, api_key=key
    ).json["task"]
    platform.submit(task["id"], *completions, api_key=key)
    platform.score_everything()
    platform.project()
    organization_id: str = platform.me(key)["organizationId"]
    return organization_id


def stats(platform: Platform, grader_id: str, **options: Any) -> Answer:
    return platform.call("GET", f"/api/v1/graders/{grader_id}/stats", **options)


def usage(platform: Platform, grader_id: str, **options: Any) -> Answer:
    return platform.call("GET", f"/api/v1/graders/{grader_id}/usage", **options)


def test_figures_are_of_all_verdicts(platform: Platform, grader_id: str) -> None:
    score(platform, grader_id, *MIXED)
    figures = stats(platform, grader_id).json
    assert figures["graderId"] == grader_id
    assert figures["totalScored"] == 3
    assert figures["counts"] == {"scored": 3, "abstained": 1, "failed": 1, "canceled": 0}
    assert figures["failures"] == {"item_malformed": 1}
    assert figures["errorRate"] == pytest.approx(0.2)
    assert figures["avgScore"] == pytest.approx(1.25 / 3)
    distribution = figures["scoreDistribution"]
    assert {place: count for place, count in enumerate(distribution) if count} == {
        0: 1,
        5: 1,
        19: 1,
    }
    assert figures["avgLatencyMs"] is not None
    assert figures["p99LatencyMs"] >= figures["p50LatencyMs"] > 0


def test_figures_are_told_apart_by_the_version_that_answered(
    platform: Platform, grader: LoopbackGrader, grader_id: str
) -> None:
    score(platform, grader_id, {"metadata": {"value": 1.0}}, {})
    grader.version = "2#beta"
    score(platform, grader_id, {"metadata": {"value": 0.0}})
    figures = stats(platform, grader_id).json
    assert (figures["version"], figures["totalScored"]) == (None, 3)
    assert {one["version"]: one["avgScore"] for one in figures["versions"]} == {
        "1.0.0": 0.75,
        "2#beta": 0.0,
    }
    beta = stats(platform, grader_id, query={"version": "2#beta"}).json
    assert (beta["version"], beta["totalScored"], len(beta["versions"])) == ("2#beta", 1, 1)
    assert stats(platform, grader_id, query={"version": "2"}).json["totalScored"] == 0


def test_a_grader_without_traffic_has_zeros_and_nulls(platform: Platform, grader_id: str) -> None:
    answer = stats(platform, grader_id)
    assert answer.status == 200
    assert answer.json == {**NOTHING, "graderId": grader_id, "version": None, "versions": []}


def test_figures_are_of_all_organisations_and_only_the_graders_own_sees_them(
    platform: Platform, grader_id: str
) -> None:
    stranger = platform.new_organization("second")
    submitter = score(platform, grader_id, *MIXED, api_key=stranger)
    seen = stats(platform, grader_id)
    assert seen.json["totalScored"] == 3
    assert submitter not in seen.text
    assert stats(platform, grader_id, api_key=stranger).status == 404


def test_usage_is_of_all_organisations_together_and_names_none(
    platform: Platform, grader_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = platform.new_organization("second")
    score(platform, grader_id, {}, {})
    submitter = score(platform, grader_id, *MIXED, api_key=stranger)
    metered = Table("registry", clients.dynamodb()).query(grader_id, starting="metering#").items
    month = metered[0]["sk"].split("#")[1]
    used = usage(platform, grader_id, query={"month": month})
    assert used.json == {
        "graderId": grader_id,
        "month": month,
        "total": 7,
        "counts": {"scored": 5, "abstained": 1, "failed": 1, "canceled": 0},
    }
    assert submitter not in used.text
    assert len({item["sk"].split("#")[2] for item in metered}) == 2
    assert usage(platform, grader_id, query={"month": "1999-12"}).json["total"] == 0
    assert usage(platform, grader_id).json["month"] >= month


def test_only_the_owner_learns_how_much_a_grader_is_used(
    platform: Platform, grader_id: str
) -> None:
    other = platform.new_key("grader_owner", principal_id="somebody-else")
    trainer = platform.new_key("training_operator")
    stranger = platform.new_organization("second")
    answers = {
        key: usage(platform, grader_id, api_key=key).status for key in (other, trainer, stranger)
    }
    assert answers == {other: 404, trainer: 403, stranger: 404}


@pytest.mark.parametrize("month", ["2026-13", "2026-1", "november", "2026-11-01"])
def test_a_month_that_is_none_is_refused(platform: Platform, grader_id: str, month: str) -> None:
    refused = usage(platform, grader_id, query={"month": month})
    assert (refused.status, set(refused.fields)) == (422, {"month"})


@pytest.mark.parametrize("version", ["grün", "v" * 101])
def test_a_version_that_is_none_is_refused(
    platform: Platform, grader_id: str, version: str
) -> None:
    refused = stats(platform, grader_id, query={"version": version})
    assert (refused.status, set(refused.fields)) == (422, {"version"})


def test_at_most_fifty_versions_are_listed_and_all_are_counted(
    platform: Platform, grader_id: str
) -> None:
    table = Table("registry", clients.dynamodb())
    for number in range(60):
        table.put_new({"pk": grader_id, "sk": f"statistics#{number}#0", "scored": number + 1})
    figures = stats(platform, grader_id).json
    assert [one["version"] for one in figures["versions"]] == [str(n) for n in range(59, 9, -1)]
    assert figures["totalScored"] == sum(range(61))
