"""Reviews with something of everything that the console shows of them."""

from dataclasses import dataclass

from autotune.protocol.tasks import ReviewPolicy
from autotune_platform.judging.human.models import second_review_id
from tests.support.platform import Platform
from tests.support.reviews import Reviewing

_TWICE = ReviewPolicy(second_opinion_share=1)


@dataclass
class FilledReviews:
    """What there is: ids of reviews.

    Attributes:
        open: one that anybody may take.
        held: one that the reviewer ben is at.
        answered: one that anna answered, and ben after her.
    """

    reviewing: Reviewing
    open: str
    held: str
    answered: str


def filled_reviews(platform: Platform) -> FilledReviews:
    """Have reviews answered twice, held, left open and not judged, and a link made."""
    reviewing = Reviewing(platform)
    answered = [reviewing.request(60 - number, policy=_TWICE) for number in range(3)]
    for id_, first, second in zip(answered, (0.9, 0.4, 0.2), (0.85, 0.4, 0.6), strict=True):
        for given, value, key in (
            (id_, first, reviewing.anna),
            (second_review_id(id_), second, reviewing.ben),
        ):
            answer = reviewing.answer(given, value, api_key=key)
            assert answer.status == 200, answer.text
    held = reviewing.request(30, prompt="Prove it. " * 30, response="By induction. " * 60)
    assert reviewing.post(held, "claim", api_key=reviewing.ben).status == 200
    open_ = reviewing.request(20, reason="disagreement")
    assert reviewing.cannot_judge(open_, "needs_expertise", api_key=reviewing.anna).status == 200
    reviewing.link("cleo")
    return FilledReviews(reviewing, open_, held, answered[0])
