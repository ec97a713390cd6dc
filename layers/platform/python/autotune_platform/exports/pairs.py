"""Candidates for preference pairs, and pairs: rows without any text."""

import gzip
import hashlib
import json
from collections.abc import Generator
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Self

from autotune_platform.completions.models import CompletionText
from autotune_platform.verdicts.models import Verdict

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
        self._file.write(json.dumps(row._asdict(), separators=(",", ":"), ensure_ascii=False))
        self._file.write("\n")
        self.rows += 1

    def close(self) -> None:
        """Finish the file."""
        self._file.close()


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
