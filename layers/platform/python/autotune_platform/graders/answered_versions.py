"""Which version a grader's answers name, beside its health: what follows verdicts notes it."""

from autotune_platform.graders.health import digest_of
from autotune_platform.graders.repository import health_partition
from autotune_platform.storage.table import Table


class AnsweredVersions:
    """Notes in the ``registry`` table that answers name another version."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def note(self, grader_id: str, version: str) -> None:
        """Note the version that an answer named; it counts with the next probe.

        A grader that is not probed has no health, and nothing is noted.
        """
        changes = {"scored_as": digest_of(version)}
        self._table.update(health_partition(grader_id), grader_id, changes)
