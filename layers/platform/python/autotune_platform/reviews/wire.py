"""Reviews as callers see them."""

import json
from collections.abc import Sequence

from autotune.protocol import reviews as wire
from autotune.protocol.tasks import ReviewPolicy
from autotune_platform.access.models import Caller
from autotune_platform.completions.models import Completion
from autotune_platform.http.bodies import response_bytes
from autotune_platform.judging.human.models import Preliminary, Review, ReviewSummary
from autotune_platform.reviews.link_repository import ReviewLink
from autotune_platform.reviews.rendering import rendered
from autotune_platform.runtime.clock import SYSTEM_CLOCK

# Lambda returns at most 6 MB, the envelope included.
_LARGEST_REVIEW_BYTES = 5_500_000
_REFERENCES = ("reference", "answer")
"""Where metadata has what is compared with, the first that is there: as builtin graders name it."""


def summary_on_wire(review: ReviewSummary, caller: Caller) -> wire.ReviewSummary:
    """Return a review without what is to be judged; a lease only while it holds."""
    return wire.ReviewSummary.model_validate(_summary(review, caller))


def review_on_wire(
    review: Review,
    completion: Completion | None,
    caller: Caller,
    *,
    policy: ReviewPolicy,
    rubrics: Sequence[wire.ReviewRubric],
    with_preliminary: bool,
    as_html: bool,
) -> wire.Review:
    """Return a review with what is to be judged, as far as that is still there and fits.

    HTML is left out first where all is too large for one response, and then the text. The graders
    that were asked are named to nobody in the role ``reviewer``.

    Args:
        policy: says what of the completion's metadata is shown.
    """
    fields = {
        **_summary(review, caller),
        "instructions": review.instructions,
        "has_preliminary": review.preliminary is not None,
        "rubrics": list(rubrics),
        "dimensions": _dimensions(review.preliminary),
    }
    if with_preliminary and review.preliminary is not None:
        names_graders = caller.role != "reviewer"
        fields["preliminary"] = _preliminary(review.preliminary, names_graders=names_graders)
    if completion is None:
        # An explanation may quote the text, and is there until the table has removed both.
        gone = _summary(review.without_explanation(), caller)
        return wire.Review.model_validate({**fields, **gone})
    if policy.show_metadata:
        fields["metadata"] = completion.metadata
    if policy.show_reference:
        fields["reference"] = _reference(completion)
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


def _dimensions(preliminary: Preliminary | None) -> list[str]:
    scored = preliminary.dimensions if preliminary is not None else None
    return [dimension.name for dimension in scored or []]


def _reference(completion: Completion) -> str | None:
    """Return what a grader would compare with, as text; None where there is nothing."""
    found = (completion.metadata.get(name) for name in _REFERENCES)
    reference = next((one for one in found if one is not None), None)
    if reference is None or isinstance(reference, str):
        return reference
    return json.dumps(reference, ensure_ascii=False, indent=2)


def _summary(review: ReviewSummary, caller: Caller) -> dict[str, object]:
    lease = review.held_at(SYSTEM_CLOCK.now())
    shown = review.model_dump(exclude={"preliminary", "preliminary_seen_by"})
    if caller.role == "reviewer" and isinstance(review, Review):
        shown |= _blinded(review, caller.principal_id)
    return {**shown, "lease": lease.model_dump() if lease else None}


def _blinded(review: Review, reviewer_id: str) -> dict[str, object]:
    """Return what is shown in place of what others said whose word would lean a reviewer."""
    own = [one.model_dump() for one in review.cannot_judge if one.reviewer_id == reviewer_id]
    answer = review.answer
    is_blind = review.second_id is not None and answer and answer.reviewer_id != reviewer_id
    return {"cannot_judge": own, **({"answer": None} if is_blind else {})}
