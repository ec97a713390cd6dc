"""What is kept of a proposal, as graders that are proposed, in the write that ends its run."""

from collections.abc import Sequence

from autotune.protocol.ids import timed_id
from autotune.protocol.limits import MAX_DECK_GRADERS, MAX_DESCRIPTION_CHARACTERS
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.models import WholeGrader
from autotune_platform.decks.new_graders import new_grader
from autotune_platform.decks.proposing.models import Candidate, Proposing, Refused, RunProposal
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.runs.models import Run
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.transactions import Write


@part
class ProposedGraders:
    """Makes graders of what is kept."""

    decks: DeckRepository
    graders: DeckGraderRepository
    clock: Clock = SYSTEM_CLOCK

    def of(
        self, run: Run, proposal: RunProposal, proposing: Proposing, *, keeps: bool
    ) -> tuple[Sequence[Write], RunProposal]:
        """Return what stores the graders of a proposal, and what the run says of it then.

        Of a deck that is deleted nothing is stored.

        Args:
            keeps: whether anything is to be stored.
        """
        counts = self.decks.counts([run.deck_id]).get(run.deck_id) if keeps else None
        room = 0 if counts is None else max(0, MAX_DECK_GRADERS - counts.graders)
        kept, without = proposing.kept[:room], proposing.kept[room:]
        made = [self._grader(run, proposal, one, place) for place, one in enumerate(kept)]
        refused = [one.model_copy(update={"text": ""}) for one in proposing.refused]
        if counts is not None:
            refused += [Refused(name=one.name, faults=["deck_full"]) for one in without]
        after = proposal.model_copy(
            update={
                "repairs": proposing.repairs,
                "grader_ids": [one.grader.id for one in made],
                "refused": refused,
            }
        )
        return (self.graders.all_added(run.deck_id, made) if made else []), after

    def _grader(
        self, run: Run, proposal: RunProposal, candidate: Candidate, place: int
    ) -> WholeGrader:
        return new_grader(
            grader_id=timed_id("grd", run.created_at, place, run.id),
            deck=(run.organization_id, run.deck_id),
            name=candidate.name,
            rubric=candidate.rubric,
            judge=proposal.judge,
            origin="model",
            note=_note(candidate),
            author=run.created_by,
            now=self.clock.now(),
        )


def _note(candidate: Candidate) -> str:
    """Return what of the prompt a grader is from."""
    quotes = "\n".join(candidate.quotes)
    return f"The prompt says:\n{quotes}"[:MAX_DESCRIPTION_CHARACTERS]
