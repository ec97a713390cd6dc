"""Where runs are stored: each write is conditional on where the run stood."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any
from uuid import uuid4

from autotune.protocol.ids import is_id
from autotune_platform.apprentice.folding.items import DAY, day_key, entry_key
from autotune_platform.apprentice.runs.items import (
    ADDITIONAL_COST,
    RUN,
    TEXTS,
    additional_key,
    attributes_of,
    changes_of,
    input_of,
    item_of,
    listed_run,
    run_from,
    runs_of,
)
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.item_format import Item, moment
from autotune_platform.storage.table import Table

_STANDING = ("state", "attempts", "check")
_ATTEMPTS = 8


class RunRepository:
    """Runs in the ``apprentice`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, run_id: str) -> Run | None:
        """Return a run by its id, whoever's it is."""
        item = self._table.get(run_id, RUN)
        return run_from(item) if item else None

    def inputs(self, run_ids: Iterable[str]) -> dict[str, Mapping[str, Any]]:
        """Return what runs ask, by id, without those that are gone, or whose texts are."""
        found = self._table.get_many(((one, RUN) for one in run_ids), attributes=("input",))
        return {pk: input_of(item) for (pk, _), item in found.items() if "input" in item}

    def add(self, run: Run) -> bool:
        """Store a run, ended or not, in one call; return False where there is one of its id."""
        return self._table.put_new(item_of(run))

    def is_counted(self, run: Run) -> bool:
        """Return whether all that became of a run is counted."""
        entry = self._table.get(runs_of(run.task_id, run.day), entry_key(run)) or {}
        return (entry.get("state"), entry.get("check")) == (run.state, run.check)

    def erase(self, run: Run, *, at: datetime) -> bool:
        """Delete the texts of a run's item; return False where it is no more as it was.

        Words of a provider may quote what was asked: they go, here and in the list of its day.
        """
        fault = run.remote_fault
        wordless = {"remote_fault": {"code": fault.code, "message": ""}} if fault else {}
        name = self._table.name
        whole = Addition(
            table=name,
            pk=run.id,
            sk=RUN,
            changes={"erased_at": moment(at), **wordless},
            remove=TEXTS,
            only_if={**_standing(run), "erased_at": None},
        )
        pk, sk = runs_of(run.task_id, run.day), entry_key(run)
        listed = Addition(table=name, pk=pk, sk=sk, changes=wordless, only_if={"id": run.id})
        return self._table.add_together([whole, listed] if wordless else [whole])

    def of_days(
        self, task_id: str, first: date, last: date, *, limit: int, next_token: str | None
    ) -> tuple[list[Run], str | None]:
        """Return a page of a task's runs of some days that are listed, newest first.

        Args:
            first: a UTC day.
            last: another one, included.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        behind, newest = None, last
        if next_token is not None:
            (behind,) = decode_cursor(next_token, parts=1)
            newest = _day_of(behind)
            if not first <= newest <= last:
                raise invalid_cursor()
        found: list[Item] = []
        days = self._days(task_id, first, newest)
        for day in days:
            pk = runs_of(task_id, day)
            of_behind = behind is not None and day == newest.isoformat()
            page = self._table.query(
                pk,
                newest_first=True,
                limit=limit - len(found),
                after={"pk": pk, "sk": behind} if of_behind else None,
            )
            found += page.items
            if len(found) == limit:
                is_all = page.last_key is None and day == days[-1]
                token = None if is_all else encode_cursor(found[-1]["sk"])
                return [listed_run(entry) for entry in found], token
        return [listed_run(entry) for entry in found], None

    def _days(self, task_id: str, first: date, last: date) -> list[str]:
        """Return the days that may have runs, newest first: one, or those that have counts."""
        if first == last:
            return [first.isoformat()]
        between = ("sk", day_key(first.isoformat()), day_key(last.isoformat()))
        counted = self._table.items(task_id, between=between, attributes=("sk",))
        return sorted((item["sk"].removeprefix(DAY) for item in counted), reverse=True)

    def change(self, before: Run, after: Run) -> bool:
        """Store what became of a run; return False where it is no more as it was.

        Raises:
            UnavailableError: the table is busy.
        """
        token = uuid4().hex
        for _ in BUSY.attempts(_ATTEMPTS):
            canceled = self._table.write_together([self.writing(after, before=before)], token=token)
            if canceled is None:
                return True
            if canceled.refused:
                return False
        raise UnavailableError("the table is busy", retry_after_seconds=1)

    def writing(self, run: Run, *, before: Run | None) -> Addition:
        """Return what stores a run, for a transaction with other tables.

        Args:
            before: the run as it has to stand; None where there must be none.
        """
        changes, gone = (attributes_of(run), ()) if before is None else changes_of(run, before)
        return Addition(
            table=self._table.name,
            pk=run.id,
            sk=RUN,
            changes=changes,
            remove=gone,
            only_if=dict.fromkeys(_STANDING) if before is None else _standing(before),
        )

    def asking_additional(self, run: Run, place: int, row_id: str) -> Addition:
        """Return what notes that an additional model is asked, once, of a run that has ended.

        Args:
            place: of the model in the configuration, from 0.
        """
        key = additional_key(place)
        return Addition(
            table=self._table.name,
            pk=run.id,
            sk=RUN,
            changes={key: row_id},
            only_if={key: None, "state": run.state, "erased_at": None},
        )

    def paying_additional(self, run: Run, cost_nano_usd: int) -> list[Addition]:
        """Return what adds to a run that has ended what an additional model's answer cost."""
        if not cost_nano_usd:
            return []
        return [
            Addition(
                table=self._table.name,
                pk=run.id,
                sk=RUN,
                numbers={ADDITIONAL_COST: cost_nano_usd},
                only_if={"state": run.state},
            )
        ]


def _standing(run: Run) -> dict[str, int | str | bool | None]:
    return {"state": run.state, "attempts": run.attempts, "check": run.check}


def _day_of(place: str) -> date:
    """Return the day of an entry's place in a list.

    Raises:
        InvalidRequestError: it is none.
    """
    at, _, run_id = place.partition("#")
    try:
        found = datetime.fromisoformat(at)
    except ValueError as error:
        raise invalid_cursor() from error
    if found.tzinfo is None or moment(found) != at or not is_id("apr", run_id):
        raise invalid_cursor()
    return found.date()
