"""What a task's completions came to over time, by model and by version of the grader."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from autotune_platform.projections import windows
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from autotune_platform.windows.counters import MOST_PAGES, Counted, Series, WindowCounters
from autotune_platform.windows.grains import DAY, FIVE_MINUTES, HOUR, span_of
from tests.support.graders import LoopbackGrader, loopback_grader
from tests.support.lambdas import Answer
from tests.support.platform import Platform


@pytest.fixture
def grader_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_grader(grader, capabilities={"maxBatchSize": 50})


@pytest.fixture
def task_id(platform: Platform, grader_id: str) -> str:
    return platform.new_task(grader_id)


def stats(platform: Platform, task_id: str, **query: str) -> Answer:
    return platform.call("GET", f"/api/v1/tasks/{task_id}/stats", query=query)


def score(platform: Platform, task_id: str, values: dict[str, list[float]]) -> Any:
    """Have completions scored and counted, by model."""
    accepted = platform.submit(
        task_id,
        *(
            {"modelId": model, "metadata": {"value": value}}
            for model, some in values.items()
            for value in some
        ),
    )
    platform.score_everything()
    platform.project()
    return accepted.json


def by_model(found: dict[str, Any]) -> dict[str, tuple[int, float]]:
    return {
        one["modelId"]: (one["counts"]["scored"], round(one["avgScore"], 6))
        for one in found["models"]
    }


@pytest.mark.parametrize(("window", "count"), [("24h", 24), ("7d", 7), ("30d", 30)])
def test_models_and_versions_are_told_apart(
    platform: Platform, grader: LoopbackGrader, task_id: str, window: str, count: int
) -> None:
    score(platform, task_id, {"m1": [0.0, 0.5], "m2": [1.0, 1.0, 1.0]})
    grader.version = "2#beta"
    score(platform, task_id, {"m1": [1.0]})
    found = stats(platform, task_id, window=window).json
    assert (found["taskId"], found["window"], len(found["buckets"])) == (task_id, window, count)
    assert found["totals"]["counts"]["scored"] == 6
    assert found["totals"]["avgScore"] == pytest.approx(0.75)
    assert found["totals"]["p50TurnaroundMs"] > 0
    assert {at: n for at, n in enumerate(found["totals"]["scoreDistribution"]) if n} == {
        0: 1,
        10: 1,
        19: 4,
    }
    assert by_model(found) == {"m2": (3, 1.0), "m1": (3, 0.5)}
    versions = {one["graderVersion"]: one["counts"]["scored"] for one in found["versions"]}
    assert versions == {"1.0.0": 5, "2#beta": 1}
    assert sum(one["counts"]["scored"] for one in found["buckets"]) == 6

    one = stats(platform, task_id, window=window, model="m1", graderVersion="1.0.0").json
    assert by_model(one) == {"m1": (2, 0.25)}
    assert (one["totals"]["counts"]["scored"], len(one["versions"])) == (2, 1)
    assert stats(platform, task_id, window=window, model="m9").json["models"] == []


def test_a_graders_figures_over_time_are_of_the_callers_organisation(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader, visibility="public")
    score(platform, platform.new_task(grader_id), {"m": [0.5]})
    stranger = platform.new_organization("second")
    theirs = platform.call(
        "POST", "/api/v1/tasks", {"name": "t", "graderId": grader_id}, api_key=stranger
    ).json["task"]
    platform.submit(theirs["id"], {"metadata": {"value": 1.0}}, {}, api_key=stranger)
    platform.score_everything()
    platform.project()

    def read(**query: str) -> dict[str, Any]:
        path = f"/api/v1/graders/{grader_id}/stats"
        found: dict[str, Any] = platform.call("GET", path, query=query).json
        return found

    assert (read()["totalScored"], read()["overTime"]) == (3, None)
    found = read(window="24h")
    assert (found["totalScored"], found["avgScore"], len(found["versions"])) == (1, 0.5, 1)
    over_time = found["overTime"]
    assert (len(over_time["buckets"]), over_time["bucketSeconds"]) == (24, 3_600)
    assert sum(one["totalScored"] for one in over_time["buckets"]) == 1
    assert any((one["p50LatencyMs"] or 0) > 0 for one in over_time["buckets"])
    assert read(window="30d", version="9")["totalScored"] == 0


def test_of_a_panel_the_verdict_is_the_tasks_and_opinions_are_their_graders(
    platform: Platform, grader: LoopbackGrader
) -> None:
    with loopback_grader() as another:
        members = [platform.new_grader(one) for one in (grader, another)]
        _judge_together(platform, members)


def _judge_together(platform: Platform, members: list[str]) -> None:
    graders = [{"graderId": one} for one in members]
    task = platform.call("POST", "/api/v1/tasks", {"name": "t", "graders": graders}).json["task"]
    score(platform, task["id"], {"m": [0.5, 1.0]})
    found = stats(platform, task["id"]).json
    assert by_model(found) == {"m": (2, 0.75)}
    for one in members:
        path = f"/api/v1/graders/{one}/stats"
        assert platform.call("GET", path, query={"window": "7d"}).json["totalScored"] == 2
    total = platform.call("GET", "/api/v1/overview").json["overview"]["totals"]
    assert total["counts"]["scored"] == 2


def test_more_models_than_a_window_tells_apart_are_other(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windows, "MAX_WINDOW_SERIES", 3)
    score(platform, task_id, {f"m{number}": [1.0] for number in range(5)})
    found = stats(platform, task_id).json
    assert found["totals"]["counts"]["scored"] == 5
    assert len(found["models"]) == 4
    assert by_model(found)["other"] == (2, 1.0)


def test_only_a_task_of_the_organisation_has_figures(platform: Platform, task_id: str) -> None:
    stranger = platform.new_organization("second")
    path = f"/api/v1/tasks/{task_id}/stats"
    assert platform.call("GET", path, api_key=stranger).status == 404


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"window": "1h"}, "window"),
        ({"model": ""}, "model"),
        ({"graderVersion": "grün"}, "graderVersion"),
    ],
)
def test_what_is_no_filter_is_refused(
    platform: Platform, task_id: str, query: dict[str, str], field: str
) -> None:
    refused = stats(platform, task_id, **query)
    assert (refused.status, set(refused.fields)) == (422, {field})


def test_a_graders_window_that_is_none_is_refused(platform: Platform, grader_id: str) -> None:
    refused = platform.call("GET", f"/api/v1/graders/{grader_id}/stats", query={"window": "1h"})
    assert (refused.status, set(refused.fields)) == (422, {"window"})


def test_counters_of_windows_expire(platform: Platform, task_id: str) -> None:
    score(platform, task_id, {"m": [1.0]})
    kept = {"minutes": FIVE_MINUTES, "hour": HOUR, "day": DAY}
    stored = clients.dynamodb().scan(TableName="completions")["Items"]
    items = [one for one in stored if one["pk"]["S"].startswith("window#")]
    assert len(items) == 3 + 7
    for one in items:
        grain = kept[one["pk"]["S"].split("#")[1]]
        start = datetime.fromisoformat(one["sk"]["S"].split("#")[0])
        assert int(one["expires_at"]["N"]) == int((start + grain.kept).timestamp())


def test_a_window_reads_a_bounded_number_of_pages_and_says_what_it_left_out(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table("completions", clients.dynamodb())
    counters = WindowCounters(table)
    span = span_of("24h", datetime.now(UTC))
    counted = Counted("org_1", "task_1")
    additions = [
        counters.addition(counted, HOUR, start, {"scored": 1}, series=Series("m", "1"), lane=lane)
        for start in [*span.starts, span.starts[0] - timedelta(hours=1)]
        for lane in range(2)
    ]
    assert table.add_together(additions)
    whole = counters.read(counted, span)
    assert whole.is_complete
    assert set(whole.buckets) == set(span.starts)
    assert {sum(one[Series("m", "1")].values()) for one in whole.buckets.values()} == {2}

    query = table.query
    monkeypatch.setattr(table, "query", lambda *args, **options: query(*args, **options, limit=2))
    some = counters.read(counted, span)
    assert not some.is_complete
    assert set(some.buckets) == set(span.starts[-MOST_PAGES:])


def test_buckets_begin_at_whole_multiples_in_utc() -> None:
    moment = datetime(2026, 11, 25, 9, 7, 30, tzinfo=UTC)
    assert [grain.bucket(moment) for grain in (FIVE_MINUTES, HOUR, DAY)] == [
        moment.replace(minute=5, second=0),
        moment.replace(minute=0, second=0),
        moment.replace(hour=0, minute=0, second=0),
    ]
    assert re.fullmatch(r"[0-9T:+-]+", DAY.bucket(moment).isoformat(timespec="minutes"))
