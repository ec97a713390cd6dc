"""What a week of waiting for a grader costs a run."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from autotune_platform.runs.progress import ChunkProgress

_TRANSITIONS_OF_A_ROUND = 3
_COMPLETIONS_OF_A_RUN = 100
_WEEK = timedelta(days=7)


def test_a_week_of_waiting_costs_each_completion_of_a_full_run_little() -> None:
    ids = [f"cmp_{number}" for number in range(_COMPLETIONS_OF_A_RUN)]
    progress = ChunkProgress(
        organization_id="org_1",
        grader_id="grd_1",
        grader_version="1",
        run_id="run_1",
        completion_ids=ids,
        remaining=len(ids),
    )
    began = now = datetime.now(UTC)
    rounds = 0
    while now < began + _WEEK:
        progress = progress.after_round(
            untried=ids, failed={}, now=now, wait_seconds=600, asked=False, is_down=True
        )
        assert progress.is_parked
        rounds += 1
        now += timedelta(seconds=progress.sleep_seconds)
    prices = json.loads(Path("benchmarks/prices.json").read_text())["prices"]
    cost = rounds * _TRANSITIONS_OF_A_ROUND * prices["states_transition"]["usd"]
    cost += rounds * 2 * prices["lambda_request"]["usd"]
    assert rounds < 80
    assert cost < 0.007
    assert cost / _COMPLETIONS_OF_A_RUN < 0.001
