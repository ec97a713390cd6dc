"""Reviews as callers see them."""

from autotune.protocol import reviews as wire
from autotune_platform.completions.models import Completion
from autotune_platform.http.bodies import response_bytes
from autotune_platform.judging.human.models import Preliminary, Review, ReviewSummary
from autotune_platform.reviews.link_repository import ReviewLink
from autotune_platform.reviews.rendering import rendered
from autotune_platform.runtime.clock import SYSTEM_CLOCK

# Lambda returns at most 6 MB, the envelope included.
_LARGEST_REVIEW_BYTES = 5_500_000


def summary_on_wire(review: ReviewSummary) -> wire.ReviewSummary:
    """Return a review without what is to be judged; a lease only while it holds."""
    return wire.ReviewSummary.model_validate(_summary(review))


def review_on_wire(
    review: Review,
    completion: Completion | None,
    *,
    with_preliminary: bool,
    as_html: bool,
    names_graders: bool,
) -> wire.Review:
    """Return a review with what is to be judged, as far as that is still there and fits.

    HTML is left out first where all is too large for one response, and then the text.

    Args:
        names_graders: whether the preliminary also names the graders that were asked.
    """
    fields = {
        **_summary(review),
        "instructions": review.instructions,
        "has_preliminary": review.preliminary is not None,
    }
    if with_preliminary and review.preliminary is not None:
        fields["preliminary"] = _preliminary(review.preliminary, names_graders=names_graders)
    if completion is None:
        # An explanation may quote the text, and is there until the table has removed both.
        return wire.Review.model_validate({**fields, **_summary(review.without_explanation())})
    text = {"prompt": completion.prompt, "response": completion.response}
    if as_html:
        html = {f"{part}_html": rendered(one) for part, one in text.items()}
        whole = wire.Review.model_validate({**fields, **text, **html})
        if response_bytes(whole) <= _LARGEST_REVIEW_BYTES:
            return whole
    whole = wire.Review.model_validate({**fields, **text})
    if response_bytes(whole) <= _LARGEST_REVIEW_BYTES:
        return whole
    return wire.Review.model_validate({**fields, "text_too_large": True})


def link_on_wire(link: ReviewLink) -> wire.ReviewLink:
    """Return a link without its address."""
    return wire.ReviewLink(
        **link.model_dump(exclude={"organization_id", "valid_until"}), expires_at=link.valid_until
    )


def _preliminary(preliminary: Preliminary, *, names_graders: bool) -> dict[str, object]:
    if names_graders:
        return preliminary.model_dump()
    anonymous = [
        one.model_dump(include={"state", "value", "confidence"}) for one in preliminary.opinions
    ]
    return {**preliminary.model_dump(), "opinions": anonymous}


def _summary(review: ReviewSummary) -> dict[str, object]:
    lease = review.held_at(SYSTEM_CLOCK.now())
    shown = review.model_dump(exclude={"preliminary", "preliminary_seen_by"})
    return {**shown, "lease": lease.model_dump() if lease else None}
