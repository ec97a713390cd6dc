"""What lets in whoever knows it, and can sign nothing: URLs and tokens that are handed out.

Its text is an id and 64 hexadecimal digits behind a hyphen. These are random, and stored as a
digest; or a MAC over the id, of which nothing is stored. Reading and comparing is the same for all.
"""

import hashlib
import hmac
import re
import secrets
from datetime import datetime
from typing import Literal

from autotune.protocol.ids import ID_BODY, new_id
from autotune_platform.access.models import Caller
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.storage.registry import Entity

_NOTHING = "0" * 64


class Capability(Entity):
    """What lets in; a revoked one is kept."""

    name: str
    status: Literal["active", "revoked"] = "active"
    created_at: datetime
    created_by: str | None = None
    expires_at: datetime | None = None

    def state_at(self, moment: datetime) -> Literal["active", "revoked", "expired"]:
        """Return the state at a moment; a revoked one stays revoked when it expires."""
        if self.status == "revoked":
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= moment else "active"


class HashedCapability(Capability):
    """What lets in by a random secret; ``digest`` is its SHA-256, ``ends_with`` its last four."""

    digest: str
    ends_with: str


class NewSecret:
    """256 random bits that are shown once.

    Attributes:
        stored: what is stored of them, by the names of ``HashedCapability``.
    """

    def __init__(self) -> None:
        self._digits = secrets.token_hex(32)
        self.stored = {"digest": _digest(self._digits), "ends_with": self._digits[-4:]}

    def text(self, capability_id: str) -> str:
        """Return what lets in."""
        return text_of(capability_id, self._digits)


def text_of(capability_id: str, digits: str) -> str:
    """Return what lets in, of an id and 64 hexadecimal digits."""
    return f"{capability_id}-{digits}"


def split(kind: str, text: str) -> tuple[str, str] | None:
    """Return the id, of a kind such as ``igu``, and the 64 digits; None for what has no such form.

    What has none costs no call.
    """
    shaped = re.fullmatch(rf"({kind}_{ID_BODY})-([0-9a-f]{{64}})", text)
    return None if shaped is None else (shaped[1], shaped[2])


def is_genuine(found: HashedCapability | None, digits: str) -> bool:
    """Return whether digits are those of a capability; it takes as long where there is none."""
    return hmac.compare_digest(_digest(digits), found.digest if found else _NOTHING)


def require_future(expires_at: datetime | None, now: datetime) -> None:
    """Require that an expiry has not passed.

    Raises:
        InvalidRequestError: it has; the error names ``expiresAt``.
    """
    if expires_at is not None and expires_at <= now:
        raise InvalidRequestError.of_field("expiresAt", "a moment in the future")


def bearer_of(capability: Capability) -> Caller:
    """Return the caller that whoever knows a capability acts as."""
    return Caller(
        key_id=capability.id,
        organization_id=capability.organization_id,
        principal_id=capability.id,
        role="training_operator",
        request_id=new_id("req"),
        by_link=True,
    )


def _digest(digits: str) -> str:
    return hashlib.sha256(digits.encode()).hexdigest()
