"""Jobs that nobody looks after: whoever is killed, and whatever is deleted, they end and are paid.

SageMaker is one in memory here, whose jobs run until they are stopped.
"""

from contextlib import suppress
from datetime import datetime, timedelta

import pytest
from botocore.exceptions import ClientError
from pydantic import ValidationError

from autotune_platform.apprentice.instance_prices import PAID_BEYOND_S, price_of, reserved_for
from autotune_platform.apprentice.training.bounds import ABOVE_BOUND
from autotune_platform.apprentice.training.watching import PAID_MESSAGE
from autotune_platform.budgets.uses import partition, task_scope, training_of
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from functions.apprentice import sweep_trainings
from tests.support.clock import StandingClock
from tests.support.lambdas import LambdaContext, handler
from tests.support.training_jobs import TASK, job_trainings

PRICE = 1_408_000_000
BILLED = 90


class KilledError(Exception):
    """The process is gone."""


class Jobs:
    """Jobs of a SageMaker in memory; ``at`` is called before each request."""

    def __init__(self):
        self.has = {}
        self.at = lambda: None

    def create_training_job(self, **request):
        self.at()
        name = request["TrainingJobName"]
        if name in self.has:
            raise ClientError({"Error": {"Code": "ResourceInUse"}}, "CreateTrainingJob")
        self.has[name] = {**request, "TrainingJobStatus": "InProgress"}
        self.at()

    def describe_training_job(self, *, TrainingJobName):  # noqa: N803 - as SageMaker has it
        self.at()
        if TrainingJobName not in self.has:
            raise ClientError({"Error": {"Code": "ValidationException"}}, "DescribeTrainingJob")
        return self.has[TrainingJobName]

    def stop_training_job(self, *, TrainingJobName):  # noqa: N803
        self.at()
        job = self.has.get(TrainingJobName)
        if job is None or job["TrainingJobStatus"] != "InProgress":
            raise ClientError({"Error": {"Code": "ValidationException"}}, "StopTrainingJob")
        job |= {"TrainingJobStatus": "Stopped", "BillableTimeInSeconds": BILLED}

    def of(self, training_id):
        given = [job["HyperParameters"]["training_id"] for job in self.has.values()]
        return [one for one in given if one == training_id]

    def running(self):
        return [name for name, job in self.has.items() if job["TrainingJobStatus"] == "InProgress"]


class Deleter:
    """Deletes the task before the n-th call of AWS, and has the process killed where it should."""

    def __init__(self, trainings, jobs):
        self._trainings = trainings
        self._left = None
        self._kills = False
        self.is_done = False
        self._heard = []
        jobs.at = self

    def at_call(self, number, *, kills):
        for client in (clients.dynamodb(), clients.s3()):
            if client not in self._heard:
                client.meta.events.register("before-call", lambda **_: self())
                self._heard.append(client)
        self._left, self._kills, self.is_done = number, kills, False

    def rest(self):
        self._left = None

    def __call__(self):
        if self._left is None:
            return
        self._left -= 1
        if self._left < 0:
            self._left, self.is_done = None, True
            assert self._trainings.platform.call("DELETE", TASK).status == 204
            if self._kills:
                raise KilledError


@pytest.fixture
def clock():
    yield StandingClock()
    sweep_trainings.parts.cache_clear()


@pytest.fixture
def jobs(monkeypatch, trainings):
    made = Jobs()
    monkeypatch.setattr(clients, "sagemaker", lambda: made)
    return made


@pytest.fixture
def trainings(runs, tmp_path, monkeypatch):
    with job_trainings(runs, tmp_path, monkeypatch) as made:
        yield made


def swept(clock, **passes):
    clock.turn(**passes)
    sweep_trainings.parts().job_watching.clock = clock
    return handler("functions.apprentice.sweep_trainings")({}, LambdaContext(60))["jobs"]


@pytest.mark.parametrize("kills", [False, True])
def test_a_task_that_is_deleted_at_any_call_leaves_no_job(trainings, jobs, clock, kills):
    deleter = Deleter(trainings, jobs)
    created, number = 0, 0
    while True:
        trainings.put()
        event = trainings.begin()._asdict()
        deleter.at_call(number, kills=kills)
        with suppress(KilledError):
            trainings.look(event)
        deleter.rest()
        if not deleter.is_done:
            break
        trainings.look(event)  # as the state machine tries again, with what it knew before
        clock.turn(minutes=10)
        for _ in range(6):
            swept(clock, minutes=6)
        assert jobs.running() == []
        made = jobs.of(event["training_id"])
        paid = price_of(BILLED, PRICE) * len(made)
        assert trainings.money() == {"committed": paid, "spent": paid}, number
        assert trainings.objects() == []
        created += len(made)
        number += 1
    assert number > 10
    assert created >= 1
    assert swept(clock, days=1) == 1  # that of the last task, which is there


def test_what_the_job_of_a_lost_execution_cost_is_paid_and_shown(trainings, jobs, clock, caplog):
    event = trainings.look(trainings.begin()._asdict())
    handler("functions.apprentice.fail_training")(event, LambdaContext(60))
    assert jobs.running() == []
    assert trainings.money()["committed"] == reserved_for(3_600, PRICE)
    assert swept(clock, minutes=6) == 1
    spent = price_of(BILLED, PRICE)
    assert trainings.money() == {"committed": spent, "spent": spent}
    found = trainings.read()
    assert (found["error"], found["spentNanoUsd"]) == ("platform_error", spent)
    assert (found["job"]["billableSeconds"], found["job"]["spentNanoUsd"]) == (BILLED, spent)
    assert swept(clock, days=1) == 0  # and nothing is paid for twice
    told = [one.nano_usd for one in caplog.records if one.message == PAID_MESSAGE]
    assert told == [spent]


@pytest.mark.parametrize("is_left", [True, False])
@pytest.mark.parametrize(("beyond", "told"), [(0, 0), (1, 1)])
def test_a_job_that_cost_more_than_was_set_aside_is_told_to_operators(
    trainings, jobs, clock, caplog, is_left, beyond, told
):
    event = trainings.look(trainings.begin()._asdict())
    if is_left:
        handler("functions.apprentice.fail_training")(event, LambdaContext(60))
    billed = 3_600 + PAID_BEYOND_S + beyond
    jobs.has[event["job"]] |= {"TrainingJobStatus": "Stopped", "BillableTimeInSeconds": billed}
    if is_left:
        swept(clock, minutes=6)
    else:
        trainings.look(event)
    assert trainings.money()["spent"] == price_of(billed, PRICE)
    assert caplog.messages.count(ABOVE_BOUND) == told


def test_what_is_paid_just_after_a_training_ended_is_told_as_well(
    trainings, jobs, clock, caplog, monkeypatch
):
    """Whoever looks has read that it is under way."""

    def refuse(**request):
        refused.append(request)
        error = {"Code": "ResourceLimitExceeded", "Message": "The limit is 0 Instances"}
        raise ClientError({"Error": error}, "CreateTrainingJob")

    refused = []
    with monkeypatch.context() as patched:
        patched.setattr(jobs, "create_training_job", refuse)
        event = trainings.look(trainings.begin()._asdict())
    ended = {"TrainingJobStatus": "Stopped", "BillableTimeInSeconds": BILLED}
    jobs.has[refused[0]["TrainingJobName"]] = {**refused[0], **ended}

    def end():
        jobs.at = lambda: None
        handler("functions.apprentice.fail_training")(event, LambdaContext(60))

    jobs.at = end
    for _ in range(2):
        swept(clock, minutes=2)
    spent = price_of(BILLED, PRICE)
    assert trainings.money() == {"committed": spent, "spent": spent}
    found = trainings.read()
    assert (found["error"], found["spentNanoUsd"]) == ("platform_error", spent)
    told = [one.nano_usd for one in caplog.records if one.message == PAID_MESSAGE]
    assert told == [spent]


def test_a_job_that_is_looked_after_is_left_alone(trainings, jobs, clock):
    event = trainings.look(trainings.begin()._asdict())
    assert swept(clock, minutes=6) == 1
    assert swept(clock, minutes=1) == 0
    assert jobs.running() == [event["job"]]
    assert trainings.money()["spent"] == 0


def test_what_was_never_created_is_given_back(trainings, jobs, clock, monkeypatch):
    monkeypatch.setattr(jobs, "create_training_job", lambda **_: 1 / 0)
    event = trainings.begin()._asdict()
    with suppress(ZeroDivisionError):
        trainings.look(event)
    handler("functions.apprentice.fail_training")(event, LambdaContext(60))
    assert swept(clock, minutes=6) == 1
    assert trainings.money()["committed"] == reserved_for(3_600, PRICE)
    swept(clock, minutes=14)
    assert trainings.money()["committed"] == reserved_for(3_600, PRICE)
    swept(clock, minutes=2)
    assert trainings.money() == {"committed": 0, "spent": 0}
    found = trainings.read()
    assert (found["reservedNanoUsd"], found["job"]["billableSeconds"]) == (0, 0)


def test_somebody_elses_job_is_neither_stopped_nor_paid_for(trainings, jobs, clock):
    event = trainings.look(trainings.begin()._asdict())
    jobs.has[event["job"]]["HyperParameters"]["training_id"] = "trn_another"
    handler("functions.apprentice.fail_training")({**event, "job": None}, LambdaContext(60))
    jobs.has[event["job"]]["TrainingJobStatus"] = "InProgress"
    for _ in range(5):
        swept(clock, minutes=6)
    assert jobs.running() == [event["job"]]
    assert trainings.money() == {"committed": 0, "spent": 0}


def test_a_note_that_was_read_before_its_job_was_paid_for_costs_no_files(
    trainings, jobs, clock, monkeypatch
):
    event = trainings.look(trainings.begin()._asdict())
    swept(clock)
    watched = sweep_trainings.parts().job_watching.watched
    read_before = list(watched.due(clock.now() + timedelta(hours=1), limit=10))
    jobs.has[event["job"]]["TrainingJobStatus"] = "Failed"
    event = trainings.look(trainings.look(event))
    assert jobs.running() == [event["job"]] != [read_before[0]["name"]]
    before = trainings.objects()
    assert any("/jobs/" in key for key in before)
    monkeypatch.setattr(type(watched), "due", lambda *_, **__: iter(read_before))
    assert swept(clock) == 1
    assert trainings.objects() == before


def test_a_note_that_cannot_be_read_holds_up_no_other(trainings, jobs, clock):
    event = trainings.look(trainings.begin()._asdict())
    handler("functions.apprentice.fail_training")({**event, "job": None}, LambdaContext(60))
    place = f"{trainings.task_id}#jobs"
    unreadable = {"open_shard": "jobs", "due_at": "2026-01-01T00:00:00.000Z", "name": "other"}
    trainings.table.put({"pk": place, "sk": "job#other", **unreadable})

    with pytest.raises(ValidationError):
        swept(clock, minutes=6)

    assert jobs.running() == []
    again = datetime.fromisoformat(trainings.table.get(place, "job#other")["due_at"])
    assert again > clock.now()


def test_a_job_that_was_planned_before_there_were_notes_is_paid_for(trainings, jobs, clock):
    event = trainings.look(trainings.begin()._asdict())
    trainings.table.delete(f"{trainings.task_id}#jobs", f"job#{event['job']}")
    jobs.has[event["job"]] |= {"TrainingJobStatus": "Stopped", "BillableTimeInSeconds": BILLED}
    trainings.look(event)
    spent = price_of(BILLED, PRICE)
    assert trainings.money() == {"committed": spent, "spent": spent}
    assert trainings.read()["error"] == "job_stopped"
    assert swept(clock, minutes=6) == 0


def test_of_an_organisation_that_is_gone_no_budget_comes_back(trainings, jobs, clock):
    event = trainings.look(trainings.begin()._asdict())
    organization_id = trainings.platform.me()["organizationId"]
    scope = task_scope(organization_id, training_of(trainings.task_id))
    budgets = Table("budgets", clients.dynamodb())
    assert trainings.platform.call("DELETE", TASK).status == 204
    budgets.delete(partition(scope), "limits")
    for _ in range(3):
        swept(clock, minutes=6)
    assert jobs.has[event["job"]]["TrainingJobStatus"] == "Stopped"
    assert budgets.get(partition(scope), "limits") is None
    assert swept(clock, days=1) == 0  # its note is closed
