"""What a run that sleeps or waits tells the batches that it serves."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta

from autotune_platform.completions.models import FIRST_SWEEP_AFTER
from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.completions.sleeps import Sleep
from autotune_platform.runs.models import RunStatus
from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.verdicts.models import CompletionHeader

_LONGEST_UNSWEPT_SECONDS = 3_600


def postpone_sweeps(
    batches: OpenBatches,
    left: ChunkProgress,
    headers: Mapping[str, CompletionHeader],
    *,
    now: datetime,
) -> None:
    """Keep the sweeper from what sleeps on purpose, and for a while from what waits.

    Not for as long as it waits: others of the batch may be lost.
    """
    sleeping: dict[str, list[str]] = defaultdict(list)
    for id_ in left.unfinished_ids:
        if id_ in headers:
            sleeping[headers[id_].batch_id].append(id_)
    waiting = {headers[id_].batch_id for id_ in left.waiting_ids if id_ in headers}
    status = RunStatus.after_round(left, now)
    awake_at = now + timedelta(seconds=left.sleep_seconds)
    sleep = Sleep(
        grader_id=left.grader_id,
        run_id=left.run_id,
        panel_id=left.panel_id,
        generation=left.generation,
        unswept_until=awake_at + FIRST_SWEEP_AFTER,
        awake_at=awake_at,
        attempts=left.attempt,
        step=status.step,
        reason_code=left.reason_code,
    )
    batches.let_sleep(sleeping, sleep)
    seconds = min(left.wait_seconds, _LONGEST_UNSWEPT_SECONDS)
    batches.let_wait(waiting - sleeping.keys(), seconds=seconds)
