"""What budgets keep."""

from autotune_platform.storage.data_holders import DataHolder, Holding

HOLDER = DataHolder(
    "budgets",
    [
        Holding(
            place="table budgets",
            key="* / *",
            what="rate, turns, calls and circuit of each grader; requests that wait",
            days=8,
            retained="it goes by itself",
        )
    ],
)
