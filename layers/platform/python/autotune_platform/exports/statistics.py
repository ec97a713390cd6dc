"""Summaries of an export's records: counts, ids, and the distribution of their scores.

Each segment has its summary, and the manifest has all of them merged. Nothing about single records
is stored.
"""

import math
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar

from pydantic import ConfigDict, TypeAdapter

from autotune.protocol.completions import VerdictState
from autotune.protocol.exports import ExportCounts, Percentiles, ScoreDistribution, SkipReason
from autotune.protocol.llm_requests import LlmRequest, LlmStatus

MOST_IDS = 1_000
"""Most ids of tasks, and most ids of models, in a summary."""

_BINS = 10_000


@dataclass
class Scores:
    """Scores from 0 to 1: moments and extremes exactly, percentiles from a histogram.

    Mean and squared deviation are updated and merged as Chan, Golub and LeVeque (1983) do,
    https://doi.org/10.1080/00031305.1983.10483115. The histogram has bins of 0.0001.
    """

    # JSON has no infinite numbers, which are the extremes of no scores.
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(ser_json_inf_nan="constants")

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    lowest: float = math.inf
    highest: float = -math.inf
    bins: Counter[int] = field(default_factory=Counter)

    def add(self, value: float) -> None:
        """Add one score."""
        self.count += 1
        off = value - self.mean
        self.mean += off / self.count
        self.squares += off * (value - self.mean)
        self.lowest = min(self.lowest, value)
        self.highest = max(self.highest, value)
        self.bins[round(value * _BINS)] += 1

    def merge(self, other: "Scores") -> None:
        """Add other scores."""
        if not other.count:
            return
        count = self.count + other.count
        off = other.mean - self.mean
        self.squares += other.squares + off * off * self.count * other.count / count
        self.mean += off * other.count / count
        self.count = count
        self.lowest = min(self.lowest, other.lowest)
        self.highest = max(self.highest, other.highest)
        self.bins += other.bins

    def distribution(self) -> ScoreDistribution | None:
        """Return mean, population standard deviation, extremes, percentiles; None if empty."""
        if not self.count:
            return None
        return ScoreDistribution(
            mean=self.mean,
            std=math.sqrt(max(0.0, self.squares) / self.count),
            min=self.lowest,
            max=self.highest,
            percentiles=Percentiles(
                p25=self._percentile(0.25),
                p50=self._percentile(0.5),
                p75=self._percentile(0.75),
                p95=self._percentile(0.95),
            ),
        )

    def _percentile(self, share: float) -> float:
        rank = math.ceil(share * self.count)
        seen = 0
        for index in sorted(self.bins):
            seen += self.bins[index]
            if seen >= rank:
                return min(max(index / _BINS, self.lowest), self.highest)
        raise AssertionError("a rank is at most the number of scores")


@dataclass
class Summary:
    """The summary of one or several segments."""

    states: Counter[VerdictState] = field(default_factory=Counter)
    text_gone: int = 0
    skipped: Counter[SkipReason] = field(default_factory=Counter)
    records: int = 0
    scores: Scores = field(default_factory=Scores)
    task_ids: set[str] = field(default_factory=set)
    model_ids: set[str] = field(default_factory=set)
    truncated: bool = False
    requests: Counter[LlmStatus] = field(default_factory=Counter)

    @property
    def scanned(self) -> int:
        """The number of verdicts, or of requests to language models, that were read."""
        return self.states.total() + self.requests.total()

    def add_record(
        self, *, scores: Iterable[float], task_id: str, model_ids: Iterable[str]
    ) -> None:
        """Count a record with its scores, its task and its models."""
        self.records += 1
        for score in scores:
            self.scores.add(score)
        self._add_id(self.task_ids, task_id)
        for model_id in model_ids:
            self._add_id(self.model_ids, model_id)

    def add_request(self, request: LlmRequest) -> None:
        """Count the record of a request to a language model that has ended."""
        self.records += 1
        self.requests[request.status] += 1
        self._add_id(self.model_ids, request.model)

    def merge(self, other: "Summary") -> None:
        """Add another summary."""
        self.states += other.states
        self.requests += other.requests
        self.text_gone += other.text_gone
        self.skipped += other.skipped
        self.records += other.records
        self.scores.merge(other.scores)
        self.truncated |= other.truncated
        for ids, others in ((self.task_ids, other.task_ids), (self.model_ids, other.model_ids)):
            for one in sorted(others):
                self._add_id(ids, one)

    def counts(self) -> ExportCounts:
        """Return the counts of verdicts by state, and of those without a record."""
        return ExportCounts(
            scanned=self.scanned,
            scored=self.states["scored"],
            abstained=self.states["abstained"],
            failed=self.states["failed"],
            canceled=self.states["canceled"] + self.requests["canceled"],
            completed=self.requests["completed"],
            error=self.requests["error"],
            text_gone=self.text_gone,
            skipped={reason: count for reason, count in sorted(self.skipped.items()) if count},
        )

    def pack(self) -> bytes:
        """Return the summary as bytes: at most some 200 KB, mostly some hundred bytes."""
        return zlib.compress(_summaries().dump_json(self))

    @staticmethod
    def unpack(packed: bytes) -> "Summary":
        """Return a summary from the bytes of ``pack``."""
        return _summaries().validate_json(zlib.decompress(packed))

    def _add_id(self, ids: set[str], one: str) -> None:
        if one in ids:
            return
        if len(ids) < MOST_IDS:
            ids.add(one)
        else:
            self.truncated = True


@cache
def _summaries() -> TypeAdapter[Summary]:
    return TypeAdapter(Summary)
