"""What runs keep."""

from autotune_platform.storage.data_holders import CompletionHolding, DataHolder, Holding

HOLDER = DataHolder(
    "runs",
    [
        CompletionHolding(
            key="run_* / run",
            what="runs: ids of completions, state, history of rounds",
            days=30,
            retained="it goes by itself, and holds no text",
        ),
        Holding(
            place="table completions",
            key="parked#* / *",
            what="runs that wait for a grader that is down: their ids, and tokens that wake them",
            days=1,
            retained="it goes when its run is awake",
        ),
    ],
)
