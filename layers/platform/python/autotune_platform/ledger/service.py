"""What callers ask of rows and batches that are there: reading, canceling, trying again."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from autotune.protocol import llm_batches as wire
from autotune.protocol.llm_connections import nano_usd
from autotune.protocol.llm_requests import LlmRequest, LlmRequestFilter, LlmRequestSummary
from autotune_platform.access.models import Caller
from autotune_platform.budgets.money import MoneyBudgets, MoneyLimits
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.claims import ClaimRepository
from autotune_platform.ledger.connections import ConnectionRepository
from autotune_platform.ledger.costs import CostRepository
from autotune_platform.ledger.creations import CreationRepository
from autotune_platform.ledger.ending import end_unasked
from autotune_platform.ledger.enqueuing import EnqueuingService
from autotune_platform.ledger.models import Batch, Row
from autotune_platform.ledger.planning import RowPlanner
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.ledger.unclear import needs_operator
from autotune_platform.ledger.waiting import RowWaiting
from autotune_platform.ledger.wire import batch_on_wire, request_on_wire, summary_on_wire
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, InvalidRequestError, NotFoundError
from autotune_platform.runtime.long_poll import LongPoll
from autotune_platform.runtime.parts import part
from autotune_platform.storage.cursors import decode_cursor, encode_cursor

MOST_COST_DAYS = 400

_LOOKS = LongPoll(first_seconds=0.2, usual_seconds=1, longest_seconds=2)


@part
class LedgerService:
    """Reads and changes an organisation's rows and batches."""

    rows: RowRepository
    texts: RowTexts
    batches: BatchRepository
    claims: ClaimRepository
    creations: CreationRepository
    connections: ConnectionRepository
    enqueuing: EnqueuingService
    planner: RowPlanner
    costs: CostRepository
    money: MoneyBudgets
    waiting: RowWaiting
    clock: Clock = SYSTEM_CLOCK

    def get(self, caller: Caller, row_id: str, *, wait_seconds: float = 0) -> LlmRequest:
        """Return a row with its texts, once it has ended or the time is up.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        row = self._row(caller, row_id)
        for _ in _LOOKS.looks(self.clock, seconds=0 if row.has_ended else wait_seconds):
            row = self._row(caller, row_id)
            if row.has_ended:
                break
        found = request_on_wire(row, self.texts.input_of(row.id), self.texts.output_of(row.id))
        return found.model_copy(update={"waiting_because": self.waiting.because(row)})

    def list_requests(
        self,
        caller: Caller,
        wanted: LlmRequestFilter,
        *,
        limit: int,
        next_token: str | None,
    ) -> tuple[list[LlmRequestSummary], str | None]:
        """Return a page of the organisation's rows that match a filter, the youngest first."""
        found, token = self.rows.page(
            caller.organization_id,
            status=wanted.status,
            where=conditions(wanted),
            created_after=wanted.created_after,
            created_before=wanted.created_before,
            limit=limit,
            next_token=next_token,
        )
        return [summary_on_wire(row) for row in found], token

    def cancel(self, caller: Caller, row_id: str) -> LlmRequestSummary:
        """Cancel a row: at once in its queue, else unless it is being asked; an end stays.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        row = self._row(caller, row_id)
        now = self.clock.now()
        # One that went back to its queue may have been unwanted before.
        while row.status == "queued" or not (row.has_ended or row.cancel_requested_at):
            after = (
                end_unasked(self.rows, self.claims, row, "canceled", now)
                if row.status == "queued"
                else self.rows.request_cancel(row, now)
            )
            row = after or self._row(caller, row_id)
        return summary_on_wire(row)

    def retry(self, caller: Caller, row_id: str) -> str:
        """Enqueue a row that has ended once more, as one of its own; return its id.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
            ConflictError: it has not ended, or its texts are gone, or its connection is.
        """
        row = self._row(caller, row_id)
        if not row.has_ended:
            raise ConflictError(f"the request is {row.status}; only one that has ended is retried")
        text = self.texts.input_of(row.id)
        if text is None:
            raise ConflictError("the request's texts were deleted")
        connection = self.connections.get(row.connection_id)
        if connection is None or connection.status == "revoked":
            raise ConflictError("the request's connection was revoked")
        return self.enqueuing.retry(caller, row, text, connection)

    def erase(self, caller: Caller, row_id: str) -> None:
        """Delete the texts of a row that has ended; deleting them again changes nothing.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
            ConflictError: it has not ended.
        """
        row = self._row(caller, row_id)
        if not row.has_ended:
            raise ConflictError(f"the request is {row.status}; cancel it first")
        self.texts.erase(row.id)

    def batch(self, caller: Caller, batch_id: str) -> wire.LlmBatch:
        """Return a batch.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return batch_on_wire(self._batch(caller, batch_id))

    def list_batches(
        self,
        caller: Caller,
        *,
        unresolved: bool = False,
        limit: int,
        next_token: str | None,
    ) -> tuple[list[wire.LlmBatch], str | None]:
        """Return a page of the organisation's batches, the youngest first.

        Args:
            unresolved: only those that wait for an operator; a page may be short then.
        """
        found, token = self.batches.page(caller.organization_id, limit=limit, next_token=next_token)
        now = self.clock.now()
        shown = (batch for batch in found if not unresolved or needs_operator(batch, now))
        return [batch_on_wire(batch) for batch in shown], token

    def batch_rows(
        self, caller: Caller, batch_id: str, *, limit: int, next_token: str | None
    ) -> tuple[list[LlmRequestSummary], str | None]:
        """Return a page of the rows that a batch was made for, in its order.

        Raises:
            NotFoundError: there is no such batch, or it is another organisation's.
            InvalidRequestError: ``next_token`` is not from this list.
        """
        batch = self._batch(caller, batch_id)
        place = _place_in(next_token)
        ids = list(self._some_ids(batch, place, limit))
        found = self.rows.get_many(ids)
        token = encode_cursor(str(place + limit)) if place + limit < batch.rows else None
        return [summary_on_wire(found[row_id]) for row_id in ids if row_id in found], token

    def cancel_batch(self, caller: Caller, batch_id: str) -> wire.LlmBatch:
        """Cancel what a batch has not asked yet; what was asked stays.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        batch = self._batch(caller, batch_id)
        if batch.phase != "settled" and batch.cancel_requested_at is None:
            self.batches.request_cancel(batch, self.clock.now())
        return batch_on_wire(self._batch(caller, batch_id))

    def resolve_batch(
        self, caller: Caller, batch_id: str, request: wire.ResolveLlmBatchRequest
    ) -> wire.LlmBatch:
        """Say what became of a creation that is unclear; the sweeper goes on with it.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
            ConflictError: its creation is not unclear, the job is another batch's, or a step is at
                it just now.
        """
        batch = self._batch(caller, batch_id)
        now = self.clock.now()
        if batch.phase != "unknown" or batch.job is None:
            raise ConflictError("it is not unclear whether the batch's job was created")
        anew: dict[str, object] = {"candidates": [], "tries": 0}
        if request.job_id is not None:
            if not self.creations.own(batch, request.job_id):
                raise ConflictError("the job is another batch's")
            anew["job_id"] = request.job_id
        else:
            anew["begun_at"] = None
        state = batch.job.model_copy(update=anew).model_dump(mode="json", exclude_none=True)
        changes: dict[str, Any] = {
            "phase": "polling" if request.job_id else "creating",
            "job": state,
        }
        if request.job_id is not None:
            changes |= {"status": "submitted", "submitted_at": now}
        busy = batch.worked_until is not None and batch.worked_until > now
        if busy or not self.batches.change(batch, changes, due_at=now):
            raise ConflictError("the batch is being worked on; try again in some minutes")
        self.creations.release(batch)
        return batch_on_wire(self._batch(caller, batch_id))

    def spent(
        self,
        caller: Caller,
        *,
        group_by: wire.LlmCostGroup,
        trace_field: wire.LlmTraceField | None,
        first: date,
        last: date,
    ) -> list[wire.LlmCost]:
        """Return what was spent on some days, by day and group.

        Raises:
            InvalidRequestError: the days are in no order, or too many, or it is not said which id
                of traces costs are grouped by.
        """
        if (group_by == "trace") != (trace_field is not None):
            raise InvalidRequestError.of_field(
                "traceField", "given with groupBy=trace, and only then"
            )
        if last < first:
            raise InvalidRequestError.of_field("to", "a day that is not before from")
        if (last - first).days >= MOST_COST_DAYS:
            raise InvalidRequestError.of_field("from", f"at most {MOST_COST_DAYS} days before to")
        if trace_field is not None:
            name = {"experimentId": "experiment_id", "rubricId": "rubric_id"}[trace_field]
            return [
                wire.LlmCost(group=one.trace_id, **one.model_dump(exclude={"trace_id"}))
                for one in self.costs.traced_between(caller.organization_id, name, first, last)
            ]
        sums: dict[tuple[str, str], wire.LlmCost] = {}
        for one in self.costs.between(caller.organization_id, first, last):
            names = {
                "day": one.day,
                "model": one.model,
                "purpose": one.purpose,
                "connection": one.connection_id,
            }
            key = (one.day, names[group_by])
            before = sums.get(key) or wire.LlmCost(day=key[0], group=key[1])
            sums[key] = before.model_copy(
                update={
                    name: getattr(before, name) + getattr(one, name)
                    for name in wire.LLM_COST_NUMBERS
                }
            )
        return [sums[key] for key in sorted(sums)]

    def budget(self, caller: Caller) -> wire.LlmBudget:
        """Return the organisation's budget, and what its present periods have used."""
        uses = self.money.uses(caller.organization_id)
        limits = {f"{use.period}_usd": _usd(use.limit) for use in uses}
        periods = [
            wire.LlmBudgetUse(
                period=use.period,
                name=use.name.partition("#")[2],
                limit_nano_usd=use.limit,
                spent_nano_usd=use.spent,
                reserved_nano_usd=use.reserved,
            )
            for use in uses
        ]
        return wire.LlmBudget(limits=wire.LlmBudgetLimits.model_validate(limits), periods=periods)

    def set_budget(self, caller: Caller, limits: wire.LlmBudgetLimits) -> wire.LlmBudget:
        """Replace the limits of the organisation's budget."""
        self.money.set_limits(
            caller.organization_id,
            MoneyLimits(
                **{
                    name.removesuffix("_usd"): nano_usd(amount)
                    for name, amount in limits.model_dump(exclude_none=True).items()
                }
            ),
        )
        return self.budget(caller)

    def estimate(self, caller: Caller, request: wire.EstimateLlmRequests) -> wire.LlmEstimate:
        """Return what requests cost at most; nothing is stored.

        Raises:
            InvalidRequestError: one of them cannot be asked.
        """
        ids = [f"llm_{place}" for place in range(len(request.requests))]
        planned = self.planner.plan(caller, request.requests, ids, alone=False)
        bound = sum(one.row.bound_nano_usd for one in planned)
        room = self.money.room(caller.organization_id)
        return wire.LlmEstimate(
            rows=len(planned),
            input_bytes=sum(one.row.input_bytes for one in planned),
            bound_nano_usd=bound,
            fits=room is None or bound <= room,
        )

    def _some_ids(self, batch: Batch, place: int, limit: int) -> Iterator[str]:
        for number, row_id in enumerate(self.batches.row_ids(batch)):
            if number >= place + limit:
                return
            if number >= place:
                yield row_id

    def _row(self, caller: Caller, row_id: str) -> Row:
        row = self.rows.get(row_id)
        if row is None or row.organization_id != caller.organization_id:
            raise NotFoundError(f"no request {row_id}")
        return row

    def _batch(self, caller: Caller, batch_id: str) -> Batch:
        batch = self.batches.get(batch_id)
        if batch is None or batch.organization_id != caller.organization_id:
            raise NotFoundError(f"no batch {batch_id}")
        return batch


def conditions(wanted: LlmRequestFilter) -> Mapping[str, str]:
    """Return the values that attributes of a row must have to match a filter."""
    apart = {"status", "created_after", "created_before"}
    named: dict[str, str] = wanted.model_dump(exclude=apart, exclude_none=True)
    return named


def _place_in(next_token: str | None) -> int:
    if next_token is None:
        return 0
    (place,) = decode_cursor(next_token, parts=1)
    if not (place.isascii() and place.isdigit() and len(place) < 9):
        raise InvalidRequestError.of_field("nextToken", "the nextToken of the page before")
    return int(place)


def _usd(nano: int | None) -> str | None:
    if nano is None:
        return None
    whole, rest = divmod(nano, 1_000_000_000)
    return f"{whole}.{rest:09}".rstrip("0").rstrip(".")
