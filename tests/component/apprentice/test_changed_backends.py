"""What serves goes on to serve where later versions are trained and hosted otherwise."""

import pytest

from tests.support.lambdas import forget_processes
from tests.support.students import made_up
from tests.support.training_jobs import TRAINING as IN_JOBS
from tests.support.training_jobs import store_base
from tests.support.trainings import TASK
from tests.support.trainings import trainings as make_trainings


@pytest.fixture
def trainings(runs, monkeypatch):
    with make_trainings(runs, monkeypatch) as made:
        yield made


def test_a_linear_version_serves_until_an_adapter_takes_its_place(trainings):
    trainings.ask()
    assert trainings.train()["state"] == "hosted"
    forget_processes()
    trainings.ask(40, seed=5)
    assert trainings.platform.call("POST", f"{TASK}/versions/1/promote").status == 200
    store_base()

    trainings.put(
        training={**IN_JOBS, "holdout": 0.5},
        local={"backend": "sagemaker", "hosting": "inference_component"},
        budgets={"daily": "10", "trainingMonthly": "5"},
    )

    found = []
    for value, _ in made_up(3, seed=77):
        answer = trainings.runs.start(value, wait=20)
        run = trainings.runs.stored(answer.json["run"]["id"])
        found.append((run.phase, run.answers, run.local_version, run.local_fault))
    assert found == [(3, "local", 1, None)] * 3
