"""What lets programs in that can sign nothing."""

from autotune.protocol.deck_samples import Collection
from autotune_platform.access.capabilities import HashedCapability


class IngestUrl(HashedCapability):
    """What lets in.

    Attributes:
        samples_are: the collection that samples are put in; items have a ``collection`` of theirs.
    """

    deck_id: str | None = None
    samples_are: Collection
