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
            what="most that language models may cost",
            retained="it is the organisation's own setting",
        ),
        Holding(
            place="table budgets",
            key="money#org_* / *#*",
            what="what language models cost in a day, week or month",
            days=400,
            retained="it goes by itself",
        ),
    ],
)
