"""What runs keep."""

from autotune_platform.storage.data_holders import DataHolder, Holding

HOLDER = DataHolder(
    "runs",
    [
        Holding(
            place="table completions",
            key="run_* / run",
            what="runs: ids of completions, state, history of rounds",
            of="completion",
            days=30,
            retained="it goes by itself, and holds no text",
        ),
    ],
)
