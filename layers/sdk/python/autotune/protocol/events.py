"""Events on the wire: what is published to organisations, and the state of its delivery."""

from typing import Literal

from autotune.protocol.completions import VerdictCounts
from autotune.protocol.reviews import ReviewReason
from autotune.protocol.types import Generation, ResponseModel, Timestamp

EventType = Literal[
    "score.completed",
    "batch.completed",
    "grader.status_changed",
    "grader.version_changed",
    "grader.calibration_suspended",
    "review.requested",
    "ledger.batch.completed",
    "ledger.batch.needs_operator",
    "ledger.import.completed",
    "ledger.connection.paused",
    "ledger.connection.resumed",
    "budget.exhausted",
    "budget.warning",
    "deck.run.completed",
    "deck.edit.measured",
    "deck.proposal.completed",
    "model.promoted",
    "apprentice.alarm",
    "apprentice.canary",
    "apprentice.training",
    "apprentice.report",
]
"""What organisations can subscribe to."""

WebhookStatus = Literal["active", "disabled"]

DisabledReason = Literal["gone", "failing", "requested"]
"""Why nothing is sent: the address answered 410, it failed for five days, or somebody asked."""

DeliveryStatus = Literal["pending", "delivered", "failed"]

DeliveryError = Literal[
    "rejected",
    "redirected",
    "timed_out",
    "unreachable",
    "address_refused",
    "webhook_disabled",
    "webhook_deleted",
]
"""Why the last attempt failed, or why there was no further one."""


class BatchCompleted(ResponseModel):
    """The data of ``batch.completed``: every completion of a batch has a verdict.

    It comes again when some of the batch was scored again: ``generation`` is how often by then.
    """

    batch_id: str
    generation: Generation = 0
    counts: VerdictCounts
    created_at: Timestamp


class ReviewRequested(ResponseModel):
    """The data of ``review.requested``: a person is asked; ``link`` opens that one review."""

    review_id: str
    completion_id: str
    task_id: str
    reason: ReviewReason
    expires_at: Timestamp
    link: str
