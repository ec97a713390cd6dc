"""Waits until completions have their verdicts, for as long as any of them gets one."""

import time
from collections.abc import Callable, Collection

from tests.chaos.invariants import Verdicts, verdicts_by_completion
from tests.chaos.patience import Patience
from tests.chaos.tables import Tables

QUIET_SECONDS, MOST_SECONDS = 120.0, 1_800.0
LOOKS_EVERY_SECONDS = 2.0


def decided(
    tables: Tables,
    wanted: Collection[str],
    *,
    quiet_seconds: float = QUIET_SECONDS,
    sweep: Callable[[], object] = lambda: None,
    sweep_seconds: float = QUIET_SECONDS,
) -> Verdicts:
    """Return the verdicts once all that is wanted has one, or nothing gets any more.

    Args:
        wanted: ids of completions.
        quiet_seconds: as long as it may take until the next verdict.
        sweep: does meanwhile what a schedule would do, every ``sweep_seconds``.
    """
    verdicts: Verdicts = verdicts_by_completion(tables.items("Completions"))
    patience = Patience(
        lambda: len(verdicts), quiet_seconds=quiet_seconds, most_seconds=MOST_SECONDS
    )
    swept = time.monotonic()
    while not all(one in verdicts for one in wanted) and not patience.is_over():
        if time.monotonic() - swept > sweep_seconds:
            swept = time.monotonic()
            sweep()
        time.sleep(LOOKS_EVERY_SECONDS)
        verdicts = verdicts_by_completion(tables.items("Completions"))
    return verdicts
