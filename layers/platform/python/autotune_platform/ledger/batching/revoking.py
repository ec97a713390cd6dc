"""Revoking a connection: its jobs are asked to end before the key goes, as far as there is time.

A job that goes on is paid, and nobody can ask for its results any more. The revocation waits for no
provider: what could not be asked to end is named.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_lambda_powertools import Logger

from autotune.protocol import llm_connections as wire
from autotune_platform.access.models import Caller
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.batching.stepping import Desk, job_of, shown, state_of
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.connections import ConnectionService
from autotune_platform.ledger.job_sizes import is_cancelable
from autotune_platform.ledger.models import Batch, Connection
from autotune_platform.ledger.phases import phase_of
from autotune_platform.ledger.usable_connections import usable
from autotune_platform.outbound.connections import time_limit
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel

logger = Logger()

MOST_JOBS = 20
"""Jobs that are asked to end; others are only named."""

SEARCH_SECONDS = 4
"""For how long batches are looked through for such jobs, the youngest first."""

ASK_SECONDS = 6
"""For how long the provider is asked, all of it together."""

# No revocation fails for it.
_TABLE_REFUSES = (*REFUSALS, UnavailableError)
_PAGE = 100
_AT_ONCE = 8


@dataclass(frozen=True)
class _Found:
    """Batches that may have a live job, and whether all of the organisation's were looked at."""

    batches: Sequence[Batch]
    is_all: bool


@part
class ConnectionRevoking:
    """Revokes connections, and asks for the end of what they have under way."""

    connections: ConnectionService
    batches: BatchRepository
    desk: Desk
    clock: Clock = SYSTEM_CLOCK

    def revoke(
        self, caller: Caller, connection_id: str, *, may_ask: bool = True
    ) -> wire.RevokedLlmConnection:
        """Revoke a connection for good; say of each job that it had whether it was asked to end.

        Args:
            may_ask: whether there is time to look for jobs and ask for their end.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        before = self.connections.get(caller, connection_id)
        if usable(before) is None:
            again = self.connections.revoke(caller, connection_id)
            return wire.RevokedLlmConnection.model_validate(again.model_dump())
        found = self._live(before, pages=None) if may_ask else _Found([], is_all=False)
        jobs: list[wire.JobOfRevokedConnection] = []

        def end_jobs(_: Connection) -> None:
            if not may_ask:
                return
            # Steps see from now on that it is revoked; one may have made a batch just before.
            late = self._live(before, pages=1)
            every = {one.id: one for one in (*late.batches, *found.batches)}
            jobs.extend(self._end(before, list(every.values())))

        revoked = self.connections.revoke(caller, connection_id, before_key_goes=end_jobs)
        for one in jobs:
            logger.info("job of a revoked connection", **one.model_dump())
        return wire.RevokedLlmConnection.model_validate(
            {**revoked.model_dump(), "jobs": jobs, "more_jobs": not found.is_all}
        )

    def _live(self, connection: Connection, *, pages: int | None) -> _Found:
        """Return batches of a connection that may have a live job."""
        ends = self.clock.monotonic() + SEARCH_SECONDS
        found: list[Batch] = []
        token, read = None, 0
        while pages is None or read < pages:
            if self.clock.monotonic() >= ends:
                return _Found(found, is_all=False)
            try:
                some, token = self.batches.page(
                    connection.organization_id, limit=_PAGE, next_token=token
                )
            except _TABLE_REFUSES:
                logger.exception("batches not read")
                return _Found(found, is_all=False)
            found += [
                one
                for one in some
                if one.connection_id == connection.id and one.job and phase_of(one).may_be_live
            ]
            read += 1
            if token is None:
                break
        return _Found(found, is_all=True)

    def _end(
        self, connection: Connection, found: Sequence[Batch]
    ) -> list[wire.JobOfRevokedConnection]:
        """Ask for the end of jobs; return what came of it, the youngest first."""
        ends = self.clock.monotonic() + ASK_SECONDS
        told: dict[str, wire.JobOfRevokedConnection] = {}
        known: list[Batch] = []
        for before in found:
            # A step may have ended it in the meantime, because the connection is revoked.
            now = self._again(before)
            state = state_of(now)
            if state.job_id is not None and now.phase == "polling":
                known.append(now)
            elif state.begun_at is not None:
                why = "it was being created: the provider's list shows whether there is one"
                told[now.id] = _left(now, why)
        for one in known[MOST_JOBS:]:
            told[one.id] = _left(one, f"at most {MOST_JOBS} are asked to end")

        def ask(batch: Batch) -> None:
            left = ends - self.clock.monotonic()
            why = self._refusal(connection, batch, left) if left > 0 else "there was no time to ask"
            told[batch.id] = _left(batch, why)

        in_parallel(ask, known[:MOST_JOBS], at_most=_AT_ONCE)
        return [told[one.id] for one in found if one.id in told]

    def _again(self, before: Batch) -> Batch:
        try:
            batch = self.batches.get(before.id)
        except _TABLE_REFUSES:
            logger.exception("batch not read", batch_id=before.id)
            return before
        return batch if batch is not None and phase_of(batch).may_be_live else before

    def _refusal(self, connection: Connection, batch: Batch, seconds: float) -> str | None:
        """Ask for the end of a job; return why it may go on, None where it was asked to end."""
        provider = self.desk.provider(batch)
        if not is_cancelable(batch.provider):
            return f"{batch.provider} cancels no jobs"
        try:
            with time_limit(seconds):
                session = self.desk.session(connection, batch)
                refusal: Refusal | None = provider.cancel(session, job_of(batch))
                newer = self.desk.newer_session(connection, batch)
                if refusal is not None and refusal.code == "account" and newer is not None:
                    session, refusal = newer, provider.cancel(newer, job_of(batch))
        except _TABLE_REFUSES:
            logger.exception("key not read", batch_id=batch.id)
            return "its key could not be read"
        return None if refusal is None else shown(refusal, session.key).message


def _left(batch: Batch, why: str | None) -> wire.JobOfRevokedConnection:
    return wire.JobOfRevokedConnection(
        batch_id=batch.id, job_id=state_of(batch).job_id, is_asked_to_end=why is None, detail=why
    )
