"""Parts that take in captured calls."""

from functools import cached_property

from autotune_platform.decks.prompt_index import PromptIndex
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.sample_requests import SampleRequests
from autotune_platform.decks.telemetry.adopting import UnmatchedService
from autotune_platform.decks.telemetry.expiry import ExpirySweep
from autotune_platform.decks.telemetry.intake import TelemetryIntake
from autotune_platform.decks.telemetry.matching import PromptMatcher
from autotune_platform.decks.telemetry.receipts import Receipts
from autotune_platform.decks.telemetry.storing import ExchangeStore
from autotune_platform.decks.telemetry.unmatched import UnmatchedPrompts
from autotune_platform.decks.telemetry.uploading import SampleMatching
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.decks import SampleParts


class TelemetryParts(SampleParts):
    """What makes samples of captured calls; ``DecksStack.grant_take_calls`` has its grants."""

    @cached_property
    def prompt_index(self) -> PromptIndex:
        return PromptIndex(self.decks_table)

    @cached_property
    def prompt_matcher(self) -> PromptMatcher:
        return PromptMatcher(index=self.prompt_index, decks=DeckRepository(self.decks_table))

    @cached_property
    def exchange_store(self) -> ExchangeStore:
        return ExchangeStore(decks=DeckRepository(self.decks_table), samples=self.sample_repository)

    @cached_property
    def unmatched_prompts(self) -> UnmatchedPrompts:
        return UnmatchedPrompts(self.decks_table)

    @cached_property
    def telemetry_intake(self) -> TelemetryIntake:
        return TelemetryIntake(
            decks=DeckRepository(self.decks_table),
            matcher=self.prompt_matcher,
            store=self.exchange_store,
            receipts=Receipts(self.decks_table),
            unmatched=self.unmatched_prompts,
        )

    @cached_property
    def expiry_sweep(self) -> ExpirySweep:
        return ExpirySweep(
            table=self.decks_table,
            samples=self.samples,
            repository=self.sample_repository,
            unmatched=self.unmatched_prompts,
        )

    @cached_property
    def sample_matching(self) -> SampleMatching:
        return SampleMatching(
            intake=self.telemetry_intake, requests=SampleRequests(self.decks_table)
        )


class TelemetryApiParts(ApiParts, TelemetryParts):
    """What lists prompts that no deck has, and takes in samples without a deck."""

    @cached_property
    def unmatched(self) -> UnmatchedService:
        return UnmatchedService(
            unmatched=self.unmatched_prompts,
            index=self.prompt_index,
            decks=self.decks,
            deck_repository=DeckRepository(self.decks_table),
            store=self.exchange_store,
        )
