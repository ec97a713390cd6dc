"""What people said of a sample goes with it: explanations quote texts."""

from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.runtime.parts import part


@part
class LabelEraser:
    """Erases ratings of samples.

    Who deletes a sample has its ratings erased before its header goes, so that it can be deleted
    again after a crash, and once more behind that: a rating that was written meanwhile is found
    then, and one that is written later finds no header, and erases itself.
    """

    graders: DeckGraderRepository
    labels: LabelRepository

    def erase(self, deck_id: str, sample_id: str) -> None:
        """Erase all that people said of a sample; again is fine."""
        graders = [grader.id for grader in self.graders.list(deck_id)]
        self.labels.erase(graders, sample_id)
