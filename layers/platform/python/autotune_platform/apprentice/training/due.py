"""When the next training is due: pure, from how many examples there are and what the last one had.

The first is due once a version may be asked at all (``phase1ToPhase2``) and there is a batch of
examples (``fineTuneBatchSize``). After one that made a version it takes half as many again, since a
few more examples make no better model and cost that version's evidence its time; and a batch at
least. After one that made none, and after an emergency, the next batch is enough. What there was at
the last one never makes a training again: it would make the same model.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from autotune_platform.apprentice.training.models import LastTraining

DueCause = Literal["examples", "emergency"]


@dataclass(frozen=True)
class Due:
    """When a training is due.

    Attributes:
        examples: how many there are.
        needed: how many there have to be.
        cause: why that many; ``emergency`` where a version raised one since the last training.
    """

    examples: int
    needed: int
    cause: DueCause = "examples"

    @property
    def is_due(self) -> bool:
        """Whether one is due now."""
        return self.examples >= self.needed


def next_training(
    document: Mapping[str, Any],
    last: LastTraining,
    *,
    definition_hash: str,
    examples: int,
    emergency: int,
) -> Due:
    """Return when the next training of a definition is due.

    Args:
        document: a configuration as it was put, with all defaults; it has ``training``.
        examples: how many there are of this definition.
        emergency: number of the latest version under it that raised an emergency; 0 where none did.
    """
    batch = document["training"]["fineTuneBatchSize"]
    first = max(document["thresholds"]["phase1ToPhase2"], batch)
    if last.number == 0 or last.definition_hash != definition_hash:
        return Due(examples, first)
    after_a_batch = max(first, last.examples + batch)
    if emergency > last.emergency:
        return Due(examples, after_a_batch, "emergency")
    if last.outcome != "hosted":
        return Due(examples, after_a_batch)
    # Half as many again, rounded up.
    return Due(examples, max(after_a_batch, (3 * last.examples + 1) // 2))
