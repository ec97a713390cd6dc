"""A hosted model that is slow is judged by the rows that there is time for."""

import threading
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from autotune_platform.apprentice.examples.manifests import Row
from autotune_platform.apprentice.local.contract import LocalAnswer, ServedModel
from autotune_platform.apprentice.training.answering import LEFT_SECONDS
from autotune_platform.apprentice.training.validating import ValidateStep
from tests.support.apprentice import configuration

DOCUMENT = {
    **configuration("llc_x"),
    "local": {"backend": "sagemaker", "gate": "none", "timeoutMs": 2_000},
    "training": {
        **configuration("llc_x")["training"],
        "holdout": 0.1,
        "promoteThreshold": 0.9,
        "noninferiorityMargin": 0.03,
    },
    "confidence": {"alpha": 0.05, "falseAlarmPairs": 1_000, "windowSize": 100},
}
ANSWER = '{"intent":"a"}'


def rows(count):
    return [
        Row(
            id=f"{place:04}",
            group=f"g{place}",
            selection="random",
            propensity=1.0,
            input={"text": f"wish {place}"},
            output={"intent": "a"},
        )
        for place in range(count)
    ]


class World:
    """A model that takes two seconds an answer, and a step of fifteen minutes."""

    def __init__(self, count=600, *, serving=None, hosting=None):
        self.left, self.asked, self.lock = 900.0, [], threading.Lock()
        hosted = MagicMock()
        hosted.served.return_value = ServedModel("new")
        self.training = MagicMock(hosted=hosted)
        self.progress = MagicMock()
        self.progress.begin.return_value = SimpleNamespace(
            training=self.training,
            task=MagicMock(id="apt_x"),
            configuration=SimpleNamespace(document=DOCUMENT),
        )
        self.progress.trainings.all_of.return_value = []
        data_sets = MagicMock()
        data_sets.rows.return_value = rows(count)
        standing = MagicMock()
        standing.derived.serving = serving
        standing.served = {serving: ServedModel("old")}
        standing.versions = {serving: SimpleNamespace(known=SimpleNamespace(backend="sagemaker"))}
        standings = MagicMock()
        standings.read.return_value = standing
        self.step = ValidateStep(
            progress=self.progress,
            endings=MagicMock(),
            data_sets=data_sets,
            files=MagicMock(),
            standings=standings,
            clients=self,
            hostings=MagicMock(find=MagicMock(return_value=hosting)),
            meanings=MagicMock(),
        )

    def client_for(self, document, served):
        def ask(question, *, timeout_ms):
            with self.lock:
                self.asked.append(served.model)
                self.left -= 2
            return LocalAnswer(ANSWER, served.model, None, 2_000)

        return SimpleNamespace(ask=ask)

    def judged(self):
        self.step.run(MagicMock(), seconds_left=lambda: self.left)
        ended = self.progress.go_on.call_args or self.progress.discard.call_args
        return ended.kwargs["test"]


def test_rows_are_begun_while_there_is_time():
    world = World()

    test = world.judged()

    assert test.examples == len(world.asked)
    # Those that were begun at once may be some more.
    fewest = (900 - LEFT_SECONDS) / 2
    assert fewest <= test.examples <= fewest + 16
    assert world.left > LEFT_SECONDS - 40


def test_where_there_is_time_all_are_asked():
    assert World(200).judged().examples == 200


@pytest.mark.parametrize("hosting", [None, MagicMock(may_answer=False)])
def test_a_version_that_nothing_hosts_any_more_is_compared_with_nobody(hosting):
    world = World(100, serving=1, hosting=hosting)

    assert world.judged().comparison is None
    assert set(world.asked) == {"new"}


def test_a_version_that_is_hosted_is_compared():
    world = World(100, serving=1, hosting=MagicMock(may_answer=True))

    assert world.judged().comparison.version == 1
    assert sorted(world.asked) == ["new"] * 100 + ["old"] * 100
