"""What people said of samples that were answered under one system prompt.

Whatever is measured of a judge, and whatever is chosen for that, goes by these: figures that rest
on different samples could not be held against each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.protocol.deck_samples import Split
from autotune_platform.decks.labels.models import Truth, left_by_all
from autotune_platform.decks.labels.of_prompt import PromptSamples
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.runtime.parts import part


@dataclass(frozen=True)
class TruthsOfPrompt:
    """Ground truths of one half.

    Attributes:
        truths: of samples of the prompt, and ``others`` of another one; of none that was generated
            for an edit of a prompt.
        left: samples of the prompt that people left to others, and that nobody rated.
    """

    truths: Sequence[Truth]
    others: Sequence[Truth]
    left: int


@part
class PromptTruths:
    """Reads ground truths by system prompt."""

    labels: LabelRepository
    of_prompt: PromptSamples

    def of(
        self,
        organization_id: str,
        deck_id: str,
        grader_id: str,
        *,
        deck_version: int,
        split: Split = "holdout",
    ) -> TruthsOfPrompt:
        """Return what people said of one half, by the prompt of a version of the deck.

        What is left to others is counted of the half that is held out.
        """
        every = [one for one in self.labels.truths(grader_id, split=split) if one.split == split]
        skipped = self.labels.skipped(grader_id) if split == "holdout" else set()
        samples = self.of_prompt.pool.get_many(
            deck_id, {*(one.sample_id for one in every), *skipped}
        )
        same = self.of_prompt.of(organization_id, deck_id, deck_version, samples.values())
        there = {one.id for one in samples.values() if one.prompt_edit_id is None}
        return TruthsOfPrompt(
            truths=[one for one in every if one.sample_id in same],
            others=[one for one in every if one.sample_id in there - same],
            left=left_by_all(skipped & same, every),
        )
