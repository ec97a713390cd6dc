"""What is hosted, or waits for an instance, for a training that ended without a version."""

from datetime import timedelta

import pytest

from autotune_platform.apprentice.hosting import lacking
from autotune_platform.apprentice.hosting.repository import HostingRepository
from local.sagemaker.faults import Kind
from tests.support.executions import inputs_of
from tests.support.training_jobs import TASK, job_trainings
from tests.support.unhosted_trainings import CREATE, changed, host, last_event, trained


@pytest.fixture
def trainings(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(lacking, "_FIRST_PAUSE", timedelta())
    with job_trainings(runs, tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def hostings(trainings):
    return HostingRepository(trainings.table)


def states(trainings, hostings):
    """Return the states of what is hosted, those of adapters first."""
    known = hostings.of_task(trainings.task_id)
    return [one.state for one in sorted(known, key=lambda one: one.kind)]


def sweep(trainings, *, times=1):
    """Have all hostings looked at, as if it were time."""
    for _ in range(times):
        for one in trainings.table.items(f"{trainings.task_id}#hosting", starting="host#"):
            trainings.table.update(one["pk"], one["sk"], {"due_at": "2026-01-01T00:00:00.000Z"})
        trainings.step("sweep_hostings", {})


def at_sagemaker(trainings):
    """Return the names of what costs money."""
    sagemaker = trainings.lab.sagemaker
    return [
        *(one["EndpointName"] for one in sagemaker.list_endpoints()["Endpoints"]),
        *(
            one["InferenceComponentName"]
            for one in sagemaker.list_inference_components()["InferenceComponents"]
        ),
    ]


def canceled(trainings, event):
    answer = trainings.platform.call("POST", f"{TASK}/trainings/{event['number']}/cancel")
    assert answer.status == 200, answer.text


def given_up(trainings, event):
    trainings.step("fail_training", event)


ENDS = pytest.mark.parametrize("end", [canceled, given_up], ids=lambda one: one.__name__)


@ENDS
def test_no_instance_is_bought_for_a_training_that_ended_while_it_waited(trainings, hostings, end):
    trainings.lab.plant(Kind.RESOURCE_LIMIT, operation=CREATE, times=2)
    event = trained(trainings)
    assert trainings.step("deploy_student", event)["waits"]
    sweep(trainings, times=2)
    assert at_sagemaker(trainings) == []

    end(trainings, event)

    # Whoever ended it may have been killed then: the sweep finds out by itself.
    sweep(trainings, times=4)
    assert at_sagemaker(trainings) == []
    assert states(trainings, hostings) == ["gone", "gone"]


@ENDS
def test_a_model_that_was_hosted_for_a_training_goes_with_it(trainings, hostings, end):
    event = trained(trainings)
    assert not trainings.deployed(event)["done"]
    assert states(trainings, hostings) == ["ready", "ready"]
    sweep(trainings)
    assert states(trainings, hostings) == ["ready", "ready"]

    end(trainings, event)
    _until_nothing_is_left(trainings)

    assert states(trainings, hostings) == ["gone", "gone"]


def _until_nothing_is_left(trainings):
    for _ in range(200):
        sweep(trainings)
        if not at_sagemaker(trainings):
            break
    sweep(trainings)


def test_what_is_hosted_stays_for_a_training_that_took_the_model(trainings, hostings):
    event = trained(trainings)
    assert not trainings.deployed(event)["done"]
    canceled(trainings, event)
    assert host(trainings).status == 202
    sweep(trainings)
    assert states(trainings, hostings) == ["ready", "ready"]

    second = last_event()
    changed(trainings, step="deploy")
    (adapter,) = (one for one in hostings.of_task(trainings.task_id) if one.kind == "adapter")
    assert trainings.step("deploy_student", second)["done"] is False
    assert trainings.read(2)["step"] == "validate"
    # A sweep that has looked before the second one began takes nothing down.
    assert not hostings.change(adapter, adapter.model_copy(update={"state": "deleting"}))

    canceled(trainings, second)
    _until_nothing_is_left(trainings)
    assert states(trainings, hostings) == ["gone", "gone"]


def test_a_model_whose_host_went_with_its_training_is_hosted_anew(trainings, hostings):
    event = trained(trainings)
    assert not trainings.deployed(event)["done"]
    canceled(trainings, event)
    _until_nothing_is_left(trainings)
    assert host(trainings).status == 202

    changed(trainings, step="deploy")
    assert not trainings.deployed(last_event())["done"]

    assert states(trainings, hostings) == ["ready", "ready"]
    assert len(inputs_of("train_student")) > 1
