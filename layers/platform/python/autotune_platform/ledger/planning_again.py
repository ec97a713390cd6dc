"""What a row that has ended becomes once more: sent, priced and bounded as of today."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from autotune.protocol.ids import derived_id
from autotune.protocol.llm_params import LlmParams
from autotune.protocol.llm_requests import LlmReaskSkipped
from autotune_platform.ledger.job_sizes import job_window
from autotune_platform.ledger.models import Connection, Mode, Row
from autotune_platform.ledger.planning import price_of
from autotune_platform.ledger.prices import Prices, bound
from autotune_platform.ledger.row_texts import RowInput
from autotune_platform.ledger.sending import mode_of, require_room, unsupported_in_jobs
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part

_CALLS_WITHIN = timedelta(hours=1)
"""How long five attempts of a single call may take, with what is waited between them."""


@part
class PlanningAgain:
    """Makes rows of rows that have ended."""

    prices: Prices
    clock: Clock = SYSTEM_CLOCK

    def retry(self, row: Row, text: RowInput, connection: Connection) -> Row:
        """Return the row that tries an ended one once more.

        Its texts stay for as many days as the first one's, counted from now.

        Raises:
            InvalidRequestError: the model has no price any more, its connection has a limit now
                that it is too large for, or all its rows are to go in jobs, which do not take a
                parameter of it.
        """
        now = self.clock.now()
        params = LlmParams.model_validate(text.params)
        mode = mode_of(params, connection, "", by=None, now=now)
        fields = {
            "id": retry_id(row.id),
            "retry_of": row.id,
            "expires_at": _expiry_of_retry(row, now),
        }
        return self._once_more(row, connection, mode, fields, now)

    def reask(self, row: Row, text: RowInput, connection: Connection) -> Row | LlmReaskSkipped:
        """Return the row that asks the same as one whose verdict cannot be read, or why not.

        It belongs to what the row before it does: it is wanted until then, and its texts go then.
        It is sent, and costs, as if it were enqueued now.

        Raises:
            InvalidRequestError: the model has no price any more, or its connection has a limit now
                that it is too large for.
        """
        now, by = self.clock.now(), row.complete_by
        params = LlmParams.model_validate(text.params)
        if unsupported_in_jobs(params, connection, by=by, now=now) is not None:
            return "unsupported_in_batch"
        mode = mode_of(params, connection, "", by=by, now=now)
        if row.expires_at is not None and row.expires_at < _answered_by(connection, mode, by, now):
            return "texts_expire"
        fields = {
            "id": reask_id(row.id),
            "reask_of": row.id,
            "reasks": (row.reasks or 0) + 1,
            "first_request_id": row.first_request_id or row.id,
            "complete_by": by,
            "expires_at": row.expires_at,
        }
        return self._once_more(row, connection, mode, fields, now)

    def _once_more(
        self,
        row: Row,
        connection: Connection,
        mode: Mode,
        fields: Mapping[str, Any],
        now: datetime,
    ) -> Row:
        price = price_of(self.prices, connection, row.model, mode, "model")
        if mode == "job":
            require_room(connection, row.model, row.input_bytes, row.messages, "input")
        carried = {name: value for name, value in row if name in _CARRIED}
        return Row(
            **carried,
            **fields,
            mode=mode,
            price=price,
            bound_nano_usd=bound(row.input_bytes, row.messages, row.max_tokens, price),
            created_at=now,
            updated_at=now,
        )


def retry_id(row_id: str) -> str:
    """Return the id of the row that a row is retried as."""
    return derived_id("llm", "retry", row_id)


def reask_id(row_id: str) -> str:
    """Return the id of the row that asks the same as another whose verdict cannot be read."""
    return derived_id("llm", "reask", row_id)


def _expiry_of_retry(row: Row, now: datetime) -> datetime | None:
    """Return when the texts of a retry go: whole days from now, as the row itself had."""
    if row.expires_at is None:
        return None
    # What was asked again has the end of what it was asked for, so that it has fewer days, or none.
    days = -(-(row.expires_at - row.created_at) // timedelta(days=1))
    return now.replace(microsecond=0) + timedelta(days=max(days, 1))


def _answered_by(
    connection: Connection, mode: Mode, by: datetime | None, now: datetime
) -> datetime:
    """Return when a row that is enqueued now is answered at the latest, if all goes well."""
    within = job_window(connection) if mode == "job" else _CALLS_WITHIN
    latest = now + timedelta(seconds=connection.max_wait_seconds) + within
    return latest if by is None else min(by, latest)


_CARRIED = frozenset(
    {
        "organization_id",
        "connection_id",
        "provider",
        "model",
        "purpose",
        "priority",
        "input_bytes",
        "messages",
        "max_tokens",
        "trace",
        "labels",
        "completion_id",
        "deck_id",
        "custom_id",
        "import_id",
    }
)
