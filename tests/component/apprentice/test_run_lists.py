"""Runs are listed by day and by state, the newest first."""

from datetime import UTC, datetime, timedelta
from typing import Any

from autotune_platform.apprentice.runs.items import run_from
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.apprentice_runs import FoldingEnvironment
from autotune_platform.storage.cursors import encode_cursor
from autotune_platform.storage.table import Table
from autotune_platform.wiring.apprentice_folding import FoldingParts
from tests.support.apprentice_runs import Runs
from tests.support.lambdas import LambdaContext, handler
from tests.support.tables import stream_records


def test_runs_are_listed_by_day_newest_first_and_by_state(runs: Runs) -> None:
    first = runs.start(wait=20).json["run"]["id"]
    runs.say("no JSON")
    runs.start(wait=20)
    last = runs.start().json["run"]["id"]
    records = {"Records": stream_records("apprentice")}
    handler("functions.apprentice.follow_runs")(records, LambdaContext())

    listed = _list(runs)
    assert (listed[0]["id"], listed[-1]["id"]) == (last, first)
    assert [one["state"] for one in listed] == ["pending", "failed", "answered"]
    assert all("input" not in one or one["input"] is None for one in listed)
    assert [one["id"] for one in _list(runs, state="answered")] == [first]
    assert _list(runs, day="2020-01-01") == []
    path = "/api/v1/apprentice/tasks/intents/runs"
    page = runs.platform.call("GET", path, query={"limit": 2}).json
    rest = runs.platform.call("GET", path, query={"nextToken": page["nextToken"]}).json
    assert [*page["runs"], *rest["runs"]] == listed
    foreign = encode_cursor("2020-01-01T00:00:00.000+00:00#apr_1")
    for query in (
        {"nextToken": "x"},
        {"nextToken": foreign},
        {"state": "lost"},
        {"day": "today"},
        {"page": 1},
        {"from": "2026-01-02", "to": "2026-01-01"},
        {"from": "2026-01-01", "to": "2026-04-03"},
        {"day": "2026-01-01", "from": "2026-01-01"},
        {"from": "2026-01-01", "to": "2026-01-02", "nextToken": foreign},
    ):
        assert runs.platform.call("GET", path, query=query).status == 422, query


def test_runs_of_several_days_are_one_list(runs: Runs) -> None:
    ids = [runs.start().json["run"]["id"] for _ in range(7)]
    table = Table("apprentice", clients.dynamodb())
    # Two today, none on the day before, three on the one before that, and two a month ago.
    today = datetime.now(UTC)
    made = []
    for run_id, ago in zip(ids, (0, 0, 2, 2, 2, 30, 30), strict=True):
        item = table.get(run_id, "run")
        assert item is not None
        at = today - timedelta(days=ago, milliseconds=len(made))
        made.append(run_id)
        table.put({**item, "created_at": at.isoformat()})
    new = [table.get(run_id, "run") for run_id in ids]
    parts = FoldingParts(FoldingEnvironment.parse())
    parts.run_folding.count(run_from(item) for item in new if item is not None)

    def page(**query: Any) -> tuple[list[str], str | None]:
        path = "/api/v1/apprentice/tasks/intents/runs"
        answer = runs.platform.call("GET", path, query=query)
        assert answer.status == 200, answer.text
        return [one["id"] for one in answer.json["runs"]], answer.json.get("nextToken")

    days = {"from": f"{today - timedelta(days=40):%Y-%m-%d}"}
    assert page(**days) == (ids, None)
    assert page(**days, to=f"{today - timedelta(days=1):%Y-%m-%d}") == (ids[2:], None)
    assert page(to=f"{today - timedelta(days=2):%Y-%m-%d}") == (ids[2:5], None)
    for size in range(1, 8):
        found, token = page(**days, limit=size)
        assert len(found) == size
        while token is not None:
            more, token = page(**days, limit=size, nextToken=token)
            assert more or token is None
            found += more
        assert found == ids


def _list(runs: Runs, **query: Any) -> list[dict[str, Any]]:
    path = "/api/v1/apprentice/tasks/intents/runs"
    answer = runs.platform.call("GET", path, query=query)
    assert answer.status == 200, answer.text
    found: list[dict[str, Any]] = answer.json["runs"]
    return found
