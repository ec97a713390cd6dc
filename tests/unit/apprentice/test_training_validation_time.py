"""What a hosted model is judged by: rows that there is time for, also those without an answer."""

import threading
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from autotune_platform.apprentice.examples.manifests import Row
from autotune_platform.apprentice.local.contract import (
    LocalAnswer,
    Reason,
    ServedModel,
    Unavailable,
)
from autotune_platform.apprentice.training.answering import LEFT_SECONDS
from autotune_platform.apprentice.training.validating import ValidateStep
from autotune_platform.runtime.errors import UnavailableError
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

    def __init__(self, count=600, *, serving=None, hosting=None, fault=None):
        self.fault = fault or (lambda model, text: None)
        self.left, self.asked, self.lock = 900.0, [], threading.Lock()
        hosted = MagicMock()
        hosted.served.return_value = ServedModel("new")
        self.training = MagicMock(hosted=hosted)
        self.progress = MagicMock()
        self.progress.start.return_value = SimpleNamespace(
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
                why = self.fault(served.model, question.input["text"])
            if why is not None:
                return Unavailable(why, "", 20_000 if why is Reason.TIMED_OUT else 3)
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


@pytest.mark.parametrize(
    ("why", "tries", "place"),
    [
        (Reason.FAILED, 3, 0),
        (Reason.FAILED, 3, 199),
        (Reason.TIMED_OUT, 2, 57),
        (Reason.NOT_READY, 5, 57),
    ],
)
def test_a_row_without_an_answer_is_one_that_nobody_can_read(why, tries, place):
    world = World(200, fault=lambda model, text: why if text == f"wish {place}" else None)

    test = world.judged()

    assert (test.examples, test.valid) == (200, 199 / 200)
    assert world.progress.go_on.called
    # One that was answered is asked once more, where there was one by then.
    assert len(world.asked) - 199 - tries in {0, 1}


@pytest.mark.parametrize("why", [Reason.FAILED, Reason.NOT_READY, Reason.TIMED_OUT])
@pytest.mark.parametrize("answers", [0, 90])
def test_a_host_that_answers_nobody_says_nothing_of_the_model(why, answers):
    world = World(200, fault=lambda model, text: why if len(world.asked) > answers else None)

    with pytest.raises(UnavailableError, match=why):
        world.judged()

    assert len(world.asked) < answers + 16 * 10
    assert not world.progress.go_on.called
    assert not world.progress.discard.called


def test_a_host_that_answers_none_of_few_rows_says_nothing_either():
    with pytest.raises(UnavailableError):
        World(9, fault=lambda model, text: Reason.FAILED).judged()


def test_a_copy_that_refuses_some_has_no_model_discarded():
    asked = []

    def fault(model, text):
        asked.append(text)
        return Reason.NOT_READY if text.endswith("7") else None

    with pytest.raises(UnavailableError, match="not_ready"):
        World(200, fault=fault).judged()


def test_a_row_that_the_version_before_does_not_answer_is_compared_with_nobody():
    world = World(
        100,
        serving=1,
        hosting=MagicMock(may_answer=True),
        fault=lambda model, text: Reason.FAILED if (model, text) == ("old", "wish 40") else None,
    )

    test = world.judged()

    assert (test.examples, test.comparison.groups) == (100, 99)


def test_a_truth_that_nothing_can_be_compared_with_counts_for_nobody(monkeypatch):
    evaluator = {"type": "semantic_similarity", "embeddingModel": "m"}
    monkeypatch.setitem(DOCUMENT, "evaluator", evaluator)
    world = World(100)
    unknown = [replace(row, output={"intent": "zz"}) for row in rows(100)[90:]]
    world.step.data_sets.rows.return_value = [*rows(90), *unknown]
    world.step.meanings.cosines = lambda model, pairs: [None] * len(pairs)

    test = world.judged()

    assert (test.examples, test.mean) == (90, 1)
