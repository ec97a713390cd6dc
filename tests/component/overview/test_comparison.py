"""Two models compared on the same prompts: differences, how sure they are, and examples."""

import threading
from collections import Counter
from statistics import fmean, stdev
from typing import Any

import pytest

from autotune_platform.overview import comparison
from autotune_platform.runtime import clients
from autotune_platform.verdicts import latest_scores, score_index
from autotune_platform.verdicts.score_index import shard_of
from functions.completions import scores_api
from tests.support.clock import TurnedClock
from tests.support.graders import LoopbackGrader
from tests.support.lambdas import Answer
from tests.support.platform import Platform


@pytest.fixture
def task_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_task(platform.new_grader(grader, capabilities={"maxBatchSize": 50}))


def score(platform: Platform, task_id: str, model: str, values: dict[str, float]) -> list[str]:
    """Have a model's answers scored, by prompt; return the completions' ids."""
    accepted = platform.submit(
        task_id,
        *(
            {"modelId": model, "prompt": prompt, "metadata": {"value": value}}
            for prompt, value in values.items()
        ),
    )
    platform.score_everything()
    ids: list[str] = accepted.json["completionIds"]
    return ids


def compare(platform: Platform, task_id: str, a: str, b: str, **query: Any) -> Answer:
    path = f"/api/v1/tasks/{task_id}/comparison"
    return platform.call("GET", path, query={"a": a, "b": b, **query})


def test_models_are_compared_by_prompt(platform: Platform, task_id: str) -> None:
    old = {"p1": 0.5, "p2": 0.5, "p3": 0.5, "p4": 0.5, "only old": 1.0}
    new = {"p1": 1.0, "p2": 0.25, "p3": 0.5, "p4": 0.55, "only new": 0.0}
    old_ids = score(platform, task_id, "old", old)
    new_ids = score(platform, task_id, "new", new)
    # A second answer to a prompt counts into the mean of its prompt.
    again = score(platform, task_id, "new", {"p1": 0.8})
    score(platform, task_id, "third", {"p1": 0.0})
    platform.submit(task_id, {"modelId": "old", "prompt": "p1", "metadata": {"abstain": True}})
    platform.score_everything()

    found = compare(platform, task_id, "old", "new", tolerance=0.1).json
    differences = [0.4, -0.25, 0.0, 0.05]
    assert found["prompts"] == 4
    assert found["meanDifference"] == pytest.approx(fmean(differences))
    width = 3.182446 * stdev(differences) / 2  # of three degrees of freedom
    assert found["interval"]["low"] == pytest.approx(fmean(differences) - width, abs=1e-6)
    assert found["interval"]["high"] == pytest.approx(fmean(differences) + width, abs=1e-6)
    assert (found["wins"], found["losses"], found["ties"]) == (1, 1, 2)
    assert found["a"] == {"modelId": "old", "scores": 5, "avgScore": 0.5}
    assert (found["b"]["scores"], found["b"]["avgScore"]) == (6, pytest.approx(0.55))
    assert [one["difference"] for one in found["examples"]] == [
        pytest.approx(one) for one in (0.4, -0.25, 0.05, 0.0)
    ]
    first = found["examples"][0]
    assert first["a"] == {"completionId": old_ids[0], "avgScore": 0.5, "scores": 1}
    assert first["b"]["completionId"] == again[0]
    assert (first["b"]["avgScore"], first["b"]["scores"]) == (pytest.approx(0.9), 2)
    assert found["examples"][1]["b"]["completionId"] == new_ids[1]
    assert (found["scoresRead"], found["withoutText"], found["isComplete"]) == (13, 0, True)

    turned = compare(platform, task_id, "new", "old", tolerance=0.01).json
    assert turned["meanDifference"] == pytest.approx(-fmean(differences))
    assert (turned["wins"], turned["losses"], turned["ties"]) == (1, 2, 1)


def test_scores_of_another_version_are_not_compared(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    score(platform, task_id, "old", {"p": 0.5, "q": 0.5})
    grader.version = "2.0.0"
    score(platform, task_id, "new", {"p": 1.0})
    nothing = compare(platform, task_id, "old", "new").json
    assert (nothing["prompts"], nothing["meanDifference"], nothing["interval"]) == (0, None, None)
    assert (nothing["a"]["avgScore"], nothing["examples"]) == (None, [])
    score(platform, task_id, "old", {"p": 0.25})
    one = compare(platform, task_id, "old", "new").json
    assert (one["prompts"], one["meanDifference"], one["interval"]) == (1, 0.75, None)


def test_a_prompt_that_was_deleted_is_left_out(platform: Platform, task_id: str) -> None:
    gone, _ = score(platform, task_id, "old", {"p": 0.5, "q": 0.5})
    score(platform, task_id, "new", {"p": 1.0, "q": 1.0})
    assert platform.call("DELETE", f"/api/v1/completions/{gone}").status == 204
    found = compare(platform, task_id, "old", "new").json
    assert (found["prompts"], found["withoutText"], found["isComplete"]) == (1, 1, True)


def test_reads_are_bounded_and_it_says_what_was_left_out(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = {f"p{number}": 0.5 for number in range(40)}
    ids = score(platform, task_id, "old", some)
    ids += score(platform, task_id, "new", dict.fromkeys(some, 1.0))
    calls: Counter[str] = Counter()
    clients.dynamodb().meta.events.register(
        "before-call", lambda model, **_: calls.update([model.name])
    )
    whole = compare(platform, task_id, "old", "new").json
    assert (whole["prompts"], whole["isComplete"], whole["scoresRead"]) == (40, True, 80)
    assert (calls["Query"], calls["BatchGetItem"]) == (4, 4)

    monkeypatch.setattr(comparison, "MOST_SCORES", 30)
    fewer = compare(platform, task_id, "old", "new").json
    assert (fewer["a"]["scores"], fewer["b"]["scores"], fewer["isComplete"]) == (30, 30, False)
    monkeypatch.setattr(latest_scores, "ENTRIES_PER_QUERY", 5)
    calls.clear()
    fewest = compare(platform, task_id, "old", "new").json
    # Two pages of each partition: of 80 ids drawn, one in a hundred times one has fewer than ten.
    partitions = Counter(shard_of(one) for one in ids).values()
    assert fewest["scoresRead"] == sum(min(there, 10) for there in partitions)
    assert not fewest["isComplete"]
    assert calls["Query"] == sum(1 if there <= 5 else 2 for there in partitions)


def test_a_partition_of_few_scores_is_read_to_its_end(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = dict(enumerate([0] * 9 + [1, 2, 3] * 11))
    dealt: dict[str, int] = {}

    def deal(completion_id: str) -> int:
        return dealt.setdefault(completion_id, places.get(len(dealt), 0))

    monkeypatch.setattr(score_index, "shard_of", deal)
    monkeypatch.setattr(latest_scores, "ENTRIES_PER_QUERY", 5)
    score(platform, task_id, "old", {f"p{number}": 0.5 for number in range(21)})
    score(platform, task_id, "new", {f"p{number}": 1.0 for number in range(21)})
    assert Counter(dealt.values()) == {0: 9, 1: 11, 2: 11, 3: 11}

    found = compare(platform, task_id, "old", "new").json
    assert (found["scoresRead"], found["isComplete"]) == (39, False)
    assert found["a"]["scores"] + found["b"]["scores"] == 39


def test_long_texts_are_read_for_some_seconds_of_both_models_alike(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = {f"p{number}": 0.5 for number in range(60)}
    score(platform, task_id, "old", some)
    score(platform, task_id, "new", dict.fromkeys(some, 1.0))
    clock, turning = TurnedClock(), threading.Lock()
    seconds = 0.1
    service = scores_api.parts().comparison
    monkeypatch.setattr(service, "clock", clock)
    unpack = service.completions.unpack

    def slowly(packed: Any) -> Any:
        with turning:
            clock.turn(seconds=seconds)
        return unpack(packed)

    monkeypatch.setattr(service.completions, "unpack", slowly)
    found = compare(platform, task_id, "old", "new").json
    read = [found[side]["scores"] for side in "ab"]
    # What each of four threads has begun when the five seconds are over is read to its end.
    assert 40 <= sum(read) <= 54
    assert abs(read[0] - read[1]) <= 4
    assert (found["isComplete"], found["withoutText"]) == (False, 0)
    assert 0 < found["prompts"] <= min(read)
    assert found["meanDifference"] == 0.5
    seconds = 0.01
    whole = compare(platform, task_id, "old", "new").json
    assert (whole["prompts"], whole["isComplete"]) == (60, True)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"a": "m", "b": "m"}, "b"),
        ({"a": "m"}, "b"),
        ({"a": "m", "b": ""}, "b"),
        ({"a": "m", "b": "n", "tolerance": "2"}, "tolerance"),
        ({"a": "m", "b": "n", "tolerance": "nan"}, "tolerance"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    platform: Platform, task_id: str, query: dict[str, str], field: str
) -> None:
    refused = platform.call("GET", f"/api/v1/tasks/{task_id}/comparison", query=query)
    assert (refused.status, set(refused.fields)) == (422, {field})


def test_only_a_task_of_the_organisation_is_compared(platform: Platform, task_id: str) -> None:
    stranger = platform.new_organization("second")
    path = f"/api/v1/tasks/{task_id}/comparison"
    answer = platform.call("GET", path, query={"a": "m", "b": "n"}, api_key=stranger)
    assert answer.status == 404
