"""A training that cannot be paid for, or could be no version, does not begin and says why."""

import json
from datetime import datetime, timedelta

import pytest

from autotune.protocol.apprentice_trainings import ApprenticeTrainingHosting
from autotune.protocol.limits import MAX_APPRENTICE_VERSIONS
from autotune_platform.apprentice.training import starting
from autotune_platform.apprentice.training.models import HostedModel, TrainedModel, TrainingJob
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.apprentice.training.watched import NEVER_CREATED_AFTER, WatchedJobs
from autotune_platform.budgets.scopes import periods_of
from autotune_platform.budgets.uses import partition, task_scope, training_of
from autotune_platform.runtime import clients
from autotune_platform.runtime.clock import Clock
from autotune_platform.storage.table import Table
from tests.component.apprentice.test_training_starts import TASK, Growing
from tests.support.executions import inputs_of
from tests.support.lambdas import forget_processes
from tests.support.ledger import in_one, later
from tests.support.training_jobs import BASE, TRAINING, TYPES, store_base

IN_JOBS = {
    "training": TRAINING,
    "local": {"backend": "sagemaker", "hosting": "inference_component"},
}
MONTHLY = {"daily": "10", "trainingMonthly": "5"}
# An hour and a quarter of the first type of instance, at 1.408 US dollars.
NEEDED = 1_760_000_000


class Paying(Growing):
    """A task whose model a job would train."""

    def __init__(self, platform, connection_id):
        super().__init__(platform, connection_id)
        store_base()
        self.put(**IN_JOBS, budgets=MONTHLY)

    @property
    def money(self):
        """The scope's item, and what is published of it."""
        return partition(task_scope(self.organization_id, training_of(self.task.id)))

    def spent(self, nano_usd, **fields):
        """Have so much of this month's budget used."""
        today = Clock().now().date()
        used = {f"{of}#{periods_of(today)['month']}": nano_usd for of in ("committed", "spent")}
        item = {"pk": self.money, "sk": "limits", "month": 5_000_000_000, "task_name": "intents"}
        budgets = Table("budgets", clients.dynamodb())
        budgets.put({**item, "today": today.isoformat(), **used, **fields})

    def left(self, nano_usd, *, since):
        """Have so much set aside for a job of the last training, which is left; return when."""
        self.spent(0, **{f"committed#{since:%Y-%m}": nano_usd})
        trainings = TrainingRepository(self.table)
        training = trainings.get(self.task.id, trainings.last(self.task.id).number)
        job = TrainingJob(
            name="autotune-job",
            attempt=1,
            instance_type=TYPES[0],
            price_nano_usd=1_408_000_000,
            reserved_nano_usd=nano_usd,
            periods=tuple(periods_of(since.date()).values()),
            planned_at=since,
        )
        watched = WatchedJobs(self.table)
        scope = task_scope(self.organization_id, training_of(self.task.id))
        watched.open(training, job, scope=scope)
        self.table.add_together([watched.left(self.task.id, job.name, since)])
        return since

    def published(self):
        return [one["type"] for one in self.table.items(self.money)]

    def unhosted(self, error, *lacks, kept=timedelta(days=30), **fields):
        """End the training under way, whose model SageMaker has no instance for."""
        kept_until = Clock().now() + kept
        lacking = [
            {"instance_type": one, "lack": lack} for one, lack in zip(TYPES, lacks, strict=False)
        ]
        self.end(
            "failed",
            error=error,
            model=MODEL,
            hosting=ApprenticeTrainingHosting(instance_type=TYPES[0], lacks=lacking),
            model_kept_until=kept_until,
            due_at=kept_until,
            **fields,
        )

    def requested(self):
        answer = self.platform.call("POST", f"{TASK}/trainings")
        return answer.status, answer.json["code"], answer.json["detail"]


MODEL = TrainedModel(
    name="apt-1-abc", sha256="0" * 64, size_bytes=1, seconds=1.0, kind="lora", base_model=BASE
)


@pytest.fixture
def task(platform, ledger):
    return Paying(platform, ledger.connect())


@in_one("month")
def test_one_that_the_month_has_no_room_for_waits_for_the_next(task):
    task.spent(5_000_000_000 - NEEDED + 1)
    task.learn(50)

    assert [task.sweep(), task.sweep()] == [0, 0]

    assert task.trainings() == []
    assert inputs_of("train_student") == {}
    waits = task.next_training["waits"]
    now = Clock().now()
    first = (now.replace(day=1) + timedelta(days=32)).replace(day=1)
    assert (waits["reason"], waits["until"]) == ("budget", f"{first:%Y-%m-%d}T00:00:00Z")
    assert "has 1.76 US dollars left" in waits["message"]
    assert "ml.g5.xlarge for maxRuntimeS may cost 1.76" in waits["message"]
    assert task.published() == ["budget.exhausted"]
    assert task.requested()[:2] == (409, "conflict")
    with later(timedelta(minutes=11)):
        assert task.sweep() == 0
    assert task.published() == ["budget.exhausted"], "once a period"

    month = datetime.fromisoformat(waits["until"]) - now
    with later(month - timedelta(minutes=5)):
        assert task.sweep() == 0
    with later(month + timedelta(minutes=1)):
        assert task.sweep() == 1
    assert task.next_training["waits"] is None
    assert [one["cause"] for one in task.trainings()] == ["examples"]


@in_one("month")
def test_one_waits_for_money_that_is_set_aside_for_a_job_of_one_that_has_ended(task):
    begun(task)
    task.end("failed", error="job_refused")
    left = task.left(4_000_000_000, since=Clock().now())

    found = waits(task)

    assert found["reason"] == "budget"
    assert "4.00 are set aside for jobs of trainings that have ended (1)" in found["message"]
    until = datetime.fromisoformat(found["until"])
    free = left + NEVER_CREATED_AFTER
    assert free <= until <= free + timedelta(minutes=2)
    assert f"free at about {until:%Y-%m-%d %H:%M} UTC" in found["message"]
    assert task.published() == [], "the month has room"
    with later(timedelta(minutes=8)):
        assert task.sweep() == 0
    with later(NEVER_CREATED_AFTER + timedelta(minutes=1)):
        assert task.sweep() == 1
    assert task.next_training["waits"] is None


def test_one_that_there_is_room_for_begins(task):
    task.spent(5_000_000_000 - NEEDED)
    task.learn(50)
    assert task.sweep() == 1
    assert task.published() == []


def test_another_budget_has_it_begin(task):
    task.spent(5_000_000_000)
    task.learn(50)
    assert task.sweep() == 0
    task.put(**IN_JOBS, budgets={**MONTHLY, "trainingMonthly": "8"})
    assert task.next_training["waits"] is None
    with later(timedelta(minutes=11)):
        assert task.sweep() == 1


@pytest.mark.parametrize(
    ("prices", "said"),
    [
        ({}, "no price is known for ml.g5.xlarge"),
        (dict.fromkeys(TYPES, "30"), "may cost 37.50"),
    ],
)
def test_one_that_no_month_pays_for_waits_for_another_configuration(
    task, monkeypatch, prices, said
):
    # As it was put, it could be paid for.
    monkeypatch.setenv("TRAINING_PRICES", json.dumps(prices))
    forget_processes()
    task.learn(50)
    assert task.sweep() == 0
    waits = task.next_training["waits"]
    assert (waits["reason"], waits["until"]) == ("budget", None)
    assert said in waits["message"]
    assert task.trainings() == task.published() == []


def test_a_task_whose_training_cost_too_much_waits_for_another_budget(task):
    task.spent(0, halted="above_bound")
    task.learn(50)
    assert task.sweep() == 0
    assert "put another" in task.next_training["waits"]["message"]
    assert task.requested()[0] == 409


def test_whose_model_could_be_no_version_trains_nothing(task):
    task.put()
    for number in range(1, MAX_APPRENTICE_VERSIONS + 1):
        task.add_version(number, state="retired")
    task.learn(50)
    forget_processes()

    assert task.sweep() == 0

    waits = task.next_training["waits"]
    assert (waits["reason"], waits["until"]) == ("versions", None)
    status, code, detail = task.requested()
    assert (status, code) == (409, "limit_reached")
    assert "200 versions" in detail
    assert task.trainings() == []


def test_one_after_the_last_that_a_task_may_have_says_so(task, monkeypatch):
    monkeypatch.setattr(starting, "MAX_APPRENTICE_TRAININGS", 0)
    task.learn(50)

    assert task.sweep() == 0

    assert task.next_training["waits"]["reason"] == "trainings"


def put_types(task, monkeypatch, *types):
    """Have jobs and hosts of the task tried on other types of instances from now on."""
    monkeypatch.setenv("TRAINING_PRICES", json.dumps(dict.fromkeys(types, "1.4")))
    forget_processes()
    other = {**TRAINING, "instanceTypes": list(types)}
    task.put(**{**IN_JOBS, "training": other}, budgets={**MONTHLY, "trainingMonthly": "20"})
    forget_processes()


def begun(task):
    task.learn(50)
    assert task.sweep() == 1


def waits(task):
    """Return why the next one waits after another batch; None where it begins."""
    task.learn(50)
    return None if task.sweep() else task.next_training["waits"]


def test_while_a_model_is_kept_for_want_of_capacity_the_next_waits_until_it_is_gone(task):
    begun(task)
    task.unhosted("hosting_capacity", "capacity", "capacity")

    found = waits(task)

    (training,) = task.trainings()
    assert (found["reason"], found["until"]) == ("hosting", training["modelKeptUntil"])
    with later(timedelta(days=30, minutes=1)):
        assert task.sweep() == 1


@pytest.mark.parametrize(
    ("error", "lacks"),
    [
        ("not_hosted", ()),
        ("not_hosted", ("capacity", "refused")),
        ("canceled", ("quota", "quota")),
        ("platform_error", ("capacity", "capacity")),
    ],
)
def test_a_kept_model_that_lacks_no_instance_holds_nothing_back(task, error, lacks):
    begun(task)
    task.unhosted(error, *lacks)
    assert waits(task) is None


def test_a_model_that_was_not_hosted_for_itself_decides_though_no_host_of_it_is_known(task):
    begun(task)
    task.unhosted("hosting_quota", "quota", "quota")
    assert task.platform.call("POST", f"{TASK}/trainings").status == 202
    task.end("failed", error="not_hosted", reason="name_taken")
    assert waits(task) is None


@pytest.mark.parametrize("error", ["canceled", "platform_error"])
def test_one_that_ended_for_something_else_says_nothing_of_what_the_one_before_lacked(task, error):
    begun(task)
    task.unhosted("hosting_quota", "quota", "quota")
    assert task.platform.call("POST", f"{TASK}/trainings").status == 202
    task.unhosted(error)
    assert "training 1 " in waits(task)["message"]


def test_while_sagemaker_takes_none_of_the_types_the_next_waits_for_others(task, monkeypatch):
    begun(task)
    task.unhosted("not_hosted", "refused", "refused")
    assert waits(task)["reason"] == "hosting"
    put_types(task, monkeypatch, TYPES[1], "ml.g6.xlarge")
    with later(timedelta(minutes=11)):
        assert task.sweep() == 1


def test_after_quotas_had_no_room_none_begins_until_somebody_does_or_puts_other_types(
    task, monkeypatch
):
    begun(task)
    task.unhosted("hosting_quota", "quota", "quota", kept=timedelta())

    found = waits(task)

    assert found["reason"] == "hosting"
    assert f"no room for {' or '.join(TYPES)}" in found["message"]
    assert task.trainings()[0]["number"] == 1
    put_types(task, monkeypatch, "ml.g6.xlarge")
    with later(timedelta(minutes=11)):
        assert task.sweep() == 1


@pytest.mark.parametrize("kept", [timedelta(), timedelta(days=30)])
def test_a_quota_that_others_use_up_holds_the_next_back_for_thirty_days(task, kept):
    begun(task)
    task.unhosted("hosting_quota", "quota", "quota", kept=kept)

    found = waits(task)

    ended = datetime.fromisoformat(task.trainings()[0]["endedAt"])
    until = datetime.fromisoformat(found["until"])
    assert abs(until - ended - timedelta(days=30)) < timedelta(minutes=1)
    assert f"{until:%Y-%m-%d}" in found["message"]
    with later(timedelta(days=30) - timedelta(minutes=20)):
        assert task.sweep() == 0
    with later(timedelta(days=30, minutes=1)):
        assert task.sweep() == 1


@pytest.mark.parametrize("lacks", [("quota", "refused"), ("refused", "quota")])
def test_types_that_sagemaker_refuses_leave_none_beside_those_beyond_the_quota(task, lacks):
    begun(task)
    task.unhosted("hosting_quota", *lacks, kept=timedelta())

    found = waits(task)["message"]

    named = dict(zip(lacks, TYPES, strict=True))
    assert f"SageMaker takes no {named['refused']} for endpoints" in found
    assert f"no room for {named['quota']} for endpoint" in found


def test_a_quota_of_types_that_nobody_knows_holds_nothing_back(task, monkeypatch):
    begun(task)
    task.unhosted("hosting_quota", kept=timedelta())
    put_types(task, monkeypatch, TYPES[0])
    with later(timedelta(minutes=11)):
        assert waits(task) is None


def test_somebodys_own_training_is_not_held_back(task):
    begun(task)
    task.unhosted("hosting_quota", "quota", "quota")
    assert waits(task)["reason"] == "hosting"

    answer = task.platform.call("POST", f"{TASK}/trainings")

    assert answer.status == 202, answer.text
    assert task.next_training["waits"] is None
    task.end("failed", error="job_failed")
    # The same model waits still.
    assert "training 1 " in waits(task)["message"]


def test_a_model_that_is_kept_holds_nothing_back_once_a_later_one_was_hosted(task):
    begun(task)
    task.unhosted("hosting_quota", "quota", "quota")
    assert task.platform.call("POST", f"{TASK}/trainings").status == 202
    task.end("discarded", hosted=HostedModel(name="apt-2", endpoint="one", component="two"))

    assert waits(task) is None


def test_a_model_that_can_be_hosted_no_more_holds_nothing_back(task):
    begun(task)
    task.unhosted("hosting_capacity", "capacity", "capacity")
    store_base("another/base")
    other = {**TRAINING, "baseModel": "another/base"}
    task.put(**{**IN_JOBS, "training": other}, budgets={**MONTHLY, "trainingMonthly": "20"})
    forget_processes()

    assert waits(task) is None
