"""A version's evidence with some more pairs: pure, so that whoever stores it may try again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from autotune_platform.apprentice.agreement import lower_bound, thousandths
from autotune_platform.apprentice.canary import Canary
from autotune_platform.apprentice.coverage import Coverage, CoverageRules
from autotune_platform.apprentice.evidence import Evidence, Rules
from autotune_platform.apprentice.folding.models import StoredEvidence, scores_json, window_json
from autotune_platform.apprentice.pairs import Pair
from autotune_platform.apprentice.window import FEWEST_FRESH, WindowSettings, figures

AlarmKind = Literal["alarm", "emergency"]


@dataclass(frozen=True)
class Raised:
    """An alarm, or an emergency, and the pair that raised it."""

    kind: AlarmKind
    pair: Pair


@dataclass(frozen=True)
class Fallen:
    """An alarm of coverage: a version is sure of fewer inputs than it was.

    Attributes:
        sequence: the version's last pair before.
        at: when, Unix seconds.
        share: the share of inputs of which it was sure.
        least: the share that was watched.
    """

    sequence: int
    at: float
    share: float
    least: float


MoveKind = Literal["began", "advanced", "rolled_back"]


@dataclass(frozen=True)
class Moved:
    """What a pair did to the canary of a version.

    Attributes:
        kind: ``rolled_back`` by an alarm or an emergency.
        graduated_at: the pair by which the version had graduated.
        canary: as it is then; of one that was rolled back, as it was.
    """

    kind: MoveKind
    graduated_at: int
    canary: Canary
    sequence: int
    at: float


@dataclass
class Advance:
    """Folds pairs one after the other, and notes what they raise.

    Attributes:
        evidence: after the pairs so far.
        tail: the last pairs that count, of which the window has a say.
        scores: how often each score came since the last alarm, by its thousandths.
        coverage: how many inputs the version is sure of; None where nobody watches that.
        raised: alarms of a version that had graduated, and emergencies.
        fallen: alarms of coverage of a version that had graduated.
        moved: what became of its canary, or would if it were in one.
    """

    rules: Rules
    window: WindowSettings
    evidence: Evidence = field(default_factory=Evidence)
    tail: list[Pair] = field(default_factory=list)
    scores: dict[int, int] = field(default_factory=dict)
    coverage: Coverage | None = None
    raised: list[Raised] = field(default_factory=list)
    fallen: list[Fallen] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)

    def add(self, pair: Pair) -> None:
        """Fold one more pair.

        A version in shadow that is not good enough raises one alarm after the other: these take
        nothing from anybody, and are not noted.
        """
        before = self.evidence
        self.evidence = before.fold(pair, self.rules)
        if pair.counts(is_gated=self.rules.is_gated):
            self.tail.append(pair)
            self._count(before, pair)
        if self.evidence.alarmed_at != before.alarmed_at and before.graduated_at is not None:
            self.raised.append(Raised("alarm", pair))
        if self.evidence.emergency_at != before.emergency_at:
            self.raised.append(Raised("emergency", pair))
        self._move(before, pair)

    def _move(self, before: Evidence, pair: Pair) -> None:
        after = self.evidence
        has_emergency = after.emergency_at != before.emergency_at
        kind: MoveKind
        if before.graduated_at is not None and (after.graduated_at is None or has_emergency):
            kind, of = "rolled_back", before
        elif after.graduated_at != before.graduated_at:
            kind, of = "began", after
        elif after.canary.steps > before.canary.steps:
            kind, of = "advanced", after
        else:
            return
        assert of.graduated_at is not None, "it has graduated, or had"
        self.moved.append(Moved(kind, of.graduated_at, of.canary, pair.sequence, pair.at))

    def see(self, *, is_sure: bool, at: float, rules: CoverageRules) -> None:
        """Count one more input that the version was asked, and was sure of or not."""
        if self.coverage is None:
            return
        before, evidence = self.coverage, self.evidence
        self.coverage = before.fold(is_sure=is_sure, pairs=evidence.pairs, at=at, rules=rules)
        if self.coverage.alarms != before.alarms and evidence.graduated_at is not None:
            share = (before.sure + is_sure) / (before.inputs + 1)
            self.fallen.append(Fallen(evidence.sequence, at, share, before.least))

    def _count(self, before: Evidence, pair: Pair) -> None:
        """Count a score where the evidence has it, too."""
        if self.evidence.alarmed_at != before.alarmed_at:
            self.scores = {}
        elif before.emergency_at is None:
            part = thousandths(pair.score)
            self.scores[part] = self.scores.get(part, 0) + 1

    @property
    def bound(self) -> float:
        """What the version's mean agreement is above, however often one looks."""
        return lower_bound(self.scores, self.rules.level(self.evidence.alarms))

    def trim(self) -> None:
        """Forget pairs that have no say in the window any more."""
        del self.tail[: -self.window.pairs_needed]


def rebuilt(pairs: Iterable[Pair], rules: Rules, window: WindowSettings) -> Advance:
    """Return what all pairs of a version come to, in the order of their sequence."""
    advance = Advance(rules, window)
    for pair in pairs:
        advance.add(pair)
        if len(advance.tail) > 2 * window.pairs_needed:
            advance.trim()
    advance.trim()
    return advance


def written(
    before: StoredEvidence, advance: Advance, *, configuration_version: int
) -> StoredEvidence:
    """Return what is to be stored of a version: its figures follow from its pairs alone.

    The window is that of the time of its latest pair.
    """
    tail = advance.tail[-advance.window.pairs_needed :]
    latest = max((pair.at for pair in tail), default=0.0)
    shown = figures(tail, latest, advance.window)
    return before.model_copy(
        update={
            "configuration_version": configuration_version,
            "sequence": advance.evidence.sequence,
            "revision": before.revision + 1,
            "state": advance.evidence.to_json(advance.rules),
            "window": window_json(shown),
            "scores": scores_json(advance.scores),
            "coverage": (
                before.coverage if advance.coverage is None else advance.coverage.to_json()
            ),
            "stale_at": stale_at(tail, advance.window),
        }
    )


def stale_at(tail: Sequence[Pair], window: WindowSettings) -> float:
    """Return until when twenty pairs are young enough, Unix seconds; 0 where there are fewer."""
    youngest = sorted((pair.at for pair in tail), reverse=True)[:FEWEST_FRESH]
    return youngest[-1] + window.max_age_seconds if len(youngest) == FEWEST_FRESH else 0.0
