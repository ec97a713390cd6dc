"""Keys and sessions by their ids, as they were half a minute ago at most."""

from dataclasses import field
from datetime import datetime

from cachetools import TTLCache

from autotune.protocol.ids import is_id
from autotune_platform.access.models import Caller, Key, Session, Signer
from autotune_platform.access.repository import AccessRepository
from autotune_platform.access.session_repository import SessionRepository
from autotune_platform.runtime.parts import part

_CACHED = 1_024
# What was revoked works at most this much longer in a function that has just seen it.
_CACHED_SECONDS = 30


def _cache() -> "TTLCache[str, Signer]":
    return TTLCache(_CACHED, _CACHED_SECONDS)


@part
class Signers:
    """Finds what signs requests, and whether it still may."""

    keys: AccessRepository
    sessions: SessionRepository
    _seen: "TTLCache[str, Signer]" = field(default_factory=_cache, init=False)

    def find(self, signer_id: str) -> Signer | None:
        """Return a key or session, of any status; None where there is none."""
        seen = self._seen.get(signer_id)
        if seen is not None:
            return seen
        found = self.read(signer_id)
        if found is not None and found.status == "active":
            self._seen[signer_id] = found
        return found

    def read(self, signer_id: str) -> Signer | None:
        """Return a key or session as it is stored now."""
        if is_id("ses", signer_id):
            return self.sessions.get(signer_id)
        return self.keys.get(signer_id)

    def may_sign(self, signer: Signer, moment: datetime) -> bool:
        """Return whether it is active; a session is so no longer than the key that made it."""
        if signer.status_at(moment) != "active":
            return False
        if isinstance(signer, Key) or signer.key_id is None:
            return True
        key = self.find(signer.key_id)
        return key is not None and key.status_at(moment) == "active"

    def may_still_sign(self, caller: Caller, moment: datetime) -> bool:
        """Return whether what signed a request is active as it is stored now."""
        for signer_id in {caller.session_id or caller.key_id, caller.key_id}:
            stored = self.read(signer_id)
            if stored is None or stored.status_at(moment) != "active":
                self.forget(signer_id)
                return False
        return True

    def note_use(self, signer: Signer, moment: datetime) -> None:
        """Note when something last signed a request that was accepted."""
        if isinstance(signer, Session):
            self.sessions.note_use(signer, moment)
        else:
            self.keys.note_use(signer.id, moment)

    def forget(self, signer_id: str) -> None:
        """Have a key or session read anew by the next request of this process."""
        self._seen.pop(signer_id, None)


def key_of(signer: Signer) -> str | None:
    """Return the key that signs, or that made the session which does; None where none did."""
    return signer.key_id if isinstance(signer, Session) else signer.id


def maker_of(signer: Signer) -> str:
    """Return what is named as the maker of what is made: a key, and without one the session."""
    return key_of(signer) or signer.id


def session_of(signer: Signer) -> str | None:
    """Return the session that signs; None where a key does."""
    return signer.id if isinstance(signer, Session) else None
