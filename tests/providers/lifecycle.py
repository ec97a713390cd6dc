"""A batch from its creation to its end, as far as the fake's clock has come.

Nothing runs in the background: whoever looks at a batch settles it first.
"""

from typing import Any

from tests.providers.catalogue import BATCH, CATALOGUE
from tests.providers.dialects import DIALECTS
from tests.providers.execution import drawn_for_row, execute
from tests.providers.state import Batch, Hidden, Row, World
from tests.providers.wire import ProviderError

_BATCH_TRAPS = tuple(name for name, trap in CATALOGUE.items() if trap.level == BATCH)
_NO_EXPIRY = frozenset(["azure"])
# Gemini's jobs have no partial results. What is charged for one that was canceled is documented
# nowhere; here it is nothing, so that nothing is paid that nobody can know of.
_ALL_AT_ONCE = frozenset(["gemini"])


def admit(world: World, batch: Batch) -> None:
    """Takes a new batch in, with the traps that are set for it and its rows."""
    for name in _BATCH_TRAPS:
        params = world.traps.take(
            name, batch.provider, model=batch.model, batch_id=batch.id, quietly=True
        )
        if params is not None:
            batch.traps[name] = params
    for row in batch.rows:
        row.traps = drawn_for_row(
            world, batch.provider, row.ask, row=row.index, custom_id=row.custom_id
        )
    batch.hidden_get = _hidden(batch, "get_404_after_create")
    batch.hidden_list = _hidden(batch, "list_lags")
    batch.expires_at = batch.created_at + world.timing.window_seconds
    world.batches[batch.id] = batch


def _hidden(batch: Batch, name: str) -> Hidden:
    params = batch.traps.get(name)
    if params is None:
        return Hidden()
    return Hidden(int(params.get("looks", 2)), batch.created_at + float(params.get("seconds", 0)))


def spring(world: World, batch: Batch, name: str, rows: list[Row] | None = None) -> Any:
    """The parameters of a trap of this batch, which is noted when it first shows; else None."""
    params = batch.traps.get(name)
    if params is None:
        return None
    sprung = batch.extra.setdefault("sprung", set())
    if name not in sprung:
        sprung.add(name)
        world.traps.note(name, batch.provider, batch.id, [row.custom_id for row in rows or []])
    return params


def settle_all(world: World) -> None:
    for batch in list(world.batches.values()):
        settle(world, batch)


def settle(world: World, batch: Batch) -> None:
    """Brings a batch to where it is by now."""
    now = world.clock.now()
    if batch.over:
        return
    starts_at = batch.created_at + world.timing.validate_seconds
    if batch.status == "validating":
        if now < starts_at and batch.cancel_at is None:
            return
        _start(world, batch, starts_at)
        if batch.over:
            return
    _run(world, batch, now)


def cancel(world: World, batch: Batch) -> None:
    """Asks it to stop: what has run by now stays paid."""
    settle(world, batch)
    if batch.over or batch.cancel_at is not None:
        return
    batch.cancel_at = world.clock.now()
    settle(world, batch)
    if not batch.over:
        batch.status = "cancelling"


def _start(world: World, batch: Batch, starts_at: float) -> None:
    if batch.error is None:
        batch.error = _what_is_wrong(world, batch)
    if batch.error is not None:
        batch.status, batch.ended_at = "failed", starts_at
        return
    late = 0.0
    if (params := spring(world, batch, "succeeds_late")) is not None:
        late = float(params.get("seconds", 90_000))
    batch.status = "in_progress"
    batch.runs_from = starts_at
    batch.runs_until = starts_at + world.timing.run_seconds + late


def _what_is_wrong(world: World, batch: Batch) -> tuple[str, str, int | None] | None:
    if spring(world, batch, "token_limit") is not None:
        message = (
            f"Enqueued token limit reached for {batch.model}. Please try again once some "
            "in_progress batches have been completed."
        )
        return "token_limit_exceeded", message, None
    for row in batch.rows:
        if "poison_row" in row.traps:
            world.traps.note("poison_row", batch.provider, batch.id, [row.custom_id])
            return "invalid_request", "A request of this batch is invalid.", row.index + 1
        if row.refusal and batch.provider == "openrouter":
            return "invalid_request", row.refusal, None
    return None


def _run(world: World, batch: Batch, now: float) -> None:
    expires = batch.runs_until > batch.expires_at and "succeeds_late" not in batch.traps
    ends_at = batch.runs_until
    if expires and batch.provider not in _NO_EXPIRY:
        ends_at = batch.expires_at
    until, canceled_at = now, None
    if batch.cancel_at is not None:
        if spring(world, batch, "cancel_completes") is not None:
            ends_at = min(ends_at, batch.cancel_at + world.timing.cancel_seconds)
            batch.runs_until = ends_at
        else:
            until, canceled_at = min(now, batch.cancel_at), batch.cancel_at
    _execute_due(world, batch, until)
    if canceled_at is not None and canceled_at < ends_at:
        if now >= canceled_at + world.timing.cancel_seconds:
            _end(world, batch, "cancelled", "canceled", canceled_at + world.timing.cancel_seconds)
    elif now >= ends_at:
        status, rest = _how_it_ends(world, batch, expired=ends_at < batch.runs_until)
        _end(world, batch, status, rest, ends_at)


def _how_it_ends(world: World, batch: Batch, *, expired: bool) -> tuple[str, str]:
    left = [row for row in batch.rows if row.ended is None]
    for name in ("expires_partial", "expires_empty"):
        if spring(world, batch, name, left) is not None:
            return "expired", "expired"
    if spring(world, batch, "bedrock_partially_completed") is not None:
        return "completed", "unprocessed"
    if spring(world, batch, "credit_ends", left) is not None:
        return "completed", "errored"
    return ("expired", "expired") if expired else ("completed", "expired")


def _allowed(batch: Batch) -> int:
    """How many rows run at most."""
    if "expires_empty" in batch.traps:
        return 0
    if "expires_partial" in batch.traps and batch.provider == "gemini":
        return 0  # its jobs expire without results
    allowed = len(batch.rows)
    for name in ("expires_partial", "credit_ends", "bedrock_partially_completed"):
        if name in batch.traps:
            allowed = min(
                allowed, int(len(batch.rows) * float(batch.traps[name].get("share", 0.5)))
            )
    return allowed


def _execute_due(world: World, batch: Batch, until: float) -> None:
    length = max(batch.runs_until - batch.runs_from, 1e-9)
    share = min(max((until - batch.runs_from) / length, 0.0), 1.0)
    if batch.provider in _ALL_AT_ONCE and share < 1:
        return
    due = min(int(share * len(batch.rows) + 1e-9), _allowed(batch))
    while batch.executed < due:
        row = batch.rows[batch.executed]
        at = batch.runs_from + length * (row.index + 1) / len(batch.rows)
        _execute_row(world, batch, row, at)
        batch.executed += 1


def _execute_row(world: World, batch: Batch, row: Row, at: float) -> None:
    dialect = DIALECTS[batch.extra.get("dialect", batch.provider)]
    if (params := row.traps.get("row_error")) is not None:
        world.traps.note("row_error", batch.provider, batch.id, [row.custom_id])
        row.status = int(params.get("status", 500))
        row.error_code = params.get("code")
        row.body = dialect.row_error(row.status, params.get("message") or "The row failed.")
        row.ended = "errored"
        return
    model = world.prices.find(batch.provider, row.ask.model) if row.ask else None
    if row.ask is None or model is None:
        row.status = 400
        message = row.refusal or f"The model {row.ask.model if row.ask else ''} does not exist."
        row.body, row.ended = dialect.row_error(400, message), "errored"
        return
    try:
        outcome = execute(
            world,
            batch.provider,
            model,
            row.ask,
            row.raw,
            traps=row.traps,
            batch_id=batch.id,
            custom_id=row.custom_id,
            at=at,
        )
    except ProviderError as error:
        row.status, row.ended = error.status, "errored"
        row.body = dialect.row_error(error.status, error.message)
        return
    row.execution = outcome.execution
    row.body = dialect.render(outcome, world)
    row.ended, row.raw = "succeeded", None


def _end(world: World, batch: Batch, status: str, rest: str, at: float) -> None:
    dialect = DIALECTS[batch.extra.get("dialect", batch.provider)]
    for row in batch.rows:
        if row.ended is None:
            row.ended = rest
            if rest == "errored":
                row.status = dialect.credit_status
                row.body = dialect.row_error(dialect.credit_status, dialect.credit_message)
    if status == "expired":
        batch.expires_at = min(batch.expires_at, at)
    batch.status, batch.ended_at = status, at
    # Of rows that were refused, which are not paid, nobody hears either.
    spring(world, batch, "completed_without_output", batch.rows)
