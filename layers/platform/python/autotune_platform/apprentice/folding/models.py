"""What is stored of a version's evidence, and of a day."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from autotune_platform.apprentice.coverage import Coverage
from autotune_platform.apprentice.evidence import Evidence, Rules
from autotune_platform.apprentice.versions.models import VersionGate
from autotune_platform.apprentice.window import WindowFigures
from autotune_platform.runtime.frozen_model import FrozenModel


class StoredEvidence(FrozenModel):
    """The cache of a version's pairs.

    Attributes:
        configuration_version: by whose rules it was folded.
        sequence: the last pair that was folded.
        revision: how often it was written; whoever writes it requires what it read.
        state: the evidence, with its rules, as JSON.
        window: figures of the last pairs, as JSON.
        scores: how often each score came since the last alarm, by its thousandths, as JSON.
        coverage: how many inputs it is sure of, as JSON; empty where its gate was never asked.
        stale_at: until when twenty pairs are young enough, Unix seconds; 0 where they never were.
        told_alarm: the pair of the last alarm that was published; 0 before.
        told_emergency: whether an emergency was.
        told_promotion: the pair after which the canary was passed of the last promotion that was.
    """

    organization_id: str
    task_id: str
    task_name: str
    version: int
    definition_hash: str
    configuration_version: int
    sequence: int = 0
    revision: int = 0
    state: str
    window: str
    scores: str = "{}"
    coverage: str = ""
    stale_at: float = 0.0
    told_alarm: int = 0
    told_emergency: bool = False
    told_promotion: int | None = None

    def evidence(self, rules: Rules) -> Evidence:
        """Return the evidence.

        Raises:
            UnusableEvidenceError: it was folded by other rules, or is damaged.
        """
        return Evidence.from_json(self.state, rules)

    @property
    def score_counts(self) -> dict[int, int]:
        """How often each score came since the last alarm, by its thousandths."""
        return scores_of(self.scores)

    def coverage_behind(self, gate: VersionGate | None) -> Coverage | None:
        """Return how many inputs the version is sure of; None where it has no gate."""
        if gate is None:
            return None
        if not self.coverage:
            return Coverage(gate.least_coverage)
        return Coverage.from_json(self.coverage)

    def figures(self, now: float) -> WindowFigures:
        """Return the window's figures at a time: as of its last pair, but for its being stale."""
        stored = WindowFigures(**json.loads(self.window))
        return WindowFigures(**{**asdict(stored), "is_stale": now > self.stale_at})


def window_json(figures: WindowFigures) -> str:
    """Return figures as JSON; floats are written so that the same are read."""
    return json.dumps(asdict(figures), allow_nan=False, separators=(",", ":"))


def scores_json(scores: Mapping[int, int]) -> str:
    """Return counts of scores as JSON, in the order of the scores."""
    return json.dumps({str(part): scores[part] for part in sorted(scores)}, separators=(",", ":"))


def scores_of(text: str) -> dict[int, int]:
    """Return the counts of scores that JSON has."""
    return {int(part): count for part, count in json.loads(text).items()}


class StoredPair(FrozenModel):
    """A pair at its place among those of its version; it never changes."""

    task_id: str
    organization_id: str
    version: int
    sequence: int
    run_id: str
    score: float
    is_drawn: bool
    is_sure: bool = True
    in_canary: bool = False
    at: float


@dataclass(frozen=True)
class VersionDay:
    """Drawn pairs of a version's runs of a day, and the sum of their scores in millionths.

    ``bound`` is the one of its agreement that was known last on that day, in millionths. ``missed``
    has how often a field differed, by its place in ``matchFields``.
    """

    pairs: int = 0
    agreement: int = 0
    bound: int | None = None
    missed: Mapping[int, int] = field(default_factory=dict)


class Asked(NamedTuple):
    """Runs in which a version was asked, and those of them in which it gave no answer."""

    asked: int = 0
    silent: int = 0

    @property
    def is_silent(self) -> bool:
        """Whether more than half had none."""
        return 2 * self.silent > self.asked


@dataclass(frozen=True)
class DayCounts:
    """Counts of the runs that were created on a UTC day; money in nano-USD.

    Attributes:
        begun: all of them.
        asked: those in which a version was asked that callers might have an answer of, or would.
        silent: those of them in which it gave none.
        gate_sure: inputs of which the version that was asked was as sure as its gate asks for.
        gate_unsure: those of which it was not.
        examples: answers of the paid model that are examples of their definition.
        cost_answers: what the paid model's answers cost their callers.
        cost_checks: what checks of local answers cost, and what taught a version in shadow.
        cost_lost: what calls cost that gave nobody an answer.
        cost_additional: what additional models cost.
        cost_training: what jobs that train cost, of those whose end was noted on the day.
        cost_hosting: what instances cost that hosted the task's versions.
        hosting_seconds: how long those were there.
        hosting_unpriced_seconds: how long of it their price was not known.
        versions: by number.
        hours: ``asked`` and ``silent`` by the hour in which runs were created, 0 to 23.
    """

    day: str
    begun: int = 0
    local: int = 0
    remote: int = 0
    refused: int = 0
    failed: int = 0
    escalated: int = 0
    asked: int = 0
    silent: int = 0
    gate_sure: int = 0
    gate_unsure: int = 0
    unmonitored: int = 0
    examples: int = 0
    checks_done: int = 0
    checks_skipped: int = 0
    checks_failed: int = 0
    cost_answers: int = 0
    cost_checks: int = 0
    cost_lost: int = 0
    cost_additional: int = 0
    cost_training: int = 0
    cost_hosting: int = 0
    hosting_seconds: int = 0
    hosting_unpriced_seconds: int = 0
    versions: Mapping[int, VersionDay] = field(default_factory=dict)
    hours: Mapping[int, Asked] = field(default_factory=dict)

    @property
    def pending(self) -> int:
        """Runs that have begun and not ended."""
        return self.begun - self.local - self.remote - self.refused - self.failed

    @classmethod
    def from_item(cls, day: str, item: Mapping[str, Any]) -> "DayCounts":
        """Return the counts that an item has."""
        numbers = {
            name: item[name] for name in cls.__dataclass_fields__ if isinstance(item.get(name), int)
        }
        versions = {
            int(name.removeprefix("pairs#")): VersionDay(
                pairs,
                item.get(f"agreement#{name.removeprefix('pairs#')}", 0),
                item.get(f"bound#{name.removeprefix('pairs#')}"),
                _missed(item, name.removeprefix("pairs#")),
            )
            for name, pairs in item.items()
            if name.startswith("pairs#")
        }
        hours = {
            hour: Asked(asked, item.get(f"silent#{hour}", 0))
            for hour in range(24)
            if (asked := item.get(f"asked#{hour}"))
        }
        return cls(**{**numbers, "day": day, "versions": versions, "hours": hours})


def _missed(item: Mapping[str, Any], version: str) -> dict[int, int]:
    start = f"missed#{version}#"
    return {
        int(name.removeprefix(start)): count
        for name, count in item.items()
        if name.startswith(start)
    }
