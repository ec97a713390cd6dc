"""What budgets keep."""

from autotune_platform.storage.data_holders import DataHolder, Holding

HOLDER = DataHolder(
    "budgets",
    [
        Holding(
            place="table budgets",
            key="[!m]* / *",
            what="rate, turns, calls and circuit of each grader; requests that wait",
            days=8,
            retained="it goes by itself",
        ),
        Holding(
            place="table budgets",
            key="money#org_* / limits",
            what="most that language models may cost, and what they cost in days, weeks and "
            "months; so of each task of the apprentice, with the task's name",
            kept="limits for good, costs for the present periods and the two before; of a deleted "
            "task its costs alone, for 8 days",
            retained="limits are the organisation's own setting, and costs go by themselves",
        ),
    ],
)
