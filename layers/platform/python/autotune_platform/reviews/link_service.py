"""Making links for reviewers who have no key, listing them, and revoking them."""

from datetime import timedelta

from autotune.protocol.ids import new_id
from autotune.protocol.reviews import CreateReviewLinkRequest
from autotune_platform.access.models import Caller
from autotune_platform.reviews.link_repository import LinkRepository, ReviewLink
from autotune_platform.reviews.links import LinkPayload, ReviewLinks
from autotune_platform.reviews.service import ReviewService
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part


@part
class ReviewLinkService:
    """Keeps an organisation's links."""

    reviews: ReviewService
    links: ReviewLinks
    repository: LinkRepository
    clock: Clock = SYSTEM_CLOCK

    def create(self, caller: Caller, request: CreateReviewLinkRequest) -> tuple[ReviewLink, str]:
        """Make a link for a named reviewer; return it and its URL, which is stored nowhere.

        Raises:
            NotFoundError: it is for a review that is not there.
        """
        if request.review_id is not None:
            self.reviews.require(caller, request.review_id)
        now = self.clock.now()
        link = ReviewLink(
            id=new_id("rvl"),
            organization_id=caller.organization_id,
            reviewer_id=request.reviewer_id,
            review_id=request.review_id,
            created_at=now,
            created_by=caller.key_id,
            valid_until=now + timedelta(seconds=request.expires_in_seconds),
        )
        self.repository.add(link)
        payload = LinkPayload(
            id=link.id,
            organization_id=link.organization_id,
            reviewer_id=link.reviewer_id,
            review_id=link.review_id,
            expires_at=int(link.valid_until.timestamp()),
        )
        return link, self.links.url(payload)

    def list(
        self, caller: Caller, *, limit: int, next_token: str | None
    ) -> tuple[list[ReviewLink], str | None]:
        """Return a page of the links that have not ended by their time, the oldest first."""
        links, token = self.repository.list(
            caller.organization_id, limit=limit, next_token=next_token
        )
        now = self.clock.now()
        # The table may remove expired items days later.
        return [link for link in links if link.valid_until > now], token

    def revoke(self, caller: Caller, link_id: str) -> ReviewLink:
        """Have a link open nothing any more, at once; revoking twice is fine.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return self.repository.revoke(caller.organization_id, link_id)
