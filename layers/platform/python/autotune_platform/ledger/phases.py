"""The phases of a batch: what is so in each, and which may follow it.

``docs/architecture-ledger.md`` has the picture; each change of a phase is checked against this.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

from autotune.protocol.llm_batches import LlmBatchStatus
from autotune_platform.ledger.models import Batch, BatchPhase


class PhaseOrderError(Exception):
    """A phase was to follow one that it may not follow: a mistake of the platform's."""


@dataclass(frozen=True, kw_only=True)
class Phase:
    """What is so while a batch is in a phase.

    Attributes:
        followed_by: the phases that may be next. It may always be stored as it is.
        status: what callers see from then on; None where that stays as it was.
        is_first: whether it is what a batch does first, once the rows are its own.
        is_unsent: whether nothing was sent, unless a creation was begun.
        may_be_live: whether there is a job that has not ended, or may be one at any moment.
        may_wait: whether the batch may wait for room in a limit.
    """

    followed_by: Set[BatchPhase]
    status: LlmBatchStatus | None = None
    is_first: bool = False
    is_unsent: bool = False
    may_be_live: bool = False
    may_wait: bool = False


PHASES: Mapping[BatchPhase, Phase] = {
    "building": Phase(followed_by={"working", "writing", "cleaning"}, may_wait=True),
    "working": Phase(followed_by={"settled"}, status="submitted", is_first=True),
    "writing": Phase(
        followed_by={"uploading", "cleaning"}, is_first=True, is_unsent=True, may_be_live=True
    ),
    "uploading": Phase(followed_by={"creating", "cleaning"}, is_unsent=True, may_be_live=True),
    "creating": Phase(
        followed_by={"polling", "unknown", "cleaning"},
        is_unsent=True,
        may_be_live=True,
        may_wait=True,
    ),
    "unknown": Phase(
        followed_by={"polling", "creating", "cleaning"}, status="submitted", may_be_live=True
    ),
    # An admin may say that the job that was taken for the batch's own was never there.
    "polling": Phase(
        followed_by={"fetching", "creating", "cleaning"}, status="submitted", may_be_live=True
    ),
    "fetching": Phase(followed_by={"ingesting", "cleaning"}),
    # Results may come in parts.
    "ingesting": Phase(followed_by={"polling", "cleaning"}),
    "cleaning": Phase(followed_by={"settled"}),
    "settled": Phase(followed_by=frozenset()),
}
"""Each phase."""


def phase_of(batch: Batch) -> Phase:
    """Return what is so in a batch's phase."""
    return PHASES[batch.phase]


def entering(batch: Batch, phase: BatchPhase) -> dict[str, Any]:
    """Return what is stored of a batch that comes to a phase, or stays in it.

    Raises:
        PhaseOrderError: the phase may not follow the batch's.
    """
    if phase != batch.phase and phase not in phase_of(batch).followed_by:
        raise PhaseOrderError(f"{batch.id} cannot go from {batch.phase} to {phase}")
    status = PHASES[phase].status
    return {"phase": phase} if status is None else {"phase": phase, "status": status}
