"""What completions keep."""

from autotune_platform.storage.data_holders import (
    WITH_COMPLETION,
    CompletionHolding,
    DataHolder,
    Holding,
)

_KEPT = "until the task's `retentionDays` are over, or until erased"

HOLDER = DataHolder(
    "completions",
    [
        CompletionHolding(
            key="cmp_* / content",
            what="prompt, response, metadata; when they are erased, ids stay",
            has_text=True,
            kept=_KEPT,
            erased=WITH_COMPLETION,
        ),
        Holding(
            place="bucket content",
            key="content/cmp_*",
            what="the same texts where they outgrow an item",
            of="completion",
            has_text=True,
            kept=_KEPT,
            erased=WITH_COMPLETION,
        ),
        CompletionHolding(
            key="bat_* / batch",
            what="batches: ids, settings, digest of the request",
            retained="verdicts are read by their batch",
        ),
        Holding(
            place="table completions",
            key="open#org_* / open#*",
            what="how many completions are undecided",
            retained="what is undecided is still counted",
        ),
        Holding(
            place="table completions",
            key="queue#* / progress",
            what="up to when the messages of each queue were received",
            of="installation",
            days=1,
            retained="it says nothing of any completion",
        ),
        Holding(
            place="queues",
            key="HighPriority, NormalPriority, LowPriority",
            what="ids of completions to be graded",
            of="completion",
            days=14,
            retained="a message goes when it is handled",
        ),
    ],
)
