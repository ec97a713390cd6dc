"""Where runs are stored: an item for each, which informs and decides nothing."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import dropwhile
from typing import Any, get_args

from autotune.protocol.ids import is_id
from autotune.protocol.runs import RunState
from autotune_platform.runs.durable_wait import Wait
from autotune_platform.runs.models import ENDS, Event, Run, RunStatus, RunSummary
from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.expressions import Filter
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.table import Item, Table

_RUN = "run"
_BY_STATE = "runsByState"
_KEPT = timedelta(days=30)
_WAIT = ("task_token", "waiting_for")
_HISTORY = "history#"
_LATEST = "9"  # sorts behind every time until the year 9000
_HISTORY_ROUNDS = 20
_STATES: tuple[RunState, ...] = get_args(RunState)


class RunRepository:
    """Runs in the ``completions`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, run: Run) -> None:
        """Store a run that is about to start, unless it was stored before."""
        self._table.put_new(
            {
                "pk": run.id,
                "sk": _RUN,
                **_attributes(run, run.organization_id, place=0),
                "run_time": f"{moment(run.started_at)}#{run.id}",
                "expires_at": int((run.started_at + _KEPT).timestamp()),
            }
        )

    def get(self, run_id: str) -> Run | None:
        """Return a run of any organisation."""
        item = self._table.get(run_id, _RUN) if is_id("run", run_id) else None
        return _run(item) if item else None

    def get_many(self, run_ids: Iterable[str]) -> list[Run]:
        """Return those runs that are stored, of any organisation."""
        items = self._table.get_many((run_id, _RUN) for run_id in run_ids)
        return [_run(item) for item in items.values()]

    def begun(self, organization_id: str, *, since: datetime, at_most: int) -> int:
        """Return how many runs began since then and are in their first round, or before it.

        Args:
            at_most: more are not counted.
        """
        pages = self._table.pages(
            _partition(organization_id, "pending"),
            partition_name="run_state",
            index=_BY_STATE,
            between=("run_time", moment(since), _LATEST),
            limit=at_most,
        )
        count = 0
        for page in pages:
            count += page.evaluated
            if count >= at_most:
                break
        return count

    def change(
        self, run_id: str, organization_id: str, status: RunStatus, *, place: int | None = None
    ) -> bool:
        """Store where a run stands; return False where it has ended, or is not known.

        Args:
            place: the number of the round that this is the end of; None for an end without one.
        """
        changed = self._table.update(
            run_id,
            _RUN,
            _attributes(status, organization_id, place=place),
            remove=[*_WAIT, *_gone(status)],
            only_if={"open": True},
        )
        return changed is not None

    def begin_wait(self, progress: ChunkProgress, token: str, now: datetime) -> bool:
        """Store that a run waits, and what ends it; return False where the run has ended."""
        after = RunStatus.after_round(progress, now)
        status = _attributes(after, progress.organization_id, place=progress.rounds)
        wait = {"task_token": token, "waiting_for": progress.model_dump_json()}
        changed = self._table.update(
            progress.run_id, _RUN, {**status, **wait}, only_if={"open": True}
        )
        return changed is not None

    def get_wait(self, run_id: str) -> Wait[ChunkProgress] | None:
        """Return what a run waits for now, of any organisation; None where it does not."""
        item = self._table.get(run_id, _RUN) if is_id("run", run_id) else None
        if item is None or not item["open"] or "task_token" not in item:
            return None
        return Wait(item["task_token"], ChunkProgress.model_validate_json(item["waiting_for"]))

    def count_late_answers(self, run_id: str, count: int) -> None:
        """Add to the answers of a run that came too late, whether it has ended or not."""
        self._table.count(run_id, _RUN, "late_answers", count, only_existing=True)

    def of_organization(
        self,
        organization_id: str,
        *,
        state: RunState | None,
        limit: int,
        next_token: str | None,
        grader_id: str | None = None,
    ) -> tuple[list[RunSummary], str | None]:
        """Return a page of an organisation's runs in one state, or in each after the other.

        A page of one grader's runs may be short: the others are read for it, too.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        states = [state] if state else list(_STATES)
        after: Item | None = None
        if next_token is not None:
            states, after = _position(organization_id, states, next_token)
        found: list[RunSummary] = []
        for place, current in enumerate(states):
            page = self._table.query(
                _partition(organization_id, current),
                partition_name="run_state",
                index=_BY_STATE,
                limit=limit - len(found),
                after=after,
                newest_first=True,
                where=_of_grader(grader_id) if grader_id else None,
            )
            after = None
            found += [RunSummary.model_validate({**item, "id": item["pk"]}) for item in page.items]
            if page.last_key is not None:
                last = page.last_key
                return found, encode_cursor(current, last["run_time"], last["pk"])
            if len(found) == limit and place + 1 < len(states):
                return found, encode_cursor(states[place + 1], "", "")
        return found, None


def _of_grader(grader_id: str) -> Filter:
    return Filter("#grader = :grader", {"#grader": "grader_id"}, {":grader": grader_id})


def _run(item: Item) -> Run:
    events = [
        Event.model_validate_json(event)
        for name, event in item.items()
        if name.startswith(_HISTORY)
    ]
    history = sorted(events, key=lambda event: event.at)
    return Run.model_validate({**item, "id": item["pk"], "history": history})


def _gone(status: RunStatus) -> list[str]:
    """Return the attributes that a run has only while it waits, and does not have now."""
    kept = {"sleep_until": status.sleep_until, "reason_code": status.reason_code}
    return [name for name, value in kept.items() if value is None]


def _attributes(status: RunStatus, organization_id: str, *, place: int | None) -> dict[str, Any]:
    left_out = {"id", "history"}
    if isinstance(status, Run) and not status.generation:
        left_out.add("generation")
    shown = status.model_dump(mode="json", exclude_none=True, exclude=left_out)
    # An attribute for each of the last rounds, written over in turn: nothing is read for it, and a
    # run that goes on for days takes no more room.
    slot = "end" if place is None else str(place % _HISTORY_ROUNDS)
    return {
        **shown,
        f"{_HISTORY}{slot}": Event.of(status).model_dump_json(),
        "run_state": _partition(organization_id, status.state),
        "open": status.state not in ENDS,
    }


def _partition(organization_id: str, state: str) -> str:
    return f"{organization_id}#{state}"


def _position(
    organization_id: str, states: list[RunState], token: str
) -> tuple[list[RunState], Item | None]:
    state, run_time, run_id = decode_cursor(token, parts=3)
    left = list(dropwhile(lambda known: known != state, states))
    if not left:
        raise invalid_cursor()
    if not run_time:
        return left, None
    if not is_id("run", run_id) or not run_time.endswith(f"#{run_id}"):
        raise invalid_cursor()
    key = {"run_state": _partition(organization_id, state), "run_time": run_time}
    return left, {**key, "pk": run_id, "sk": _RUN}
