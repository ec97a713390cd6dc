import asyncio
import logging
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from autotune import InvalidInputError, InvalidRequestError
from autotune.integrations import AsyncScorer, NotScoredError, Rollout, Scorer, find_settings
from autotune.integrations.unscored import required_reward
from autotune.protocol.ids import new_id
from tests.support.http_faults import Fault


def rollout(number: int = 0, **metadata) -> Rollout:
    return Rollout(prompt=f"p{number}", response=f"r{number}", metadata=metadata)


@pytest.fixture(params=["blocking", "asynchronous"])
def rewards(request, api):
    """Score a list with either twin, each call on connections of its own."""

    def score(rollouts, **options):
        settings = find_settings(**options)
        if request.param == "blocking":
            with Scorer(settings) as scorer:
                return scorer.rewards(rollouts), scorer.unscored

        async def run():
            async with AsyncScorer(settings) as scorer:
                return await scorer.rewards(rollouts), scorer.unscored

        return asyncio.run(run())

    return score


def test_rewards_come_in_the_order_of_the_rollouts_across_batches(rewards, task_id):
    values = [round(number / 25, 3) for number in range(25)]
    rollouts = [rollout(number, value=value) for number, value in enumerate(values)]
    assert rewards(rollouts, task_id=task_id, batch_size=4) == (values, {})


def test_what_reaches_the_api_is_the_rollout(rewards, task_id, submitted):
    rewards([rollout(7, answer="42")], task_id=task_id, model_id="m1")
    (completion,) = submitted()
    assert completion["task_id"] == task_id
    assert completion["model_id"] == "m1"
    assert completion["prompt"] == "p7"
    assert completion["response"] == "r7"
    assert completion["metadata"] == {"answer": "42"}


def test_what_has_no_score_is_none_and_is_counted(rewards, task_id, caplog):
    rollouts = [
        rollout(0, value=0.0),
        rollout(1, outcome="failed"),
        rollout(2, outcome="abstained"),
        rollout(3, outcome="canceled"),
        rollout(4, outcome="failed"),
    ]
    with caplog.at_level(logging.WARNING, "autotune.integrations"):
        given, unscored = rewards(rollouts, task_id=task_id)
    assert given == [0.0, None, None, None, None]
    assert unscored == {"failed (item_failed)": 2, "abstained": 1, "canceled": 1}
    (record,) = caplog.records
    assert record.getMessage() == (
        "4 of 5 rollouts have no score: 2 failed (item_failed), 1 abstained, 1 canceled"
    )


def test_what_is_late_is_none_and_stays_submitted(rewards, task_id, api, submitted):
    api.grading_seconds = 30
    given, unscored = rewards([rollout(0), rollout(1)], task_id=task_id, timeout=0.2)
    assert given == [None, None]
    assert unscored == {"pending": 2}
    assert len(submitted()) == 2


def test_no_rollouts_ask_nothing(rewards, task_id, api):
    asked = len(api.received)
    assert rewards([], task_id=task_id) == ([], {})
    assert len(api.received) == asked


def test_a_lost_answer_submits_nothing_twice(rewards, task_id, api, submitted):
    api.misbehave(Fault(where="POST .*/completions/batch", drop_after=True))
    given, _ = rewards([rollout(0), rollout(1)], task_id=task_id)
    assert given == [1.0, 1.0]
    assert len(submitted()) == 2


def test_a_task_of_nobody_is_an_error_and_no_reward(rewards):
    with pytest.raises(InvalidRequestError):
        rewards([rollout()], task_id=new_id("task"))


@pytest.mark.parametrize("value", [float("nan"), object(), "\ud800"])
def test_metadata_that_is_no_json_is_named(rewards, task_id, value, submitted):
    with pytest.raises(InvalidInputError, match=r"rollout\.metadata"):
        rewards([rollout(0), rollout(1, value=value)], task_id=task_id)
    assert submitted() == []


def test_no_more_requests_are_in_flight_than_asked_for(task_id, api):
    together, most, lock = 0, 0, threading.Lock()
    original = api.answer

    def counted(request):
        nonlocal together, most
        with lock:
            together += 1
            most = max(most, together)
        try:
            return original(request)
        finally:
            with lock:
                together -= 1

    api.answer = counted
    settings = find_settings(task_id=task_id, batch_size=1, concurrency=2)
    with Scorer(settings) as scorer:
        scorer.rewards([rollout(number) for number in range(8)])
    assert most <= 2


def test_threads_share_a_scorer(task_id):
    with Scorer(find_settings(task_id=task_id)) as scorer, ThreadPoolExecutor(8) as threads:
        values = [number / 16 for number in range(16)]
        asked = threads.map(lambda value: scorer.rewards([rollout(0, value=value)]), values)
        assert [one for (one,) in asked] == values


def test_a_scorer_is_pickled_without_its_connections(task_id):
    with Scorer(find_settings(task_id=task_id)) as scorer:
        scorer.rewards([rollout()])
        with pickle.loads(pickle.dumps(scorer)) as copy:
            assert copy.rewards([rollout()]) == [1.0]


def test_a_closed_scorer_opens_again(task_id):
    scorer = Scorer(find_settings(task_id=task_id))
    for _ in range(2):
        with scorer:
            assert scorer.rewards([rollout()]) == [1.0]


def test_those_who_ask_at_the_same_time_share_batches(task_id, api):
    async def run():
        async with AsyncScorer(find_settings(task_id=task_id, batch_size=10)) as scorer:
            asked = [scorer.verdict(rollout(n, value=n / 24)) for n in range(24)]
            return await asyncio.gather(*asked)

    verdicts = asyncio.run(run())
    assert [verdict.score.value for verdict in verdicts] == [n / 24 for n in range(24)]
    assert api.count("POST .*/completions/batch") == 3


def test_one_who_asks_wrongly_fails_alone(task_id):
    async def run():
        async with AsyncScorer(find_settings(task_id=task_id)) as scorer:
            asked = [scorer.verdict(rollout(value=value)) for value in (0.5, float("nan"), 0.25)]
            return await asyncio.gather(*asked, return_exceptions=True)

    first, second, third = asyncio.run(run())
    assert isinstance(second, InvalidInputError)
    assert [first.score.value, third.score.value] == [0.5, 0.25]


def test_one_who_gives_up_takes_nothing_from_the_others(task_id, api):
    api.grading_seconds = 0.3

    async def run():
        async with AsyncScorer(find_settings(task_id=task_id)) as scorer:
            leaving = asyncio.create_task(scorer.verdict(rollout(0)))
            staying = asyncio.create_task(scorer.verdict(rollout(1, value=0.5)))
            await asyncio.sleep(0.1)
            leaving.cancel()
            return await staying

    assert asyncio.run(run()).score.value == 0.5


def test_what_is_required_and_missing_is_told_and_is_no_timeout(task_id):
    with Scorer(find_settings(task_id=task_id)) as scorer:
        (verdict,) = scorer.verdicts([rollout(outcome="failed")])
    with pytest.raises(NotScoredError, match=r"cmp_\w+ was not scored: failed \(item_failed\)"):
        required_reward(verdict)
    assert not issubclass(NotScoredError, TimeoutError)
