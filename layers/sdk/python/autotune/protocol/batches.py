"""Lists of batches, and of the completions of one, on the wire."""

from typing import Literal

from autotune.protocol.completions import CompletionVerdict, Priority, VerdictCounts
from autotune.protocol.types import Generation, ResponseModel, Timestamp

BatchState = Literal["open", "closed"]
"""A batch is ``closed`` once all of its verdicts are counted; scored again, it is open again."""


class BatchSummary(ResponseModel):
    """A batch as a list shows it.

    ``counts`` are of what is counted, of each completion's latest generation, which may be some
    seconds behind; ``GET /api/v1/batches/{id}`` reads the verdicts themselves. ``task_ids`` has at
    most 20 of its ``tasks``. ``redrives`` counts how often what was pending was queued anew.
    ``generation`` is how often some of the batch was scored again.
    """

    id: str
    state: BatchState
    priority: Priority
    generation: Generation = 0
    created_at: Timestamp
    redrives: int
    counts: VerdictCounts
    task_ids: list[str]
    tasks: int


class BatchList(ResponseModel):
    """A page of batches, the youngest first."""

    batches: list[BatchSummary]
    next_token: str | None = None


class BatchCompletionList(ResponseModel):
    """A page of a batch's completions, in the order of the request."""

    completions: list[CompletionVerdict]
    next_token: str | None = None
