"""Links by which people review who have no key; methods of ``client.reviews``."""

from typing import Unpack

from autotune.client.arguments import request_of
from autotune.client.calls import Call, CallOptions, Listing, call, listing, returning
from autotune.protocol import reviews

_made_link = returning(reviews.CreateReviewLinkResponse)
_links = returning(reviews.ReviewLinkList, lambda page: (page.links, page.next_token))
_link = returning(reviews.ReviewLinkResponse, lambda answer: answer.link)


def create_review_link(
    *,
    reviewer_id: str,
    review_id: str | None = None,
    expires_in_seconds: int | None = None,
    **options: Unpack[CallOptions],
) -> Call[reviews.CreateReviewLinkResponse]:
    """Make a link by which a named person reviews without a key; its URL is shown this once.

    Args:
        reviewer_id: names the person in answers, leases and assignments.
        review_id: the one review that it opens; all open ones without it.
        expires_in_seconds: 60 to 604,800; a day unless given.

    Raises:
        InvalidInputError: an argument is out of its range; nothing was sent.
        NotFoundError: there is no such review in this organisation.
        PermissionDeniedError: the key's role makes no links.
    """
    request = request_of(
        reviews.CreateReviewLinkRequest,
        reviewer_id=reviewer_id,
        review_id=review_id,
        expires_in_seconds=expires_in_seconds,
    )
    return call("POST", "review-links", read=_made_link, body=request, **options)


def list_review_links(
    *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[reviews.ReviewLink]:
    """Walk through the links that somebody made and that have not ended by their time.

    Args:
        page_size: links fetched at a time, 1 to 200.

    Raises:
        PermissionDeniedError: the key's role makes no links.
    """
    return listing("review-links", read=_links, page_size=page_size, **options)


def revoke_review_link(link_id: str, **options: Unpack[CallOptions]) -> Call[reviews.ReviewLink]:
    """Have a link open nothing any more, at once.

    Raises:
        NotFoundError: there is no such link in this organisation.
    """
    return call("DELETE", "review-links", link_id, read=_link, **options)
