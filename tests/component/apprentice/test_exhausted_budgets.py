"""Without money nobody answers a caller who has not shown that they may."""

from datetime import UTC, datetime
from typing import Any

import pytest

from autotune_platform.apprentice.routing import Model
from autotune_platform.apprentice.runs import running
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.apprentice.sampling import Draw
from tests.support.apprentice_runs import ANSWER, Runs
from tests.support.lambdas import forget_processes
from tests.support.phased_runs import ALL_CHECKED, DAY, NO_ROOM, OTHER, Phased, Small


class Poor(Phased):
    """A task without money."""

    def graduates(self) -> None:
        """Bring version 1 to its canary."""
        self.task.put(budgets=DAY, sampling=ALL_CHECKED)
        self.task.add_version(1)
        self._learn(200, score=1.0)

    def spends_all(self, **fields: Any) -> None:
        self.task.put(**{"budgets": NO_ROOM, "sampling": ALL_CHECKED, **fields})
        forget_processes()

    def is_refused(self) -> None:
        answer = self.runs.start(wait=20)
        assert (answer.status, answer.json["code"]) == (402, "budget_exhausted"), answer.text
        assert answer.json["budget"]["resetsAt"]

    def answered_by(self) -> int | None:
        routing = self.ran()["routing"]
        assert (routing["answers"], routing["unmonitored"], routing["pairs"]) == ("local", True, [])
        version: int | None = routing["localVersion"]
        return version


@pytest.fixture
def poor(runs: Runs, small: Small, monkeypatch: pytest.MonkeyPatch) -> Poor:
    """Its runs are beyond the share of a canary, whatever the draw says of their ids."""
    drawn = running.is_drawn

    def beyond(draw: Draw, key: bytes, run_id: str, rate: float) -> bool:
        return draw is not Draw.CANARY and drawn(draw, key, run_id, rate)

    monkeypatch.setattr(running, "is_drawn", beyond)
    return Poor(runs, small)


def test_a_version_in_shadow_answers_nobody(poor: Poor) -> None:
    poor.shadowed()
    poor.spends_all()

    poor.is_refused()

    assert poor.paid == 0
    poor.task.follow()
    today = poor.status["today"]
    assert (today["refused"], today["local"], today["unmonitored"]) == (1, 0, 0)


def test_a_version_whose_alarm_fired_answers_nobody(poor: Poor) -> None:
    poor.served()
    poor._learn(60, score=0.6)
    (version,) = poor.status["versions"]
    assert version["stage"] == "shadow"
    assert version["alarms"] > 0
    poor.spends_all()

    poor.is_refused()


def test_a_version_whose_pairs_are_folded_anew_answers_nobody(poor: Poor) -> None:
    poor.served()
    poor.spends_all(confidence={"alpha": 0.04})
    (version,) = poor.status["versions"]
    assert version["stage"] == "shadow"

    poor.is_refused()

    poor.task.follow()
    forget_processes()
    assert poor.ran()["routing"]["answers"] == "local"


@pytest.mark.parametrize("budgets", [DAY, NO_ROOM])
def test_a_run_that_goes_on_after_an_alarm_is_not_answered_by_its_version(
    poor: Poor, budgets: dict[str, str]
) -> None:
    """It had the version when it was begun, and its worker was killed."""
    poor.served()
    begun = {"phase": 3, "local_version": 1, "sampling_rate": 0.1, "created_at": datetime.now(UTC)}
    run = poor.task.run(**begun, input={"text": "Let me in!"})
    assert RunRepository(poor.task.table).add(run)
    poor._learn(60, score=0.6)
    poor.task.put(budgets=budgets)
    forget_processes()

    poor.runs.work(run.id)

    stored = poor.stored(run.id)
    expected = ("answered", Model.REMOTE) if budgets is DAY else ("refused", None)
    assert (stored.state, stored.answers) == expected


def test_one_that_has_graduated_answers_beyond_its_share(poor: Poor) -> None:
    poor.graduates()
    poor.spends_all()

    assert [poor.answered_by() for _ in range(3)] == [1, 1, 1]
    assert poor.status["versions"][0]["stage"] == "canary"


def test_the_one_in_its_canary_answers_in_place_of_a_later_one_in_shadow(poor: Poor) -> None:
    poor.graduates()
    poor.task.add_version(2)
    poor.spends_all()
    poor.small.says = {"small-1": ANSWER, "small-2": OTHER}

    runs = [poor.ran() for _ in range(3)]

    assert {run["output"]["intent"] for run in runs} == {"open_door"}
    for run in runs:
        routing = run["routing"]
        assert (routing["localVersion"], routing["unmonitored"]) == (1, True)
        assert poor.runs.read(run["id"]) == run
    assert poor.paid == 0


def test_one_that_has_graduated_and_does_not_answer_leaves_nobody(poor: Poor) -> None:
    poor.graduates()
    poor.spends_all()
    poor.small.says["small-1"] = "no JSON"

    answer = poor.runs.start(wait=20)

    assert (answer.status, answer.json["code"]) == (503, "local_unavailable")


def test_where_nobody_is_to_answer_one_that_has_graduated_does_not(poor: Poor) -> None:
    poor.graduates()
    poor.task.add_version(2)
    poor.spends_all(budgets={**NO_ROOM, "whenExhausted": "fail"})

    poor.is_refused()
