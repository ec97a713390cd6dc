"""Compute how much each component bears, and write it into ``docs/scaling.md``.

``python -m tools.scaling`` writes the table. A test compares it, so that a shard count, a quota or
a cost that changes in the code changes the page.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from autotune.protocol.access import OrganizationLimits
from autotune_platform.audit.repository import DAY_SHARDS
from autotune_platform.completions.models import CHUNK_COMPLETIONS
from autotune_platform.completions.repository import OPEN_SHARDS
from autotune_platform.operations.deleting import CONCURRENT_DELETIONS
from autotune_platform.storage.counting import MAX_ADDITIONS
from autotune_platform.verdicts.score_index import SCORE_SHARDS
from infra.config import (
    ACCOUNT_FUNCTIONS,
    GRADING_FUNCTIONS,
    SWEEP_PARTS,
    DeploymentConfig,
    Target,
)
from infra.constructs.stream_consumer import BATCH_SIZE
from infra.constructs.work_queue import DrainRate
from infra.stacks.completions import DRAIN_RATES
from infra.stacks.scoring import SWEEP_TIMEOUT
from infra.stacks.webhooks import DRAIN_RATE
from tools.written_tables import with_rows, write_or_check

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "scaling.md"
COSTS = ROOT / "docs" / "cost-and-speed.md"
PRICES = ROOT / "benchmarks" / "prices.json"
_COST_COLUMNS = 11

# Quotas of an account that has asked for nothing, in the largest regions.
STARTS_A_SECOND = 300
TRANSITIONS_A_SECOND = 5_000
TABLE_UNITS_A_SECOND = 40_000
PARTITION_UNITS_A_SECOND = 1_000

STATES_OF_A_RUN = 3
WRITES_OF_AN_OPEN_BATCH = 3
WRITES_OF_A_RUNS_STATE = 2
# Transactions cost twice: statistics and metering of a grader, of some 3 KB and 1 KB when they are
# full, and an audit entry that names a hundred completions.
UNITS_OF_STATISTICS = 2 * (3 + 1)
UNITS_OF_AN_AUDIT_ENTRY = 2 * 4
WRITES_OF_A_PERMIT = 2.1
UNITS_OF_AN_OPEN_COUNT = 2

# Seconds that something takes on Lambda: assumed, because no AWS account was at hand. The local
# stack is quicker with most of it.
SECONDS_TO_START_A_RUN = 0.05
SECONDS_OF_A_ROUND = 1.0
SECONDS_OF_A_GRADER = 2.0
SECONDS_TO_COUNT = 0.05
SECONDS_TO_REDRIVE = 0.05
SECONDS_OF_A_REQUEST = 0.2
# Of a hundred texts what may quote them is read, and of one completion all that there is deleted.
SECONDS_TO_ERASE = 0.3
SECONDS_TO_DELETE = 0.04
STREAM_SHARDS = 16

# Each has a checkpoint and an entry of the audit log of its own; statistics, metering and the count
# of open completions are the same for all.
_SINGLES_OF_A_TRANSACTION = (MAX_ADDITIONS - 3) // 2

_HEADINGS = (
    "Component",
    "Batches of 100",
    "Singles",
    "For each",
    "Follows from",
    "Where",
    "Beyond",
)


@dataclass(frozen=True)
class Ceiling:
    """What a component bears.

    Attributes:
        batches: completions a second, in batches of a hundred.
        singles: completions a second, one by one.
        scope: what has this much for itself.
        formula: of what the first figure follows.
        where: the file that it follows from.
        beyond: what to raise for more.
    """

    component: str
    batches: float
    singles: float
    scope: str
    formula: str
    where: str
    beyond: str

    def cells(self) -> list[str]:
        """Return its line of the table."""
        return [
            self.component,
            _rounded(self.batches),
            _rounded(self.singles),
            self.scope,
            self.formula,
            f"[`{Path(self.where).name}`](../{self.where})",
            self.beyond,
        ]


def ceilings() -> list[Ceiling]:
    """Return what each component bears."""
    return [
        *_requests(),
        *(_queue(name, rate) for name, rate in DRAIN_RATES.items()),
        *_runs(),
        _grading(),
        *_tables(),
        *_counting(),
        _open_count(),
        _permits(),
        _sweeper(),
        *_erasure(),
    ]


def _requests() -> list[Ceiling]:
    requests = DeploymentConfig.api_requests_per_second
    keyless = DeploymentConfig.keyless_requests_per_second
    usual = OrganizationLimits().requests_per_second
    unreserved, others = _unreserved()
    admitted = (unreserved - sum(others.values())) / SECONDS_OF_A_REQUEST
    return [
        Ceiling(
            "API",
            requests * CHUNK_COMPLETIONS,
            requests,
            "installation",
            f"{requests} requests a second",
            "infra/config.py",
            "`api_requests_per_second`, up to API Gateway's 10,000 for an account",
        ),
        Ceiling(
            "Functions of the API",
            admitted * CHUNK_COMPLETIONS,
            admitted,
            "installation",
            f"{unreserved} functions that are reserved for nothing, without "
            + ", ".join(f"{count} of {name}" for name, count in others.items())
            + f"; {SECONDS_OF_A_REQUEST} s a request",
            "infra/config.py",
            "Lambda's quota; fewer functions that are reserved",
        ),
        Ceiling(
            "Requests of an organisation",
            usual * CHUNK_COMPLETIONS,
            usual,
            "organisation",
            f"{usual} requests a second, where operators set no other limit",
            "layers/sdk/python/autotune/protocol/access.py",
            "`autotune ops limit-organization`, up to 10,000 requests a second",
        ),
        Ceiling(
            "Callbacks",
            keyless * CHUNK_COMPLETIONS,
            keyless,
            "installation",
            f"{keyless} requests a second, strangers' too",
            "infra/config.py",
            "`keyless_requests_per_second`; graders that answer for many completions at once",
        ),
    ]


def _unreserved() -> tuple[int, dict[str, int]]:
    """Return how many functions are reserved for nothing, and which others than the API's run."""
    config = DeploymentConfig(target=Target.AWS, region="us-east-1")
    dispatch = sum(rate.max_concurrency for rate in DRAIN_RATES.values())
    others = {
        "dispatch": dispatch,
        "webhooks": DRAIN_RATE.max_concurrency,
        "the stream's two followers": 2 * STREAM_SHARDS,
    }
    return ACCOUNT_FUNCTIONS - sum(config.reserved_functions.values()), others


def _queue(name: str, rate: DrainRate) -> Ceiling:
    messages = rate.max_concurrency * rate.batch_size
    # Singles of one grader that come together are one run.
    return Ceiling(
        f"Queue of priority {name.lower()}",
        messages / (rate.batch_size * SECONDS_TO_START_A_RUN) * CHUNK_COMPLETIONS,
        messages / (2 * SECONDS_TO_START_A_RUN),
        "installation",
        f"{rate.max_concurrency} functions, {SECONDS_TO_START_A_RUN} s a run",
        "infra/stacks/completions.py",
        "`DRAIN_RATES`",
    )


def _runs() -> list[Ceiling]:
    merged = DRAIN_RATES["Normal"].batch_size
    return [
        Ceiling(
            "StartExecution",
            STARTS_A_SECOND * CHUNK_COMPLETIONS,
            STARTS_A_SECOND * merged,
            "account",
            f"{STARTS_A_SECOND} runs a second; singles merged by {merged}",
            "layers/platform/python/autotune_platform/scoring/dispatch.py",
            "Step Functions' quota; in smaller regions it is half",
        ),
        Ceiling(
            "State transitions",
            TRANSITIONS_A_SECOND / STATES_OF_A_RUN * CHUNK_COMPLETIONS,
            TRANSITIONS_A_SECOND / STATES_OF_A_RUN * merged,
            "account",
            f"{TRANSITIONS_A_SECOND:,} a second, {STATES_OF_A_RUN} a run",
            "statemachines/score_completions.asl.json",
            "Step Functions' quota; in smaller regions it is 800",
        ),
    ]


def _grading() -> Ceiling:
    seconds = SECONDS_OF_A_ROUND + SECONDS_OF_A_GRADER
    merged = DRAIN_RATES["Normal"].batch_size
    return Ceiling(
        "Grading functions",
        GRADING_FUNCTIONS / seconds * CHUNK_COMPLETIONS,
        GRADING_FUNCTIONS / seconds * merged,
        "installation",
        f"{GRADING_FUNCTIONS} functions, {SECONDS_OF_A_ROUND} s a round, "
        f"{SECONDS_OF_A_GRADER} s of the grader",
        "infra/config.py",
        "`grading-functions` in `cdk.json`, and Lambda's quota; a quicker grader",
    )


def _tables() -> list[Ceiling]:
    measured = units_of_a_completion(batch=CHUNK_COMPLETIONS)
    units = PARTITION_UNITS_A_SECOND
    return [
        Ceiling(
            "Table of completions",
            TABLE_UNITS_A_SECOND / units_of_a_completion(batch=CHUNK_COMPLETIONS),
            TABLE_UNITS_A_SECOND / units_of_a_completion(batch=1),
            "installation",
            f"{TABLE_UNITS_A_SECOND:,} write units a second, "
            f"{measured:.1f} a completion of 2 KB, measured",
            "docs/cost-and-speed.md",
            "DynamoDB's quota for a table; a new table begins with 4,000 units and doubles",
        ),
        Ceiling(
            "Index of open batches",
            OPEN_SHARDS * units / WRITES_OF_AN_OPEN_BATCH * CHUNK_COMPLETIONS,
            OPEN_SHARDS * units / WRITES_OF_AN_OPEN_BATCH,
            "installation",
            f"{OPEN_SHARDS} shards, {units:,} units each, {WRITES_OF_AN_OPEN_BATCH} a batch",
            "layers/platform/python/autotune_platform/completions/repository.py",
            "`OPEN_SHARDS`",
        ),
        Ceiling(
            "Index of scores",
            SCORE_SHARDS * units,
            SCORE_SHARDS * units,
            "task",
            f"{SCORE_SHARDS} shards, {units:,} units each, one a verdict",
            "layers/platform/python/autotune_platform/verdicts/score_index.py",
            "several tasks; another index with more shards, each of which a page of a list reads",
        ),
        Ceiling(
            "Index of runs",
            units / WRITES_OF_A_RUNS_STATE * CHUNK_COMPLETIONS,
            units / WRITES_OF_A_RUNS_STATE * DRAIN_RATES["Normal"].batch_size,
            "organisation",
            f"one partition a state, {WRITES_OF_A_RUNS_STATE} units a run",
            "layers/platform/python/autotune_platform/runs/repository.py",
            "shards in its key",
        ),
    ]


def _counting() -> list[Ceiling]:
    transactions = PARTITION_UNITS_A_SECOND / UNITS_OF_STATISTICS
    audited = DAY_SHARDS * PARTITION_UNITS_A_SECOND
    return [
        Ceiling(
            "Projection",
            STREAM_SHARDS / SECONDS_TO_COUNT * CHUNK_COMPLETIONS,
            STREAM_SHARDS / SECONDS_TO_COUNT * _SINGLES_OF_A_TRANSACTION,
            "installation",
            f"{STREAM_SHARDS} shards of the stream, {SECONDS_TO_COUNT} s a batch",
            "infra/constructs/stream_consumer.py",
            "DynamoDB adds shards with the table's writes; `parallelization_factor` up to ten",
        ),
        Ceiling(
            "Statistics",
            transactions * CHUNK_COMPLETIONS,
            transactions * _SINGLES_OF_A_TRANSACTION,
            "grader",
            f"one partition, {UNITS_OF_STATISTICS} units a batch",
            "layers/platform/python/autotune_platform/projections/counters.py",
            "DynamoDB splits a partition of several lanes that is hot",
        ),
        Ceiling(
            "Audit log",
            audited / (UNITS_OF_AN_AUDIT_ENTRY + 1) * CHUNK_COMPLETIONS,
            audited / (2 + 1),
            "organisation",
            f"{DAY_SHARDS} partitions a day, {UNITS_OF_AN_AUDIT_ENTRY} units a batch and one a"
            " request",
            "layers/platform/python/autotune_platform/audit/repository.py",
            "`DAY_SHARDS`",
        ),
    ]


def _open_count() -> Ceiling:
    batch = 2 * UNITS_OF_AN_OPEN_COUNT
    single = UNITS_OF_AN_OPEN_COUNT * (1 + 1 / _SINGLES_OF_A_TRANSACTION)
    return Ceiling(
        "Count of open completions",
        PARTITION_UNITS_A_SECOND / batch * CHUNK_COMPLETIONS,
        PARTITION_UNITS_A_SECOND / single,
        "organisation",
        f"one partition, {UNITS_OF_AN_OPEN_COUNT} units when a batch is accepted and as many when "
        "it is decided",
        "layers/platform/python/autotune_platform/completions/open_counts.py",
        "DynamoDB splits a partition of several lanes that is hot",
    )


def _erasure() -> list[Ceiling]:
    texts = STREAM_SHARDS / SECONDS_TO_ERASE * BATCH_SIZE
    deleted = CONCURRENT_DELETIONS / SECONDS_TO_DELETE
    return [
        Ceiling(
            "Erasure of what expires",
            texts,
            texts,
            "installation",
            f"{STREAM_SHARDS} shards of the stream, {SECONDS_TO_ERASE} s for {BATCH_SIZE}",
            "infra/constructs/stream_consumer.py",
            "`parallelization_factor` up to ten; reviews are announced behind them",
        ),
        Ceiling(
            "Deletion of an organisation",
            deleted,
            deleted,
            "organisation",
            f"{CONCURRENT_DELETIONS} at once, {SECONDS_TO_DELETE} s a completion",
            "layers/platform/python/autotune_platform/operations/deleting.py",
            "`CONCURRENT_DELETIONS`; it waits for nobody, and nobody for it",
        ),
    ]


def _permits() -> Ceiling:
    calls = PARTITION_UNITS_A_SECOND / WRITES_OF_A_PERMIT
    return Ceiling(
        "Permits",
        calls * CHUNK_COMPLETIONS,
        calls,
        "grader with limits",
        f"one partition, {WRITES_OF_A_PERMIT} units a call of up to 100",
        "layers/platform/python/autotune_platform/budgets/permits.py",
        "larger batches (`maxBatchSize`); none without limits",
    )


def _sweeper() -> Ceiling:
    batches = SWEEP_PARTS / SECONDS_TO_REDRIVE * (SWEEP_TIMEOUT.to_seconds() - 10) / 60
    return Ceiling(
        "Sweeper, of what is lost",
        batches * CHUNK_COMPLETIONS,
        batches,
        "installation",
        f"{SWEEP_PARTS} functions, {SECONDS_TO_REDRIVE} s a batch, 50 s of each minute",
        "infra/config.py",
        "`SWEEP_PARTS`; what is not lost is closed by the projection",
    )


def units_of_a_completion(*, batch: int) -> float:
    """Return the write units of a completion, indexes and all tables included, as last measured."""
    rows = (line.strip("| ").split(" | ") for line in COSTS.read_text().splitlines())
    writes = [float(row[3]) for row in rows if row[0] == str(batch) and len(row) == _COST_COLUMNS]
    price: float = json.loads(PRICES.read_text())["prices"]["dynamodb_write_unit"]["usd"]
    return writes[-1] / 1_000_000 / price


def with_table(page: str) -> str:
    """Return the page with the table as it has to be."""
    rows = [each.cells() for each in ceilings()]
    return with_rows(page, tool="scaling", headings=_HEADINGS, rows=rows)


def _rounded(figure: float) -> str:
    """Return two digits: what rests on assumptions has no more."""
    return f"{float(f'{figure:.1e}'):,.0f}"


def main() -> None:
    """Write the table, or check it where ``--check`` is given."""
    write_or_check(PAGE, with_table(PAGE.read_text()), tool="scaling")


if __name__ == "__main__":
    main()
