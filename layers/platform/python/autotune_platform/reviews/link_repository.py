"""Where review links are stored that somebody made: who for, by whom, and whether they hold."""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Literal

from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.registry import RECORD, Entity, EntityRepository
from autotune_platform.storage.table import Item

NOTED_EVERY = timedelta(minutes=5)
"""How often a link's use is noted at most: a page calls more often than that."""


class ReviewLink(Entity):
    """A link that a key made; its token is stored nowhere.

    ``valid_until`` is when it ends by its time, and is forgotten. ``last_used_at`` may be
    ``NOTED_EVERY`` behind.
    """

    reviewer_id: str
    review_id: str | None = None
    status: Literal["active", "revoked"] = "active"
    created_at: datetime
    created_by: str
    valid_until: datetime
    last_used_at: datetime | None = None


class LinkRepository(EntityRepository[ReviewLink]):
    """Links in the ``registry`` table."""

    model = ReviewLink
    kind = "rvl"
    listed_as = "reviewLink"
    named = "review link"

    def note_use(self, link: ReviewLink, now: datetime) -> None:
        """Note that a link is used, unless that was noted a moment ago; a later time stays."""
        if link.last_used_at is None or now - link.last_used_at >= NOTED_EVERY:
            used = {"last_used_at": moment(now)}
            # What the use is for does not wait for the note.
            with suppress(*REFUSALS):
                self._table.update(link.id, RECORD, used, rising="last_used_at")

    def _item(self, entity: ReviewLink) -> Item:
        return {**super()._item(entity), "expires_at": int(entity.valid_until.timestamp())}
