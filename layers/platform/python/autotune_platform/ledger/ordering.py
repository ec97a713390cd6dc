"""Requests that the product itself makes and comes back for: each asked once, found by its key.

A row's id follows from the organisation and a key that says what is asked, so that whoever asks the
same again, after a crash or in another run, finds the row that is there and pays nothing twice.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from autotune.protocol.ids import derived_id, new_id
from autotune.protocol.limits import MAX_LLM_REASKS
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.access.models import Caller
from autotune_platform.access.organizations import OrganizationService
from autotune_platform.budgets.money import MoneyBudgets, PeriodUse
from autotune_platform.ledger.ending import end_unasked
from autotune_platform.ledger.enqueuing import EnqueuingService
from autotune_platform.ledger.models import Connection, Row, RowInput, RowOutput
from autotune_platform.ledger.planning import PlannedRow
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.runtime.errors import InvalidRequestError, NotFoundError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel

_ERASERS = 8
_NOBODY = "autotune"


class LeftToTheSweeper:
    """Starts nothing, for functions that may start no execution: the sweeper does in a minute."""

    def start_group(self, group_key: str) -> bool:  # noqa: ARG002 - the sweeper finds the queue
        """Return that nothing was started."""
        return False


@dataclass(frozen=True)
class Ordered:
    """A row that was ordered, with its texts; those are None where they were erased.

    Attributes:
        row: the last one, where it was asked again.
        ids: of all of them, from the one that was ordered on.
    """

    row: Row
    asked: RowInput | None
    answered: RowOutput | None
    ids: tuple[str, ...]


def order_id(organization_id: str, key: str) -> str:
    """Return the id of the row that is ordered under a key."""
    return derived_id("llm", "order", organization_id, key)


@part
class OrderedRows:
    """Looks at rows that were ordered."""

    rows: RowRepository

    def under_way(self, row_ids: Iterable[str]) -> set[str]:
        """Return those that were ordered and of which none, however often asked, has the end."""
        found = _last_of_each(self.rows, row_ids)
        return {id_ for id_, rows in found.items() if not rows[-1].has_ended}


@part
class RowOrders(EnqueuingService):
    """Enqueues rows by key, and reads what became of them."""

    organizations: OrganizationService
    money: MoneyBudgets

    def caller_for(self, organization_id: str) -> Caller:
        """Return the organisation as a caller, with its limits as they are now.

        Raises:
            NotFoundError: there is none.
        """
        return Caller(
            key_id=_NOBODY,
            organization_id=organization_id,
            principal_id=_NOBODY,
            role="admin",
            request_id=new_id("req"),
            limits=self.organizations.organization(organization_id).limits,
        )

    def connection(self, organization_id: str, connection_id: str) -> Connection | None:
        """Return a connection that may be used; None where it is gone, or another's."""
        try:
            found = self.planner.connections.get_of(organization_id, connection_id)
        except NotFoundError:
            return None
        return None if found.status == "revoked" else found

    def order(self, caller: Caller, key: str, request: EnqueueLlmRequest) -> str:
        """Enqueue a request unless its key has been ordered; return the row's id.

        Raises:
            InvalidRequestError: it cannot be asked.
            TooManyOpenRowsError: the organisation has as many rows under way as it may.
            UnavailableError: a store refused work, or somebody else orders it right now.
        """
        row_id = order_id(caller.organization_id, key)
        claim = self.claims.get(caller.organization_id, row_id)
        if claim is not None and claim.done:
            return row_id
        is_first = claim is None
        planned = self.planner.plan(caller, [request], [row_id], alone=True)
        most = caller.limits.open_llm_rows
        claim = self._claim(caller.organization_id, most, row_id, claim, row_id, planned)
        self._store(planned, is_first=is_first)
        self._open_queues(planned)
        self.claims.finish(claim)
        return row_id

    def look(self, row_ids: Iterable[str]) -> dict[str, Ordered]:
        """Return what was ordered, by id; texts of those that have ended alone."""
        found = _last_of_each(self.rows, row_ids)
        completed = [rows[-1].id for rows in found.values() if rows[-1].status == "completed"]
        asked = self.texts.inputs(completed) if completed else {}
        answered: dict[str, RowOutput] = {}

        def read(row_id: str) -> None:
            if (output := self.texts.output_of(row_id)) is not None:
                answered[row_id] = output

        if completed:
            in_parallel(read, completed, at_most=_ERASERS)
        return {
            id_: Ordered(
                row=rows[-1],
                asked=asked.get(rows[-1].id),
                answered=answered.get(rows[-1].id),
                ids=tuple(row.id for row in rows),
            )
            for id_, rows in found.items()
        }

    def ask_again(self, ordered: Ordered) -> bool:
        """Ask the same once more, because what was answered cannot be read; at most twice.

        Doing it again changes nothing.

        Returns:
            Whether it is: not where the answer was cut, nor where it is too late, or the texts, the
            connection or the price are gone.

        Raises:
            UnavailableError: a store refused work, or somebody else is at the same row.
        """
        row = ordered.row
        is_late = row.complete_by is not None and row.complete_by <= self.clock.now()
        is_enough = (row.reasks or 0) >= MAX_LLM_REASKS or row.finish_reason == "length"
        connection = self.connection(row.organization_id, row.connection_id)
        if is_late or is_enough or ordered.asked is None or connection is None:
            return False
        try:
            again = self.planner.reask(row, connection)
        except InvalidRequestError:
            return False
        self.take_place(PlannedRow(again, ordered.asked, connection), of=row)
        self.rows.note_reask(row, {"reasked_as": again.id})
        return True

    def end_without_money(self, row: Row, uses: Iterable[PeriodUse]) -> bool:
        """End a queued row that no budget will have room for in time; return whether it ended.

        A period that is over before the row's time is up is waited for: the next has room again.

        Args:
            uses: what the organisation's periods have used, from ``money``.
        """
        if row.status != "queued":
            return False
        now = self.clock.now()
        for use in uses:
            if use.limit is None or use.limit - use.spent >= row.bound_nano_usd:
                continue
            by = row.complete_by
            fits_later = use.limit >= row.bound_nano_usd
            if fits_later and (by is None or _end_of(use.period, now) < by):
                continue
            return end_unasked(self.rows, self.claims, row, "canceled", now) is not None
        return False

    def erase(self, row_ids: Iterable[str]) -> None:
        """Delete the texts of rows; erasing again changes nothing."""
        in_parallel(self.texts.erase, list(row_ids), at_most=_ERASERS)


def _last_of_each(rows: RowRepository, row_ids: Iterable[str]) -> dict[str, list[Row]]:
    """Return rows by id, each with those that it was asked again as behind it."""
    found = {id_: [row] for id_, row in rows.get_many(row_ids).items()}
    while after := {one[-1].reasked_as: one for one in found.values() if one[-1].reasked_as}:
        again = rows.get_many(id_ for id_ in after if id_)
        for id_, one in after.items():
            if id_ in again:
                one.append(again[id_])
        if not again:
            break
    return found


def _end_of(period: str, now: datetime) -> datetime:
    """Return when a period of budgets is over that a moment is in, in UTC."""
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "day":
        return day + timedelta(days=1)
    if period == "week":
        return day + timedelta(days=7 - day.weekday())
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)
