"""Compute how much each component of the ledger bears, and write it into ``docs/scaling.md``.

``python -m tools.scaling_ledger`` writes the table. A test compares it, as it does that of
``tools.scaling``, which has the quotas.
"""

from dataclasses import dataclass
from pathlib import Path

from autotune.protocol.limits import MAX_OPEN_DECK_RUNS
from autotune_platform.budgets.permits import CONCURRENT_CALLS
from autotune_platform.decks.runs.looks import FIRST, LONGEST
from autotune_platform.decks.runs.work import MOST_UNDER_WAY, PAIRS_TOGETHER
from autotune_platform.ledger.batch_repository import DUE_SHARDS
from autotune_platform.ledger.queue_places import SHARDS
from autotune_platform.ledger.row_repository import LISTING_SHARDS
from autotune_platform.ledger.step_shares import at_once, share_of
from autotune_platform.ledger.sweeping import MOST_STARTED
from infra.config import CHAT_FUNCTIONS, MODEL_FUNCTIONS
from infra.stacks.decks import CAPTURE_RATE
from tools.scaling import PAGE, PARTITION_UNITS_A_SECOND, STARTS_A_SECOND
from tools.written_tables import with_rows, write_or_check

# A row that comes and goes is written to an index twice, and a time that changes is.
WRITES_OF_AN_ENTRY = 2
# A step stores when it is due as it begins and as it ends.
WRITES_OF_A_STEP = 2 * WRITES_OF_AN_ENTRY
# What a transaction writes costs twice.
UNITS_OF_AN_ADDITION = 2
# A batch writes each scope of a budget when it is made and when it is settled.
UNITS_OF_A_BATCH_IN_A_SCOPE = 2 * UNITS_OF_AN_ADDITION

# Assumed, because no AWS account was at hand.
SECONDS_OF_A_CALL = 5.0
SECONDS_OF_A_CREATION = 2.0
SECONDS_OF_A_CAPTURE = 0.2
SECONDS_OF_A_CHUNK = 1.0
SECONDS_OF_A_START = 0.1
SECONDS_OF_A_SWEEP = 50
# A transaction of result, words and what leads to them; the first two lie in one partition.
UNITS_OF_A_RESULT = 2 * UNITS_OF_AN_ADDITION

HEADINGS = ("Component", "A second", "For each", "Follows from", "Where", "Beyond")
_DECKS = "layers/platform/python/autotune_platform/decks/runs"
_LEDGER = "layers/platform/python/autotune_platform/ledger"


@dataclass(frozen=True)
class LedgerCeiling:
    """What a component of the ledger bears.

    Attributes:
        figure: how much a second, of ``unit``.
        scope: what has this much for itself.
        formula: of what the figure follows.
        where: the file that it follows from.
        beyond: what to raise for more.
    """

    component: str
    figure: float
    unit: str
    scope: str
    formula: str
    where: str
    beyond: str

    def cells(self) -> list[str]:
        """Return its line of the table."""
        name = f"[`{Path(self.where).name}`](../{self.where})"
        figure = f"{float(f'{self.figure:.2g}'):,.10g} {self.unit}"
        return [self.component, figure, self.scope, self.formula, name, self.beyond]


def ledger_ceilings() -> list[LedgerCeiling]:
    """Return what each component bears."""
    return [*_indexes(), *_executions(), *_calls(), *_money(), *_deck_runs()]


def _indexes() -> list[LedgerCeiling]:
    units = PARTITION_UNITS_A_SECOND
    return [
        LedgerCeiling(
            "Queue",
            SHARDS * units / WRITES_OF_AN_ENTRY,
            "requests",
            "connection and model",
            f"{SHARDS} shards, {units:,} units each, {WRITES_OF_AN_ENTRY} a request",
            f"{_LEDGER}/queue_places.py",
            "several connections; DynamoDB splits a partition that stays hot",
        ),
        LedgerCeiling(
            "List of requests by status",
            LISTING_SHARDS * units / WRITES_OF_AN_ENTRY,
            "requests",
            "organisation",
            f"{LISTING_SHARDS} shards a status, {units:,} units each, {WRITES_OF_AN_ENTRY} a "
            "request that comes and goes",
            f"{_LEDGER}/row_repository.py",
            "more shards, each of which a page of a list reads",
        ),
        LedgerCeiling(
            "Index of what is due",
            DUE_SHARDS * units / WRITES_OF_A_STEP,
            "steps",
            "installation",
            f"{DUE_SHARDS} shards, {units:,} units each, {WRITES_OF_A_STEP} a step of a batch",
            f"{_LEDGER}/batch_repository.py",
            "`DUE_SHARDS`, which may be raised and never lowered",
        ),
    ]


def _executions() -> list[LedgerCeiling]:
    return [
        LedgerCeiling(
            "Sweeper of queues and batches",
            MOST_STARTED / 60,
            "started",
            "installation",
            f"{MOST_STARTED:,} a minute, of each organisation one in turn",
            f"{_LEDGER}/sweeping.py",
            "`MOST_STARTED`; queues that have `minRows` at once do not need it",
        ),
        LedgerCeiling(
            "StartExecution",
            STARTS_A_SECOND,
            "batches",
            "account",
            f"{STARTS_A_SECOND} executions a second, shared with scoring",
            f"{_LEDGER}/starting.py",
            "Step Functions' quota; larger batches, by `minRows` and `maxWaitSeconds`",
        ),
    ]


def _calls() -> list[LedgerCeiling]:
    steps, own = at_once(MODEL_FUNCTIONS), share_of(MODEL_FUNCTIONS)
    return [
        LedgerCeiling(
            "Single calls",
            steps * CONCURRENT_CALLS / SECONDS_OF_A_CALL,
            "calls",
            "installation",
            f"{steps} of {MODEL_FUNCTIONS} functions hold steps, {CONCURRENT_CALLS} calls each, "
            f"{SECONDS_OF_A_CALL} s a call",
            "infra/config.py",
            "`model-functions` in `cdk.json`, and Lambda's quota; providers' batch jobs",
        ),
        LedgerCeiling(
            "Single calls of an organisation",
            own * CONCURRENT_CALLS / SECONDS_OF_A_CALL,
            "calls",
            "organisation",
            f"{own} steps at once, {CONCURRENT_CALLS} calls each, {SECONDS_OF_A_CALL} s a call",
            f"{_LEDGER}/step_shares.py",
            "`model-functions`, of which it is a quarter; providers' batch jobs",
        ),
        LedgerCeiling(
            "Chat completions",
            CHAT_FUNCTIONS / SECONDS_OF_A_CALL,
            "calls",
            "installation",
            f"{CHAT_FUNCTIONS} functions wait, of which an organisation has half at most, "
            f"{SECONDS_OF_A_CALL} s a call",
            "infra/config.py",
            "`chat-functions` in `cdk.json`, and Lambda's quota",
        ),
        LedgerCeiling(
            "Captured calls",
            CAPTURE_RATE.max_concurrency / SECONDS_OF_A_CAPTURE,
            "calls",
            "installation",
            f"{CAPTURE_RATE.max_concurrency} functions, {SECONDS_OF_A_CAPTURE} s a call; more wait",
            "infra/stacks/decks.py",
            "`CAPTURE_RATE`; a lower sampling rate",
        ),
        LedgerCeiling(
            "Creations of jobs",
            1 / SECONDS_OF_A_CREATION,
            "jobs",
            "connection",
            f"one at a time, {SECONDS_OF_A_CREATION} s each; a job has up to 10,000 requests",
            f"{_LEDGER}/creations.py",
            "several connections; larger jobs, by `maxRows` and `maxBytes`",
        ),
    ]


def _money() -> list[LedgerCeiling]:
    units = PARTITION_UNITS_A_SECOND
    return [
        LedgerCeiling(
            "Count of open requests",
            units / UNITS_OF_AN_ADDITION,
            "bodies",
            "organisation",
            f"one item, {UNITS_OF_AN_ADDITION} units a body of up to 1,000 requests",
            f"{_LEDGER}/claims.py",
            "more requests in a body; imports",
        ),
        LedgerCeiling(
            "Budget",
            units / UNITS_OF_A_BATCH_IN_A_SCOPE,
            "batches",
            "organisation, or task of an apprentice",
            f"one item a scope, {UNITS_OF_A_BATCH_IN_A_SCOPE} units a batch, and as many a call "
            "that somebody waits for; those that meet try again",
            "layers/platform/python/autotune_platform/budgets/money.py",
            "larger batches",
        ),
    ]


def _deck_runs() -> list[LedgerCeiling]:
    units = PARTITION_UNITS_A_SECOND
    return [
        LedgerCeiling(
            "Judgements of a run",
            PAIRS_TOGETHER / SECONDS_OF_A_CHUNK,
            "judgements",
            "run",
            f"one step at a time, chunks of {PAIRS_TOGETHER}, {SECONDS_OF_A_CHUNK} s to enqueue "
            "one and to store what came of it",
            f"{_DECKS}/work.py",
            "several runs, of a grader each; `PAIRS_TOGETHER`",
        ),
        LedgerCeiling(
            "Results of a grader",
            units / UNITS_OF_A_RESULT,
            "results",
            "grader of a deck",
            f"one partition, {UNITS_OF_A_RESULT} units a result with its words",
            "layers/platform/python/autotune_platform/decks/results.py",
            "DynamoDB splits a partition that stays hot",
        ),
        LedgerCeiling(
            "Looks at what is under way",
            MOST_UNDER_WAY / FIRST.total_seconds(),
            "rows",
            "run",
            f"{MOST_UNDER_WAY:,} at most, each after {FIRST.seconds} s and then ever more seldom, "
            f"every {LONGEST.seconds // 60} minutes at last",
            f"{_DECKS}/looks.py",
            "they are reads, and DynamoDB's quota of a table is 40,000 units",
        ),
        LedgerCeiling(
            "Sweeper of runs",
            SECONDS_OF_A_SWEEP / SECONDS_OF_A_START / 60,
            "redriven",
            "installation",
            f"one after another, {SECONDS_OF_A_START} s each, {SECONDS_OF_A_SWEEP} s of a minute; "
            f"an organisation has {MAX_OPEN_DECK_RUNS} runs at most",
            f"{_DECKS}/sweeping.py",
            "several at once, as the ledger's sweeper",
        ),
    ]


def with_ledger_table(page: str) -> str:
    """Return the page with the table as it has to be."""
    rows = [each.cells() for each in ledger_ceilings()]
    return with_rows(page, tool="scaling_ledger", headings=HEADINGS, rows=rows)


def main() -> None:
    """Write the table, or check it where ``--check`` is given."""
    write_or_check(PAGE, with_ledger_table(PAGE.read_text()), tool="scaling_ledger")


if __name__ == "__main__":
    main()
