"""What follows where completions of a batch are scored again, whoever had to stop before it did."""

from autotune_platform.completions.models import Batch
from autotune_platform.completions.repository import CompletionRepository
from autotune_platform.runtime.parts import part
from autotune_platform.verdicts.service import VerdictService


@part
class GenerationPropagation:
    """Has completions and lists of verdicts follow their batch's later generations.

    The batch comes first, and what is here comes before anything is queued: so no verdict of a
    generation is stored before they know of it. Propagating again changes nothing.
    """

    repository: CompletionRepository
    verdicts: VerdictService

    def propagate(self, batch: Batch) -> None:
        """Have completions know their generation, and lists leave out the verdicts before it."""
        unknown = batch.generations[batch.propagated :]
        if not unknown:
            return
        again = [
            (place, one.number) for one in unknown for place in range(batch.size) if one.has(place)
        ]
        keys = batch.verdict_keys
        headers = batch.headers([keys[place].completion_id for place, _ in again])
        self.repository.renew(list(headers.values()))
        self.verdicts.leave_lists(
            [
                keys[place]._replace(generation=batch.generation_of(place, before=number))
                for place, number in again
            ]
        )
        self.repository.mark_propagated(batch)
