"""Parts that change system prompts, and measure what that changes.

numpy is in a layer of the functions that compute, and is imported by their first measurement.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from autotune_platform.decks.prompting.deciding import PromptDeciding
from autotune_platform.decks.prompting.inputs import PromptInputs
from autotune_platform.decks.prompting.repository import PromptEditRepository
from autotune_platform.decks.prompting.service import PromptEditService
from autotune_platform.wiring.deck_edits import DeckEditParts
from autotune_platform.wiring.deck_runs import DeckRunApiParts

if TYPE_CHECKING:
    from autotune_platform.decks.prompting.measuring import PromptMeasuring


class PromptEditParts(DeckRunApiParts):
    """What serves edits of system prompts."""

    @cached_property
    def prompt_edits(self) -> PromptEditService:
        return PromptEditService(
            decks=self.decks,
            edits=PromptEditRepository(self.decks_table),
            inputs=PromptInputs(samples=self.sample_repository),
            runs=self.deck_runs,
            connections=self.deck_graders.connections,
        )

    @cached_property
    def prompt_deciding(self) -> PromptDeciding:
        return PromptDeciding(decks=self.decks, edits=PromptEditRepository(self.decks_table))

    @cached_property
    def prompt_measuring(self) -> "PromptMeasuring":
        from autotune_platform.decks.prompting.measuring import PromptMeasuring  # noqa: PLC0415

        return PromptMeasuring(
            edits=self.prompt_edits,
            graders=self.deck_grader_repository,
            samples=self.sample_repository,
            labels=self.labels,
            results=self.deck_results_repository,
            held_out=self.held_out,
        )


class EditApiParts(DeckEditParts, PromptEditParts):
    """What serves edits of rubrics and of system prompts."""
