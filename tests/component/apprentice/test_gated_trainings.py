"""A training says from which confidence on its model answers, and its version keeps that."""

import pytest

from tests.support.apprentice_folding import Apprentice
from tests.support.lambdas import forget_processes
from tests.support.trainings import TASK
from tests.support.trainings import trainings as make_trainings


@pytest.fixture
def trainings(runs, monkeypatch):
    with make_trainings(runs, monkeypatch) as made:
        yield made


def test_a_version_has_the_gate_that_its_hold_out_bears_out(trainings):
    trainings.put(local={"backend": "linear", "gate": "confidence", "timeoutMs": 20_000})
    trainings.ask(160)
    found = trainings.train()

    gate = found["test"]["gate"]
    assert (found["state"], found["test"]["threshold"]) == ("hosted", 0.6)
    assert gate["groups"] == round(gate["coverage"] * found["test"]["groups"])
    assert 0 < gate["pValue"] <= 1 / found["test"]["evidenceNeeded"]
    assert gate["leastCoverage"] < gate["coverage"] <= 1
    assert gate["agreement"] > 0.6
    assert found["test"]["isGated"]
    path = f"{TASK}/versions/1/certificate"
    (signed,) = trainings.platform.call("GET", path).json.values()
    certified = signed["certificate"]["test"]
    assert certified["isGated"]
    assert float(certified["gate"]["confidence"]) == gate["confidence"]
    assert float(certified["gate"]["pValue"]) == gate["pValue"]
    (version,) = trainings.platform.call("GET", f"{TASK}/versions").json["versions"]
    names = ("confidence", "coverage", "leastCoverage")
    assert version["gate"] == {name: gate[name] for name in names}
    assert version["needsGate"]

    forget_processes()  # which know versions for some seconds
    trainings.ask(3, seed=2)
    Apprentice.follow(None, Apprentice.records())
    (standing,) = trainings.platform.call("GET", f"{TASK}/status").json["status"]["versions"]
    assert standing["coverage"]["promised"] == gate["coverage"]
    assert standing["coverage"]["inputs"] == 3
