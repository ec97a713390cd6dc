"""Starting executions that go on with runs, and having them stop."""

import json
from datetime import datetime, timedelta

from autotune_platform.decks.runs.models import Run
from autotune_platform.decks.runs.repository import RunRepository
from autotune_platform.runtime.executions import Executions

START_WITHIN = timedelta(minutes=3)
"""How long the next step of an execution may take to begin, beyond what it waits."""


def start_run(executions: Executions, run: Run) -> bool:
    """Start a run's current execution unless it was started; the sweeper tries again."""
    document = json.dumps({"deck_id": run.deck_id, "run_id": run.id, "redrive": run.redrive})
    return executions.try_start(f"{run.id}-{run.redrive}", document)


def cancel_run(repository: RunRepository, executions: Executions, run: Run, now: datetime) -> bool:
    """Have an open run begin nothing more; return False where it changed since it was read."""
    changes = {
        "cancel_requested_at": now,
        "due_at": now + START_WITHIN,
        # An execution of its own goes on at once; the one before may wait for long.
        "redrive": run.redrive + 1,
        "revision": run.revision + 1,
    }
    canceled = run.model_copy(update=changes)
    if not repository.change(run, canceled):
        return False
    start_run(executions, canceled)
    return True
