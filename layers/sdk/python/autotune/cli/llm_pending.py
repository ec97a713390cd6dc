"""What requests to language models wait for, said while somebody waits for their ends."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from autotune.cli.progress import CountProgress
from autotune.client import AutotuneClient, AutotuneError
from autotune.protocol.llm_requests import LlmRequest

_REMIND_EVERY_SECONDS = 30.0


class PendingRequests:
    """Requests that have not ended, as they were when they were looked at last.

    Args:
        total: how many are waited for.
    """

    def __init__(self, client: AutotuneClient, progress: CountProgress, total: int) -> None:
        self._client = client
        self._progress = progress
        self._total = total
        self._ended = 0
        # By id: what it waits for, and of which connection.
        self._seen: dict[str, tuple[str, str]] = {}
        self._said_at = time.monotonic()

    def look(self, request: LlmRequest) -> None:
        """Take one that is pending; say every 30 s what they all wait for."""
        waits_for = request.waiting_because or f"is {request.status}"
        self._seen[request.id] = (waits_for, request.connection_id)
        if time.monotonic() - self._said_at >= _REMIND_EVERY_SECONDS:
            self._progress.print_line(f"still {self._total - self._ended} pending")
            self.say_why()

    def reasked(self, request: LlmRequest) -> None:
        """Take one in whose place another is waited for."""
        self._seen.pop(request.id, None)

    def ended(self, request: LlmRequest) -> None:
        """Take one that has ended."""
        self._ended += 1
        self._seen.pop(request.id, None)

    def say_why(self) -> None:
        """Say of those that were looked at what they wait for, with the reason of a pause."""
        for line in self._reasons():
            self._progress.print_line(line)
        self._said_at = time.monotonic()

    def _reasons(self) -> Iterator[str]:
        groups = Counter(self._seen.values())
        for (waits_for, connection_id), count in groups.most_common():
            line = f"  {count}: {waits_for}"
            if waits_for != "connection_paused":
                yield line
                continue
            yield f"{line}, {connection_id}{self._paused_because(connection_id)}"
        unseen = self._total - self._ended - len(self._seen)
        if unseen > 0:
            yield f"  {unseen}: not looked at yet"

    def _paused_because(self, connection_id: str) -> str:
        with suppress(AutotuneError):  # a reminder is not worth ending the wait for
            connection = self._client.llm.connections.get(connection_id)
            if connection.paused_because:
                return (
                    f" ({connection.paused_because}); `autotune llm update-connection "
                    f"{connection_id}` with any option takes it up again"
                )
        return ""
