"""Sessions as callers see them."""

from datetime import datetime

from autotune.protocol.sessions import Session as WireSession
from autotune_platform.access.models import Session

_HIDDEN = {"status", "secret_version", "code_sha256", "code_until", "valid_until"}


def session_on_wire(
    session: Session, *, now: datetime, last_used_at: datetime | None = None
) -> WireSession:
    """Return a session as its organisation sees it: without secrets."""
    return WireSession(
        **session.model_dump(exclude=_HIDDEN),
        status=session.status_at(now),
        expires_at=session.valid_until,
        last_used_at=last_used_at,
    )
