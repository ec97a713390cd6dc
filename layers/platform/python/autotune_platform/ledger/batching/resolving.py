"""What an admin says became of a creation, taken where the provider does not say otherwise."""

from datetime import datetime
from typing import Any

from autotune.protocol import llm_batches as wire
from autotune_platform.access.models import Caller
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.batching.creating import visible_within
from autotune_platform.ledger.batching.stepping import Desk, job_of, shown, state_of
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.creations import CreationRepository
from autotune_platform.ledger.job_sizes import has_jobs
from autotune_platform.ledger.jobs.contract import Missing, Reported
from autotune_platform.ledger.models import Batch, Connection
from autotune_platform.ledger.phases import entering
from autotune_platform.ledger.wire import batch_on_wire
from autotune_platform.outbound.connections import time_limit
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, NotFoundError
from autotune_platform.runtime.parts import part

# Of the 29 that an answer of the API may take.
_LOOK_SECONDS = 15


@part
class BatchResolving:
    """Ends the doubt whether a batch's job was created; a step goes on with it."""

    batches: BatchRepository
    creations: CreationRepository
    desk: Desk
    clock: Clock = SYSTEM_CLOCK

    def resolve(
        self, caller: Caller, batch_id: str, request: wire.ResolveLlmBatchRequest
    ) -> wire.LlmBatch:
        """Have a batch go on with a job, or create one anew.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
            ConflictError: its creation is not unclear, or a step is at it just now; the job is
                another batch's, cannot be seen or does not fit; or it is too early to say that
                there is none.
        """
        batch = self._batch(caller, batch_id)
        now = self.clock.now()
        if not _is_unclear(batch):
            raise ConflictError("it is not unclear whether the batch's job was created")
        if batch.worked_until is not None and batch.worked_until > now:
            raise _busy()
        gone: dict[str, Any]
        changes: dict[str, Any]
        if request.job_id is None:
            _require_time(batch, self.desk.connection(batch), now)
            gone = {"begun_at": None, "job_id": None, "is_adopted": False}
            changes = entering(batch, "creating")
        else:
            connection = self._require_fit(batch, request.job_id)
            if not self.creations.own(batch, connection, request.job_id):
                raise ConflictError("the job is another batch's")
            gone = {"job_id": request.job_id, "is_adopted": True}
            changes = {**entering(batch, "polling"), "submitted_at": now}
        anew: dict[str, Any] = {
            "candidates": [],
            "taken": None,
            "tries": 0,
            "missed_since": None,
            **gone,
        }
        job = state_of(batch).model_copy(update=anew)
        changes["job"] = job.model_dump(mode="json", exclude_none=True)
        # A step may have come and gone while the provider was asked.
        if self.batches.get(batch.id) != batch:
            raise _busy()
        if not self.batches.change(batch, changes, due_at=now):
            raise _busy()
        self.creations.release(batch)
        return batch_on_wire(self._batch(caller, batch_id))

    def _require_fit(self, batch: Batch, job_id: str) -> Connection:
        """Look at a job before it is taken for a batch's own; return where it is.

        Raises:
            ConflictError: the provider shows no such job, or one of another model or size.
        """
        connection = self.desk.connection(batch)
        if connection is None:
            raise ConflictError("the batch's connection was revoked")
        if not has_jobs(batch.provider):
            raise ConflictError(f"{batch.provider} has no jobs")
        if not self.creations.may_own(batch, connection, job_id):
            raise ConflictError("the job is another batch's")
        state = state_of(batch)
        named = batch.model_copy(update={"job": state.model_copy(update={"job_id": job_id})})
        with time_limit(_LOOK_SECONDS):
            session, look = self.desk.look(named, connection)
            if isinstance(look, Missing) and job_id not in state.candidates:
                listed = self.desk.provider(batch).search(session, job_of(batch))
                if isinstance(listed, Refusal):
                    look = listed
                elif job_id not in listed:
                    raise ConflictError(
                        "the provider shows no such job: neither by its name nor in its list"
                    )
        if isinstance(look, Refusal):
            said = shown(look, session.key).message
            raise ConflictError(f"the job could not be looked at, so it is not taken: {said}")
        if not isinstance(look, Missing):
            _require_likeness(look.reported, batch)
        return connection

    def _batch(self, caller: Caller, batch_id: str) -> Batch:
        batch = self.batches.get(batch_id)
        if batch is None or batch.organization_id != caller.organization_id:
            raise NotFoundError(f"no batch {batch_id}")
        return batch


def _is_unclear(batch: Batch) -> bool:
    """Return whether it may be said what became of a batch's creation, or said otherwise."""
    state = batch.job
    if state is None:
        return False
    is_unseen = state.is_adopted and state.missed_since is not None
    return batch.phase == "unknown" or (batch.phase == "polling" and is_unseen)


def _require_time(batch: Batch, connection: Connection | None, now: datetime) -> None:
    """Refuse to create a job anew as long as the one that there may be need not be visible.

    Raises:
        ConflictError: it is too early.
    """
    state = state_of(batch)
    if state.begun_at is None or connection is None:
        return
    visible_at = state.begun_at + visible_within(state, connection)
    if now < visible_at:
        raise ConflictError(
            "the job may be there and not be visible yet, and its requests would be paid twice: "
            f"resubmit is possible from {visible_at:%Y-%m-%dT%H:%M:%SZ}"
        )


def _require_likeness(reported: Reported, batch: Batch) -> None:
    """Compare a job with a batch, as far as the provider tells.

    Raises:
        ConflictError: it has another model, or another number of rows.
    """
    rows = state_of(batch).rows
    if reported.total is not None and reported.total != rows:
        raise ConflictError(f"the job has {reported.total} requests, and the batch {rows}")
    asked, model = batch.model.rpartition("/")[2], (reported.model or "").rpartition("/")[2]
    # Some show a model with its date, or without a variant.
    if model and not (model.startswith(asked) or asked.startswith(model)):
        raise ConflictError(f"the job is of model {reported.model}, and the batch of {batch.model}")


def _busy() -> ConflictError:
    return ConflictError("the batch is being worked on; try again in some minutes")
