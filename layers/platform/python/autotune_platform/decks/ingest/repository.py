"""Where ingest URLs are stored."""

from autotune_platform.decks.ingest.models import IngestUrl
from autotune_platform.storage.registry import EntityRepository


class IngestUrlRepository(EntityRepository[IngestUrl]):
    """Ingest URLs in the ``registry`` table."""

    model = IngestUrl
    kind = "igu"
    listed_as = "ingestUrl"
    named = "ingest URL"
    is_counted = True
