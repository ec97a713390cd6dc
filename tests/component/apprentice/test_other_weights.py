"""Bases in whose folder an operator stores other weights than adapters were trained on."""

import hashlib

import pytest

from autotune_platform.apprentice.hosting.hosts import Found
from autotune_platform.apprentice.hosting.models import COMPONENT, ENDPOINT, base_name_of
from autotune_platform.apprentice.hosting.stepping import STUCK_MESSAGE
from autotune_platform.apprentice.local.contract import LocalAnswer
from autotune_platform.apprentice.students.files import BaseModels
from local.sagemaker.faults import Kind
from tests.support.hostings import BASE, sum_of
from tests.support.local_sagemaker import BUCKET as MODELS
from tests.support.local_sagemaker import until
from tests.support.training_jobs import BASE as NAME
from tests.support.training_jobs import BUCKET, job_trainings, store_base
from tests.support.unhosted_trainings import archive, changed, host, last_event, trained

OWN, OTHER = '{"files":{"weights":"00"}}', '{"files":{"weights":"11"}}'
LIST = "bases/small/base.json"
KNOWN = BASE._replace(sha256=hashlib.sha256(OWN.encode()).hexdigest())


@pytest.fixture
def trainings(runs, tmp_path, monkeypatch):
    with job_trainings(runs, tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def hosted(hosted):
    weights = BaseModels(bucket=MODELS, s3=hosted.lab.s3).digest
    hosted.advancing.weights = weights
    hosted.lab.upload(LIST, OWN)
    return hosted


def test_a_model_is_hosted_on_the_weights_that_it_was_trained_on_alone(trainings):
    event = trained(trainings)
    (kept,) = archive(trainings)
    key = f"apprentice/bases/{NAME}/base.json"
    trainings.s3.put_object(Bucket=BUCKET, Key=key, Body=OTHER.encode())
    # No instance is asked for, or it would be waited for here.
    trainings.lab.plant(Kind.CAPACITY, operation="CreateEndpoint", times=1_000)

    assert trainings.deployed(event)["done"]

    trainings.lab.faults.clear()
    assert trainings.lab.sagemaker.list_endpoints()["Endpoints"] == []
    found = trainings.read()
    assert (found["state"], found["error"]) == ("failed", "not_hosted")
    assert found["reason"].startswith("other weights lie at training.baseModel")
    assert archive(trainings) == [kept]
    # The next one learns from what lies there, and waits for nothing.
    assert trainings.shown("status")["nextTraining"]["waits"] is None

    store_base()
    assert host(trainings).status == 202
    changed(trainings, step="deploy")
    assert not trainings.deployed(last_event())["done"]
    assert trainings.read(2)["step"] == "validate"


def test_a_base_does_not_wake_on_other_weights_and_rings(hosted, caplog):
    hosting = hosted.ready("1-aa", number=1, base=KNOWN)
    hosted.sweep(minutes=31)
    hosted.sweep()
    assert hosted.base_of(hosting).state == "asleep"
    hosted.lab.upload(LIST, OTHER)
    assert STUCK_MESSAGE not in caplog.messages

    hosted.ask(hosting)
    for _ in range(6):
        hosted.sweep()
    base = hosted.base_of(hosting)
    assert (base.state, base.error) == ("gone", "base_differs")
    assert caplog.messages.count(STUCK_MESSAGE) == 1
    assert hosted.there() == set()
    # Whoever asks has it tried again, and that rings again.
    hosted.sweep(minutes=20)
    hosted.ask(hosting)
    for _ in range(8):
        hosted.sweep()
    assert (hosted.state(hosting), caplog.messages.count(STUCK_MESSAGE)) == ("gone", 2)
    assert hosted.there() == set()

    hosted.lab.upload(LIST, OWN)
    hosted.sweep(hours=1)
    hosted.ask(hosting)
    for _ in range(8):
        hosted.sweep()
    assert isinstance(hosted.ask(hosting), LocalAnswer)


def test_weights_that_are_stored_while_an_instance_comes_are_served_to_nobody(hosted, monkeypatch):
    """SageMaker reads them once there is an instance, which may be half an hour later."""
    hosting, hosts = hosted.want("1-aa", base=KNOWN), hosted.advancing.hosts
    with monkeypatch.context() as being_made:
        being_made.setattr(hosts, "endpoint", lambda _: Found("Creating"))
        hosted.advancing.look(hosted.base_of(hosting))
    assert hosts.create_endpoint(hosted.base_of(hosting))
    assert hosted.base_of(hosting).created == (ENDPOINT,)
    hosted.lab.upload(LIST, OTHER)
    hosted.sweep()
    assert hosted.lab.sagemaker.list_inference_components()["InferenceComponents"] == []
    base = hosted.base_of(hosting)
    assert (base.state, base.error) == ("deleting", "base_differs")
    for _ in range(3):
        hosted.sweep()
    assert hosted.there() == set()
    # The instance was there, and is paid for.
    assert sum_of(hosted).seconds > 0


def test_weights_that_are_stored_while_a_base_wakes_are_served_to_nobody(hosted):
    hosting = hosted.ready("1-aa", number=1, base=KNOWN)
    hosted.sweep(minutes=31)
    hosted.sweep()
    hosted.lab.plant(Kind.CAPACITY, operation="UpdateInferenceComponentRuntimeConfig", times=1_000)
    hosted.ask(hosting)
    hosted.sweep()
    assert hosted.base_of(hosting).state == "resizing"
    until(lambda: not hosted.under_way())
    before = sum_of(hosted).seconds
    hosted.lab.upload(LIST, OTHER)
    hosted.lab.faults.clear()
    for _ in range(6):
        hosted.sweep()
    base = hosted.base_of(hosting)
    assert (base.state, base.error) == ("gone", "base_differs")
    assert hosted.there() == set()
    # There was no instance meanwhile.
    assert sum_of(hosted).seconds == before


@pytest.mark.parametrize("is_waking", [False, True])
def test_weights_that_are_stored_while_sagemaker_fetches_them_are_served_to_nobody(
    hosted, is_waking
):
    """It may look for an instance, and then fetch them, for most of an hour after it was asked."""
    if is_waking:
        hosting = hosted.ready("1-aa", number=1, base=KNOWN)
        hosted.sweep(minutes=31)
        hosted.sweep()
        hosted.ask(hosting)
    else:
        hosting = hosted.want("1-aa", base=KNOWN)
        hosted.sweep()
        hosted.lab.settled(hosting.base)
    hosted.advancing.look(hosted.base_of(hosting))
    base = hosted.base_of(hosting)
    assert (base.state, base.created) == (
        ("resizing" if is_waking else "creating"),
        (ENDPOINT, COMPONENT),
    )
    hosted.lab.upload(LIST, OTHER)
    for _ in range(6):
        hosted.sweep()
    base = hosted.base_of(hosting)
    assert (base.state, base.error) == ("gone", "base_differs")
    assert hosted.there() == set()
    # The instance was there, and is paid for.
    assert sum_of(hosted).seconds > 0


def test_adapters_of_other_weights_have_another_base(hosted):
    first = hosted.ready("1-aa", number=1, base=KNOWN)
    hosted.lab.upload(LIST, OTHER)
    second = hosted.want(
        "2-bb", base=KNOWN._replace(sha256=hashlib.sha256(OTHER.encode()).hexdigest())
    )
    assert first.base != second.base
    # One that was stored before digests were keeps its name, and is compared with nothing.
    names = {base_name_of("autotune", hosted.task_id, one) for one in (BASE, KNOWN)}
    assert len(names) == 2
    assert hosted.ready("3-cc", number=3).base in names
