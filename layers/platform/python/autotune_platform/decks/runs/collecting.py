"""What rows that have ended say, stored as results, and counted in the write that pays for them.

A result is stored first, then the chunk and the run in one transaction, and at last the row's texts
are erased. Whoever is killed in between is followed by a step that reads the same and finds its own
results: a judgement is counted once, whatever happens.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autotune.protocol.deck_results import DeckResultStatus
from autotune.protocol.ids import derived_id
from autotune.protocol.limits import MAX_LLM_ATTEMPTS, MAX_REASONING_CHARACTERS
from autotune_platform.decks.result_models import GraderResult, ResultWords
from autotune_platform.decks.results import Place, ResultRepository
from autotune_platform.decks.runs.asking import Asking, Planned, RunAsking, Unaskable, Wanted
from autotune_platform.decks.runs.guarding import RunGuard, as_read
from autotune_platform.decks.runs.models import Asked, Chunk, Counts, Run
from autotune_platform.decks.runs.repository import RunRepository, packed_rows
from autotune_platform.decks.sample_repository import SampleRepository
from autotune_platform.judging.rubric.levels import LevelReading, read_levels
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.ordering import Ordered, RowOrders
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.storage.transactions import Write

MOST_ASKS = 3
"""How often a sample is asked about at most: once, a second time where the answer cannot be read,
and once more where an answer that was paid for never came."""

_WRITERS = 8
# Of such an attempt the bound is charged, because it may have been made: no second one is paid by
# what was set aside for the first.
_NEVER_CAME = frozenset(
    {"outcome_unclear", "provider_error", "result_malformed", "result_missing", "batch_expired"}
)


@dataclass(frozen=True)
class Draft:
    """How a judgement ends, before it is stored."""

    wanted: Wanted
    status: DeckResultStatus
    cost: int
    reading: LevelReading | None = None
    request_id: str | None = None

    @classmethod
    def of(cls, unaskable: Unaskable) -> "Draft":
        """Return the end of a judgement that cannot be made."""
        reading = None
        if unaskable.reason is not None:
            status = unaskable.status
            assert status != "canceled", "what has a reason has a result"
            reading = LevelReading(status="failed", reason=unaskable.reason)
        return cls(unaskable.wanted, unaskable.status, unaskable.wanted.paid, reading)

    @classmethod
    def of_killer(cls, wanted: Wanted, row: Row | None = None) -> "Draft":
        """Return the end of a judgement at which steps are killed: nothing of it is read."""
        reading = LevelReading(status="failed", reason="step_killed")
        cost = wanted.paid + (0 if row is None else row.cost_nano_usd)
        return cls(wanted, "failed", cost, reading, None if row is None else row.id)


@dataclass(frozen=True)
class Collected:
    """A run and a chunk of it, as they are once what has ended is stored."""

    run: Run
    chunk: Chunk


@part
class RunCollecting:
    """Stores what has come of judgements."""

    repository: RunRepository
    results: ResultRepository
    samples: SampleRepository
    asking: RunAsking
    orders: RowOrders
    guard: RunGuard
    clock: Clock = SYSTEM_CLOCK

    def collect(
        self,
        asking: Asking,
        run: Run,
        chunk: Chunk,
        *,
        again: bool,
        rows: Sequence[Asked] | None = None,
    ) -> Collected | None:
        """Store what has ended of a chunk; return the run and the chunk after that.

        Args:
            again: whether what cannot be read may be asked a second time.
            rows: those that are looked at, which were noted; all without it.

        Returns:
            None where the run or the chunk is not any more as it was read.

        Raises:
            ChangedError: the same, of rows that were noted.
        """
        looked_at = chunk.left if rows is None else rows
        killers = [one.row_id for one in looked_at if run.is_killer(one.row_id)]
        found = self.orders.look([one.row_id for one in looked_at if one.row_id not in killers])
        if killers:
            # Nothing of these is read.
            last = self.orders.last(killers)
            found |= {id_: Ordered(row, None, None, (row.id,)) for id_, row in last.items()}
        ended = [one for one in looked_at if _has_ended(found.get(one.row_id))]
        if not ended:
            return Collected(run, chunk)
        killed_at = [one.row_id for one in ended if one.row_id in killers]
        paid = sum(_cost(found.get(one.row_id)) for one in ended)
        freed = sum(one.most for one in ended)
        after = run.model_copy(
            update={
                "spent": run.spent + paid,
                "reserved": run.reserved - freed,
                "lost": 0,
                "progressed_at": self.clock.now(),
                "killers": run.killers + len(killed_at),
                **as_read(run, *(one.row_id for one in ended)),
            }
        )
        is_given_up = run.given_up_at is not None and not run.ends_early
        drafts = {
            one.row_id: _killed(one, found.get(one.row_id))
            if one.row_id in killed_at
            else self.draft(one, found.get(one.row_id), is_given_up=is_given_up)
            for one in ended
        }
        planned = self._once_more(asking, after, ended, found, drafts) if again else []
        made = self.made(run, list(drafts.values()))
        if rows is not None and not killers:
            run = self.guard.release(run)
        counts = self.store(run, made, after.counts)
        writes: list[Write] = []
        if planned:
            new = new_chunk(after, planned, self.clock)
            writes.append(self.repository.added(run, new))
            after = after.model_copy(
                update={"chunks": new.number, "reserved": after.reserved + new.reserved}
            )
        left = [one for one in chunk.left if one not in ended]
        erasing = [*chunk.erasing, *(one.row_id for one in ended)]
        rest = chunk.model_copy(
            update={"left": left, "erasing": erasing, "revision": chunk.revision + 1}
        )
        writes.append(self.repository.changed(run, chunk, rest))
        after = after.model_copy(update={"counts": counts, "revision": run.revision + 1})
        if not self.repository.change(run, after, writes):
            return None
        return Collected(after, self.erase(after, rest))

    def draft(self, asked: Asked, ordered: Ordered | None, *, is_given_up: bool) -> Draft:
        """Return how a judgement ends whose row has ended."""
        return _draft(asked, ordered, is_given_up=is_given_up)

    def made(self, run: Run, drafts: list[Draft]) -> list[Draft]:  # noqa: ARG002 - others need it
        """Return drafts with all that storing them would have to read or make of texts.

        What is at hand is noted until then, and may kill: :meth:`store` reads no text.
        """
        return drafts

    def erase(self, run: Run, chunk: Chunk) -> Chunk:
        """Delete the texts of rows whose results are stored, and note that they are gone."""
        self.orders.erase(chunk.erasing)
        erased = chunk.model_copy(update={"erasing": (), "revision": chunk.revision + 1})
        self.repository.change_chunk(run, chunk, erased)
        return erased

    def store(self, run: Run, drafts: Sequence[Draft], counts: Counts) -> Counts:
        """Store results; return counts with them, as they stand then.

        Of a sample that was deleted nothing is stored.
        """
        headers = self.samples.headers(run.deck_id, {one.wanted.sample_id for one in drafts})
        kept: list[tuple[GraderResult, ResultWords]] = []
        beside = self._beside_first(run, drafts)
        for one in drafts:
            header = headers.get(one.wanted.sample_id)
            if header is None or one.reading is None:
                counts = counts.plus("canceled")
                continue
            judged = run.graders[one.wanted.grader]
            place = (judged.grader_id, judged.version, header.id)
            is_repeated = run.repeat or place in beside
            result = GraderResult(
                id=_result_id(run, place, is_repeated=is_repeated),
                organization_id=run.organization_id,
                deck_id=run.deck_id,
                grader_id=judged.grader_id,
                version=judged.version,
                sample_id=header.id,
                split=header.split,
                group_key=header.group_key,
                status=one.status,
                score=one.reading.level,
                reason=one.reading.reason,
                answered_model=one.reading.answered_model,
                request_id=one.request_id,
                run_id=run.id,
                cost_nano_usd=one.cost,
                repeated=is_repeated,
                created_at=self.clock.now(),
            )
            kept.append((result, _words(one.reading)))
        stand = self._stored(kept)
        # A sample that was deleted meanwhile, and what was said of it with it, takes this along.
        there = self.samples.headers(run.deck_id, {one.sample_id for one in stand})
        for sample_id in {one.sample_id for one in stand} - there.keys():
            self.results.delete_of_sample(sample_id)
        gone = sum(one.sample_id not in there for one in stand)
        counts = counts.plus("canceled", gone)
        stand = [one for one in stand if one.sample_id in there]
        for result in stand:
            counts = counts.plus(result.status)
        return self._compared(stand, counts) if run.repeat else counts

    def _beside_first(self, run: Run, drafts: Iterable[Draft]) -> set[Place]:
        """Return the places of judgements that stand beside a first one, of an earlier run."""
        places = [
            (judged.grader_id, judged.version, one.wanted.sample_id)
            for one in drafts
            if (judged := run.graders[one.wanted.grader]).again_by is not None
        ]
        first = self.results.first(places) if places else {}
        return {at for at, one in first.items() if one.is_final and one.run_id != run.id}

    def _stored(self, kept: Sequence[tuple[GraderResult, ResultWords]]) -> list[GraderResult]:
        """Store results unless better ones stand there; return those that stand then."""
        standing = self.results.standing(one for one, _ in kept)
        stand: dict[str, GraderResult] = {}

        def store(one: tuple[GraderResult, ResultWords]) -> None:
            result, words = one
            before = standing.get(result.id)
            while before is None or _gives_way(before, result):
                if self.results.add(result, words, before=before):
                    before = result
                    break
                before = self.results.standing([result]).get(result.id)
            stand[result.id] = before

        in_parallel(store, kept, at_most=_WRITERS)
        return [stand[one.id] for one, _ in kept]

    def _compared(self, second: Iterable[GraderResult], counts: Counts) -> Counts:
        """Return counts with comparisons of second judgements with the first."""
        of_second = {_place(one): one for one in second if one.status == "scored"}
        first = self.results.first(of_second)
        for place, one in of_second.items():
            if place in first:
                counts = counts.plus_repeated(first[place].score, one.score)
        return counts

    def _once_more(
        self,
        asking: Asking,
        run: Run,
        ended: Iterable[Asked],
        found: dict[str, Ordered],
        drafts: dict[str, Draft],
    ) -> list[Planned]:
        """Take what is to be asked for once more out of the drafts, as far as money goes."""
        wanted = {
            one.row_id: more
            for one in ended
            if (more := _more(one, found.get(one.row_id), drafts[one.row_id])) is not None
        }
        planned: list[Planned] = []
        room = run.room
        for row_id, plan in zip(
            wanted, self.asking.plan(asking, run, [*wanted.values()]), strict=True
        ):
            if isinstance(plan, Planned) and plan.asked.most <= room:
                room -= plan.asked.most
                planned.append(plan)
                del drafts[row_id]
        return planned


def new_chunk(run: Run, planned: Sequence[Planned], clock: Clock) -> Chunk:
    """Return the next chunk of a run."""
    return Chunk(
        run_id=run.id,
        number=run.chunks + 1,
        state="reserved",
        left=[one.asked for one in planned],
        rows=packed_rows(one.row for one in planned),
        asked_at=clock.now(),
    )


def _has_ended(ordered: Ordered | None) -> bool:
    # One that is not there was deleted with its organisation.
    return ordered is None or ordered.row.has_ended


def _cost(ordered: Ordered | None) -> int:
    return 0 if ordered is None else ordered.row.cost_nano_usd


def _wanted(asked: Asked) -> Wanted:
    return Wanted(asked.sample_id, asked.grader, asked.ask, asked.fault, asked.paid)


def _killed(asked: Asked, ordered: Ordered | None) -> Draft:
    return Draft.of_killer(_wanted(asked), None if ordered is None else ordered.row)


def _draft(asked: Asked, ordered: Ordered | None, *, is_given_up: bool) -> Draft:
    wanted = _wanted(asked)
    if ordered is None:
        reading = LevelReading(status="failed", reason="platform_error")
        return Draft(wanted, "failed", asked.paid, reading, asked.row_id)
    row = ordered.row
    reading = read_levels(row, ordered.answered)
    if row.status == "canceled" and is_given_up:
        # The run canceled it, and nobody else: its judge did not answer.
        reading = LevelReading(status="failed", reason="model_unavailable")
        return Draft(wanted, "failed", asked.paid + row.cost_nano_usd, reading, row.id)
    status: DeckResultStatus = "canceled" if row.status == "canceled" else reading.status
    return Draft(wanted, status, asked.paid + row.cost_nano_usd, reading, row.id)


def _more(asked: Asked, ordered: Ordered | None, draft: Draft) -> Wanted | None:
    """Return the next question about a sample; None where there is none."""
    if ordered is None or asked.ask >= MOST_ASKS or draft.reading is None:
        return None
    if draft.reading.reason == "step_killed":
        return None
    # Of an answer to the second question there is none: it is not asked a third time.
    fault = None if asked.fault is not None else draft.reading.fault
    if fault is None and not _never_came(ordered.row):
        return None
    return Wanted(
        asked.sample_id, asked.grader, asked.ask + 1, fault or asked.fault, paid=draft.cost
    )


def _never_came(row: Row) -> bool:
    code = row.error.code if row.error else ""
    return (
        row.status == "error"
        and code in _NEVER_CAME
        and row.cost_nano_usd > 0
        and row.attempt < MAX_LLM_ATTEMPTS
    )


def _gives_way(before: GraderResult, result: GraderResult) -> bool:
    """Return whether a result that stands is replaced: never by the same once more."""
    is_same = (before.run_id, before.request_id) == (result.run_id, result.request_id)
    return not before.is_final and not is_same


def _words(reading: LevelReading) -> ResultWords:
    cut = MAX_REASONING_CHARACTERS
    return ResultWords(
        explanation=reading.explanation and reading.explanation[:cut],
        reasoning=reading.reasoning and reading.reasoning[:cut],
    )


def _place(result: GraderResult) -> Place:
    return (result.grader_id, result.version, result.sample_id)


def _result_id(run: Run, place: Place, *, is_repeated: bool) -> str:
    grader_id, version, sample_id = place
    parts = (grader_id, str(version), sample_id, *([run.id] if is_repeated else []))
    return derived_id("res", *parts)
