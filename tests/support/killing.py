"""Ends a process at a chosen call of AWS: what it did before stays, and nothing comes after."""

import threading
from typing import Any

from autotune_platform.runtime import clients


class Killed(Exception):  # noqa: N818 - no error of the product
    """The process ended here."""


class Killer:
    """Ends the process before or after its n-th call of AWS."""

    def __init__(self) -> None:
        self.calls_left: dict[str, float] = {}
        self.called: list[str] = []
        self._lock = threading.Lock()
        for client in (clients.dynamodb(), clients.sqs(), clients.s3(), clients.stepfunctions()):
            self.also(client)

    def also(self, client: Any) -> None:
        """Count calls of one more client."""
        for moment in ("before-call", "after-call"):
            client.meta.events.register(moment, self._listener(moment))

    def _listener(self, moment: str) -> Any:
        def listen(model: Any, **_: Any) -> None:
            with self._lock:
                self.calls_left[moment] = self.calls_left.get(moment, float("inf")) - 1
                if moment == "before-call":
                    self.called.append(model.name)
                if self.calls_left[moment] < 0:
                    raise Killed

        return listen

    def kill(self, moment: str, *, after: int) -> None:
        self.calls_left = {moment: after}

    def spare(self) -> None:
        self.calls_left = {}
