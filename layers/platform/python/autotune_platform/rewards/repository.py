"""Stores reward URLs and claims of questions.

``pk=rwu_…`` is a reward URL, listed by collection as all entities are. ``pk=question#<sha256>`` is
the claim of a question, valid for a day.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from autotune_platform.rewards.models import RewardUrl
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.registry import EntityRepository
from autotune_platform.storage.table import Item, Table

_CLAIM = "claim"
_CLAIM_HOLDS = timedelta(days=1)


class QuestionClaim(FrozenModel):
    """Names the completion that answers a question, before that completion is submitted.

    Attributes:
        fingerprint: the question's fingerprint.
        batch_id: the batch in which it is submitted, which may never be stored.
        index: the index of the completion in that batch.
    """

    fingerprint: str
    batch_id: str
    index: int
    claimed_at: datetime

    @property
    def expires_at(self) -> datetime:
        """When the claim ends, so that the same question is scored anew."""
        return self.claimed_at + _CLAIM_HOLDS


class RewardUrlRepository(EntityRepository[RewardUrl]):
    """Reward URLs in the ``registry`` table."""

    model = RewardUrl
    kind = "rwu"
    listed_as = "rewardUrl"
    named = "reward URL"
    is_counted = True


class ClaimRepository:
    """Claims of questions in the ``registry`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def find(self, fingerprints: Iterable[str], now: datetime) -> dict[str, QuestionClaim]:
        """Return the valid claims, by fingerprint."""
        items = self._table.get_many((_pk(one), _CLAIM) for one in fingerprints)
        claims = [QuestionClaim.model_validate(item) for item in items.values()]
        # The table may remove expired items days later.
        return {claim.fingerprint: claim for claim in claims if claim.expires_at > now}

    def add(self, claim: QuestionClaim, now: datetime) -> bool:
        """Store a claim; return False if another one is valid."""
        return self._table.put_new(_item(claim), or_expired_at=int(now.timestamp()))

    def take_over(self, before: QuestionClaim, after: QuestionClaim) -> bool:
        """Replace a claim by another; return False if somebody else did."""
        item = _item(after)
        expected = {"batch_id": before.batch_id, "index": before.index}
        return self._table.replace(item["pk"], item["sk"], item, only_if=expected)


def _item(claim: QuestionClaim) -> Item:
    return {
        "pk": _pk(claim.fingerprint),
        "sk": _CLAIM,
        "expires_at": int(claim.expires_at.timestamp()),
        **claim.model_dump(mode="json"),
    }


def _pk(fingerprint: str) -> str:
    return f"question#{fingerprint}"
