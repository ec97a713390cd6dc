"""Trainings for tests: a task whose paid model knows intents by their words, and its steps."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from autotune_platform.outbound.connections import connection_pool
from autotune_platform.wiring import apprentice as wiring
from functions.apprentice import answer_linear
from tests.providers.answers import Ask, Reply
from tests.support.apprentice_folding import Apprentice
from tests.support.apprentice_runs import Runs
from tests.support.executions import inputs_of
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.model_servers import Lambda, serving
from tests.support.remembered import once
from tests.support.students import made_up

TASK = "/api/v1/apprentice/tasks/intents"
STEPS = ("freeze_examples", "train_linear", "validate_student", "host_student")
TRAINING = {"backend": "linear", "fineTuneBatchSize": 50, "holdout": 0.5}
VERBS = frozenset({"show", "cancel", "explain"})
# So low that some dozens of held-out examples suffice.
THRESHOLDS = {
    "phase1ToPhase2": 50,
    "phase2ToPhase3": 0.6,
    "coachingTrigger": 0.5,
    "emergencyThreshold": 0.3,
}


class Trainings:
    """A task, its examples and its trainings."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self.platform = runs.platform
        self.put()
        runs.ledger.fake.world.answers.answerer = taught

    def put(self, **fields: Any) -> None:
        """Put the task."""
        made = {"training": TRAINING, "thresholds": THRESHOLDS, **fields}
        self.task_id = self.runs.put(**made)["id"]
        forget_processes()  # which know tasks for some seconds

    def ask(self, count: int = 160, *, seed: int = 1) -> None:
        """Have so many inputs answered, and counted.

        Those that the usual paid model answers are answered once for all tests of this process.
        """

        def ask() -> None:
            for value, _ in made_up(count, seed=seed):
                assert self.runs.start(value, wait=20).status == 200
            Apprentice.follow(None, Apprentice.records())  # type: ignore[arg-type]

        if self.runs.ledger.fake.world.answers.answerer is taught:
            self.task_id = once(self.runs, self.task_id, (count, seed), ask)
        else:
            ask()

    def start(self) -> dict[str, Any]:
        """Begin a training."""
        answer = self.platform.call("POST", f"{TASK}/trainings")
        assert answer.status == 202, answer.text
        training: dict[str, Any] = answer.json["training"]
        return training

    def read(self, number: int = 1) -> dict[str, Any]:
        answer = self.platform.call("GET", f"{TASK}/trainings/{number}")
        assert answer.status == 200, answer.text
        training: dict[str, Any] = answer.json["training"]
        return training

    def executions(self) -> list[dict[str, Any]]:
        """The inputs of executions, that of the latest first."""
        return list(inputs_of("train_student").values())

    def step(self, name: str, event: dict[str, Any]) -> dict[str, Any]:
        """Do one step."""
        done: dict[str, Any] = handler(f"functions.apprentice.{name}")(event, LambdaContext(900))
        return done

    def steps(self, event: dict[str, Any], *, through: str = STEPS[-1]) -> dict[str, Any]:
        """Do the steps of an execution as its state machine does, up to one of them."""
        for name in STEPS[: STEPS.index(through) + 1]:
            event = self.step(name, event)
            if event["done"]:
                break
        return event

    def train(self, *, through: str = STEPS[-1]) -> dict[str, Any]:
        """Begin a training, do its steps, and return it."""
        begun = self.start()
        self.steps(self.executions()[0], through=through)
        return self.read(begun["number"])


def taught(ask: Ask) -> Reply:
    """Answer as the paid model does: with the one verb among the words of the input."""
    words = ask.texts[-1].split("? ", 1)[1].split()
    (verb,) = VERBS.intersection(words)
    return Reply(json.dumps({"intent": verb}), has_token=False)


@contextmanager
def trainings(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trainings]:
    """Provide a task that is trained, and the function that hosts its students."""
    answer_linear.parts.cache_clear()
    hosting = Lambda(handler=answer_linear.lambda_handler)
    with serving(hosting), connection_pool(admit_private=True) as pool:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", hosting.url)
        monkeypatch.setattr(wiring, "connection_pool", lambda **_: pool)
        yield Trainings(runs)
    answer_linear.parts.cache_clear()
