"""What the phases of a job have in common: who is asked, what is stored, and how long to wait."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.connections import pause
from autotune_platform.ledger.exchanges import Exchanges
from autotune_platform.ledger.job_states import JobState
from autotune_platform.ledger.jobs.contract import (
    Ended,
    Job,
    JobProvider,
    Look,
    Missing,
    Running,
)
from autotune_platform.ledger.jobs.registry import provider_jobs
from autotune_platform.ledger.jobs.session import Session
from autotune_platform.ledger.keys import ProviderKeys
from autotune_platform.ledger.models import Batch, BatchPhase, Connection
from autotune_platform.ledger.phases import entering
from autotune_platform.ledger.providers.refusals import without_key
from autotune_platform.ledger.roles import RoleSessions
from autotune_platform.ledger.usable_connections import usable
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import jittered

FIRST_WAIT_SECONDS = 15
LONGEST_WAIT_SECONDS = 900


class LostError(Exception):
    """Another step or execution has the batch: this one may do nothing more."""


@dataclass(frozen=True)
class Advanced:
    """How far a step came; None to wait is to go on at once with the next phase."""

    batch: Batch
    wait_seconds: float | None = None


@part
class Desk:
    """Where phases find the provider, and store how far the batch is."""

    batches: BatchRepository
    connections: ConnectionRepository
    keys: ProviderKeys
    exchanges: Exchanges
    roles: RoleSessions
    clock: Clock = SYSTEM_CLOCK

    def connection(self, batch: Batch) -> Connection | None:
        """Return the connection of a batch; None where it was revoked, and its key is gone."""
        return usable(self.connections.get(batch.connection_id))

    def provider(self, batch: Batch) -> JobProvider:
        """Return what speaks with the batch's provider."""
        found = provider_jobs(batch.provider)
        assert found is not None, "only providers with jobs are sent any"
        return found

    def session(self, connection: Connection, batch: Batch) -> Session:
        """Return the way to the provider, with the key that the job was last seen with, if any."""
        version = state_of(batch).key_version or connection.key_version
        return self._session(connection.model_copy(update={"key_version": version}))

    def look(self, batch: Batch, connection: Connection) -> tuple[Session, Look | Refusal]:
        """Look with the key that the job is known by; where that sees none, with the present one.

        ``account`` is only where the present key is refused.
        """
        provider, job = self.provider(batch), job_of(batch)
        session = self.session(connection, batch)
        look = provider.look(session, job)
        is_refused = isinstance(look, Refusal) and look.code == "account"
        if not (is_refused or isinstance(look, Missing)):
            return session, look
        newer = self.newer_session(connection, batch)
        if newer is None:
            return session, look
        again = provider.look(newer, job)
        # A job that its own key does not see need not be seen by another.
        believed = is_refused or isinstance(again, Running | Ended)
        return (newer, again) if believed else (session, look)

    def newer_session(self, connection: Connection, batch: Batch) -> Session | None:
        """Return the way with the connection's present key, where a job's own is an older one.

        It is for where the older key is refused: that says nothing of the present one.
        """
        return None if self.has_newest_key(connection, batch) else self._session(connection)

    @staticmethod
    def has_newest_key(connection: Connection, batch: Batch) -> bool:
        """Return whether a batch is asked for with the connection's present key."""
        return state_of(batch).key_version in (0, connection.key_version)

    def _session(self, versioned: Connection) -> Session:
        return Session(versioned, self.keys.of(versioned), self.exchanges, self.roles)

    def store(
        self,
        batch: Batch,
        *,
        phase: BatchPhase | None = None,
        job: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> Batch:
        """Store a change; return the batch with it.

        Raises:
            LostError: another step has the batch, or it is settled.
            PhaseOrderError: the phase may not follow the batch's.
        """
        if phase is not None:
            changes |= entering(batch, phase)
        state = state_of(batch).model_copy(update=dict(job or {}))
        after = batch.model_copy(update={**changes, "job": state})
        written = {
            **{
                name: value.model_dump(mode="json") if isinstance(value, FrozenModel) else value
                for name, value in changes.items()
            },
            "phase": after.phase,
            "job": state.model_dump(mode="json", exclude_none=True),
        }
        if not self.batches.change(batch, written):
            raise LostError
        return after

    def failed(self, batch: Batch, refusal: Refusal) -> Advanced:
        """Return when to try the present phase again; each time twice as long."""
        tries = state_of(batch).tries
        after = self.store(batch, job={"tries": tries + 1})
        # A job may fail for weeks, and a float has no room for so many doublings.
        wait = min(FIRST_WAIT_SECONDS * 2.0 ** min(tries, 10), LONGEST_WAIT_SECONDS)
        return Advanced(after, max(jittered(wait), refusal.retry_after_seconds or 0))

    def pause(self, connection: Connection, refusal: Refusal) -> None:
        """Keep a connection's queued rows from being sent until somebody changes it."""
        if connection.status == "active":
            pause(self.connections, connection, refusal.message, self.clock.now())


def state_of(batch: Batch) -> JobState:
    """Return how far a batch's job is."""
    assert batch.job is not None, "a batch of a job has its state"
    return batch.job


def job_of(batch: Batch) -> Job:
    """Return a batch as its provider knows it."""
    state = state_of(batch)
    return Job(
        batch_id=batch.id,
        nonce=state.nonce,
        model=batch.model,
        rows=state.rows,
        begun_at=state.begun_at or batch.created_at,
        input_file=state.input_file or None,
        job_id=state.job_id,
    )


def shown(refusal: Refusal, key: str | None) -> Refusal:
    """Return a refusal as it may be stored and shown: without the key, and short."""
    hidden = without_key(refusal, key)
    assert isinstance(hidden, Refusal)
    return hidden
