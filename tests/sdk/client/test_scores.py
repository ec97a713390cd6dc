import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from autotune import AsyncAutotuneClient, InvalidInputError, InvalidRequestError
from autotune.protocol.ids import new_id


@pytest.fixture
def judged(api, client):
    """Submit five completions of two models and two tasks; return the tasks."""
    tasks = [api.new_task(), api.new_task(grader_id=api.new_grader())]
    list(
        client.completions.submit_many(
            {
                "taskId": tasks[n // 3],
                "modelId": f"policy-{n % 2}",
                "prompt": str(n),
                "response": "r",
                "metadata": {"value": n / 4} if n < 4 else {"outcome": "failed"},
            }
            for n in range(5)
        )
    )
    return tasks


def prompts(verdicts):
    return sorted(verdict.completion.prompt for verdict in verdicts)


def test_scores_are_filtered_and_come_with_what_was_judged(api, client):
    task_id = api.new_task()
    outcomes = ["scored", "failed", "abstained", "scored"]
    items = [
        {"taskId": task_id, "modelId": "m", "prompt": str(n), "response": "r"}
        | {"metadata": {"outcome": outcome}}
        for n, outcome in enumerate(outcomes)
    ]
    list(client.completions.submit_many(items))
    states = [verdict.state for verdict in client.scores.list(task_id=task_id, page_size=1)]
    assert sorted(states) == sorted(outcomes)
    scored = list(client.scores.list(task_id=task_id, state="scored", include_completion=True))
    assert prompts(scored) == ["0", "3"]
    failed = list(client.scores.list(task_id=task_id, state="failed"))
    assert [(verdict.score, verdict.reason_code) for verdict in failed] == [(None, "item_failed")]


def test_every_filter_narrows_the_list(client, judged):
    def found(**filters):
        return prompts(client.scores.list(**filters, include_completion=True, page_size=2))

    assert found() == ["0", "1", "2", "3", "4"]
    assert found(task_id=judged[1]) == ["3", "4"]
    assert found(model_id="policy-1") == ["1", "3"]
    assert found(min_score=0.25, max_score=0.5) == ["1", "2"]
    assert found(min_score=0.75) == ["3"]
    assert found(model_id="policy-0", state="scored") == ["0", "2"]
    now = datetime.now(UTC)
    assert found(start_date=now - timedelta(hours=1), end_date=now + timedelta(hours=1)) == found()
    assert found(start_date=now + timedelta(hours=1)) == found(end_date=now - timedelta(days=1))
    graders = {verdict.grader_id for verdict in client.scores.list(task_id=judged[0])}
    assert found(grader_id=graders.pop()) == ["0", "1", "2"]
    assert found(grader_id=new_id("pnl")) == []


def test_a_time_without_a_zone_is_local_and_every_number_is_sent_whole(api, client, judged):
    naive = datetime(2026, 5, 1, 12)  # noqa: DTZ001 - that is the point
    list(client.scores.list(start_date=naive, min_score=1 / 3))
    sent = api.received[-1].query
    assert f"minScore={1 / 3!r}" in sent
    utc = naive.astimezone().astimezone(UTC).isoformat().replace("+00:00", "Z")
    assert f"startDate={utc.replace(':', '%3A')}" in sent


@pytest.mark.parametrize(
    ("filters", "named"),
    [
        ({"task_id": "xyz"}, "task_id"),
        ({"grader_id": new_id("cmp")}, "grader_id"),
        ({"min_score": 1.5}, "min_score"),
        ({"min_score": 0.5, "max_score": 0.4}, "max_score: .*at least minScore, 0.5"),
        (
            {"start_date": datetime(2026, 5, 1, tzinfo=UTC)}
            | {"end_date": datetime(2026, 5, 1, tzinfo=UTC)},
            "end_date",
        ),
    ],
)
def test_filters_that_cannot_be_are_refused_before_anything_is_sent(api, client, filters, named):
    with pytest.raises(InvalidInputError, match=named):
        list(client.scores.list(**filters))
    assert api.received == []


def test_the_asynchronous_client_filters_alike(api, judged):
    async def use():
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            listed = client.scores.list(model_id="policy-1", max_score=0.3, include_completion=True)
            assert [verdict.completion.prompt async for verdict in listed] == ["1"]

    asyncio.run(use())


def test_a_tasks_scores_come_newest_first(client, judged):
    newest = list(client.scores.list(task_id=judged[0], newest_first=True, page_size=2))
    assert len(newest) == 3
    decided = [verdict.decided_at for verdict in newest]
    assert decided == sorted(decided, reverse=True)
    with pytest.raises(InvalidRequestError, match="taskId"):
        list(client.scores.list(newest_first=True))
