"""How evidence, pairs, counts and lists of runs lie in the table ``apprentice``.

``pk=apt_…`` has ``sk=evidence#000001`` for a version, ``sk=refold#000001`` while its pairs are
folded anew, ``sk=examples#<definition hash>`` and ``sk=day#2026-11-27``;
``sk=change#000001#0000000123#alarm`` is what a pair did to a version.
``pk=apt_…#pairs#000001, sk=0000000001`` is a pair of a version, by its sequence.
``pk=apt_…#runs#2026-11-27`` lists the runs of a UTC day, by when they were created:
``sk=<time>#<run id>``. An entry there says what was counted of its run, so that it is counted once.
"""

from datetime import datetime

from autotune_platform.apprentice.runs.models import Run
from autotune_platform.storage.item_format import moment

DUE_RUNS_INDEX = "dueRuns"
EVIDENCE = "evidence#"
REFOLD = "refold#"
DAY = "day#"
VERSION = "version#"

COST_TRAINING = "cost_training"
"""What jobs cost that trained, of those whose end was noted on the day."""

PAID_COUNTED = "paid"
"""How many answers were paid for, beside examples: some are imported, and some deleted."""


def evidence_key(version: int) -> str:
    """Return the sort key of a version's evidence; such keys sort as the numbers do."""
    return f"{EVIDENCE}{version:06d}"


def version_key(number: int) -> str:
    """Return the sort key of a version; such keys sort as the numbers do."""
    return f"{VERSION}{number:06d}"


def refold_key(version: int) -> str:
    """Return the sort key of how far a version's pairs are folded anew."""
    return f"{REFOLD}{version:06d}"


def day_key(day: str) -> str:
    """Return the sort key of what is counted of a day's runs."""
    return DAY + day


def pairs_of(task_id: str, version: int) -> str:
    """Return the partition of a version's pairs."""
    return f"{task_id}#pairs#{version:06d}"


def pair_key(sequence: int) -> str:
    """Return the sort key of a pair."""
    return f"{sequence:010d}"


def entry_key(run: Run) -> str:
    """Return the sort key of a run in the list of its day."""
    return entry_key_of(run.created_at, run.id)


def entry_key_of(created_at: datetime, run_id: str) -> str:
    """Return the sort key that a run of this id and time has in the list of its day."""
    return f"{moment(created_at)}#{run_id}"
