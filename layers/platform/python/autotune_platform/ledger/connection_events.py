"""Events of connections: that one is paused, and that it goes on."""

from autotune.protocol.ids import derived_id
from autotune.protocol.llm_events import LedgerConnectionPaused, LedgerConnectionResumed
from autotune_platform.ledger.models import Connection
from autotune_platform.webhooks.models import Event


def connection_paused(before: Connection, after: Connection) -> Event:
    """Return the event ``ledger.connection.paused``."""
    data = LedgerConnectionPaused(
        connection_id=after.id,
        name=after.name,
        provider=after.provider,
        paused_because=after.paused_because or "",
    )
    return Event(
        # A connection is paused once from each state that it was ever in.
        id=derived_id("evt", "ledger.connection.paused", before.id, before.updated_at.isoformat()),
        type="ledger.connection.paused",
        organization_id=after.organization_id,
        occurred_at=after.updated_at,
        data=data.model_dump(mode="json", by_alias=True),
    )


def connection_resumed(before: Connection, after: Connection) -> Event:
    """Return the event ``ledger.connection.resumed``."""
    data = LedgerConnectionResumed(
        connection_id=after.id,
        name=after.name,
        provider=after.provider,
        paused_because=before.paused_because or "",
        paused_at=before.updated_at,
    )
    return Event(
        id=derived_id("evt", "ledger.connection.resumed", before.id, before.updated_at.isoformat()),
        type="ledger.connection.resumed",
        organization_id=after.organization_id,
        occurred_at=after.updated_at,
        data=data.model_dump(mode="json", by_alias=True),
    )
