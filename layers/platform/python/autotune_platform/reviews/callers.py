"""Who calls about reviews: whoever signs with a key, or came by a link."""

import hashlib
import re
from collections.abc import Mapping

from autotune.protocol.ids import new_id
from autotune.protocol.reviews import REVIEWER_SESSION_HEADER
from autotune.protocol.signing import REQUEST_ID_HEADER
from autotune_platform.access.models import Caller, Key
from autotune_platform.access.requests import SignedRequest
from autotune_platform.access.service import AccessService
from autotune_platform.reviews.links import ReviewLinks
from autotune_platform.runtime.errors import UnauthenticatedError
from autotune_platform.runtime.parts import part

_SESSION = re.compile(r"[A-Za-z0-9]{8,40}")
_NAME_DIGITS = 32


@part
class ReviewCallers:
    """Takes a link's token where a request carries one, and else the signature of a key.

    A link makes its bearer a caller in the role ``reviewer`` of its organisation, confined to open
    reviews, or to one review where it opens only that.
    """

    keys: AccessService
    links: ReviewLinks

    def claimed_key(self, request: SignedRequest) -> Key | None:
        """Return the key that a request names; None if it brings a link."""
        return None if "authorization" in request.headers else self.keys.claimed_key(request)

    def authenticate(self, key: Key | None, request: SignedRequest) -> Caller:
        """Return who sent a request.

        Raises:
            UnauthenticatedError: no active key signed it, and no link that was made here opens it.
            LinkExpiredError: the link's time is over.
            StaleRequestError, ReplayedRequestError: as ``AccessService.authenticate``.
        """
        if "authorization" in request.headers:
            return self._bearer(request.headers)
        return self.keys.authenticate(key, request)

    def _bearer(self, headers: Mapping[str, str]) -> Caller:
        scheme, _, token = headers["authorization"].partition(" ")
        if scheme.lower() != "bearer":
            raise UnauthenticatedError("authorization must be Bearer, with the token of a link")
        payload = self.links.read(token.strip())
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
