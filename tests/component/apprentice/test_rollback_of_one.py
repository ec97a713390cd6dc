"""Going back from the only version that there is, however it came to where it is."""

import pytest

from autotune_platform.apprentice.canary import STEP_PAIRS
from tests.component.apprentice.test_canaries import TASK, Canaries


class One(Canaries):
    """A task with one version."""

    def rolled_back(self):
        answer = self.platform.call("POST", f"{TASK}/versions/1/rollback")
        return answer.status, answer.json.get("detail") or answer.json["version"]["state"]


@pytest.fixture
def task(platform, ledger):
    made = One(platform, ledger.connect())
    made.add_version(1)
    made.fold(60)
    return made


NOBODY = "no version before 1 may serve by its own evidence; "
NOBODY += "retire version 1 to have the paid model answer"


def serves_by_itself(task):
    for _ in range(3):
        task.fold(STEP_PAIRS, in_canary=True)
    assert task.standing()["stage"] == "serves"


def is_promoted(task):
    assert task.platform.call("POST", f"{TASK}/versions/1/promote").status == 200


@pytest.mark.parametrize("comes_to_serve", [serves_by_itself, is_promoted])
def test_the_only_version_that_serves_is_not_rolled_back(task, comes_to_serve):
    comes_to_serve(task)
    assert task.rolled_back() == (409, NOBODY)
    assert task.rolled_back() == (409, NOBODY)
    assert task.version()["state"] == "hosted"
    assert task.standing()["stage"] == "serves"


def test_after_an_alarm_it_does_not_serve(task):
    serves_by_itself(task)
    task.fold(60, 0.3)
    assert task.standing()["stage"] == "shadow"
    assert task.rolled_back() == (409, "version 1 does not serve: none does")


def test_in_its_canary_it_is_retired_and_again_it_stays_so(task):
    assert task.rolled_back() == (200, "retired")
    assert task.rolled_back() == (200, "retired")


def test_in_its_second_canary_too(task):
    serves_by_itself(task)
    task.fold(60, 0.3)
    task.fold(120)
    assert task.standing()["stage"] == "canary"
    assert task.rolled_back() == (200, "retired")
    assert task.rolled_back() == (200, "retired")


def test_one_that_was_retired_while_it_served_cannot_be_gone_back_from(task):
    serves_by_itself(task)
    assert task.platform.call("POST", f"{TASK}/versions/1/retire").status == 200
    assert task.rolled_back() == (409, "version 1 is retired")


def test_one_that_was_retired_in_shadow_cannot_be_gone_back_from(task):
    task.add_version(2)
    assert task.platform.call("POST", f"{TASK}/versions/2/retire").status == 200
    answer = task.platform.call("POST", f"{TASK}/versions/2/rollback")
    assert (answer.status, answer.json.get("detail")) == (409, "version 2 is retired")
