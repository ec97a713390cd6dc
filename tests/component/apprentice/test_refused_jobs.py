"""Jobs that SageMaker refuses: one that is there all the same is adopted, or stopped and paid."""

import re
from datetime import datetime, timedelta

import pytest

from autotune_platform.apprentice.instance_prices import price_of, reserved_for
from autotune_platform.apprentice.training import elsewhere, on_sagemaker
from autotune_platform.runtime.training_jobs import JobRefusedError, SageMakerJobs
from functions.apprentice import sweep_trainings
from local.sagemaker.faults import Kind
from tests.support.clock import StandingClock
from tests.support.lambdas import LambdaContext, handler
from tests.support.ledger import in_one
from tests.support.training_jobs import SLEEPS, TASK, TYPES, job_trainings

PRICES = {"ml.g5.xlarge": 1_408_000_000, "ml.g5.2xlarge": 1_515_000_000}
FIRST, SECOND = (reserved_for(3_600, PRICES[one]) for one in TYPES)
CREATION = "CreateTrainingJob"
LIMIT = "The account-level service limit is 1 Instances, with current utilization of 1 Instances"


@pytest.fixture
def trainings(runs, tmp_path, monkeypatch):
    with job_trainings(runs, tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def in_one_month():
    with in_one("month"):
        yield


@pytest.fixture
def clock():
    yield StandingClock()
    sweep_trainings.parts.cache_clear()


def swept(clock, **passes):
    """Have whoever watches jobs look at what is due; return how many were."""
    clock.turn(**passes)
    sweep_trainings.parts().job_watching.clock = clock
    return handler("functions.apprentice.sweep_trainings")({}, LambdaContext(60))["jobs"]


def refuses(monkeypatch, code, *, before=lambda _: None, times=1):
    """Have creations refused, after what happens before."""
    create, left = SageMakerJobs.create, [times]

    def refused(self, request):
        if not left[0]:
            return create(self, request)
        left[0] -= 1
        before(request)
        raise JobRefusedError(code, LIMIT)

    monkeypatch.setattr(SageMakerJobs, "create", refused)


def reserved(trainings):
    """Return what the list of trainings says is set aside, and require each to say the same."""
    listed = trainings.platform.call("GET", f"{TASK}/trainings").json["trainings"]
    said = [one["reservedNanoUsd"] for one in listed]
    assert said == [trainings.read(one["number"])["reservedNanoUsd"] for one in listed]
    return said


@pytest.mark.parametrize("code", ["ResourceLimitExceeded", "CapacityError", "ValidationException"])
def test_a_job_that_was_created_before_asking_again_was_refused_is_adopted(
    trainings, monkeypatch, code
):
    create = trainings.lab.sagemaker.create_training_job
    refuses(monkeypatch, code, before=lambda request: create(**request))
    under = trainings.begin()
    trainings.look(under._asdict())
    [job] = trainings.jobs()
    assert trainings.read()["job"]["name"] == job
    assert trainings.money() == {"committed": FIRST, "spent": 0}

    trainings.looked_after(under)
    found = trainings.read()
    assert (found["step"], trainings.jobs()) == ("verify", [job])
    assert trainings.money()["committed"] == trainings.money()["spent"] == found["spentNanoUsd"] > 0


def test_a_job_that_is_created_after_it_was_refused_is_stopped_and_paid_for(
    trainings, monkeypatch, clock
):
    """As by another look at the training that is killed right then."""
    trainings.runs_program(SLEEPS)
    late = []
    refuses(monkeypatch, "ResourceLimitExceeded", before=late.append)
    event = trainings.look(trainings.begin()._asdict())
    assert (event["job"], trainings.money()["committed"]) == (None, FIRST)
    trainings.lab.sagemaker.create_training_job(**late[0])
    name = late[0]["TrainingJobName"]
    trainings.lab.reached(name, "Training")

    event = trainings.look(event)
    assert (event["job"] != name, trainings.money()["committed"]) == (True, FIRST + SECOND)
    assert reserved(trainings) == [FIRST + SECOND]
    assert swept(clock, minutes=2) == 1
    billed = trainings.ended(name)["BillableTimeInSeconds"]
    assert swept(clock, minutes=2) == 1
    paid = price_of(billed, PRICES[TYPES[0]])
    assert trainings.money() == {"committed": SECOND + paid, "spent": paid}
    found = trainings.read()
    assert (found["state"], found["job"]["name"]) == ("running", event["job"])
    assert reserved(trainings) == [SECOND]
    assert (found["spentNanoUsd"], found["billableSeconds"]) == (paid, billed)
    assert any("/train-" in key for key in trainings.objects())

    trainings.lab.reached(event["job"], "Training")
    assert trainings.platform.call("POST", f"{TASK}/trainings/1/cancel").status == 200
    billed += trainings.ended(event["job"])["BillableTimeInSeconds"]
    assert trainings.look(event)["done"]
    found = trainings.read()
    assert (found["error"], found["billableSeconds"]) == ("canceled", billed)
    assert trainings.money() == dict.fromkeys(("committed", "spent"), found["spentNanoUsd"])


@pytest.mark.parametrize("code", ["ResourceLimitExceeded", "ValidationException"])
def test_what_was_set_aside_for_a_refused_job_is_given_back_later(
    trainings, monkeypatch, clock, code
):
    refuses(monkeypatch, code)
    trainings.look(trainings.begin()._asdict())
    assert trainings.money() == {"committed": FIRST, "spent": 0}
    assert trainings.read()["reservedNanoUsd"] == FIRST
    swept(clock, minutes=14)
    assert trainings.money() == {"committed": FIRST, "spent": 0}
    swept(clock, minutes=2)
    assert trainings.money() == {"committed": 0, "spent": 0}
    is_over = code == "ValidationException"
    found = trainings.read()
    assert (found["error"], found["reason"]) == (
        ("job_refused", LIMIT) if is_over else (None, None)
    )
    assert found["reservedNanoUsd"] == 0
    assert swept(clock, days=1) == 0


def test_the_next_type_waits_for_money_that_a_refused_job_may_cost(trainings, monkeypatch, clock):
    trainings.put(budgets={"daily": "10", "trainingMonthly": "1.9"})
    refuses(monkeypatch, "ResourceLimitExceeded")
    event = trainings.look(trainings.begin()._asdict())
    for _ in range(3):
        event = trainings.look(event)
        assert (event["waits"], event["job"], trainings.jobs()) == (True, None, [])
    assert trainings.money() == {"committed": FIRST, "spent": 0}
    swept(clock, minutes=2)
    swept(clock, minutes=14)
    event = trainings.look(event)
    assert trainings.read()["job"]["instanceType"] == TYPES[1]
    assert trainings.money() == {"committed": SECOND, "spent": 0}
    assert trainings.jobs() == [event["job"]]


def test_no_training_waits_for_ever_for_money_that_is_not_given_back(trainings, monkeypatch):
    trainings.put(budgets={"daily": "10", "trainingMonthly": "1.9"})
    refuses(monkeypatch, "ResourceLimitExceeded")
    event = trainings.look(trainings.begin()._asdict())
    monkeypatch.setattr(on_sagemaker, "GIVEN_BACK_WITHIN", timedelta())
    assert trainings.look(event)["done"]
    assert trainings.read()["error"] == "budget_exhausted"


def test_after_the_last_type_the_first_is_tried_again_some_time_later(trainings, clock):
    trainings.lab.plant(Kind.RESOURCE_LIMIT, operation=CREATION, times=2)
    event = trainings.begin()._asdict()
    for _ in range(5):
        event = trainings.look(event)
    assert (event["waits"], event["job"], trainings.jobs()) == (True, None, [])
    assert trainings.money() == {"committed": FIRST + SECOND, "spent": 0}
    assert reserved(trainings) == [FIRST + SECOND]
    assert swept(clock, minutes=16) == 2
    assert trainings.money() == {"committed": 0, "spent": 0}
    assert reserved(trainings) == [0]


def test_no_capacity_for_a_day_ends_a_training(trainings, monkeypatch, clock):
    trainings.put(budgets={"daily": "10", "trainingMonthly": "6"})
    monkeypatch.setattr(elsewhere, "TRY_AGAIN_AFTER", timedelta())
    trainings.lab.plant(Kind.RESOURCE_LIMIT, operation=CREATION, times=3)
    event = trainings.begin()._asdict()
    event = trainings.look(trainings.look(event))
    assert event["waits"]
    monkeypatch.setattr(elsewhere, "GIVE_UP_AFTER", timedelta())
    assert trainings.look(event)["done"]
    found = trainings.read()
    assert found["error"] == "no_capacity"
    # SageMaker's own words, by which a quota is told from want of instances.
    for said, one in zip(found["reason"].split("; "), TYPES, strict=True):
        assert said.startswith(f"{one}: ")
        assert f"{one} for training job usage" in said
    assert swept(clock, minutes=16) == 3
    assert trainings.money() == {"committed": 0, "spent": 0}


@pytest.mark.usefixtures("in_one_month")
def test_money_that_a_refused_job_may_cost_yet_is_said_to_be_free_soon(
    trainings, monkeypatch, clock
):
    trainings.put(budgets={"daily": "10", "trainingMonthly": "1.9"})
    refuses(monkeypatch, "ValidationException")
    assert trainings.look(trainings.begin()._asdict())["done"]
    assert trainings.read()["error"] == "job_refused"

    answer = trainings.platform.call("POST", f"{TASK}/trainings")

    assert (answer.status, answer.json["code"]) == (409, "conflict")
    said = answer.json["detail"]
    assert "of budgets.trainingMonthly, 1.90 US dollars, 1.76 are set aside" in said
    assert "trainings that have ended (1)" in said
    [at] = re.findall(r"free at about (\S+ \S+) UTC", said)
    swept(clock, minutes=14)
    assert trainings.money()["committed"] == FIRST
    swept(clock, minutes=2)
    assert trainings.money()["committed"] == 0
    free = datetime.fromisoformat(f"{at}+00:00")
    assert abs(free - clock.now()) <= timedelta(minutes=2)
    assert trainings.platform.call("POST", f"{TASK}/trainings").status == 202


def test_money_that_is_not_enough_once_it_is_free_is_not_waited_for(trainings, monkeypatch):
    trainings.put(budgets={"daily": "10", "trainingMonthly": "1.9"})
    refuses(monkeypatch, "ValidationException")
    trainings.look(trainings.begin()._asdict())
    trainings.spent(200_000_000)
    answer = trainings.platform.call("POST", f"{TASK}/trainings")
    assert "US dollars left until" in answer.json["detail"]
