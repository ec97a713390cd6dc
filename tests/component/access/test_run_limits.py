"""One request begins so many runs; scoring again goes on in another."""

import pytest

from autotune_platform.completions.models import CHUNK_COMPLETIONS
from tests.component.access.test_limits import limit, refused
from tests.support.graders import LoopbackGrader
from tests.support.lambdas import Answer
from tests.support.platform import Platform


def test_one_request_begins_so_many_runs(platform: Platform, grader: LoopbackGrader) -> None:
    task_ids = [platform.new_task(platform.new_grader(grader)) for _ in range(3)]
    panel = platform.new_task(graders=[{"graderId": platform.new_grader(grader)} for _ in range(3)])
    limit(platform, runsPerRequest=2)

    def submit(*tasks: str) -> Answer:
        completions = [
            {"taskId": task_id, "modelId": "m", "prompt": "p", "response": "r"} for task_id in tasks
        ]
        return platform.call("POST", "/api/v1/completions/batch", {"completions": completions})

    assert submit(*task_ids[:2] * 50).status == 202
    answer = submit(*task_ids)
    assert refused(answer, 422, "too_many_runs")["actual"] == 3
    assert refused(submit(panel), 422, "too_many_runs")["actual"] == 3
    many = [task_ids[0]] * (2 * CHUNK_COMPLETIONS + 1)
    assert refused(submit(*many), 422, "too_many_runs")["actual"] == 3


def test_scoring_again_goes_on_in_another_request_before_it_begins_too_many_runs(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    ids = [platform.submit(task_id, {}).json["completionIds"][0] for _ in range(5)]
    platform.score_everything()
    limit(platform, runsPerRequest=2)
    for body in ({"completionIds": ids}, {"taskId": task_id, "states": ["scored"]}):
        token, counts = None, []
        while True:
            answer = platform.call(
                "POST",
                "/api/v1/completions/rescore",
                {**body, **({"nextToken": token} if token else {})},
            )
            assert answer.status == 202, answer.text
            counts.append(len(answer.json["batches"]))
            token = answer.json.get("nextToken")
            if token is None:
                break
        assert max(counts) == 2
        assert sum(counts) == 5
        platform.score_everything()


@pytest.mark.parametrize("of", ["completions", "task"])
def test_scoring_again_counts_runs_and_not_batches(
    platform: Platform, grader: LoopbackGrader, of: str
) -> None:
    graders = [platform.new_grader(grader) for _ in range(4)]
    panel = platform.new_task(graders=[{"graderId": one} for one in graders[:2]])
    tasks = [platform.new_task(one) for one in graders[2:]]
    named = [panel] if of == "task" else tasks
    ids: list[str] = []
    for _ in range(4):
        completions = [
            {"taskId": task_id, "modelId": "m", "prompt": "p", "response": "r"} for task_id in named
        ]
        body = {"completions": completions}
        ids += platform.call("POST", "/api/v1/completions/batch", body).json["completionIds"]
    platform.score_everything()
    limit(platform, runsPerRequest=4)
    asked = {"completionIds": ids} if of == "completions" else {"taskId": panel}
    token, runs = None, []
    while True:
        answer = platform.call(
            "POST",
            "/api/v1/completions/rescore",
            {**asked, "states": ["scored", "failed"], **({"nextToken": token} if token else {})},
        )
        assert answer.status == 202, answer.text
        runs.append(len(platform.queued()))
        token = answer.json.get("nextToken")
        if token is None:
            break
    assert max(runs) == 4
    assert sum(runs) == 8
