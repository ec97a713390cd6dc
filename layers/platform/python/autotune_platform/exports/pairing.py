"""Candidates for preference pairs, and pairs made of them: rows without any text.

Candidates may be more than memory holds. DuckDB groups and sorts within a fixed amount of memory,
and spills the rest to disk. The result depends only on the candidates and the seed, not on the
candidates' order.
"""

import gzip
import hashlib
import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from autotune.protocol.compact_json import compact
from autotune.protocol.exports import PreferenceOptions
from autotune.protocol.limits import MAX_EXPORT_PAIRS, MAX_PAIRED_COMPLETIONS
from autotune_platform.completions.models import CompletionText
from autotune_platform.exports.models import ExportTooLargeError
from autotune_platform.verdicts.models import Verdict

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PAIRS_PER_FILE = 200_000

_MEMORY = "192MB"
_ROWS_AT_A_TIME = 2_000
# Differences of decimal fractions: 0.9 - 0.8 is less than 0.1 in binary.
_ROUNDING = 1e-9
_GZIP_LEVEL = 3


class Candidate(NamedTuple):
    """A scored completion that may become one side of a pair.

    Prompt and response are digests, 128 bits of BLAKE2b, so equal texts have equal digests.
    ``tie`` breaks ties: 63 bits that depend on the completion and the seed.
    """

    task_id: str
    prompt: str
    response: str
    grader_id: str
    grader_version: str
    completion_id: str
    model_id: str
    value: float
    confidence: float
    tie: int

    @classmethod
    def of(cls, verdict: Verdict, text: CompletionText, *, seed: int) -> Self:
        """Return the candidate of a scored verdict and its text."""
        return cls(
            task_id=verdict.task_id,
            prompt=_digest(text.prompt),
            response=_digest(text.response),
            grader_id=verdict.grader_id,
            grader_version=verdict.answered_version,
            completion_id=verdict.completion_id,
            model_id=verdict.model_id,
            value=verdict.value or 0.0,
            confidence=verdict.confidence if verdict.confidence is not None else 1.0,
            tie=tie_break(verdict.completion_id, seed),
        )


class Pair(NamedTuple):
    """Two completions of one prompt, the better one ``chosen``."""

    task_id: str
    grader_id: str
    grader_version: str
    chosen_id: str
    rejected_id: str
    chosen_model_id: str
    rejected_model_id: str
    chosen_value: float
    rejected_value: float
    chosen_confidence: float
    rejected_confidence: float


class RowFile:
    """Writes rows as gzipped lines of JSON."""

    def __init__(self, path: Path) -> None:
        self._file = gzip.open(  # noqa: SIM115 - closed by ``close``
            path, "wt", compresslevel=_GZIP_LEVEL, encoding="utf-8"
        )
        self.rows = 0

    def write(self, row: Candidate | Pair) -> None:
        """Add a row."""
        self._file.write(compact(row._asdict()))
        self._file.write("\n")
        self.rows += 1

    def close(self) -> None:
        """Finish the file."""
        self._file.close()


_COLUMNS = {
    **dict.fromkeys(Candidate._fields, "VARCHAR"),
    "value": "DOUBLE",
    "confidence": "DOUBLE",
    "tie": "BIGINT",
}
_GROUP = "task_id, prompt, grader_id, grader_version"
_SAME_GROUP = " AND ".join(f"chosen.{name} = rejected.{name}" for name in _GROUP.split(", "))

# The completions of a group that may be paired, drawn by the seed.
_ELIGIBLE = f"""
    CREATE TABLE eligible AS SELECT * FROM candidates
    QUALIFY row_number() OVER (PARTITION BY {_GROUP} ORDER BY tie, completion_id) <= $most
"""
# The best one, and the worst with another response; of equals the one with more confidence.
_BEST = f"""
    CREATE TABLE best AS SELECT rowid AS id, * FROM eligible
    QUALIFY row_number() OVER (
        PARTITION BY {_GROUP} ORDER BY value DESC, confidence DESC, tie, completion_id
    ) = 1
"""
_BEST_WORST = f"""
    CREATE VIEW found AS SELECT chosen.id AS chosen, rejected.rowid AS rejected
    FROM best AS chosen JOIN eligible AS rejected ON {_SAME_GROUP}
    WHERE chosen.response <> rejected.response
    QUALIFY row_number() OVER (
        PARTITION BY chosen.id
        ORDER BY rejected.value, rejected.confidence DESC, rejected.tie, rejected.completion_id
    ) = 1
"""
_ALL_PAIRS = f"""
    CREATE VIEW found AS SELECT chosen.rowid AS chosen, rejected.rowid AS rejected
    FROM eligible AS chosen JOIN eligible AS rejected ON {_SAME_GROUP}
    WHERE chosen.response <> rejected.response AND chosen.value > rejected.value
"""
_FAR_APART = """
    FROM found
    JOIN eligible AS chosen ON found.chosen = chosen.rowid
    JOIN eligible AS rejected ON found.rejected = rejected.rowid
    WHERE chosen.value > rejected.value AND chosen.value - rejected.value >= $least
"""
# MD5 rather than DuckDB's own hash, which may change with its version.
_DRAWN = f"""
    CREATE TABLE pairs AS SELECT found.chosen, found.rejected {_FAR_APART}
    ORDER BY md5(concat($seed::VARCHAR, chosen.completion_id, rejected.completion_id)),
        chosen.completion_id, rejected.completion_id
    LIMIT $size
"""
_EVERY = f"CREATE TABLE pairs AS SELECT found.chosen, found.rejected {_FAR_APART}"
_LISTED = """
    SELECT chosen.task_id, chosen.grader_id, chosen.grader_version,
        chosen.completion_id, rejected.completion_id, chosen.model_id, rejected.model_id,
        chosen.value, rejected.value, chosen.confidence, rejected.confidence
    FROM pairs
    JOIN eligible AS chosen ON pairs.chosen = chosen.rowid
    JOIN eligible AS rejected ON pairs.rejected = rejected.rowid
    ORDER BY chosen.prompt, chosen.task_id, chosen.grader_id, chosen.grader_version,
        chosen.tie, chosen.completion_id, rejected.tie, rejected.completion_id
"""


@dataclass(frozen=True)
class Paired:
    """Pairs in files, in order, and the numbers of candidates that are in no pair.

    Attributes:
        files: each file with its number of pairs.
        unpaired: candidates without a partner, or whose pairs are not in the sample.
        over_limit: candidates that are left out because their prompt has too many.
    """

    files: list[tuple[Path, int]]
    unpaired: int
    over_limit: int


def pair_candidates(
    files: Sequence[Path], options: PreferenceOptions, *, directory: Path
) -> Paired:
    """Pair the candidates in files; pairs of one prompt follow each other.

    Args:
        directory: an empty folder for the pairs, and for data that DuckDB spills.

    Raises:
        ExportTooLargeError: there are more pairs than an export may have, and no sample is drawn.
    """
    import duckdb  # noqa: PLC0415 - 65 MB that other phases do not need

    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": 1,
        "memory_limit": _MEMORY,
        "temp_directory": str(directory / "spill"),
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
    }
    with duckdb.connect(str(directory / "pairs.duckdb"), config=config) as database:
        _load(database, files)
        total = _count(database, "candidates")
        everything = options.pairing == "all_pairs"
        database.execute(
            _ELIGIBLE, {"most": MAX_PAIRED_COMPLETIONS if everything else max(total, 1)}
        )
        if everything:
            database.execute(_ALL_PAIRS)
        else:
            database.execute(_BEST)
            database.execute(_BEST_WORST)
        _draw(database, options)
        eligible = _count(database, "eligible")
        used = _count(database, "(SELECT chosen FROM pairs UNION SELECT rejected FROM pairs)")
        return Paired(
            files=list(_write(database, directory)),
            unpaired=eligible - used,
            over_limit=total - eligible,
        )


def _load(database: "DuckDBPyConnection", files: Sequence[Path]) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
    database.execute(f"CREATE TABLE candidates ({columns})")
    for file in files:
        rows = database.read_json(str(file), columns=_COLUMNS, format="newline_delimited")
        rows.insert_into("candidates")


def _draw(database: "DuckDBPyConnection", options: PreferenceOptions) -> None:
    least = {"least": max(0.0, (options.min_score_delta or 0.0) - _ROUNDING)}
    # Counted as a stream, because all pairs of many prompts may not fit on the disk.
    answer = database.execute(f"SELECT count(*) {_FAR_APART}", least).fetchone()
    count = answer[0] if answer else 0
    if options.sample_size is not None and options.sample_size < count:
        drawn = {**least, "seed": options.seed, "size": options.sample_size}
        database.execute(_DRAWN, drawn)
        return
    if count > MAX_EXPORT_PAIRS:
        raise ExportTooLargeError("pairs of an export", MAX_EXPORT_PAIRS, "pairs", actual=count)
    database.execute(_EVERY, least)


def _write(database: "DuckDBPyConnection", directory: Path) -> Iterator[tuple[Path, int]]:
    rows = database.execute(_LISTED)
    some = rows.fetchmany(_ROWS_AT_A_TIME)
    number = 0
    while some:
        path = directory / f"pairs-{number:05}.jsonl.gz"
        with closing(RowFile(path)) as file:
            while some and file.rows < PAIRS_PER_FILE:
                for row in some:
                    file.write(Pair(*row))
                some = rows.fetchmany(_ROWS_AT_A_TIME)
        yield path, file.rows
        number += 1


def _count(database: "DuckDBPyConnection", table: str) -> int:
    answer = database.execute(f"SELECT count(*) FROM {table}").fetchone()
    return answer[0] if answer else 0


def read_pairs(path: Path, *, after: int) -> Generator[Pair, None, None]:
    """Yield the pairs of a file without the first ``after``."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in islice(lines, after, None):
            yield Pair(**json.loads(line))


def tie_break(completion_id: str, seed: int) -> int:
    """Return the tie-breaker of a completion, which is the same for the same seed."""
    digest = hashlib.blake2b(
        completion_id.encode(), key=seed.to_bytes(8, "big"), digest_size=8
    ).digest()
    return int.from_bytes(digest, "big") >> 1


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
