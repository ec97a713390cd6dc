"""The tables and their indexes: deployed from here, and tests make theirs from the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

BATCHES_BY_TIME_INDEX = "batchesByTime"
BY_COLLECTION_INDEX = "byCollection"
DUE_DECKS_INDEX = "dueDecks"
DELIVERIES_BY_TIME_INDEX = "deliveriesByTime"
DUE_DELIVERIES_INDEX = "dueDeliveries"
DUE_DELIVERIES_PROJECTION = ("organization_id",)
DUE_RUNS_INDEX = "dueRuns"
DUE_LEDGER_INDEX = "dueBatches"
LEDGER_LISTING_INDEX = "rowsByStatus"
OPEN_BATCHES_INDEX = "openBatches"
OPEN_BATCHES_PROJECTION = ("organization_id",)
QUEUED_ROWS_INDEX = "queuedRows"
REVIEWS_BY_STATE_INDEX = "reviewsByState"
# What a list of reviews shows, and what decides whether one is free: never what people wrote.
REVIEWS_BY_STATE_PROJECTION = (
    "organization_id",
    "completion_id",
    "batch_id",
    "task_id",
    "panel_id",
    "run_id",
    "reason",
    "state",
    "assignee_id",
    "lease",
    "created_at",
    "expires_at",
    "on_expiry",
    "version",
)
RUNS_BY_STATE_INDEX = "runsByState"
SCORES_BY_TASK_INDEX = "scoresByTask"
# Small attributes only: what listing scores shows, never content.
SCORES_BY_TASK_PROJECTION = (
    "organization_id",
    "task_id",
    "model_id",
    "grader_id",
    "grader_version",
    "state",
    "value",
    "confidence",
    "reason_code",
    "reported_version",
    "attempts",
    "submitted_at",
    "decided_at",
    "batch_id",
    "opinions",
    "decided_by",
    "review_id",
)
# What a list of runs shows: everything but the ids of their completions.
RUNS_BY_STATE_PROJECTION = (
    "organization_id",
    "grader_id",
    "grader_version",
    "state",
    "step",
    "attempt",
    "completions",
    "remaining",
    "late_answers",
    "sleep_until",
    "reason_code",
    "started_at",
    "updated_at",
)


@dataclass(frozen=True)
class Index:
    """A global secondary index; its keys are texts.

    Attributes:
        attributes: what it holds beside keys: the whole item, keys alone, or those named.
    """

    name: str
    partition_key: str
    sort_key: str
    attributes: Literal["all", "keys"] | Sequence[str] = "keys"


@dataclass(frozen=True)
class TableSchema:
    """A table with the keys ``pk`` and ``sk``, both texts.

    Attributes:
        has_stream: whether what is written can be followed, item by item.
    """

    indexes: Sequence[Index] = ()
    has_stream: bool = False


REGISTRY = TableSchema(
    # Lists whole entities of an organization and kind; they are few and small.
    indexes=[Index(BY_COLLECTION_INDEX, "collection", "pk", "all")],
    has_stream=True,
)
COMPLETIONS = TableSchema(
    indexes=[
        Index(SCORES_BY_TASK_INDEX, "score_shard", "score_time", SCORES_BY_TASK_PROJECTION),
        # Sparse: batches leave it once all their verdicts are counted.
        Index(OPEN_BATCHES_INDEX, "open_shard", "due_at", OPEN_BATCHES_PROJECTION),
        Index(RUNS_BY_STATE_INDEX, "run_state", "run_time", RUNS_BY_STATE_PROJECTION),
        Index(REVIEWS_BY_STATE_INDEX, "review_state", "review_time", REVIEWS_BY_STATE_PROJECTION),
        # Keys alone, which never change: each batch costs one write here, and its progress none.
        Index(BATCHES_BY_TIME_INDEX, "batch_shard", "batch_time"),
    ],
    has_stream=True,
)
DELIVERIES = TableSchema(
    indexes=[
        # Its keys never change, so that a delivery's progress costs nothing here.
        Index(DELIVERIES_BY_TIME_INDEX, "pk", "event_time"),
        # Sparse: deliveries leave it once they are delivered or given up.
        Index(DUE_DELIVERIES_INDEX, "due_shard", "due_position", DUE_DELIVERIES_PROJECTION),
    ],
)
LEDGER = TableSchema(
    # Keys alone, so that a change of a row costs an index only where it moves within it.
    indexes=[
        # Rows by organization and status, batches and imports by organization, by their creation.
        Index(LEDGER_LISTING_INDEX, "list_shard", "list_position"),
        # Sparse: rows leave it once a batch takes them.
        Index(QUEUED_ROWS_INDEX, "queue_shard", "queue_position"),
        # Sparse: queues, batches and calls leave it once nothing is left to do for them.
        Index(DUE_LEDGER_INDEX, "open_shard", "due_at", ("organization_id",)),
    ],
    has_stream=True,
)
DECKS = TableSchema(
    indexes=[
        # Lists the decks of an organization. What belongs to a deck lies in its own partition.
        Index(BY_COLLECTION_INDEX, "collection", "pk", "all"),
        # Sparse: of captured samples and prompts, when they are to be erased.
        Index(DUE_DECKS_INDEX, "open_shard", "due_at", ("organization_id",)),
    ],
    has_stream=True,
)
# Lists are partitions of their own: a task has its organisation's, and its configurations have its.
APPRENTICE = TableSchema(
    # Sparse: runs that are pending, or whose answer is to be checked, in the lists of their days.
    indexes=[Index(DUE_RUNS_INDEX, "open_shard", "due_at", ("organization_id",))],
    has_stream=True,
)
# Graders' limits and circuits at work: short-lived, and written by grading alone.
BUDGETS = TableSchema()
# Entries expire long after their export; no role of the app may delete them.
AUDIT = TableSchema()
