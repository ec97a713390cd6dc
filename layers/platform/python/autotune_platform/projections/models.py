"""The projection's checkpoint of a batch."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple, Self

from autotune.protocol.completions import VerdictState
from autotune.protocol.limits import MAX_TASK_GRADERS
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.verdicts.decisions import Decision


class CheckpointKey(NamedTuple):
    """What finds a checkpoint: a batch, and one of its generations."""

    batch_id: str
    generation: int = 0


class Checkpoint(FrozenModel):
    """The projection's checkpoint of a batch: which of its verdicts are published and counted.

    A completion is named by its index in the batch. Each generation has a checkpoint of its own.

    Attributes:
        version: how often the checkpoint changed. Of two writers who read the same version, one
            fails.
        decided: indexes of the counted completions by state; an index is in one state at most.
        opinions: opinion indexes of the counted opinions.
        decided_at: time of the latest decision that is counted, without opinions.
    """

    batch_id: str
    generation: int = 0
    version: int = 0
    decided: Mapping[VerdictState, frozenset[int]] = {}
    opinions: frozenset[int] = frozenset()
    decided_at: datetime | None = None

    @property
    def key(self) -> CheckpointKey:
        """What finds it."""
        return CheckpointKey(self.batch_id, self.generation)

    @staticmethod
    def opinion_index(index: int, member: int) -> int:
        """Return the opinion index of a panel's member on a completion.

        It is ten times the index of the completion, plus the index of the member in its panel.
        Opinion indexes are stored, so ``MAX_TASK_GRADERS`` cannot grow without a migration.
        """
        return index * MAX_TASK_GRADERS + member

    def holds(self, index: int) -> bool:
        """Return whether the completion at an index is counted."""
        return any(index in indexes for indexes in self.decided.values())

    def count(self, state: VerdictState) -> int:
        """Return how many completions are counted in a state."""
        return len(self.decided.get(state, ()))

    @property
    def size(self) -> int:
        """How many completions are counted."""
        return sum(len(indexes) for indexes in self.decided.values())

    def after(self, verdicts: Mapping[int, Decision], opinions: Iterable[int] = ()) -> Self:
        """Return the checkpoint with more verdicts, by index, and more opinion indexes.

        None of them may be counted already.
        """
        decided = {state: set(indexes) for state, indexes in self.decided.items()}
        for index, verdict in verdicts.items():
            decided.setdefault(verdict.state, set()).add(index)
        moments = [verdict.decided_at for verdict in verdicts.values()]
        moments += [self.decided_at] if self.decided_at else []
        return self.model_copy(
            update={
                "version": self.version + 1,
                "decided": {state: frozenset(indexes) for state, indexes in decided.items()},
                "opinions": self.opinions.union(opinions),
                "decided_at": max(moments, default=None),
            }
        )
