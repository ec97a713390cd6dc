"""What a process knows of a task for some seconds: its configuration, and who may answer for it."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cachetools import TTLCache

from autotune_platform.apprentice.configuration.models import ApprenticeTask, Configuration
from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.coverage import Coverage
from autotune_platform.apprentice.evidence import Evidence, Rules, UnusableEvidenceError
from autotune_platform.apprentice.examples.items import counts_key
from autotune_platform.apprentice.folding.items import EVIDENCE, VERSION
from autotune_platform.apprentice.folding.models import StoredEvidence
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.folding.settings import (
    canary_of,
    examples_needed,
    gate_of,
    rules_of,
    sampling_of,
    window_of,
)
from autotune_platform.apprentice.folding.versions import attempts, versions_in, with_evidence
from autotune_platform.apprentice.local.contract import ServedModel
from autotune_platform.apprentice.phases import Derived, Version, derive, kept
from autotune_platform.apprentice.sampling import SamplingRate, sampling_rate
from autotune_platform.apprentice.versions.models import ModelVersion
from autotune_platform.apprentice.window import WindowFigures, figures
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.runtime.parts import part
from autotune_platform.storage.item_format import Item

KNOWN_SECONDS = 30
"""For how long what was read of a task is used without reading it again."""

KNOWN_TASKS = 64
"""How many a process remembers: the largest configuration takes over a megabyte."""


@dataclass(frozen=True)
class VersionStanding:
    """A version as it stands.

    Attributes:
        known: what was registered.
        rules: by what it is judged.
        version: with its evidence, as phases are derived from it.
        window: figures of its last pairs; all None where it has none.
        rate: the share of its inputs that is also put to the paid model.
        coverage: how many inputs it is sure of; None where it has no gate.
        is_refolded: whether its evidence is of the present rules. Until it is folded by them, which
            takes seconds, the version counts as one without evidence.
    """

    known: ModelVersion
    rules: Rules
    version: Version
    window: WindowFigures
    rate: SamplingRate
    coverage: Coverage | None = None
    is_refolded: bool = True


@dataclass(frozen=True)
class Standing:
    """A task as it stands.

    Attributes:
        task: its name, id and key.
        configuration: the present one.
        derived: its phase, and which versions are asked.
        examples: how many there are of the present definition.
        versions: those of the present definition, by number.
        rates: the share of inputs that is checked, by version.
        served: where versions are served, by number.
    """

    task: ApprenticeTask
    configuration: Configuration
    derived: Derived
    examples: int = 0
    versions: Mapping[int, VersionStanding] = field(default_factory=dict)

    @property
    def document(self) -> Mapping[str, Any]:
        """The configuration as it is on the wire, with all defaults."""
        return self.configuration.document

    @property
    def rates(self) -> Mapping[int, SamplingRate]:
        """The share of inputs that is checked, by version."""
        return {number: one.rate for number, one in self.versions.items()}

    @property
    def served(self) -> Mapping[int, ServedModel]:
        """Where versions are served, by number."""
        return {number: one.known.served for number, one in self.versions.items()}

    @property
    def canary_share(self) -> float:
        """The share of inputs that the version in its canary answers; 0 without one."""
        number = self.derived.canary
        if number is None:
            return 0.0
        return canary_of(self.document).of(self.versions[number].version.evidence.canary)

    def may_answer(self, version: int | None) -> bool:
        """Return whether a version of this definition has graduated, and no alarm came since.

        One whose pairs are being folded anew has no evidence meanwhile.
        """
        known = None if version is None else self.versions.get(version)
        return known is not None and known.version.stage.has_graduated

    def rate(self, version: int | None) -> float:
        """Return the share of a version's inputs that is checked; 1 where nothing says less."""
        known = None if version is None else self.versions.get(version)
        return 1.0 if known is None else known.rate.rate


def standing_of(
    task: ApprenticeTask, configuration: Configuration, about: list[Item], now: float
) -> Standing:
    """Return where a task stands.

    Args:
        about: items of its evidence, numbers of examples, and versions.
        now: Unix seconds.
    """
    document = configuration.document
    stored = _stored_in(about)
    read = _read(configuration, about, stored)
    derived, versions = read.derived, read.versions
    standings = {}
    for number, version in versions.items():
        window = _window(stored.get(number), document, now)
        coverage = _coverage(stored.get(number), read.own[number], document)
        rate = sampling_rate(
            window,
            sampling_of(document),
            coaching=read.rules[number].coaching,
            alpha=read.rules[number].alpha,
            is_serving=derived.serving == number,
            alarm_level=version.evidence.alarm_level,
            false_alarm_pairs=read.rules[number].false_alarm_pairs,
            is_settling=coverage is not None and coverage.is_settling,
        )
        standings[number] = VersionStanding(
            read.own[number],
            read.rules[number],
            version,
            window,
            rate,
            coverage,
            is_refolded=number in read.refolded,
        )
    return Standing(task, configuration, derived, read.examples, standings)


def kept_versions(configuration: Configuration, about: Sequence[Item]) -> frozenset[int]:
    """Return the versions that runs ask, and the one that would serve next; see ``phases.kept``.

    Args:
        configuration: a task's present one.
        about: as for ``standing_of``.
    """
    read = _read(configuration, about, _stored_in(about))
    return kept(read.derived, read.versions.values())


class _Read(NamedTuple):
    """What follows from items about a task.

    Attributes:
        own: versions of the present definition, by number, as the two below.
        refolded: those whose evidence is of the present rules.
    """

    own: Mapping[int, ModelVersion]
    rules: Mapping[int, Rules]
    versions: Mapping[int, Version]
    refolded: frozenset[int]
    examples: int
    derived: Derived


def _stored_in(about: Iterable[Item]) -> Mapping[int, StoredEvidence]:
    return {
        item["version"]: StoredEvidence.model_validate(item)
        for item in about
        if item["sk"].startswith(EVIDENCE)
    }


def _read(
    configuration: Configuration, about: Sequence[Item], stored: Mapping[int, StoredEvidence]
) -> _Read:
    document, definition_hash = configuration.document, configuration.definition_hash
    known = versions_in([item for item in about if item["sk"].startswith(VERSION)])
    examples = next(
        (item["examples"] for item in about if item["sk"] == counts_key(definition_hash)), 0
    )
    places = attempts(known.values())
    own = {n: one for n, one in known.items() if one.definition_hash == definition_hash}
    rules = {
        number: rules_of(document, attempt=places[number], needs_gate=one.needs_gate)
        for number, one in own.items()
    }
    read = {number: _evidence(stored.get(number), rules[number]) for number in own}
    versions = {number: with_evidence(one, read[number][0]) for number, one in own.items()}
    derived = derive(
        examples=examples, needed=examples_needed(document), versions=list(versions.values())
    )
    refolded = frozenset(number for number, (_, is_refolded) in read.items() if is_refolded)
    return _Read(own, rules, versions, refolded, examples, derived)


def _evidence(stored: StoredEvidence | None, rules: Rules) -> tuple[Evidence, bool]:
    """Return a version's evidence, and whether it is of these rules.

    What was folded by other ones says nothing by these. To fold all pairs here would hold up
    whoever asks: the stream's consumer does it, and until then nobody is answered by this version.
    """
    if stored is None:
        return Evidence(), True
    try:
        return stored.evidence(rules), True
    except UnusableEvidenceError:
        return Evidence(), False


def _coverage(
    stored: StoredEvidence | None, version: ModelVersion, document: Mapping[str, Any]
) -> Coverage | None:
    gate = gate_of(document, version)
    if stored is None:
        return None if gate is None else Coverage(gate.least_coverage)
    return stored.coverage_behind(gate)


def _window(
    stored: StoredEvidence | None, document: Mapping[str, Any], now: float
) -> WindowFigures:
    return figures([], now, window_of(document)) if stored is None else stored.figures(now)


def _cache() -> "TTLCache[tuple[str, str], Standing]":
    return TTLCache(KNOWN_TASKS, KNOWN_SECONDS)


def _documents() -> "TTLCache[tuple[str, int], Configuration]":
    return TTLCache(KNOWN_TASKS, 3_600)


@part
class Standings:
    """Reads tasks, each at most once in 30 seconds; a name that is no task's is not remembered.

    Reading one again is two calls of AWS: its item, and one query of what is known of its versions.
    """

    tasks: TaskRepository
    evidence: EvidenceRepository
    clock: Clock = SYSTEM_CLOCK
    known: "TTLCache[tuple[str, str], Standing]" = field(default_factory=_cache)
    configurations: "TTLCache[tuple[str, int], Configuration]" = field(default_factory=_documents)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, organization_id: str, name: str) -> Standing:
        """Return where a task stands, as it was up to 30 seconds ago.

        Raises:
            NotFoundError: there is none.
        """
        key = (organization_id, name)
        with self.lock:
            known = self.known.get(key)
        if known is None:
            known = self.read(organization_id, name)
            with self.lock:
                self.known[key] = known
        return known

    def read(self, organization_id: str, name: str) -> Standing:
        """Return where a task stands now.

        Raises:
            NotFoundError: there is none.
        """
        task = self.tasks.find(organization_id, name)
        if task is None or task.state == "deleting":
            raise NotFoundError(f"no task {name}")
        configuration = self._configuration(task)
        about = self.evidence.about(task.id)
        return standing_of(task, configuration, about, self.clock.unix())

    def _configuration(self, task: ApprenticeTask) -> Configuration:
        """Return a task's present configuration, which never changes: it is remembered."""
        key = (task.id, task.version)
        with self.lock:
            known = self.configurations.get(key)
        if known is None:
            known = self.tasks.configuration(task.id, task.version)
            if known is None:
                raise NotFoundError(f"no task {task.name}")
            with self.lock:
                self.configurations[key] = known
        return known
