"""Links for reviewers who have no key: a token that holds who may review what, and until when.

``<payload>.<HMAC-SHA256 of it>``, both base64url without padding, under a secret that KMS derives
and that is stored nowhere. A link ends by its time, which is at most seven days ahead, or when it
is revoked. The token stands in the URL's fragment, which browsers send to nobody, and reaches the
API as ``Authorization: Bearer``.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping

from pydantic import ConfigDict, Field

from autotune.protocol.ids import derived_id, new_id
from autotune.protocol.reviews import REVIEWER_SESSION_HEADER
from autotune.protocol.signing import REQUEST_ID_HEADER
from autotune_platform.access.models import Caller, Signer
from autotune_platform.access.requests import SignedRequest
from autotune_platform.access.secrets import DerivedSecrets
from autotune_platform.access.service import AccessService
from autotune_platform.judging.human.models import ReviewSummary
from autotune_platform.reviews.link_repository import LinkRepository
from autotune_platform.runtime.bounded_json import read_model
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import LinkExpiredError, UnauthenticatedError
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.runtime.parts import part

ANYONE = "anyone"
"""Stands for whoever opens the link of a notification; each browser is a reviewer of its own."""

_LONGEST_TOKEN = 1_024
_MOST_VALUES = 100
_SIGNED = b"autotune.review-link.v1."
_SESSION = re.compile(r"[A-Za-z0-9]{8,40}")
_NAME_DIGITS = 32


class LinkPayload(FrozenModel):
    """What a link holds.

    Attributes:
        review_id: the one review that it opens; None for all open ones of the organisation.
        shared: whether it was sent to many, so that those who open it are distinguished by browser.
        expires_at: Unix seconds.
    """

    model_config = ConfigDict(populate_by_name=True, extra="forbid")

    id: str = Field(alias="i")
    organization_id: str = Field(alias="o")
    reviewer_id: str = Field(alias="r")
    review_id: str | None = Field(default=None, alias="v")
    shared: bool = Field(default=False, alias="s")
    expires_at: int = Field(alias="e")


@part
class ReviewLinks:
    """Signs links and reads them.

    Args:
        base_url: what ``/review`` hangs below, without a slash at its end.
    """

    secrets: DerivedSecrets
    base_url: str
    clock: Clock = SYSTEM_CLOCK

    def url(self, payload: LinkPayload) -> str:
        """Return the address of the page, with the token that opens it."""
        return f"{self.base_url}/review#{self.token(payload)}"

    def token(self, payload: LinkPayload) -> str:
        """Return the token that holds ``payload``."""
        encoded = _encoded(payload.model_dump_json(by_alias=True, exclude_defaults=True).encode())
        return f"{encoded}.{_encoded(self._mac(encoded))}"

    def read(self, token: str) -> LinkPayload:
        """Return what a token holds.

        Raises:
            UnauthenticatedError: it is not one that this platform signed.
            LinkExpiredError: its time is over.
        """
        encoded, _, mac = token.partition(".")
        wrong = UnauthenticatedError("the link is not one that this service made")
        if len(token) > _LONGEST_TOKEN or not token.isascii():
            raise wrong
        if not hmac.compare_digest(mac, _encoded(self._mac(encoded))):
            raise wrong
        try:
            payload = read_model(LinkPayload, _decoded(encoded), most_values=_MOST_VALUES)
        except ValueError as error:
            raise wrong from error
        if payload.expires_at <= self.clock.unix():
            raise LinkExpiredError("the link has expired; ask for a new one")
        return payload

    def of_review(self, review: ReviewSummary) -> str:
        """Return the address that opens a review to whoever gets its notification.

        It follows from the review, so that a repeated notification has the same one.
        """
        return self.url(
            LinkPayload(
                id=derived_id("rvl", review.id),
                organization_id=review.organization_id,
                reviewer_id=ANYONE,
                review_id=review.id,
                shared=True,
                expires_at=int(review.expires_at.timestamp()),
            )
        )

    def _mac(self, encoded: str) -> bytes:
        # One secret for all organisations: a forged token costs no call of KMS for each that it
        # makes up, and the organisation is part of what is signed.
        secret = self.secrets.derive("review-link", "links", 1)
        return hmac.digest(bytes.fromhex(secret), _SIGNED + encoded.encode(), hashlib.sha256)


@part
class ReviewCallers:
    """Takes a link's token where a request carries one, and else the signature of a key.

    A link makes its bearer a caller in the role ``reviewer`` of its organisation, confined to open
    reviews, or to one review where it opens only that.
    """

    keys: AccessService
    links: ReviewLinks
    made: LinkRepository

    def claimed_key(self, request: SignedRequest) -> Signer | None:
        """Return the key or session that a request names; None if it brings a link."""
        return None if "authorization" in request.headers else self.keys.claimed_key(request)

    def authenticate(self, key: Signer | None, request: SignedRequest) -> Caller:
        """Return who sent a request.

        Raises:
            UnauthenticatedError: no active key signed it, and no link that was made here opens it.
            LinkExpiredError: the link's time is over, or it was revoked.
            StaleRequestError, ReplayedRequestError: as ``AccessService.authenticate``.
        """
        if "authorization" in request.headers:
            return self._bearer(request.headers)
        return self.keys.authenticate(key, request)

    def require_active(self, caller: Caller) -> None:
        """Require that a caller's key is active now; a link was looked up when it was read.

        Raises:
            UnauthenticatedError: it was revoked, or has expired.
        """
        if not caller.by_link:
            self.keys.require_active(caller)

    def _bearer(self, headers: Mapping[str, str]) -> Caller:
        scheme, _, token = headers["authorization"].partition(" ")
        if scheme.lower() != "bearer":
            raise UnauthenticatedError("authorization must be Bearer, with the token of a link")
        payload = self.links.read(token.strip())
        made = self.made.get(payload.id)
        # Those of notifications are not stored: they end with their review.
        if made is not None and made.status == "revoked":
            raise LinkExpiredError("the link was revoked; ask for a new one")
        if made is not None:
            self.made.note_use(made, self.links.clock.now())
        reviewer_id = payload.reviewer_id
        if payload.shared:
            session = headers.get(REVIEWER_SESSION_HEADER, "")
            if _SESSION.fullmatch(session) is None:
                raise UnauthenticatedError(
                    f"{REVIEWER_SESSION_HEADER} must be 8 to 40 letters and digits with this link"
                )
            # Others read the name, and who knows a session is that person.
            named = hashlib.sha256(f"{payload.id}.{session}".encode()).hexdigest()[:_NAME_DIGITS]
            reviewer_id = f"{reviewer_id}.{named}"
        return Caller(
            key_id=payload.id,
            organization_id=payload.organization_id,
            principal_id=reviewer_id,
            role="reviewer",
            request_id=headers.get(REQUEST_ID_HEADER) or new_id("req"),
            by_link=True,
            review_id=payload.review_id,
        )


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
