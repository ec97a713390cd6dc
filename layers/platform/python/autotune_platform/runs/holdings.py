"""What runs keep."""

from autotune_platform.storage.data_holders import CompletionHolding, DataHolder

HOLDER = DataHolder(
    "runs",
    [
        CompletionHolding(
            key="run_* / run",
            what="runs: ids of completions, state, history of rounds",
            days=30,
            retained="it goes by itself, and holds no text",
        )
    ],
)
