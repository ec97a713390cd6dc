"""Where parked runs are listed by grader: an item for each, which goes when its run is awake."""

import hashlib
import random
from collections.abc import Iterator
from datetime import datetime, timedelta

from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.storage.table import Table

_KEPT_AFTER_LOOK = timedelta(hours=1)
_DIGEST_LENGTH = 4
_LAST = "~"  # no digest begins with it


class ParkedRepository:
    """Parked runs in the ``completions`` table, with the tokens that wake them."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, progress: ChunkProgress, token: str, now: datetime) -> None:
        """List a run with its token, in place of one that it had before."""
        gone_at = now + timedelta(seconds=progress.sleep_seconds) + _KEPT_AFTER_LOOK
        self._table.put(
            {
                "pk": _partition(progress.grader_id),
                "sk": _place(progress.run_id),
                "task_token": token,
                "expires_at": int(gone_at.timestamp()),
            }
        )

    def places(self, grader_id: str, *, at_most: int) -> Iterator[str]:
        """Yield the places of some runs that are parked for a grader, from a random one on."""
        start = f"{random.getrandbits(4 * _DIGEST_LENGTH):0{_DIGEST_LENGTH}x}"
        for between in ((start, _LAST), ("0", start)):
            page = self._table.query(_partition(grader_id), between=("sk", *between), limit=at_most)
            for item in page.items:
                yield item["sk"]

    def take(self, grader_id: str, place: str) -> str | None:
        """Take a run from the list; return its token, None where another has taken it."""
        item = self._table.take(_partition(grader_id), place)
        return None if item is None else item["task_token"]

    def remove(self, progress: ChunkProgress) -> None:
        """Take a run from the list if it is there."""
        self._table.delete(_partition(progress.grader_id), _place(progress.run_id))


def _partition(grader_id: str) -> str:
    return f"parked#{grader_id}"


def _place(run_id: str) -> str:
    digest = hashlib.sha256(run_id.encode()).hexdigest()[:_DIGEST_LENGTH]
    return f"{digest}#{run_id}"
