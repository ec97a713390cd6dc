"""What was there when a walk began is listed once, whatever is written and deleted meanwhile."""

import random
from collections import Counter
from collections.abc import Iterator

import pytest

from autotune.protocol.ids import new_id
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.score_index import ScorePosition
from tests.support.graders import LoopbackGrader, loopback_grader
from tests.support.platform import Platform
from tests.support.platform import platform as make_platform
from tests.support.verdicts import store, verdict


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Platform, LoopbackGrader]]:
    with (
        pytest.MonkeyPatch.context() as patched,
        make_platform(patched) as platform,
        loopback_grader() as grader,
    ):
        yield platform, grader


class Writer:
    """Writes verdicts between pages: decided before, while and after those that are there."""

    def __init__(self, platform: Platform, grader_id: str, chance: random.Random) -> None:
        self._platform, self._chance = platform, chance
        self._grader_id = grader_id
        self._organization_id = platform.me()["organizationId"]
        self.tasks = [platform.new_task(grader_id) for _ in range(3)]
        self.deleted: list[str] = []

    def write(self, count: int) -> list[Verdict]:
        written = [
            verdict(
                self._chance.randrange(1_000),
                completion_id=new_id("cmp"),
                organization_id=self._organization_id,
                task_id=self._chance.choice(self.tasks + self.deleted),
            )
            for _ in range(count)
        ]
        store(written)
        return written

    def disturb(self) -> None:
        """Do what goes on while somebody reads: verdicts come, tasks are made and deleted."""
        self.write(self._chance.randrange(3))
        if self._chance.random() < 0.15 and self.tasks:
            gone = self.tasks.pop(self._chance.randrange(len(self.tasks)))
            assert self._platform.call("DELETE", f"/api/v1/tasks/{gone}").status == 204
            self.deleted.append(gone)
        if self._chance.random() < 0.15:
            self.tasks.append(self._platform.new_task(self._grader_id))


@pytest.mark.parametrize("seed", range(4))
def test_a_walk_lists_what_was_there_at_its_start_exactly_once(
    served: tuple[Platform, LoopbackGrader], seed: int
) -> None:
    platform, grader = served
    chance = random.Random(seed)
    writer = Writer(platform, platform.new_grader(grader), chance)
    there = writer.write(24)
    task_id = chance.choice([None, None, writer.tasks[0]])
    model_id = chance.choice([None, "policy-1"])
    query = {"limit": str(chance.choice([2, 3, 6]))}
    query |= {"taskId": task_id} if task_id else {}
    query |= {"modelId": model_id} if model_id else {}
    expected = {
        each.completion_id
        for each in there
        if task_id in (None, each.task_id) and model_id in (None, each.model_id)
    }
    listed: Counter[str] = Counter()
    for _ in range(500):
        page = platform.call("GET", "/api/v1/scores", query=query).json
        listed.update(score["completionId"] for score in page["scores"])
        if page["nextToken"] is None:
            break
        query["nextToken"] = page["nextToken"]
        writer.disturb()
    else:
        pytest.fail("the walk has no end")
    assert expected <= set(listed)
    assert set(listed.values()) <= {1}


def test_a_walk_goes_on_from_a_task_that_had_no_score_when_that_is_deleted(
    served: tuple[Platform, LoopbackGrader],
) -> None:
    platform, grader = served
    grader_id = platform.new_grader(grader)
    tasks = [platform.new_task(grader_id) for _ in range(12)]
    last = verdict(1, organization_id=platform.me()["organizationId"], task_id=tasks[-1])
    store([last])
    query: dict[str, str] = {}
    listed: list[str] = []
    while True:
        page = platform.call("GET", "/api/v1/scores", query=query)
        assert page.status == 200, page.text
        listed += [score["completionId"] for score in page.json["scores"]]
        if page.json["nextToken"] is None:
            break
        query["nextToken"] = page.json["nextToken"]
        at = ScorePosition.from_token(query["nextToken"]).task_id
        if at in tasks[:-1]:
            assert platform.call("DELETE", f"/api/v1/tasks/{at}").status == 204
            alone = platform.call("GET", "/api/v1/scores", query={"taskId": at})
            assert (alone.status, alone.json["scores"]) == (200, [])
            tasks.remove(at)
    assert last.completion_id in listed
    assert len(tasks) < 12
