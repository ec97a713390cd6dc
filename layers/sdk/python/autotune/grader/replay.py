"""Request ids that were used already, so that a recorded request cannot be played again."""

import threading
import time
from collections.abc import Callable

MAX_REMEMBERED_REQUESTS = 50_000


class RequestIdMemory:
    """A bounded memory of request ids, each kept until its signature is too old to be accepted.

    It lives in one process: a grader that runs in several (Lambda instances, uvicorn workers)
    refuses a replay only where the first request went. Elsewhere a replay within the tolerance
    costs the owner one call and yields the answer that the first request had.

    When the bound is reached, the id that came first is forgotten first.
    """

    def __init__(
        self, max_entries: int = MAX_REMEMBERED_REQUESTS, clock: Callable[[], float] = time.time
    ) -> None:
        self._max_entries = max_entries
        self._clock = clock
        self._expiry_by_id: dict[str, float] = {}
        self._lock = threading.Lock()

    def admit(self, request_id: str, *, expires_at: float) -> bool:
        """Remember ``request_id``; return False if it was there.

        Args:
            request_id: the id of a request whose signature holds.
            expires_at: Unix seconds after which its signature is stale.
        """
        now = self._clock()
        with self._lock:
            used_until = self._expiry_by_id.pop(request_id, None)
            if used_until is not None and used_until >= now:
                self._expiry_by_id[request_id] = used_until
                return False
            self._expiry_by_id[request_id] = expires_at
            self._forget(now)
            return True

    def __len__(self) -> int:
        return len(self._expiry_by_id)

    def _forget(self, now: float) -> None:
        while self._expiry_by_id:
            oldest = next(iter(self._expiry_by_id))
            within_bound = len(self._expiry_by_id) <= self._max_entries
            if within_bound and self._expiry_by_id[oldest] >= now:
                return
            del self._expiry_by_id[oldest]
