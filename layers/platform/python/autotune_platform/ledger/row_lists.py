"""Lists of rows by filter: of all of an organisation, of one batch, or of one import.

Only status and time are in an index. What else a filter says is compared with the rows themselves,
so one page looks at a bounded number of them. Which rows a batch or an import has is known without
any index: a batch lists them, and those of an import have ids that follow from its lines.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar, get_args

from autotune.protocol.ids import derived_id
from autotune.protocol.llm_filters import LlmRequestFilter
from autotune.protocol.llm_requests import LlmStatus
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.imports.repository import ImportRepository
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.planning_again import retry_id
from autotune_platform.ledger.row_repository import LISTING_SHARDS, RowRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.parts import part
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.item_format import moment

MOST_LOOKED_AT = 2_000
"""Rows that one page looks at before it is short; it may be some hundred more."""

MOST_SECONDS = 5
"""For how long it does so; what has begun by then is done."""

_AT_A_TIME = 100
_LEAST_AT_A_TIME = 25
_POSITIONS_AT_A_TIME = 200
_FIRST, _LAST = "0", "~"
_STATUSES: tuple[LlmStatus, ...] = get_args(LlmStatus)
_APART = frozenset({"status", "created_after", "created_before"})
_ItemT = TypeVar("_ItemT")


@dataclass(frozen=True)
class Listed:
    """A row, and the token of what is behind it in its list."""

    row: Row
    behind: str


@dataclass(frozen=True)
class _Looked:
    """Some places of a list: the token behind each, and the row that is there, if one is.

    Attributes:
        reads: how many items were read for them.
        is_last: whether nothing is behind them.
    """

    places: Sequence[tuple[str, Row | None]]
    reads: int
    is_last: bool


@dataclass(frozen=True)
class _Lines:
    """Where a list of an import stands: lines before are done, and ``skip`` rows of this one.

    ``total`` is how many lines were taken in when a page was last read.
    """

    line: int = 1
    skip: int = 0
    total: int = 0

    @property
    def token(self) -> str:
        return encode_cursor("lines", str(self.line), str(self.skip), str(self.total))


@part
class RowLists:
    """Reads pages of an organisation's rows that a filter matches."""

    rows: RowRepository
    batches: BatchRepository
    imports: ImportRepository
    clock: Clock = SYSTEM_CLOCK

    def page(
        self,
        organization_id: str,
        wanted: LlmRequestFilter,
        *,
        statuses: Sequence[LlmStatus] = (),
        limit: int,
        next_token: str | None,
    ) -> tuple[list[Listed], str | None]:
        """Return a page of rows, the youngest first unless they are those of a batch or an import.

        Args:
            statuses: the only ones; all, or the filter's, where there are none.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        among = statuses or ((wanted.status,) if wanted.status else _STATUSES)
        where = _conditions(wanted)
        found: list[Listed] = []
        seen: set[str] = set()
        reads, behind = 0, next_token
        until = self.clock.monotonic() + MOST_SECONDS
        for some in self._looked(organization_id, wanted, where, among, limit, next_token):
            reads += some.reads
            for number, (behind, row) in enumerate(some.places, start=1):
                if row is None or row.id in seen or not _holds(row, wanted, where, among):
                    continue
                # One that changed its status meanwhile is in two lists.
                seen.add(row.id)
                found.append(Listed(row, behind))
                if len(found) == limit:
                    is_end = some.is_last and number == len(some.places)
                    return found, None if is_end else behind
            if some.is_last:
                break
            if reads >= MOST_LOOKED_AT or self.clock.monotonic() >= until:
                return found, behind
        return found, None

    def _looked(
        self,
        organization_id: str,
        wanted: LlmRequestFilter,
        where: Mapping[str, str],
        among: Sequence[LlmStatus],
        limit: int,
        token: str | None,
    ) -> Iterator[_Looked]:
        is_own = where.keys() in ({"batch_id"}, {"import_id"}) and len(among) == len(_STATUSES)
        size = limit if is_own else _AT_A_TIME
        if wanted.batch_id is not None:
            return self._of_batch(organization_id, wanted.batch_id, token, size)
        if wanted.import_id is not None:
            lines = self._lines(organization_id, wanted.import_id, token)
            if lines is not None:
                # Lines may have no row.
                size = max(size, _LEAST_AT_A_TIME)
                return self._of_import(organization_id, wanted.import_id, size, *lines)
        return self._of_history(organization_id, wanted, among, limit, token, is_all=not where)

    def _of_history(
        self,
        organization_id: str,
        wanted: LlmRequestFilter,
        among: Sequence[LlmStatus],
        limit: int,
        token: str | None,
        *,
        is_all: bool,
    ) -> Iterator[_Looked]:
        after, before = wanted.created_after, wanted.created_before
        highest = _LAST if before is None else moment(before)
        if token is not None:
            highest = min(highest, decode_cursor(token, parts=1)[0])
        lowest = _FIRST if after is None else moment(after)
        if highest <= lowest:
            return
        # Behind the last row of a whole page there is one more, which says that it is not the last.
        ahead = limit + 1 if is_all else max(limit + 1, _POSITIONS_AT_A_TIME)
        lists = [
            self.rows.listed(
                organization_id, status, shard, lowest=lowest, below=highest, at_a_time=ahead
            )
            for status in among
            for shard in range(LISTING_SHARDS)
        ]
        merged = heapq.merge(*lists, key=lambda one: one[0], reverse=True)
        for some, is_last in _cut(merged, limit if is_all else _AT_A_TIME):
            rows = self.rows.get_many(row_id for _, row_id in some)
            places = [(encode_cursor(position), rows.get(row_id)) for position, row_id in some]
            yield _Looked(places, len(some), is_last)

    def _of_batch(
        self, organization_id: str, batch_id: str, token: str | None, size: int
    ) -> Iterator[_Looked]:
        (place,) = _numbers(token, "rows", count=1) or (0,)
        batch = self.batches.get(batch_id)
        if batch is None or batch.organization_id != organization_id:
            return
        for ids, is_last in _cut(self.batches.row_ids(batch, behind=place), size):
            rows = self.rows.get_many(ids)
            places: list[tuple[str, Row | None]] = []
            for row_id in ids:
                place += 1
                places.append((encode_cursor("rows", str(place)), rows.get(row_id)))
            yield _Looked(places, len(ids), is_last)

    def _lines(
        self, organization_id: str, import_id: str, token: str | None
    ) -> tuple[_Lines, bool] | None:
        """Return where the list of an import stands, and whether there may be more lines.

        None where nobody knows any more how many lines it has: an import goes after 7 days.
        """
        try:
            numbers = _numbers(token, "lines", count=3)
        except InvalidRequestError:
            # Begun when the import had gone.
            return None
        stand = _Lines(*numbers) if numbers else None
        one = self.imports.get(import_id)
        if one is None or one.organization_id != organization_id:
            return (stand, False) if stand else None
        total = 0 if one.phase == "check" else one.line
        stand = stand or _Lines()
        # A step that was stopped may have stored rows of lines that were never noted as done.
        is_open = one.phase != "check" and one.state != "completed"
        return _Lines(stand.line, stand.skip, total), is_open

    def _of_import(
        self, organization_id: str, import_id: str, size: int, stand: _Lines, is_open: bool
    ) -> Iterator[_Looked]:
        line, total = stand.line, stand.total
        skip = stand.skip
        while line <= total or is_open:
            is_noted = line <= total
            behind = min(line + size, total + 1) if is_noted else line + _AT_A_TIME
            ids = {
                number: derived_id("llm", organization_id, import_id, str(number))
                for number in range(line, behind)
            }
            chains, reads = self._with_later(ids.values())
            places: list[tuple[str, Row | None]] = []
            for number, row_id in ids.items():
                chain = chains.get(row_id, [])[skip:]
                for place, row in enumerate(chain[:-1], start=skip + 1):
                    places.append((_Lines(number, place, total).token, row))
                last = chain[-1] if chain else None
                places.append((_Lines(number + 1, 0, total).token, last))
                skip = 0
            is_last = behind > total and not (is_open and (is_noted or chains))
            yield _Looked(places, reads, is_last)
            if is_last:
                return
            line = behind

    def _with_later(self, row_ids: Iterable[str]) -> tuple[dict[str, list[Row]], int]:
        """Return rows, each with those behind it that it was retried or asked again as.

        How many items were read for them comes with them.
        """
        ids = list(row_ids)
        reads = len(ids)
        found = {row_id: [row] for row_id, row in self.rows.get_many(ids).items()}
        fresh = [(row_id, rows[0]) for row_id, rows in found.items()]
        while fresh:
            first_of = {}
            for first, row in fresh:
                if row.reasked_as is not None:
                    first_of[row.reasked_as] = first
                if row.has_ended:
                    first_of[retry_id(row.id)] = first
            reads += len(first_of)
            later = self.rows.get_many(first_of)
            fresh = [(first, later[one]) for one, first in first_of.items() if one in later]
            for first, row in fresh:
                found[first].append(row)
        return found, reads


def _conditions(wanted: LlmRequestFilter) -> dict[str, str]:
    """Return the values that attributes of a row must have to match a filter."""
    names = [name for name in LlmRequestFilter.model_fields if name not in _APART]
    values = {name: getattr(wanted, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _holds(
    row: Row, wanted: LlmRequestFilter, where: Mapping[str, str], among: Sequence[LlmStatus]
) -> bool:
    after, before = wanted.created_after, wanted.created_before
    if row.status not in among or (after is not None and row.created_at < after):
        return False
    if before is not None and row.created_at >= before:
        return False
    known = {**row.trace, **dict(row), "error_code": row.error.code if row.error else None}
    return all(known.get(name) == value for name, value in where.items())


def _cut(items: Iterable[_ItemT], size: int) -> Iterator[tuple[Sequence[_ItemT], bool]]:
    """Yield items in groups, and whether each is the last; one item is read ahead, and no more."""
    remaining = iter(items)
    ahead = list(islice(remaining, 1))
    while ahead:
        some = [*ahead, *islice(remaining, size - 1)]
        ahead = list(islice(remaining, 1))
        yield some, not ahead


def _numbers(token: str | None, kind: str, *, count: int) -> tuple[int, ...]:
    """Return what a token of a kind counts; nothing where there is no token.

    Raises:
        InvalidRequestError: it is of another kind.
    """
    if token is None:
        return ()
    name, *numbers = decode_cursor(token, parts=1 + count)
    if name != kind or not all(
        one.isascii() and one.isdigit() and len(one) < 10 for one in numbers
    ):
        raise invalid_cursor()
    return tuple(int(one) for one in numbers)
