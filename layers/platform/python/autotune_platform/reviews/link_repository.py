"""Where review links are stored that somebody made: who for, by whom, and whether they hold."""

from datetime import datetime
from typing import Literal

from autotune_platform.storage.registry import Entity, EntityRepository
from autotune_platform.storage.table import Item


class ReviewLink(Entity):
    """A link that a key made; its token is stored nowhere.

    ``valid_until`` is when it ends by its time, and is forgotten.
    """

    reviewer_id: str
    review_id: str | None = None
    status: Literal["active", "revoked"] = "active"
    created_at: datetime
    created_by: str
    valid_until: datetime


class LinkRepository(EntityRepository[ReviewLink]):
    """Links in the ``registry`` table."""

    model = ReviewLink
    kind = "rvl"
    listed_as = "reviewLink"
    named = "review link"

    def _item(self, entity: ReviewLink) -> Item:
        return {**super()._item(entity), "expires_at": int(entity.valid_until.timestamp())}
