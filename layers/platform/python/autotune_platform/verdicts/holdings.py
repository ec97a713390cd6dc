"""What verdicts keep."""

from autotune_platform.storage.data_holders import DataHolder, Holding

_WHY = "verdicts are never deleted"

HOLDER = DataHolder(
    "verdicts",
    [
        Holding(
            place="table completions",
            key="cmp_* / verdict#*",
            what="verdicts, with the grader's reasoning if its owner shares it",
            of="completion",
            retained=_WHY,
        ),
        Holding(
            place="table completions",
            key="cmp_* / opinion#*",
            what="opinions of a panel's members",
            of="completion",
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
