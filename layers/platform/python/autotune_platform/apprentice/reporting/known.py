"""What is known of a task under its present definition, as a report needs it.

It is what runs go by, with what only reports read besides.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from autotune_platform.apprentice.canary import Shares
from autotune_platform.apprentice.configuration.models import ConfiguredTask
from autotune_platform.apprentice.evidence import Evidence, Rules
from autotune_platform.apprentice.examples.items import counts_key
from autotune_platform.apprentice.folding.items import EVIDENCE, PAID_COUNTED
from autotune_platform.apprentice.folding.models import StoredEvidence
from autotune_platform.apprentice.folding.settings import canary_of, examples_needed
from autotune_platform.apprentice.phases import Derived, Stage
from autotune_platform.apprentice.sampling import SamplingRate
from autotune_platform.apprentice.savings import Costs
from autotune_platform.apprentice.standing import VersionStanding, standing_of
from autotune_platform.apprentice.window import WindowFigures
from autotune_platform.storage.item_format import Item


class VersionFigures(NamedTuple):
    """A version with what its pairs say of it.

    Attributes:
        known: what runs go by.
        scores: how often each score came since the last alarm, by its thousandths.
    """

    known: VersionStanding
    scores: Mapping[int, int]

    @property
    def number(self) -> int:
        """Later versions have higher ones."""
        return self.known.known.number

    @property
    def rules(self) -> Rules:
        """By what it is judged."""
        return self.known.rules

    @property
    def evidence(self) -> Evidence:
        """What its pairs say."""
        return self.known.version.evidence

    @property
    def window(self) -> WindowFigures:
        """Figures of its last pairs."""
        return self.known.window

    @property
    def sampling(self) -> SamplingRate:
        """Which share of its answers is checked, and why."""
        return self.known.rate

    @property
    def stage(self) -> Stage:
        """Where it is in its life."""
        return self.known.version.stage

    @property
    def level(self) -> float:
        """What U has to reach."""
        return self.rules.level(self.evidence.alarms)


@dataclass(frozen=True)
class KnownTask:
    """A task with its versions under the present definition.

    Attributes:
        derived: the phase, and which versions are asked.
        versions: by number, the latest first.
        examples: of the present definition.
        paid: the paid model's answers, with what they cost.
    """

    configured: ConfiguredTask
    derived: Derived
    versions: Mapping[int, VersionFigures]
    examples: int
    paid: Costs

    @property
    def document(self) -> Mapping[str, Any]:
        """The configuration as it was put, with all defaults."""
        document: Mapping[str, Any] = self.configured.configuration.document
        return document

    @property
    def canaries(self) -> Shares:
        """What its canaries are."""
        return canary_of(self.document)

    @property
    def latest_emergency(self) -> int:
        """The latest version that raised an emergency; 0 where none did."""
        raised = (n for n, one in self.versions.items() if one.evidence.emergency_at is not None)
        return max(raised, default=0)

    @property
    def examples_needed(self) -> int:
        """How many there have to be before any version is asked."""
        return examples_needed(self.document)


def known_task(configured: ConfiguredTask, about: list[Item], now: float) -> KnownTask:
    """Return what is known of a task.

    Pairs that were not folded by its present rules yet say nothing, here as for runs.

    Args:
        about: items of its evidence, examples and versions (``EvidenceRepository.about``).
        now: Unix seconds.
    """
    task = configured.task
    standing = standing_of(task, configured.configuration, about, now)
    scores = {
        item["version"]: StoredEvidence.model_validate(item).score_counts
        for item in about
        if item["sk"].startswith(EVIDENCE)
    }
    versions = {
        number: VersionFigures(one, scores.get(number, {}) if one.is_refolded else {})
        for number, one in sorted(standing.versions.items(), reverse=True)
    }
    paid = _paid(about, task.definition_hash)
    return KnownTask(configured, standing.derived, versions, standing.examples, paid)


def _paid(about: Iterable[Item], definition_hash: str) -> Costs:
    key = counts_key(definition_hash)
    item = next((one for one in about if one["sk"] == key), {})
    return Costs(item.get(PAID_COUNTED, 0), item.get("cost", 0), item.get("squares", 0))
