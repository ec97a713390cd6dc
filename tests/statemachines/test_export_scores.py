"""The run of an export: steps until nothing is left, and a failed end when we cannot go on."""

import json
from pathlib import Path
from typing import Any

import pytest

from autotune_platform.runtime import clients
from tests.statemachines.conftest import StateMachines

FILE = "export_scores.asl.json"
START = {"export_id": "exp_1", "redrive": 0}
DONE: dict[str, Any] = {"return": {"done": True}}
MORE: dict[str, Any] = {"return": {"done": False}}


def test_steps_follow_each_other_until_nothing_is_left(machines: StateMachines) -> None:
    run = machines.run(FILE, START, WriteExport=[MORE, MORE, DONE], FailExport=[DONE])
    assert run.status == "SUCCEEDED"
    step = ["WriteExport", "IsAnythingLeft"]
    assert run.entered == ["AwaitIndex", *step * 3, "Exported"]


def test_a_step_that_broke_is_done_again(machines: StateMachines) -> None:
    script = [{"raise": "killed"}, MORE, {"raise": "killed"}, DONE]
    run = machines.run(FILE, START, WriteExport=script, FailExport=[DONE])
    assert (run.status, run.entered[-1]) == ("SUCCEEDED", "Exported")


def test_who_waits_for_a_function_waits_as_long_as_an_export_may_take() -> None:
    """Read from the definition: MiniStack refuses no function for want of room."""
    definition = json.loads(Path("statemachines", FILE).read_text())
    first = definition["States"]["WriteExport"]["Retry"][0]
    assert first["ErrorEquals"] == ["Lambda.TooManyRequestsException"]
    # Full jitter: half of it on average.
    assert first["MaxAttempts"] * first["MaxDelaySeconds"] / 2 >= definition["TimeoutSeconds"]
    # A try that is refused is three events, of 25,000 that an execution may have.
    assert 3 * first["MaxAttempts"] < 10_000


@pytest.mark.parametrize("error", ["Lambda.SdkClientException", "UnavailableError", "ClientError"])
def test_what_passes_is_waited_for_about_an_hour(error: str) -> None:
    """Read from the definition: MiniStack gives every error of a function the same name."""
    definition = json.loads(Path("statemachines", FILE).read_text())
    retriers = definition["States"]["WriteExport"]["Retry"]
    assert retriers[-1]["ErrorEquals"] == ["States.ALL"]
    retrier = next(one for one in retriers if error in one["ErrorEquals"])
    longest = [
        min(retrier["IntervalSeconds"] * retrier["BackoffRate"] ** n, retrier["MaxDelaySeconds"])
        for n in range(retrier["MaxAttempts"])
    ]
    # Full jitter: half of it on average.
    assert sum(longest) / 2 > 3_000


def test_it_waits_for_a_write_whose_answer_was_lost() -> None:
    definition = json.loads(Path("statemachines", FILE).read_text())
    assert definition["States"]["AwaitIndex"]["Seconds"] > clients._CONFIG.read_timeout


def test_lasting_trouble_fails_the_export_and_the_run(machines: StateMachines) -> None:
    run = machines.run(FILE, START, WriteExport=[{"raise": "broken"}], FailExport=[DONE])
    assert (run.status, run.error) == ("FAILED", "ExportFailed")
    assert run.entered == ["AwaitIndex", "WriteExport", "FailExport", "ExportFailed"]


def test_a_run_fails_even_where_its_export_cannot_be_failed(machines: StateMachines) -> None:
    broken = [{"raise": "broken"}]
    run = machines.run(FILE, START, WriteExport=broken, FailExport=broken)
    assert (run.status, run.error) == ("FAILED", "ExportFailed")
