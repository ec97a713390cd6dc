"""Counts runs, and folds what they show into evidence: each once, in one transaction.

The transaction has the entry of each run in the list of its day, the counts of the day, the pairs
at their places, the evidence of their versions, examples with their number, and what is to be
published. An entry says what was counted of its run; evidence has a revision. Both are required to
be as they were read. So records of the stream that come twice, late or out of order change nothing
twice, and whoever is killed leaves all of it to be done, or nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from autotune_platform.apprentice.examples.models import Example, Selection, example_of
from autotune_platform.apprentice.examples.repository import ExampleRepository
from autotune_platform.apprentice.folding.advancing import Advance
from autotune_platform.apprentice.folding.caching import EvidenceCache
from autotune_platform.apprentice.folding.known_tasks import KnownTask, KnownTasks
from autotune_platform.apprentice.folding.models import StoredEvidence
from autotune_platform.apprentice.folding.refolds import RefoldRepository
from autotune_platform.apprentice.folding.repository import SWEPT_AFTER, EvidenceRepository
from autotune_platform.apprentice.folding.tails import Tails
from autotune_platform.apprentice.folding.tallies import (
    CHECKS_ENDED,
    Counted,
    additional_cost,
    counted_of,
    entry_of,
    is_new_example,
    new_pairs,
    of_run,
    sightings,
)
from autotune_platform.apprentice.pairs import Pair
from autotune_platform.apprentice.routing import Remote
from autotune_platform.apprentice.runs.models import Run, RunPair
from autotune_platform.apprentice.savings import Costs
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.counting import MAX_ADDITIONS, Addition, Check
from autotune_platform.storage.item_format import Item

_ATTEMPTS = 12
MOST_WRITES = 80
"""Of a transaction's hundred, without what happens to versions, of which each takes two.

That seldom takes more than is left; if it does, fewer runs are counted at once.
A run with a pair that is an example takes three.
"""

MOST_VERSIONS = 4
"""Of a transaction: an expression has 4 KB, and a day's counts one number a version's field."""


@part
class RunFolding:
    """Counts runs and folds their pairs."""

    repository: EvidenceRepository
    examples: ExampleRepository
    tasks: KnownTasks
    tails: Tails
    cache: EvidenceCache
    refolds: RefoldRepository
    clock: Clock = SYSTEM_CLOCK

    def count(self, runs: Iterable[Run]) -> None:
        """Count runs as far as they have come; what was counted before changes nothing.

        Those of a task that fails keep none of another task from being counted.

        Raises:
            UnavailableError: others kept writing the same items. Count all of them again.
        """
        failed: Exception | None = None
        by_task: dict[tuple[str, str, str], list[Run]] = defaultdict(list)
        for run in _furthest(runs):
            by_task[run.organization_id, run.task_name, run.task_id].append(run)
        for (organization_id, name, task_id), own in by_task.items():
            try:
                for some in _portions(own):
                    self._count(organization_id, name, task_id, some)
            except Exception as error:  # noqa: BLE001 - it is raised once all others are counted
                failed = failed or error
        if failed is not None:
            raise failed

    def _count(self, organization_id: str, name: str, task_id: str, runs: Sequence[Run]) -> None:
        wanted = {version for run in runs for version in _versions(run)}
        examples = {run.id: example_of(run) for run in runs if run.remote is Remote.ANSWERED}
        for _ in BUSY.attempts(_ATTEMPTS):
            known = self.tasks.get(organization_id, name, task_id, versions=wanted)
            if known is None:
                # What was stored of it after its deletion, nobody else would ever find.
                self.repository.forget(runs)
                return
            entries = self.repository.entries(runs)
            due = [run for run in runs if _is_news(run, entries.get(run.id, {}))]
            if not due or self._is_counted(known, due, entries, examples):
                return
        raise UnavailableError("others count runs of the same task", retry_after_seconds=1)

    def _is_counted(
        self,
        known: KnownTask,
        runs: Sequence[Run],
        entries: Mapping[str, Item],
        made: Mapping[str, Example],
    ) -> bool:
        """Write all that runs add; return False where something was not as it was read.

        Where that is more than a transaction has room for, it is written of some of them.
        """
        days: dict[str, Counter[str]] = defaultdict(Counter)
        examples: dict[str, Costs] = defaultdict(Costs)
        stored: dict[str, Counter[Selection]] = defaultdict(Counter)
        writes: list[Addition | Check] = [self.repository.kept(known.task)]
        news: list[_News] = []
        for run in runs:
            entry = entries.get(run.id, {})
            counted = counted_of(entry)
            days[run.day] += of_run(run, counted) + _gated(known, run, counted)
            if is_new_example(run, counted):
                examples[run.definition_hash] += Costs.of(run.cost_nano_usd)
                stored[run.definition_hash][made[run.id].selection] += 1
                writes.append(self.examples.addition(made[run.id]))
            writes.append(self.repository.entry(run, before=entry, counted=entry_of(run, counted)))
            news.append(_News(run, new_pairs(run, counted), sightings(run, counted)))
        folded, advances = self._fold(known, news)
        for day, tally in days.items():
            bounds = {
                number: advance.bound
                for number, (_, advance) in advances.items()
                if day == _latest_day(days, number)
            }
            writes.append(self.repository.counts(known.task, day, tally, bounds=bounds))
        for definition_hash, by in examples.items():
            more = stored[definition_hash]
            writes.append(self.repository.examples(known.task, definition_hash, by, more))
        if len(writes) + len(folded) > MAX_ADDITIONS and len(runs) > 1:
            # What happens to versions is known by now alone. The others are news the next time.
            self._is_counted(known, runs[: len(runs) // 2], entries, made)
            return False
        if self.repository.write([*writes, *folded]) is not None:
            return False
        for number, (before, advance) in advances.items():
            through = advance.evidence.sequence
            self.tails.keep(
                known.task.id, number, through=through, pairs=advance.tail, window=advance.window
            )
            if advance.rules != known.rules(number):
                # Whoever follows rules has it folded anew, too, unless that record was lost.
                self.refolds.open(before, due_at=self.clock.now() - SWEPT_AFTER)
        return True

    def _fold(
        self, known: KnownTask, news: Sequence["_News"]
    ) -> tuple[list[Addition | Check], dict[int, tuple[StoredEvidence, Advance]]]:
        """Return what stores the pairs of runs, and the evidence before and after them."""
        versions = {
            version
            for one in news
            for version in (
                *(pair.version for pair in one.pairs if pair.version in known.versions),
                *(version for version, _ in one.seen if known.gate(version) is not None),
            )
        }
        stored = self.repository.find(known.task.id, versions)
        before = {number: stored.get(number) or _nothing(known, number) for number in versions}
        advances = {number: self.cache.advance(known, before[number]) for number in versions}
        writes: list[Addition | Check] = []
        for run, pairs, seen in news:
            at = (run.ended_at or run.created_at).timestamp()
            for version, confidence in seen:
                if version in advances:
                    is_sure = known.versions[version].is_sure(confidence)
                    advances[version].see(is_sure=is_sure, at=at, rules=known.coverage)
            for one in pairs:
                advance = advances.get(one.version)
                if advance is None:
                    continue
                pair = Pair(
                    sequence=advance.evidence.sequence + 1,
                    score=one.score,
                    is_drawn=one.is_drawn,
                    at=at,
                    is_sure=one.is_sure,
                    in_canary=run.in_canary and one.version == run.local_version,
                )
                advance.add(pair)
                writes.append(self.repository.pair(known.task, one.version, pair, run.id))
        for number, advance in advances.items():
            writes += self.cache.writes(known, before[number], advance)
        return writes, {number: (before[number], one) for number, one in advances.items()}


class _News(NamedTuple):
    """What is to be folded of a run: its new pairs, and versions with how sure they were."""

    run: Run
    pairs: Sequence[RunPair]
    seen: Sequence[tuple[int, float | None]]


def _gated(known: KnownTask, run: Run, counted: Counted) -> Counter[str]:
    """Return whether the version that may answer a run was sure of it, behind a gate."""
    tally: Counter[str] = Counter()
    for version, confidence in sightings(run, counted):
        if version == run.local_version and known.gate(version) is not None:
            is_sure = known.versions[version].is_sure(confidence)
            tally["gate_sure" if is_sure else "gate_unsure"] += 1
    return tally


def _versions(run: Run) -> set[int]:
    """Return versions whose evidence a run may add to."""
    asked = ((run.local_version, run.local_confidence), (run.shadow_version, run.shadow_confidence))
    said = {
        version for version, confidence in asked if version is not None and confidence is not None
    }
    return {pair.version for pair in run.pairs} | said


def _latest_day(days: Mapping[str, Counter[str]], version: int) -> str | None:
    """Return the last day with pairs of a version: what is known of it now is of that day."""
    return max((day for day, tally in days.items() if tally[f"pairs#{version}"]), default=None)


def _nothing(known: KnownTask, number: int) -> StoredEvidence:
    return StoredEvidence(
        organization_id=known.task.organization_id,
        task_id=known.task.id,
        task_name=known.task.name,
        version=number,
        definition_hash=known.versions[number].definition_hash,
        configuration_version=known.task.version,
        state="",
        window="",
    )


def _is_news(run: Run, entry: Mapping[str, object]) -> bool:
    """Return whether a run has come further than what was counted of it."""
    counted = counted_of(entry)
    if not counted or (run.has_ended and counted["state"] == "pending"):
        return True
    if additional_cost(run, counted) > counted["additional_cost"]:
        return True
    return run.has_ended and run.check != counted["check"] and counted["check"] in ("none", "due")


def _furthest(runs: Iterable[Run]) -> list[Run]:
    """Return each run once, as far as any record of it has come."""
    found: dict[str, Run] = {}
    for run in runs:
        known = found.get(run.id)
        if known is None or _progress(run) >= _progress(known):
            found[run.id] = run
    return list(found.values())


def _progress(run: Run) -> tuple[bool, bool, int]:
    is_checked = run.has_ended and run.check in CHECKS_ENDED
    return run.has_ended, is_checked, run.additional_cost_nano_usd


def _portions(runs: Sequence[Run]) -> Iterator[list[Run]]:
    """Cut runs so that what each portion writes fits one transaction."""
    some: list[Run] = []
    writes = 0
    shared: set[str | int] = set()
    for run in runs:
        own = 1 + len(run.pairs) + (run.remote is Remote.ANSWERED)
        parts: set[str | int] = {
            run.day,
            run.definition_hash,
            *_versions(run),
        }
        versions = sum(isinstance(one, int) for one in shared | parts)
        is_full = writes + own + len(shared | parts) > MOST_WRITES or versions > MOST_VERSIONS
        if some and is_full:
            yield some
            some, writes, shared = [], 0, set()
        some.append(run)
        writes += own
        shared |= parts
    if some:
        yield some
