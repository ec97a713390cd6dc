"""A training that cannot be paid for, or could be no version, does not begin and says why."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from autotune.protocol.limits import MAX_APPRENTICE_VERSIONS
from autotune_platform.apprentice.training import starting
from autotune_platform.budgets.scopes import periods_of
from autotune_platform.budgets.uses import partition, task_scope, training_of
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.component.apprentice.test_training_starts import TASK, Growing
from tests.support.executions import inputs_of
from tests.support.lambdas import forget_processes
from tests.support.ledger import later
from tests.support.training_jobs import TRAINING, TYPES, store_base

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
        today = datetime.now(UTC).date()
        used = {f"{of}#{periods_of(today)['month']}": nano_usd for of in ("committed", "spent")}
        item = {"pk": self.money, "sk": "limits", "month": 5_000_000_000, "task_name": "intents"}
        budgets = Table("budgets", clients.dynamodb())
        budgets.put({**item, "today": today.isoformat(), **used, **fields})

    def published(self):
        return [one["type"] for one in self.table.items(self.money)]

    def requested(self):
        answer = self.platform.call("POST", f"{TASK}/trainings")
        return answer.status, answer.json["code"], answer.json["detail"]


@pytest.fixture
def task(platform, ledger):
    return Paying(platform, ledger.connect())


def test_one_that_the_month_has_no_room_for_waits_for_the_next(task):
    task.spent(5_000_000_000 - NEEDED + 1)
    task.learn(50)

    assert [task.sweep(), task.sweep()] == [0, 0]

    assert task.trainings() == []
    assert inputs_of("train_student") == {}
    waits = task.next_training["waits"]
    now = datetime.now(UTC)
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
