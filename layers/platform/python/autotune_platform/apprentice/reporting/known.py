"""What is known of a task under its present definition, as a report needs it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from autotune_platform.apprentice.configuration.models import ConfiguredTask
from autotune_platform.apprentice.evidence import Evidence, Rules, UnusableEvidenceError
from autotune_platform.apprentice.folding.advancing import rebuilt
from autotune_platform.apprentice.folding.items import (
    EVIDENCE,
    EXAMPLES_COUNTED,
    VERSION,
    examples_key,
)
from autotune_platform.apprentice.folding.models import StoredEvidence, window_json
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.folding.settings import (
    examples_needed,
    rules_of,
    sampling_of,
    window_of,
)
from autotune_platform.apprentice.folding.versions import KnownVersion, attempts, known_versions
from autotune_platform.apprentice.phases import Derived, Stage, Version, derive
from autotune_platform.apprentice.sampling import SamplingRate, sampling_rate
from autotune_platform.apprentice.savings import Costs
from autotune_platform.apprentice.window import WindowFigures, figures
from autotune_platform.storage.item_format import Item


class VersionFigures(NamedTuple):
    """A version with what its pairs say of it.

    Attributes:
        scores: how often each score came since the last alarm, by its thousandths.
    """

    known: KnownVersion
    rules: Rules
    evidence: Evidence
    scores: Mapping[int, int]
    window: WindowFigures

    @property
    def version(self) -> Version:
        """It as phases are derived from it."""
        return self.known.with_evidence(self.evidence)

    @property
    def stage(self) -> Stage:
        """Where it is in its life."""
        return self.version.stage

    @property
    def level(self) -> float:
        """What U has to reach."""
        return self.rules.level(self.evidence.alarms)


@dataclass(frozen=True)
class KnownTask:
    """A task with its versions under the present definition, by number, the latest first.

    Attributes:
        examples: the paid model's answers, with what they cost.
    """

    configured: ConfiguredTask
    versions: Mapping[int, VersionFigures]
    examples: Costs

    @property
    def document(self) -> Mapping[str, Any]:
        """The configuration as it was put, with all defaults."""
        document: Mapping[str, Any] = self.configured.configuration.document
        return document

    @property
    def examples_needed(self) -> int:
        """How many there have to be before any version is asked."""
        return examples_needed(self.document)

    @property
    def derived(self) -> Derived:
        """The phase, and which versions are asked."""
        return derive(
            examples=self.examples.count,
            needed=self.examples_needed,
            versions=[one.version for one in self.versions.values()],
        )

    def sampling(self, one: VersionFigures) -> SamplingRate:
        """Return which share of a version's answers is checked, and why."""
        return sampling_rate(
            one.window,
            sampling_of(self.document),
            coaching=one.rules.coaching,
            alpha=one.rules.alpha,
            is_serving=one.known.number == self.derived.serving,
            alarm_level=one.evidence.alarm_level,
            false_alarm_pairs=one.rules.false_alarm_pairs,
        )


def known_task(
    configured: ConfiguredTask, items: Sequence[Item], repository: EvidenceRepository, now: float
) -> KnownTask:
    """Return what is known of a task.

    Args:
        items: its evidence, examples and versions (``EvidenceRepository.about``).
        repository: where pairs are read of a version whose evidence is of other rules.
        now: Unix seconds.
    """
    own = configured.task.definition_hash
    versions = known_versions([item for item in items if item["sk"].startswith(VERSION)])
    tried = attempts(versions.values())
    stored = {one.version: one for one in _evidence(items)}
    found = (
        _figures(
            one,
            stored.get(one.number),
            rules_of(configured.configuration.document, attempt=tried[one.number]),
            configured,
            repository,
            now,
        )
        for one in sorted(versions.values(), key=lambda one: -one.number)
        if one.definition_hash == own
    )
    return KnownTask(configured, {one.known.number: one for one in found}, _examples(items, own))


def _evidence(items: Iterable[Item]) -> Iterator[StoredEvidence]:
    for item in items:
        if item["sk"].startswith(EVIDENCE):
            yield StoredEvidence.model_validate(item)


def _examples(items: Iterable[Item], definition_hash: str) -> Costs:
    key = examples_key(definition_hash)
    item = next((one for one in items if one["sk"] == key), {})
    return Costs(item.get(EXAMPLES_COUNTED, 0), item.get("cost", 0), item.get("squares", 0))


def _figures(
    known: KnownVersion,
    stored: StoredEvidence | None,
    rules: Rules,
    configured: ConfiguredTask,
    repository: EvidenceRepository,
    now: float,
) -> VersionFigures:
    window = window_of(configured.configuration.document)
    if stored is None:
        return VersionFigures(known, rules, Evidence(), {}, figures([], now, window))
    try:
        evidence = stored.evidence(rules)
    except UnusableEvidenceError:
        # Rules were changed a moment ago, and whoever folds has not come to it yet.
        pairs = repository.pairs(configured.task.id, known.number)
        advance = rebuilt(pairs, rules, window)
        fresh = stored.model_copy(
            update={"window": window_json(figures(advance.tail, now, window))}
        )
        return VersionFigures(known, rules, advance.evidence, advance.scores, fresh.figures(now))
    return VersionFigures(known, rules, evidence, stored.score_counts, stored.figures(now))
