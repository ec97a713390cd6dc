"""The event of an import: that it has ended."""

from autotune.protocol.ids import derived_id
from autotune.protocol.llm_events import LedgerImportCompleted
from autotune.protocol.llm_imports import LlmImportCounts
from autotune_platform.ledger.imports.models import Import
from autotune_platform.webhooks.models import Event


def import_completed(one: Import) -> Event:
    """Return the event ``ledger.import.completed`` of an import that has ended."""
    assert one.completed_at is not None
    data = LedgerImportCompleted(
        import_id=one.id,
        state=one.state,
        error_code=one.error_code,
        connection_id=one.request.connection_id,
        purpose=one.request.purpose,
        counts=LlmImportCounts(
            lines=one.line, bytes=one.offset, enqueued=one.enqueued, rejected=one.rejected
        ),
        created_at=one.created_at,
        completed_at=one.completed_at,
    )
    return Event(
        # An id comes again once an import has expired: it follows from the idempotency key.
        id=derived_id("evt", "ledger.import.completed", one.id, one.created_at.isoformat()),
        type="ledger.import.completed",
        organization_id=one.organization_id,
        occurred_at=one.completed_at,
        data=data.model_dump(mode="json", by_alias=True),
    )
