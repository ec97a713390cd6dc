"""Listing verdicts and opinions in the partition of their batch, for the projection to follow."""

from collections import defaultdict
from datetime import datetime, timedelta
from threading import Lock

from autotune_platform.storage.table import Table
from autotune_platform.verdicts.decisions import Decision, list_items
from autotune_platform.verdicts.models import Verdict, VerdictKey


class DecisionLists:
    """Gathers what this process has stored, and lists it: one item for each batch.

    What is gathered when an invocation fails is listed by the next of its process, if there is one.
    What is lost with the process is listed by the round that is tried again, or projected by the
    sweeper.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._gathered: dict[VerdictKey, Decision] = {}
        self._lock = Lock()

    def gather(self, verdict: Verdict) -> None:
        """Have a stored verdict or opinion listed; one of a batch of one needs no list."""
        if not verdict.alone:
            decision = Decision.of(verdict)
            with self._lock:
                self._gathered[decision.key] = decision

    def write(self, *, until: datetime | None = None) -> None:
        """List what is gathered; listing it again does no harm.

        Args:
            until: only if some of it was decided by then.

        Raises:
            UnavailableError: the table is busy; what is gathered stays so.
        """
        with self._lock:
            due = dict(self._gathered)
        if not due or (until and min(one.decided_at for one in due.values()) > until):
            return
        batches: dict[str, list[Decision]] = defaultdict(list)
        for one in due.values():
            batches[one.batch_id].append(one)
        self._table.put_many(item for some in batches.values() for item in list_items(some))
        with self._lock:
            for key in due:
                self._gathered.pop(key, None)


LONGEST_UNLISTED = timedelta(seconds=2)
"""How old the first verdict of a round may be before those so far are listed."""
