"""Requests that the product itself makes and comes back for: each asked once, found by its key.

A row's id follows from the organisation and a key that says what is asked, so that whoever asks the
same again, after a crash or in another run, finds the row that is there and pays nothing twice.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from autotune.protocol.ids import derived_id, new_id
from autotune.protocol.limits import MAX_LLM_REASKS
from autotune.protocol.llm_requests import EnqueueLlmRequest, LlmReaskSkipped
from autotune_platform.access.models import Caller
from autotune_platform.access.organizations import OrganizationService
from autotune_platform.budgets.money import MoneyBudgets, PeriodUse
from autotune_platform.ledger.enqueuing import EnqueuingService, most_of
from autotune_platform.ledger.models import Connection, Row
from autotune_platform.ledger.once_more import OnceMore
from autotune_platform.ledger.planning import PlannedRow
from autotune_platform.ledger.prices import PriceSnapshot, bound
from autotune_platform.ledger.queued_ends import QueuedEnd, QueuedEnds
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.row_texts import RowInput, RowOutput
from autotune_platform.ledger.usable_connections import usable
from autotune_platform.runtime.errors import InvalidRequestError, NotFoundError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel

_READERS = 8
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
        return {id_ for id_, row in self.last(row_ids).items() if not row.has_ended}

    def last(self, row_ids: Iterable[str]) -> dict[str, Row]:
        """Return those that were ordered, by id, each as it was asked the last time."""
        return {id_: rows[-1] for id_, rows in _last_of_each(self.rows, row_ids).items()}


@part
class RowOrders(EnqueuingService):
    """Enqueues rows by key, and reads what became of them."""

    organizations: OrganizationService
    money: MoneyBudgets
    queued_ends: QueuedEnds

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
        return usable(found)

    def order(self, caller: Caller, key: str, request: EnqueueLlmRequest) -> str:
        """Enqueue a request unless its key has been ordered; return the row's id.

        Raises:
            InvalidRequestError: it cannot be asked.
            TooManyOpenRowsError: the organisation has as much under way as it may.
            UnavailableError: a store refused work, or somebody else orders it right now.
        """
        row_id = order_id(caller.organization_id, key)
        claim = self.claims.get(caller.organization_id, row_id)
        if claim is not None and claim.done:
            return row_id
        is_first = claim is None
        planned = self.planner.plan(caller, [request], [row_id], alone=True)
        most = most_of(caller)
        writes = self._writes(planned)
        claim = self._claim(caller.organization_id, most, row_id, claim, row_id, planned)
        self._store(writes, is_first=is_first)
        self._open_queues(planned)
        self.claims.finish(claim)
        return row_id

    def plan_orders(
        self, caller: Caller, asked: Iterable[tuple[str, EnqueueLlmRequest]]
    ) -> list[PlannedRow | InvalidRequestError]:
        """Return a row for each key and request, or why it cannot be asked; nothing is stored.

        None of them may cost more altogether than one attempt does at most, however it is sent in
        the end: whoever has set that much aside pays no more. It is the row's ``most_nano_usd``.
        """
        keyed = ((order_id(caller.organization_id, key), request) for key, request in asked)
        return [
            one if isinstance(one, InvalidRequestError) else self._within_one_attempt(one)
            for one in self.planner.plan_each(caller, keyed)
        ]

    def order_all(
        self,
        caller: Caller,
        key: str,
        rows: Sequence[Row],
        texts: Mapping[str, RowInput],
    ) -> None:
        """Enqueue rows of ``plan_orders`` under one key; doing it again changes nothing.

        Those that are asked by themselves are asked as soon as they can be: somebody waits.

        Args:
            rows: the same each time.
            texts: what they ask, by row. One without is ended by the ledger, which asks nothing.

        Raises:
            TooManyOpenRowsError: the organisation has as much under way as it may.
            UnavailableError: a store refused work, or somebody else orders them right now.
        """
        connections = {row.connection_id: row for row in rows}
        known = {id_: self.planner.connections.get(id_) for id_ in connections}
        planned = [
            PlannedRow(
                row,
                texts.get(row.id) or RowInput(params={}),
                connection,
                # A job is worth a wait for others; of single calls each costs the same.
                is_awaited=row.mode == "calls",
            )
            for row in rows
            if (connection := known[row.connection_id]) is not None
        ]
        gone = {row.id for row in rows} - texts.keys()
        self._enqueue_once(
            caller.organization_id, most_of(caller), planned, key, fingerprint=key, gone=gone
        )

    def was_begun(self, organization_id: str, key: str) -> bool:
        """Return whether anything of what is ordered under a key may be stored."""
        return self.claims.get(organization_id, key) is not None

    def prices_of(self, row: Row, connection: Connection) -> list[PriceSnapshot]:
        """Return the prices that a row may be asked at: in a job, and by itself after all."""
        singly = self.planner.prices.find(connection, row.model, processing="standard")
        return [row.price, *([singly] if row.mode == "job" and singly is not None else [])]

    def _within_one_attempt(self, planned: PlannedRow) -> PlannedRow:
        row = planned.row
        bounds = [
            bound(row.input_bytes, row.messages, row.max_tokens, price)
            for price in self.prices_of(row, planned.connection)
        ]
        return replace(planned, row=row.model_copy(update={"most_nano_usd": max(bounds)}))

    def last(self, row_ids: Iterable[str]) -> dict[str, Row]:
        """Return what was ordered, by id, each as it was asked the last time; without texts."""
        return {id_: rows[-1] for id_, rows in _last_of_each(self.rows, row_ids).items()}

    def look(self, row_ids: Iterable[str], *, with_texts: bool = True) -> dict[str, Ordered]:
        """Return what was ordered, by id; texts of those that have ended alone, or none at all."""
        found = _last_of_each(self.rows, row_ids)
        ended = [rows[-1].id for rows in found.values() if rows[-1].status == "completed"]
        completed = ended if with_texts else []
        asked = self.texts.inputs(completed) if completed else {}
        answered: dict[str, RowOutput] = {}

        def read(row_id: str) -> None:
            if (output := self.texts.output_of(row_id)) is not None:
                answered[row_id] = output

        if completed:
            in_parallel(read, completed, at_most=_READERS)
        return {
            id_: Ordered(
                row=rows[-1],
                asked=asked.get(rows[-1].id),
                answered=answered.get(rows[-1].id),
                ids=tuple(row.id for row in rows),
            )
            for id_, rows in found.items()
        }

    def ask_again(
        self, ordered: Ordered, *, notice: str = "", at_most: int = MAX_LLM_REASKS
    ) -> bool:
        """Ask the same once more, because what was answered cannot be read.

        Doing it again changes nothing.

        Args:
            notice: what is said below the question, such as what was wrong; the same each time. It
                is a template of ours, and never a text of others.
            at_most: how often a question is asked again.

        Returns:
            Whether it is: not where the answer was cut, unless something is said of it, nor where
            it is too late, or the texts, the connection or the price are gone.

        Raises:
            UnavailableError: a store refused work, or somebody else is at the same row.
        """
        row = ordered.row
        connection = self.planner.connections.get(row.connection_id)
        once_more = OnceMore(enqueuing=self)
        below = f"\n\n{notice}" if notice else ""
        reason = once_more.ask(
            row,
            _with_more(ordered.asked, below),
            connection,
            unless=self._why_not_again(row, connection, is_same=not notice, at_most=at_most),
            more_bytes=len(below.encode()),
        )
        return reason is None

    def _why_not_again(
        self, row: Row, connection: Connection | None, *, is_same: bool, at_most: int
    ) -> LlmReaskSkipped | None:
        if row.finish_reason == "length" and is_same:
            return "output_cut"
        if (row.reasks or 0) >= at_most:
            return "asked_enough"
        if row.complete_by is not None and row.complete_by <= self.clock.now():
            return "expired"
        if usable(connection) is None:
            return "connection_revoked"
        return None

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
            return self.queued_ends.end(row, "canceled")
        return False

    def cancel(self, row_ids: Iterable[str]) -> None:
        """Cancel rows: at once in their queues, else unless they are being asked; an end stays.

        Raises:
            UnavailableError: the table is busy; some of them may be canceled.
        """
        rows = [rows[-1] for rows in _last_of_each(self.rows, row_ids).values()]
        self.queued_ends.end_all(
            QueuedEnd(row, "canceled") for row in rows if row.status == "queued"
        )
        for row in rows:
            if row.status == "submitted" and row.cancel_requested_at is None:
                self.rows.request_cancel(row, self.clock.now())

    def erase(self, row_ids: Iterable[str]) -> None:
        """Delete the texts of rows; erasing again changes nothing."""
        self.texts.erase(row_ids)


def _with_more(asked: RowInput | None, below: str) -> RowInput | None:
    """Return what a row asked, with a text below its question."""
    if asked is None or not below:
        return asked
    longer = {**asked.input, "user": f"{asked.input['user']}{below}"}
    return asked.model_copy(update={"input": longer})


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
