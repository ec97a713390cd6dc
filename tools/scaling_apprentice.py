"""Compute how much each component of the apprentice bears, and write it into ``docs/scaling.md``.

``python -m tools.scaling_apprentice`` writes the table. A test compares it, as it does those of
``tools.scaling`` and its neighbours. What its paid calls bear is in that of the ledger.
"""

from autotune_platform.apprentice.folding.refolding import FEW_PAIRS, STEP_PAIRS
from autotune_platform.apprentice.folding.repository import OPEN_SHARDS
from autotune_platform.apprentice.folding.service import MOST_WRITES
from autotune_platform.apprentice.folding.sweeping import MOST_OF_A_SHARD
from autotune_platform.apprentice.standing import KNOWN_SECONDS
from autotune_platform.budgets.waiting import half_of
from infra.config import CHAT_FUNCTIONS, WAITING_RUNS
from infra.stacks.apprentice_runs import WORK_RATE
from tools.scaling import PAGE, PARTITION_UNITS_A_SECOND
from tools.scaling_decks import PARTITION_READS_A_SECOND
from tools.scaling_ledger import (
    HEADINGS,
    SECONDS_OF_A_CALL,
    SECONDS_OF_A_SWEEP,
    UNITS_OF_AN_ADDITION,
    LedgerCeiling,
)
from tools.written_tables import with_rows, write_or_check

# Measured on two cores, with eight bets on graduation, six on an alarm and six on an emergency:
# 10 to fold it, and 8 to read it as an item.
SECONDS_OF_A_PAIR = 0.000_018

# Assumed, because no AWS account was at hand.
SECONDS_OF_A_SMALL_ANSWER = 0.2
# The task, entries and evidence are read, and one transaction is written.
SECONDS_OF_A_FOLD = 0.05
SECONDS_OF_A_LOST_RUN = 0.1
SECONDS_OF_A_PAGE_OF_PAIRS = 0.05
PAIRS_OF_A_PAGE = 1_000
# A task, its configuration with prompts and schemas, and two versions with their evidence.
UNITS_OF_A_STANDING = 20

_APPRENTICE = "layers/platform/python/autotune_platform/apprentice"


def apprentice_ceilings() -> list[LedgerCeiling]:
    """Return what each component bears."""
    return [*_runs(), *_pairs(), *_nets()]


def _runs() -> list[LedgerCeiling]:
    functions = WORK_RATE.max_concurrency
    return [
        LedgerCeiling(
            "Runs that nobody waits for",
            functions / SECONDS_OF_A_CALL,
            "runs",
            "installation",
            f"{functions} functions, one run each, {SECONDS_OF_A_CALL} s of the paid model; "
            f"{functions / SECONDS_OF_A_SMALL_ANSWER:.0f} where a small one answers within "
            f"{SECONDS_OF_A_SMALL_ANSWER} s. Spot checks are among them, and more wait",
            "infra/stacks/apprentice_runs.py",
            "`WORK_RATE`, and Lambda's quota",
        ),
        LedgerCeiling(
            "Runs that are waited for",
            WAITING_RUNS / SECONDS_OF_A_CALL,
            "runs",
            "installation",
            f"{WAITING_RUNS} wait at once, {half_of(WAITING_RUNS)} of one organisation at most, "
            f"{SECONDS_OF_A_CALL} s each of the paid model; "
            f"{WAITING_RUNS / SECONDS_OF_A_SMALL_ANSWER:.0f} where a small one answers within "
            f"{SECONDS_OF_A_SMALL_ANSWER} s. What finds no place is 202 and goes through the "
            "queue. Each holds two of the functions that nothing is reserved for",
            "infra/config.py",
            "`waiting-runs` in `cdk.json`, and Lambda's quota",
        ),
        LedgerCeiling(
            "Chats of tasks",
            CHAT_FUNCTIONS / SECONDS_OF_A_CALL,
            "runs",
            "installation",
            f"{CHAT_FUNCTIONS} wait at once, {half_of(CHAT_FUNCTIONS)} of one organisation at "
            "most, also while a worker goes on for whoever waits no more. What finds no place is "
            "429 with `Retry-After`. Each holds one of the functions of chat completions, and one "
            "that nothing is reserved for",
            "layers/platform/python/autotune_platform/ledger/compatible/chat_places.py",
            "`chat-functions` in `cdk.json`, and Lambda's quota",
        ),
        LedgerCeiling(
            "List of a day's runs",
            PARTITION_UNITS_A_SECOND / UNITS_OF_AN_ADDITION,
            "runs",
            "task",
            f"one partition a day, {UNITS_OF_AN_ADDITION} units a run, and as many more where it "
            "was stored before it ended",
            f"{_APPRENTICE}/folding/items.py",
            "DynamoDB splits a partition that stays hot; several tasks",
        ),
        LedgerCeiling(
            "Reads of what is known of a task",
            PARTITION_READS_A_SECOND / UNITS_OF_A_STANDING * KNOWN_SECONDS,
            "processes",
            "task",
            f"one partition, some {UNITS_OF_A_STANDING} units each, which a process keeps for "
            f"{KNOWN_SECONDS} s",
            f"{_APPRENTICE}/configuration/repository.py",
            "`KNOWN_SECONDS`, by which a promotion and a budget are seen later",
        ),
    ]


def _pairs() -> list[LedgerCeiling]:
    seconds_of_a_page = SECONDS_OF_A_PAGE_OF_PAIRS + PAIRS_OF_A_PAGE * SECONDS_OF_A_PAIR
    return [
        LedgerCeiling(
            "Counts of runs, and evidence",
            MOST_WRITES / 3 / SECONDS_OF_A_FOLD,
            "runs",
            "task",
            f"one transaction at a time, {SECONDS_OF_A_FOLD} s each with reads, of {MOST_WRITES} "
            "writes, three a run with a pair and an example; no run waits for it",
            f"{_APPRENTICE}/folding/service.py",
            "several tasks; a second stream, of the lists",
        ),
        LedgerCeiling(
            "Pairs of a version",
            PARTITION_UNITS_A_SECOND / UNITS_OF_AN_ADDITION,
            "pairs",
            "version",
            f"one partition, {UNITS_OF_AN_ADDITION} units a pair; of a version that serves, only "
            "runs that chance drew have one",
            f"{_APPRENTICE}/folding/repository.py",
            "DynamoDB splits a partition that stays hot",
        ),
        LedgerCeiling(
            "Evidence that is folded anew",
            PAIRS_OF_A_PAGE / seconds_of_a_page,
            "pairs",
            "version",
            f"pages of {PAIRS_OF_A_PAGE:,}, {SECONDS_OF_A_PAGE_OF_PAIRS} s each, and "
            f"{SECONDS_OF_A_PAIR * 1e6:.0f} µs a pair, {STEP_PAIRS:,} of each version in turn by "
            f"the sweep; only where thresholds or a window changed. {FEW_PAIRS:,} of a task are "
            "folded in the stream",
            f"{_APPRENTICE}/folding/refolding.py",
            "nothing: meanwhile the version counts as one without evidence",
        ),
    ]


def _nets() -> list[LedgerCeiling]:
    return [
        LedgerCeiling(
            "Index of open runs",
            OPEN_SHARDS * PARTITION_UNITS_A_SECOND / UNITS_OF_AN_ADDITION,
            "runs",
            "installation",
            f"{OPEN_SHARDS} shards, {PARTITION_UNITS_A_SECOND:,} units each, one when a run is "
            "seen that has not ended or is to be checked, and one when it is done",
            f"{_APPRENTICE}/folding/repository.py",
            "`OPEN_SHARDS`, which may be raised and never lowered",
        ),
        LedgerCeiling(
            "Sweeper of runs",
            SECONDS_OF_A_SWEEP / SECONDS_OF_A_LOST_RUN / 60,
            "runs",
            "installation",
            f"one after another, {SECONDS_OF_A_LOST_RUN} s each, {SECONDS_OF_A_SWEEP} s of a "
            f"minute, of {MOST_OF_A_SHARD} of each shard; only what no worker ended",
            f"{_APPRENTICE}/folding/sweeping.py",
            "several at once, as the sweeper of batches",
        ),
    ]


def with_apprentice_table(page: str) -> str:
    """Return the page with the table as it has to be."""
    rows = [each.cells() for each in apprentice_ceilings()]
    return with_rows(page, tool="scaling_apprentice", headings=HEADINGS, rows=rows)


def main() -> None:
    """Write the table, or check it where ``--check`` is given."""
    write_or_check(PAGE, with_apprentice_table(PAGE.read_text()), tool="scaling_apprentice")


if __name__ == "__main__":
    main()
