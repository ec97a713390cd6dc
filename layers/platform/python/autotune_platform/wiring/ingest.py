"""Parts of ingest URLs, and of what is handed over at them."""

from functools import cached_property

from autotune_platform.decks.ingest.receiving import IngestReceiver
from autotune_platform.decks.ingest.repository import IngestUrlRepository
from autotune_platform.decks.ingest.service import IngestUrlService
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.sample_requests import SampleRequests
from autotune_platform.runtime.environment.decks import IngestUrlEnvironment
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.decks import DeckParts
from autotune_platform.wiring.telemetry import TelemetryParts


class IngestUrlParts(DeckParts):
    """What knows ingest URLs."""

    @cached_property
    def ingest_urls(self) -> IngestUrlService:
        return IngestUrlService(
            repository=IngestUrlRepository(self.registry_table), decks=self.decks
        )


class IngestUrlApiParts(ApiParts, IngestUrlParts):
    """What makes ingest URLs."""

    environment: IngestUrlEnvironment


class IngestParts(ApiParts, TelemetryParts, IngestUrlParts):
    """What takes in samples and decks at ingest URLs."""

    @cached_property
    def ingest_receiver(self) -> IngestReceiver:
        return IngestReceiver(
            matching=self.sample_matching,
            requests=SampleRequests(self.decks_table),
            decks=self.decks,
            deck_repository=DeckRepository(self.decks_table),
        )
