"""What is lost beside a run that sleeps, since its grader is down, is found all the same."""

from datetime import timedelta

from functions.scoring import grade_chunk, sweep_batches
from tests.component.scoring.test_outage import answering, single
from tests.support.clock import StandingClock
from tests.support.graders import LoopbackGrader, loopback_grader
from tests.support.platform import Platform


def test_what_is_lost_beside_a_run_that_sleeps_is_found(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    sweeping = sweep_batches.parts()
    for each in (sweeping.sweeper, sweeping.recovery, sweeping.open_batches):
        each.clock = clock
    grade_chunk.parts().open_batches.clock = clock
    with loopback_grader() as other:
        tasks = [
            platform.new_task(platform.new_grader(grader)),
            platform.new_task(platform.new_grader(other), deadlineSeconds=3_600),
        ]
        body = {"completions": [single(task_id) for task_id in tasks]}
        accepted = platform.call("POST", "/api/v1/completions/batch", body).json
        platform.dispatch(platform.queued())
        asked = platform.call("GET", f"/api/v1/tasks/{tasks[0]}").json["task"]["graderId"]
        (progress,) = [run for run in platform.runs() if run["grader_id"] == asked]
        grader.disease = answering(503)
        redriven = 0
        while clock.ahead < timedelta(hours=2):
            progress = platform.grade(progress)
            awake_at = clock.ahead + timedelta(seconds=progress["sleep_seconds"])
            while clock.ahead < awake_at:
                redriven += platform.operate("sweep_batches")["redriven"]
                platform.queued()  # and lost again
                clock.turn(seconds=60)
    first, second = platform.batch(accepted["batchId"])["verdicts"]
    assert (first["state"], first["reasonCode"]) == ("pending", "grader_error")
    assert (second["state"], second["reasonCode"]) == ("failed", "deadline_exceeded")
    assert redriven >= 4


def test_what_one_run_lost_beside_another_of_its_grader_that_sleeps_is_found(
    platform: Platform, grader: LoopbackGrader, clock: StandingClock
) -> None:
    sweeping = sweep_batches.parts()
    for each in (sweeping.sweeper, sweeping.recovery, sweeping.open_batches):
        each.clock = clock
    grader_id = platform.new_grader(grader, capabilities={"maxBatchSize": 100})
    completions = [{"prompt": str(number)} for number in range(150)]
    platform.submit(platform.new_task(grader_id), *completions)
    platform.dispatch(platform.queued())
    sleeping, lost = sorted(platform.runs(), key=lambda run: -len(run["completion_ids"]))
    grader.disease = answering(503, retry_after="3600")
    platform.grade(sleeping)
    clock.turn(seconds=240)
    assert platform.operate("sweep_batches")["redriven"] == 1
    platform.dispatch(platform.queued())
    (redriven,) = [run for run in platform.runs() if run not in (sleeping, lost)]
    assert sorted(redriven["completion_ids"]) == sorted(lost["completion_ids"])
