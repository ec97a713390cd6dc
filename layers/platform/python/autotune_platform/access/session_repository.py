"""Where sessions are stored, and how many an organisation made."""

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal

from autotune.protocol.limits import MAX_SESSION_MINUTES
from autotune_platform.access.models import Session
from autotune_platform.storage.registry import RECORD, EntityRepository, entity_from
from autotune_platform.storage.table import Item

KEPT_AFTER_END = timedelta(days=7)
"""For so long a session is listed that has ended by its time."""

_MADE = "sessions"
_WITHOUT_KEY = "key_none"
_CODE_SECONDS = 3_600
_WINDOW_SECONDS = MAX_SESSION_MINUTES * 60


class SessionRepository(EntityRepository[Session]):
    """Sessions in the ``registry`` table."""

    model = Session
    kind = "ses"
    listed_as = "session"
    named = "session"

    def exchange(self, session: Session, moment: datetime) -> Session | None:
        """Make a pending session active; return it, or None where that was done before."""
        item = self._table.update(
            session.id,
            RECORD,
            {"status": "active", "exchanged_at": moment.isoformat()},
            only_if={"status": "pending"},
        )
        return entity_from(item, Session) if item else None

    def count_made(
        self, organization_id: str, maker: str, *, at_most: int, of_maker: int, second: int
    ) -> Literal["organization", "maker"] | None:
        """Count a session that is made now; return whose limit is met already, if one is.

        They are counted by windows as long as the longest session: what has ended by its time is
        in no count, and nothing has to take it off one.

        Args:
            maker: the key that makes it, or the principal who signed in at a provider.
            of_maker: how many each of them may make.
        """
        window = second // _WINDOW_SECONDS
        of_this = f"by#{maker}"
        full = self._table.spend(
            f"rate#{organization_id}#{_MADE}#{window}",
            _MADE,
            {"made": at_most, of_this: of_maker},
            expires_at=(window + 1) * _WINDOW_SECONDS,
        )
        if full is None:
            return None
        return "maker" if full == of_this else "organization"

    def use_code(self, issuer: str, code: str, *, second: int) -> bool:
        """Note that an authorization code of a provider was used; return False where it was before.

        Providers accept a code once as well (RFC 6749, 4.1.2), and for minutes.
        """
        hashed = hashlib.sha256(f"{issuer}\0{code}".encode()).hexdigest()
        return self._table.put_new(
            {"pk": f"nonce#oidc#{hashed}", "sk": "nonce", "expires_at": second + _CODE_SECONDS},
            or_expired_at=second,
            writer=secrets.token_hex(8),
        )

    def note_use(self, session: Session, moment: datetime) -> None:
        """Note when a session was last used, beside the use of its key."""
        self._table.put(
            {
                "pk": _use_of(session),
                "sk": session.id,
                "used_at": moment.isoformat(),
                "expires_at": _forgotten_at(session),
            }
        )

    def last_uses(self, sessions: Iterable[Session]) -> dict[str, datetime]:
        """Return when sessions were last used, by id, as far as they were."""
        found = self._table.get_many((_use_of(session), session.id) for session in sessions)
        return {sk: datetime.fromisoformat(item["used_at"]) for (_, sk), item in found.items()}

    def _item(self, entity: Session) -> Item:
        return {**super()._item(entity), "expires_at": _forgotten_at(entity)}


def _use_of(session: Session) -> str:
    # Every API may write below "use#key_", and nothing else of this kind.
    return f"use#{session.key_id or f'{_WITHOUT_KEY}#{session.id}'}"


def _forgotten_at(session: Session) -> int:
    return int((session.valid_until + KEPT_AFTER_END).timestamp())
