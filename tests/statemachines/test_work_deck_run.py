"""The run of a deck: steps until nothing is left, then its edit is measured; or proposals alone."""

from typing import Any

from tests.statemachines.conftest import StateMachines

FILE = "work_deck_run.asl.json"
RUN = {"deck_id": "dck_1", "run_id": "drn_1", "redrive": 0}
PROPOSED = {"deck_id": "dck_1", "grader_id": "grd_1", "proposal": 2}
MORE: dict[str, Any] = {"return": {"done": False, "measures": False, "wait_seconds": 1}}
GRADED: dict[str, Any] = {"return": {"done": True, "measures": False}}
REPLAYED: dict[str, Any] = {"return": {"done": True, "measures": True}}
AGAIN: dict[str, Any] = {"return": {"done": False, "wait_seconds": 1}}
DONE: dict[str, Any] = {"return": {"done": True}}


def test_a_run_that_grades_measures_no_edit(machines: StateMachines) -> None:
    run = machines.run(FILE, RUN, AdvanceDeckRun=[MORE, GRADED], AdvanceDeckEdits=[DONE])
    assert run.status == "SUCCEEDED"
    step = ["AdvanceDeckRun", "IsAnythingLeft"]
    assert run.entered == ["IsAnythingProposed", *step, "AwaitNextStep", *step, "Worked"]


def test_an_edit_is_measured_at_the_end_of_its_replay_and_once_more_where_that_broke(
    machines: StateMachines,
) -> None:
    measuring = [{"raise": "killed"}, DONE]
    run = machines.run(FILE, RUN, AdvanceDeckRun=[REPLAYED], AdvanceDeckEdits=measuring)
    assert run.status == "SUCCEEDED"
    assert [one for one in run.entered if one.startswith("Advance")] == [
        "AdvanceDeckRun",
        "AdvanceDeckEdits",
    ]
    assert run.output["run_id"] == "drn_1", "it is told which run"


def test_what_a_model_proposes_is_gone_on_with_until_nothing_is_left(
    machines: StateMachines,
) -> None:
    run = machines.run(
        FILE, PROPOSED, AdvanceDeckRun=[{"raise": "not asked"}], AdvanceDeckEdits=[AGAIN, DONE]
    )
    assert run.status == "SUCCEEDED"
    step = ["AdvanceDeckEdits", "IsAnyAnswerAwaited"]
    assert run.entered == ["IsAnythingProposed", *step, "AwaitAnswers", *step, "Worked"]


def test_what_no_step_could_do_ends_failed(machines: StateMachines) -> None:
    broken = [{"raise": "killed"}]
    run = machines.run(FILE, RUN, AdvanceDeckRun=broken, AdvanceDeckEdits=[DONE])
    assert (run.status, run.error) == ("FAILED", "RunInterrupted")
    run = machines.run(FILE, RUN, AdvanceDeckRun=[REPLAYED], AdvanceDeckEdits=broken)
    assert (run.status, run.error) == ("FAILED", "EditInterrupted")
