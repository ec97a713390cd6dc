"""Compute how much each component of decks bears, and write it into ``docs/scaling.md``.

``python -m tools.scaling_decks`` writes the table. A test compares it, as it does those of
``tools.scaling`` and ``tools.scaling_ledger``.
"""

from autotune.protocol.limits import (
    MAX_DECK_SAMPLES,
    MAX_MATCHED_SAMPLES,
    MAX_PROMPT_TEMPLATES,
    MAX_UNMATCHED_PROMPTS,
)
from autotune_platform.decks.expiring import SHARDS
from autotune_platform.decks.labels.hands import LONGEST, MOST
from autotune_platform.decks.runs.models import LOST_STEPS, MOST_KILLS
from autotune_platform.decks.telemetry.expiry import AT_A_TIME
from infra.config import DeploymentConfig
from infra.stacks.decks import CAPTURE_RATE
from tools.scaling import PAGE, PARTITION_UNITS_A_SECOND
from tools.scaling_ledger import HEADINGS, UNITS_OF_AN_ADDITION, LedgerCeiling
from tools.written_tables import with_rows, write_or_check

PARTITION_READS_A_SECOND = 3_000
"""Units that a partition reads; one is up to 4 KB, read as it is now."""

# Measured on two cores: 500 templates of 3,800 characters, and a prompt that is like each of them.
SECONDS_OF_TEMPLATES = 0.011

# Assumed, because no AWS account was at hand.
SECONDS_OF_A_SAMPLE = 0.1
SECONDS_OF_AN_ERASURE = 0.2
SECONDS_OF_A_CAREFUL_ROW = 0.15
SECONDS_OF_AN_EDIT = 5.0
FUNCTIONS_OF_EDITS = 40
# A header is about 1 KB, a rating half of one.
UNITS_OF_A_DEAL = MAX_DECK_SAMPLES // 4 + MAX_DECK_SAMPLES // 8
# A prompt and an entry of the list are written when a prompt comes first, each in a transaction.
UNITS_OF_A_NEW_PROMPT = 2 * UNITS_OF_AN_ADDITION

_DECKS = "layers/platform/python/autotune_platform/decks"


def deck_ceilings() -> list[LedgerCeiling]:
    """Return what each component bears."""
    return [*_matching(), *_intake(), *_expiry(), *_people()]


def _matching() -> list[LedgerCeiling]:
    return [
        LedgerCeiling(
            "Prompts found by their hash",
            PARTITION_READS_A_SECOND,
            "calls",
            "prompt of an organisation",
            "one partition a prompt, one unit read for up to 25 decks that have it",
            f"{_DECKS}/prompt_index.py",
            "nothing: each prompt is a partition",
        ),
        LedgerCeiling(
            "Prompts found by templates",
            CAPTURE_RATE.max_concurrency / SECONDS_OF_TEMPLATES,
            "calls",
            "installation",
            f"{CAPTURE_RATE.max_concurrency} functions, {SECONDS_OF_TEMPLATES} s for "
            f"{MAX_PROMPT_TEMPLATES} templates, which each process keeps until one changes",
            f"{_DECKS}/telemetry/matching.py",
            "naming the deck in `X-Autotune-Deck`; fewer templates",
        ),
        LedgerCeiling(
            "Calls with an unmatched prompt",
            PARTITION_UNITS_A_SECOND / UNITS_OF_AN_ADDITION,
            "calls",
            "prompt of an organisation",
            f"one item, {UNITS_OF_AN_ADDITION} units a call; those that meet try again",
            f"{_DECKS}/telemetry/unmatched.py",
            "a deck of that prompt, or a lower sampling rate",
        ),
        LedgerCeiling(
            "New unmatched prompts",
            PARTITION_UNITS_A_SECOND / UNITS_OF_A_NEW_PROMPT,
            "prompts",
            "organisation",
            f"one list, {UNITS_OF_A_NEW_PROMPT} units a prompt; it has {MAX_UNMATCHED_PROMPTS}, "
            "and when it is full one call in sixteen is looked at for room",
            f"{_DECKS}/telemetry/unmatched.py",
            "what is over it is counted and kept by nobody",
        ),
    ]


def _intake() -> list[LedgerCeiling]:
    requests = DeploymentConfig.keyless_requests_per_second
    return [
        LedgerCeiling(
            "Requests at ingest URLs",
            requests,
            "requests",
            "installation",
            f"{requests} requests a second to the route, strangers' too; those of an "
            "organisation count into its own limit",
            "infra/config.py",
            "`keyless_requests_per_second`",
        ),
        LedgerCeiling(
            "Samples at an ingest URL",
            1 / SECONDS_OF_A_SAMPLE,
            "samples",
            "request",
            f"one after another, {SECONDS_OF_A_SAMPLE} s each, so that a request with "
            f"{MAX_MATCHED_SAMPLES} takes {MAX_MATCHED_SAMPLES * SECONDS_OF_A_SAMPLE:.0f} s of 29",
            f"{_DECKS}/telemetry/uploading.py",
            "several requests at once; bulk upload to a deck",
        ),
        LedgerCeiling(
            "Additions to a deck",
            PARTITION_UNITS_A_SECOND / UNITS_OF_AN_ADDITION,
            "requests",
            "deck",
            f"one count, {UNITS_OF_AN_ADDITION} units a request, captured calls one each; "
            f"a deck has {MAX_DECK_SAMPLES:,} samples",
            f"{_DECKS}/sample_repository.py",
            "several decks; more samples in a request",
        ),
    ]


def _expiry() -> list[LedgerCeiling]:
    return [
        LedgerCeiling(
            "Index of what expires",
            SHARDS * PARTITION_UNITS_A_SECOND / 2,
            "samples",
            "installation",
            f"{SHARDS} shards, {PARTITION_UNITS_A_SECOND:,} units each, one when a sample comes "
            "and one when it goes",
            f"{_DECKS}/expiring.py",
            "`SHARDS`, which may be raised and never lowered",
        ),
        LedgerCeiling(
            "Erasure of captured samples",
            AT_A_TIME / SECONDS_OF_AN_ERASURE,
            "samples",
            "installation",
            f"{AT_A_TIME} at once, {SECONDS_OF_AN_ERASURE} s each, with results and labels; a "
            "pass begins every three minutes and lasts until nothing is due",
            f"{_DECKS}/telemetry/expiry.py",
            "`AT_A_TIME`; the call's texts in the ledger go by themselves",
        ),
    ]


def _people() -> list[LedgerCeiling]:
    deals = PARTITION_READS_A_SECOND / (MAX_DECK_SAMPLES // 4)
    people = deals * LONGEST.total_seconds()
    return [
        LedgerCeiling(
            "People who label a deck",
            deals,
            "hands dealt",
            f"deck of {MAX_DECK_SAMPLES:,} samples",
            f"{UNITS_OF_A_DEAL:,} units read for samples and ratings, most in the deck's "
            f"partition; a hand of {MOST} lasts {LONGEST.seconds // 60} minutes, so "
            f"{people:,.0f} people at once",
            f"{_DECKS}/labels/hands.py",
            "DynamoDB splits a partition that stays hot; longer hands",
        ),
        LedgerCeiling(
            "Edits that are measured or written",
            FUNCTIONS_OF_EDITS / SECONDS_OF_AN_EDIT,
            "steps",
            "installation",
            f"of the functions that nothing is reserved for, some {FUNCTIONS_OF_EDITS} at once "
            f"before others feel it, {SECONDS_OF_AN_EDIT} s for {MAX_DECK_SAMPLES:,} samples",
            "infra/stacks/deck_runs.py",
            "a share of functions of their own; a measure is computed once and kept",
        ),
        LedgerCeiling(
            "Judgements row by row",
            1 / SECONDS_OF_A_CAREFUL_ROW,
            "judgements",
            "run",
            f"only after {LOST_STEPS} steps that were killed: two writes more a row; each row "
            f"that kills takes {MOST_KILLS} steps of up to five minutes",
            f"{_DECKS}/runs/guarding.py",
            "nothing: other runs have functions of their own share",
        ),
    ]


def with_deck_table(page: str) -> str:
    """Return the page with the table as it has to be."""
    rows = [each.cells() for each in deck_ceilings()]
    return with_rows(page, tool="scaling_decks", headings=HEADINGS, rows=rows)


def main() -> None:
    """Write the table, or check it where ``--check`` is given."""
    write_or_check(PAGE, with_deck_table(PAGE.read_text()), tool="scaling_decks")


if __name__ == "__main__":
    main()
