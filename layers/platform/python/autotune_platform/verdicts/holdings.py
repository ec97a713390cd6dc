"""What verdicts keep."""

from autotune_platform.storage.data_holders import (
    WITH_COMPLETION,
    CompletionHolding,
    DataHolder,
    Holding,
)
from autotune_platform.verdicts.decisions import LIST_DAYS

_WHY = "verdicts are never deleted"

HOLDER = DataHolder(
    "verdicts",
    [
        CompletionHolding(
            key="cmp_* / verdict#*",
            what="verdicts, with the grader's reasoning if its owner shares it; when that is "
            "erased, verdicts stay",
            has_text=True,
            kept="for good; the reasoning until the text goes",
            erased=WITH_COMPLETION,
        ),
        CompletionHolding(
            key="cmp_* / opinion#*",
            what="opinions of a panel's members, with reasoning in the same way where it has one "
            "member",
            has_text=True,
            kept="for good; the reasoning until the text goes",
            erased=WITH_COMPLETION,
        ),
        Holding(
            place="table completions",
            key="bat_* / decided#*",
            what="lists of decisions on a batch, for the projection: states, scores, latencies",
            of="completion",
            days=LIST_DAYS,
            retained=_WHY,
        ),
        Holding(
            place="table completions",
            key="pnl_* / panel",
            what="panels: graders, weights, review policy",
            retained="verdicts name their panel",
        ),
    ],
)
