"""Completions in every state, for pages that show them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from tests.support.graders import LoopbackGrader, answering, deferring, healthy, loopback_grader
from tests.support.platform import Platform

PROMPT = "What is 17 times 23? Think step by step, and end with the number alone."
RESPONSE = "17 times 23 is 17 times 20, that is 340, and 17 times 3, that is 51.\n\n391"


@dataclass
class Graded:
    """Ids of what was made.

    Attributes:
        batch_id: of twelve completions, of which eight are scored, two abstained, and two failed.
        panel_id: a completion that two graders judged, and that waits for a person.
        parked: a batch whose run sleeps, because its grader fails for now.
        waiting: a batch whose grader will call back.
    """

    platform: Platform
    task_id: str
    panel_task_id: str
    batch_id: str
    completion_ids: list[str]
    panel_id: str
    parked: Any
    waiting: Any

    def read(self, path: str, **query: Any) -> Any:
        """What the API answers."""
        answer = self.platform.call("GET", f"/api/v1/{path}", query=query or None)
        assert answer.status == 200, answer.text
        return answer.json


@contextmanager
def graded(platform: Platform) -> Iterator[Graded]:
    """Make them, with graders that run until the block is left."""
    with ExitStack() as running:

        def new(**fields: Any) -> tuple[LoopbackGrader, str]:
            grader = running.enter_context(loopback_grader())
            return grader, platform.new_grader(grader, **fields)

        one, one_id = new(capabilities={"maxBatchSize": 50})
        panel = [new()[1], new()[1]]
        sick, sick_id = new(capabilities={"supportsAsync": True})
        task_id = platform.new_task(one_id, name="arithmetic")
        panel_task_id = platform.new_task(
            graders=[{"graderId": id_} for id_ in panel],
            review={"confidenceBelow": 1.0},
            name="essays, judged by two and by a person",
        )
        sick_task_id = platform.new_task(sick_id, name="proofs")

        one.disease = _failing_for_some
        made = platform.submit(task_id, *map(_completion, range(12))).json
        platform.score_everything()
        one.disease = healthy
        (panel_id,) = platform.submit(panel_task_id, {}).json["completionIds"]
        platform.score_everything()

        sick.disease = answering(status=503, headers={"retry-after": "600"})
        parked = platform.submit(sick_task_id, {}, {}).json
        _one_round(platform)
        sick.disease = deferring
        waiting = platform.submit(sick_task_id, {}).json
        _one_round(platform)
        platform.project()
        yield Graded(
            platform=platform,
            task_id=task_id,
            panel_task_id=panel_task_id,
            batch_id=made["batchId"],
            completion_ids=made["completionIds"],
            panel_id=panel_id,
            parked=parked,
            waiting=waiting,
        )


def _completion(number: int) -> dict[str, Any]:
    metadata: dict[str, Any] = {"value": round(number / 11, 3), "row": number}
    if number in {4, 8}:
        metadata = {"abstain": True}
    return {
        "modelId": "policy-7b" if number % 2 else "policy-70b",
        "prompt": PROMPT,
        "response": RESPONSE,
        "metadata": metadata,
    }


def _failing_for_some(exchange: Any) -> None:
    for place, item in enumerate(exchange.items):
        if place in {6, 7} and "score" in item:
            item["score"]["value"] = 2


def _one_round(platform: Platform) -> None:
    """Begin runs for what is queued, and have each do one round."""
    before = {run["run_id"] for run in platform.runs()}
    platform.dispatch(platform.queued())
    for run in platform.runs():
        if run["run_id"] not in before:
            left = platform.grade(run)
            if left["remaining"]:
                platform.await_answers(left)
