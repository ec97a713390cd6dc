"""What lets programs in that can sign nothing."""

from datetime import datetime
from typing import Literal

from autotune.protocol.deck_samples import Collection
from autotune.protocol.ingest_urls import IngestUrlState
from autotune_platform.storage.registry import Entity


class IngestUrl(Entity):
    """What lets in; ``digest`` is the SHA-256 of its secret.

    Attributes:
        samples_are: the collection that samples are put in; items have a ``collection`` of theirs.
    """

    name: str
    deck_id: str | None = None
    samples_are: Collection
    digest: str
    ends_with: str
    status: Literal["active", "revoked"] = "active"
    created_at: datetime
    created_by: str | None = None
    expires_at: datetime | None = None

    def state_at(self, moment: datetime) -> IngestUrlState:
        """Return the state at a moment; a revoked one stays revoked when it expires."""
        if self.status == "revoked":
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= moment else "active"
