"""What is known of a task while its stream comes, kept in memory in place of the product's tables.

Whatever decides is the product's: ``Advance`` folds, ``written`` says what is stored of that,
``of_run`` counts, ``example_of`` says what becomes an example, and ``standing_of`` where the task
stands.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from autotune_platform.apprentice.configuration.items import item_of
from autotune_platform.apprentice.examples.items import counts_key
from autotune_platform.apprentice.examples.models import Example, example_of
from autotune_platform.apprentice.folding.advancing import Advance, written
from autotune_platform.apprentice.folding.items import VERSION, evidence_key
from autotune_platform.apprentice.folding.models import StoredEvidence
from autotune_platform.apprentice.folding.promoting import what_follows
from autotune_platform.apprentice.folding.settings import (
    canary_of,
    coverage_of,
    is_gated,
    rules_of,
    window_of,
)
from autotune_platform.apprentice.folding.tallies import (
    is_new_example,
    new_pairs,
    of_run,
    sightings,
)
from autotune_platform.apprentice.folding.versions import attempts
from autotune_platform.apprentice.pairs import Pair
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.apprentice.standing import Standing, standing_of
from autotune_platform.apprentice.versions.models import ModelVersion
from autotune_platform.runtime.clock import Clock
from benchmarks.apprentice.tasks import BEGAN_AT, Asked


class TurnedClock(Clock):
    """A clock that goes on by itself for nobody."""

    def __init__(self, at: datetime = BEGAN_AT) -> None:
        self._at = at

    def now(self) -> datetime:
        """Return the time of the stream."""
        return self._at

    def monotonic(self) -> float:
        """Return its seconds."""
        return self._at.timestamp()

    def sleep(self, seconds: float) -> None:
        """Go on."""
        self._at += timedelta(seconds=seconds)


class RunsInMemory:
    """Stands for ``RunRepository``, for the run at hand alone."""

    def __init__(self) -> None:
        self._run: Run | None = None

    def get(self, run_id: str) -> Run | None:
        """Return the run."""
        return self._run if self._run is not None and self._run.id == run_id else None

    def add(self, run: Run) -> bool:
        """Store a new run."""
        self._run = run
        return True

    def change(self, before: Run, after: Run) -> bool:
        """Store what became of it."""
        assert self._run is not None
        assert self._run.id == before.id
        self._run = after
        return True

    def writing(self, run: Run, *, before: Run | None) -> Callable[[], None]:
        """Return what stores it."""
        del before

        def write() -> None:
            self._run = run

        return write


class Known:
    """What runs add up to.

    Attributes:
        counts: as those of a day, over all days.
        examples: of the definition, with what was asked and answered, in the order of their ids.
        versions: by number.
        evidence: of versions that have any, as it is stored.
        advances: the same as it is folded.
    """

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, tuple[Example, Run]] = {}
        self.versions: dict[int, ModelVersion] = {}
        self.evidence: dict[int, StoredEvidence] = {}
        self.advances: dict[int, Advance] = {}
        self._coverage = coverage_of(asked.document)

    def count(self, runs: Iterable[Run]) -> None:
        """Count runs that have ended, and fold their pairs, as ``RunFolding`` does."""
        touched: set[int] = set()
        for run in runs:
            self.counts += of_run(run, {})
            if is_new_example(run, {}):
                example = example_of(run)
                self.examples[example.id] = (example, run)
            at = (run.ended_at or run.created_at).timestamp()
            for number, confidence in sightings(run, {}):
                is_sure = self.versions[number].is_sure(confidence)
                self._advance(number).see(is_sure=is_sure, at=at, rules=self._coverage)
                touched.add(number)
            for one in new_pairs(run, {}):
                advance = self._advance(one.version)
                advance.add(
                    Pair(
                        sequence=advance.evidence.sequence + 1,
                        score=one.score,
                        is_drawn=one.is_drawn,
                        at=at,
                        is_sure=one.is_sure,
                        in_canary=run.in_canary and one.version == run.local_version,
                    )
                )
                touched.add(one.version)
        for number in touched:
            self.advances[number].trim()
            self._store(number)

    def standing(self, now: float) -> Standing:
        """Return where the task stands."""
        task = self.asked.task
        about: list[dict[str, Any]] = [
            {"sk": evidence_key(number), **stored.model_dump()}
            for number, stored in self.evidence.items()
        ]
        counted = {"sk": counts_key(task.definition_hash), "examples": len(self.examples)}
        versions = [
            item_of(one, pk=task.id, sk=f"{VERSION}{number:06d}")
            for number, one in self.versions.items()
        ]
        return standing_of(task, self.asked.configuration, [*about, counted, *versions], now)

    def _store(self, number: int) -> None:
        """Store evidence, and what follows from it for the version: a step of its canary."""
        task, advance = self.asked.task, self.advances[number]
        before = self.evidence.get(number) or self._nothing(number)
        stored = written(before, advance, configuration_version=task.version)
        self.evidence[number] = stored
        follows = what_follows(
            task,
            self.versions[number],
            advance.evidence,
            [one for one in advance.moved if one.sequence > before.sequence],
            shares=canary_of(self.asked.document),
            stored=stored,
            at=self.asked.task.created_at,
        )
        self.versions[number] = follows.version

    def _advance(self, number: int) -> Advance:
        known = self.advances.get(number)
        if known is None:
            document: Mapping[str, Any] = self.asked.document
            rules = rules_of(document, attempt=attempts(self.versions.values())[number])
            gate = self.versions[number].gate if is_gated(document) else None
            known = self.advances[number] = Advance(
                rules,
                window_of(document),
                coverage=self._nothing(number).coverage_behind(gate),
            )
        return known

    def _nothing(self, number: int) -> StoredEvidence:
        task = self.asked.task
        return StoredEvidence(
            organization_id=task.organization_id,
            task_id=task.id,
            task_name=task.name,
            version=number,
            definition_hash=task.definition_hash,
            configuration_version=task.version,
            state="",
            window="",
        )
