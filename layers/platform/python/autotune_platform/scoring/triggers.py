"""When a panel's review policy has a person look at a completion."""

import hashlib
import math
from collections.abc import Sequence

from autotune.protocol.reviews import ReviewReason
from autotune_platform.scoring.aggregation import Outcome
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.panels import Panel

# 0.9 - 0.6 is meant to be no more than 0.3.
_ROUNDING = 1e-9


def reason_for_review(
    panel: Panel, completion_id: str, outcome: Outcome, opinions: Sequence[Verdict]
) -> ReviewReason | None:
    """Return why a person is to look at what graders answered; None where nobody has to.

    The answer follows from the arguments alone, so that a repetition comes to the same.
    """
    policy = panel.review
    if policy is None:
        return None
    if policy.confidence_below is not None and outcome.state in ("scored", "abstained"):
        # Who abstains is sure of nothing; what failed is sent to nobody for that, because an
        # outage would send everything.
        confidence = outcome.confidence or 0.0
        if confidence < policy.confidence_below and not _same(confidence, policy.confidence_below):
            return "low_confidence"
    if policy.disagreement_above is not None:
        spread = _spread(opinions)
        if spread > policy.disagreement_above and not _same(spread, policy.disagreement_above):
            return "disagreement"
    if policy.sampled_share is not None and _draw(completion_id) < policy.sampled_share:
        return "sampled"
    return None


def _spread(opinions: Sequence[Verdict]) -> float:
    values = [opinion.value for opinion in opinions if opinion.value is not None]
    return max(values) - min(values) if values else 0.0


def _draw(completion_id: str) -> float:
    """Return a number from 0 to below 1 that follows from the id alone, evenly spread."""
    digest = hashlib.sha256(b"review" + completion_id.encode()).digest()
    # 53 bits are what a float holds exactly: 64 could round up to 1.
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=0, abs_tol=_ROUNDING)
