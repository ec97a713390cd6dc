"""Starting runs, so that the same request sent again starts none twice."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from autotune.protocol.ids import derived_id, new_id
from autotune.protocol.limits import APPRENTICE_RUN_SECONDS
from autotune_platform.access.models import Caller
from autotune_platform.apprentice.runs.handing_over import RunQueue, RunWorker
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.apprentice.runs.outputs import require_input
from autotune_platform.apprentice.runs.prompting import require_fits
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.apprentice.standing import Standing, Standings
from autotune_platform.budgets.waiting import Held, Work
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import IdempotencyKeyReusedError
from autotune_platform.runtime.parts import part

WORKER_SECONDS: Final = 300
"""After which a worker has ended, one way or another."""

_LOOK_EVERY_SECONDS = 0.5


@dataclass(frozen=True)
class Started:
    """A run as it stands.

    Attributes:
        output: its answer, where the worker returned it.
        is_known: whether ``output`` says all; False where it is to be read.
        goes_on: whether a worker that was waited for may be at it still.
    """

    run: Run
    output: Mapping[str, Any] | None = None
    is_known: bool = False
    goes_on: bool = False


@part
class RunStarting:
    """Takes inputs of tasks."""

    runs: RunRepository
    standings: Standings
    queue: RunQueue
    worker: RunWorker
    clock: Clock = SYSTEM_CLOCK

    def start(
        self,
        caller: Caller,
        name: str,
        value: Mapping[str, Any],
        *,
        idempotency_key: str | None,
        wait_seconds: int,
        work: Work | None = None,
    ) -> Started:
        """Start a run of a task, and wait for its end if that is wanted.

        Args:
            work: with the places of whoever waits.

        Raises:
            NotFoundError: there is no such task.
            InvalidRequestError: the input is not what the task takes.
            IdempotencyKeyReusedError: the key came before, with another input.
            UnavailableError: a store is busy.
        """
        standing = self.standings.of(caller.organization_id, name)
        require_input(dict(value), standing.document["inputSchema"])
        require_fits(standing.document, value)
        run = self._new(caller, standing, value, idempotency_key)
        before = self.runs.get(run.id) if idempotency_key is not None else None
        if before is not None:
            return self._again(before, run, wait_seconds)
        if wait_seconds:
            return self._awaited(run, wait_seconds, () if work is None else work.held)
        if not self.runs.add(run) and (stored := self.runs.get(run.id)) is not None:
            return self._again(stored, run, 0)
        self.queue.send(run)
        return Started(run)

    def _awaited(self, run: Run, seconds: int, held: Sequence[Held]) -> Started:
        began_at = self.clock.monotonic()
        places = {
            "held": [one.model_dump() for one in held],
            "waited_until": self.clock.unix() + seconds,
        }
        answered = self.worker.work(run, seconds=seconds, places=places if held else None)
        if answered is not None:
            found, output = answered
            self._require_same(found, run)
            return Started(found, output, is_known=True)
        # It may be at it still, or was killed, also before it stored anything.
        self.runs.add(run)
        is_late = self.clock.monotonic() - began_at >= seconds
        self.queue.send(run, delay_seconds=WORKER_SECONDS if is_late else 0)
        found = self.runs.get(run.id) or run
        self._require_same(found, run)
        return Started(found, goes_on=is_late and not found.has_ended)

    def _again(self, before: Run, run: Run, wait_seconds: int) -> Started:
        """Answer a request that came before."""
        self._require_same(before, run)
        if before.has_ended:
            return Started(before)
        # Whoever stored it may have been killed before it was handed over. Where a call is under
        # way, somebody has it: each message more would come again each minute until the run ends.
        if before.remote_asking is None:
            self.queue.send(before)
        until = self.clock.monotonic() + wait_seconds
        found = before
        while not found.has_ended and self.clock.monotonic() < until:
            self.clock.sleep(_LOOK_EVERY_SECONDS)
            found = self.runs.get(before.id) or found
        return Started(found)

    def _new(
        self,
        caller: Caller,
        standing: Standing,
        value: Mapping[str, Any],
        idempotency_key: str | None,
    ) -> Run:
        now, task = self.clock.now(), standing.task
        run_id = (
            new_id("apr")
            if idempotency_key is None
            else derived_id("apr", caller.organization_id, task.id, idempotency_key)
        )
        asked = json.dumps([task.id, value], sort_keys=True, separators=(",", ":"))
        return Run(
            id=run_id,
            organization_id=caller.organization_id,
            task_id=task.id,
            task_name=task.name,
            configuration_version=standing.configuration.version,
            definition_hash=standing.configuration.definition_hash,
            created_by=caller.key_id,
            input=value,
            fingerprint=hashlib.sha256(asked.encode()).hexdigest(),
            created_at=now,
            deadline_at=now + timedelta(seconds=APPRENTICE_RUN_SECONDS),
        )

    @staticmethod
    def _require_same(before: Run, run: Run) -> None:
        if before.fingerprint != run.fingerprint:
            raise IdempotencyKeyReusedError("this Idempotency-Key came before with another input")
