"""Links for reviewers who have no key: a token that holds who may review what, and until when.

``<payload>.<HMAC-SHA256 of it>``, both base64url without padding, under a secret that KMS derives
and that is stored nowhere. Nothing is kept of a link: it ends by its time, which is at most seven
days ahead. The token stands in the URL's fragment, which browsers send to nobody, and reaches the
API as ``Authorization: Bearer``.
"""

import base64
import binascii
import hashlib
import hmac
from datetime import UTC, datetime

from pydantic import ConfigDict, Field, ValidationError

from autotune.protocol.ids import derived_id
from autotune_platform.access.secrets import DerivedSecrets
from autotune_platform.judging.human.models import ReviewSummary
from autotune_platform.runtime.errors import LinkExpiredError, UnauthenticatedError
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.runtime.parts import part

ANYONE = "anyone"
"""Stands for whoever opens the link of a notification; each browser is a reviewer of its own."""

_LONGEST_TOKEN = 1_024
_SIGNED = b"autotune.review-link.v1."


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
            payload = LinkPayload.model_validate_json(_decoded(encoded))
        except (binascii.Error, ValidationError) as error:
            raise wrong from error
        if payload.expires_at <= datetime.now(UTC).timestamp():
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


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
