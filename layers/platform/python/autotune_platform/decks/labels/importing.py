"""Ratings from a file, a line each: what is right is stored, and each other line says why not."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from autotune.protocol.deck_feedback import BulkFeedback, FeedbackLine, ImportedFeedback
from autotune.protocol.deck_samples import RejectedLine
from autotune.protocol.limits import MAX_SAMPLE_RATERS
from autotune_platform.access.models import Caller
from autotune_platform.decks.external_ids import ExternalIds
from autotune_platform.decks.labels.deriving import with_rating
from autotune_platform.decks.labels.drifting import DriftWatch
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.labels.models import Rating, criteria_digest
from autotune_platform.decks.labels.pool import PooledSample, SamplePool
from autotune_platform.decks.labels.rating import first_truth, identity
from autotune_platform.decks.labels.repository import (
    LabelRepository,
    nothing_shown,
    put_rating,
    put_truth,
)
from autotune_platform.decks.models import DeckGrader, GraderVersion
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError, UnavailableError
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.counting import MAX_ADDITIONS
from autotune_platform.storage.transactions import Write

_ATTEMPTS = 4
_SAMPLES_AT_ONCE = 100

Numbered = tuple[int, ImportedFeedback]
"""A line and what it says."""
NumberedLine = tuple[int, FeedbackLine]
"""The same, of a sample that may be named by its external id."""


@dataclass
class _Sorted:
    """What came of the lines so far."""

    accepted: int = 0
    repeated: int = 0
    not_blind: int = 0
    chosen: int = 0
    rejected: list[RejectedLine] = field(default_factory=list)

    def reject(self, line: int, name: str, expected: str) -> None:
        self.rejected.append(RejectedLine(line=line, field=name, expected=expected))


@dataclass(frozen=True)
class _OfSample:
    """The lines about one sample."""

    sample: PooledSample
    lines: Sequence[Numbered]


@dataclass
class _Prepared:
    """Writes for the lines of one sample, and what comes of them once they are done."""

    of: _OfSample
    writes: list[Write]
    done: _Sorted


@part
class RatingImport:
    """Stores ratings of many samples by many people, those of one sample together.

    A rating is blind where the judge's result was shown neither to the rater nor to who uploads.
    The same file again changes nothing. Another word of the same person on the same sample
    corrects the one before.
    """

    graders: LabelledGraders
    samples: SamplePool
    external_ids: ExternalIds
    labels: LabelRepository
    watch: DriftWatch
    clock: Clock = SYSTEM_CLOCK

    def add_lines(
        self,
        caller: Caller,
        deck_id: str,
        grader_id: str,
        lines: Iterable[NumberedLine | RejectedLine],
    ) -> BulkFeedback:
        """Store what can be stored, of samples that are named by either id.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
        """
        every = list(lines)
        named = [one[1].external_id for one in every if not isinstance(one, RejectedLine)]
        known: dict[str, str] = {}
        if any(named):
            self.graders.require(caller, deck_id, grader_id)
            found = self.external_ids.find(deck_id, named)
            known = {external_id: one.sample.id for external_id, one in found.items()}
        return self.add(caller, deck_id, grader_id, [_with_sample(one, known) for one in every])

    def add(
        self,
        caller: Caller,
        deck_id: str,
        grader_id: str,
        lines: Iterable[Numbered | RejectedLine],
    ) -> BulkFeedback:
        """Store what can be stored.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
        """
        grader = self.graders.require(caller, deck_id, grader_id)
        done = _Sorted()
        equal = self._drawn_alike(grader, lines, done)
        found = self._by_sample(grader, self._once_each(caller, equal, done), done)
        for some in groups(found, _SAMPLES_AT_ONCE):
            self._store(caller, grader, some, done)
            self._erase_deleted(grader, some)
        if done.accepted:
            self.watch.look(grader)
        rejected = sorted(done.rejected, key=lambda one: one.line)
        return BulkFeedback(
            accepted=done.accepted,
            repeated=done.repeated,
            not_blind=done.not_blind,
            chosen=done.chosen,
            rejected=rejected,
        )

    def _drawn_alike(
        self, grader: DeckGrader, lines: Iterable[Numbered | RejectedLine], done: _Sorted
    ) -> Iterator[Numbered | RejectedLine]:
        """Yield lines but for those that were drawn with another probability than the first.

        No figure weighs samples, so that the likelier ones would speak for the others.
        """
        known: float | None = None
        for one in lines:
            if isinstance(one, RejectedLine) or (given := one[1].probability) is None:
                yield one
                continue
            if known is None:
                known = self.labels.drawn_with(grader.organization_id, grader.id, given)
            if math.isclose(given, known):
                yield one
            else:
                done.reject(
                    one[0],
                    "probability",
                    f"{known}, as of what was stored first: samples are drawn alike, or chosen",
                )

    def _once_each(
        self, caller: Caller, lines: Iterable[Numbered | RejectedLine], done: _Sorted
    ) -> Iterator[Numbered]:
        """Yield lines, one for each sample and rater: which of two came later nobody could tell."""
        first: dict[tuple[str, str], int] = {}
        for one in lines:
            if isinstance(one, RejectedLine):
                done.rejected.append(one)
                continue
            line, said = one
            key = (said.sample_id, said.rater or caller.principal_id)
            if first.setdefault(key, line) != line:
                done.reject(line, "rater", f"one line for each sample; line {first[key]} was first")
                continue
            yield line, said

    def _by_sample(
        self, grader: DeckGrader, lines: Iterable[Numbered], done: _Sorted
    ) -> list[_OfSample]:
        by_sample: dict[str, list[Numbered]] = {}
        for line, said in lines:
            by_sample.setdefault(said.sample_id, []).append((line, said))
        samples = self.samples.get_many(grader.deck_id, by_sample)
        for sample_id, missing in by_sample.items():
            if sample_id not in samples:
                for line, _ in missing:
                    done.reject(line, "sampleId", "a sample of this deck")
        return [
            _OfSample(samples[sample_id], of_sample)
            for sample_id, of_sample in by_sample.items()
            if sample_id in samples
        ]

    def _store(
        self, caller: Caller, grader: DeckGrader, some: Sequence[_OfSample], done: _Sorted
    ) -> None:
        versions = self._versions(grader, some)
        for together in _packed(self._prepared(caller, grader, versions, some)):
            if self.labels.store([write for one in together for write in one.writes]):
                for one in together:
                    _count(done, one.done)
                continue
            for one in together:
                self._store_alone(caller, grader, versions, one.of, done)

    def _erase_deleted(self, grader: DeckGrader, some: Sequence[_OfSample]) -> None:
        """Erase what was said of samples that were deleted while it was stored."""
        left = self.samples.get_many(grader.deck_id, [of.sample.id for of in some])
        for of in some:
            if of.sample.id not in left:
                self.labels.erase([grader.id], of.sample.id)

    def _store_alone(
        self,
        caller: Caller,
        grader: DeckGrader,
        versions: dict[int, GraderVersion],
        of: _OfSample,
        done: _Sorted,
    ) -> None:
        """Store what one of several writes kept from being stored: others rate the sample."""
        try:
            for _ in BUSY.attempts(_ATTEMPTS):
                (prepared,) = self._prepared(caller, grader, versions, [of])
                if self.labels.store(prepared.writes):
                    _count(done, prepared.done)
                    return
        except UnavailableError:
            pass
        for line, _ in of.lines:
            done.reject(line, "sampleId", "a sample that nobody else is rating; send it again")

    def _versions(self, grader: DeckGrader, some: Iterable[_OfSample]) -> dict[int, GraderVersion]:
        wanted = {said.version or grader.version for of in some for _, said in of.lines}
        found = {}
        for number in wanted:
            try:
                found[number] = self.graders.version(grader, number)
            except InvalidRequestError:
                continue  # its lines are rejected
        return found

    def _prepared(
        self,
        caller: Caller,
        grader: DeckGrader,
        versions: dict[int, GraderVersion],
        some: Sequence[_OfSample],
    ) -> list[_Prepared]:
        """Read what is stored of some samples, and say what is to be written."""
        truths = self.labels.truths_of(grader.id, [of.sample.id for of in some])
        pairs = [
            (of.sample.id, said.rater or caller.principal_id) for of in some for _, said in of.lines
        ]
        # Who uploads may have written the ratings, whoever is named in them.
        asked = {*pairs, *((of.sample.id, caller.principal_id) for of in some)}
        shown = self.labels.shown(grader.id, asked)
        before = self.labels.latest_ratings(
            grader.id,
            [
                (sample_id, rater, truths[sample_id].voices[rater].corrections)
                for sample_id, rater in pairs
                if sample_id in truths and rater in truths[sample_id].voices
            ],
        )
        prepared = []
        for of in some:
            one = _Prepared(of, [], _Sorted())
            truth = truths.get(of.sample.id)
            revision = truth.revision if truth else 0
            unseen: set[tuple[str, str]] = set()
            for line, said in of.lines:
                rater = said.rater or caller.principal_id
                pair = (of.sample.id, rater)
                version = versions.get(said.version or grader.version)
                last = before.get(pair)
                if version is None:
                    one.done.reject(line, "version", f"at most {grader.versions}, the latest")
                elif last is not None and _is_drawn_otherwise(last, said):
                    one.done.reject(
                        line,
                        "selection",
                        f"{last.selection}, as of what this rater said first of the sample; a "
                        "drawn word of somebody else makes it count",
                    )
                elif last is not None and _is_repeated(last, said, version):
                    one.done.repeated += 1
                elif last is None and truth and len(truth.voices) >= MAX_SAMPLE_RATERS:
                    one.done.reject(line, "rater", f"one of {MAX_SAMPLE_RATERS} at most")
                else:
                    people = {pair, (of.sample.id, caller.principal_id)}
                    saw = said.saw_result or not people.isdisjoint(shown)
                    rating = self._rating(caller, grader, version, said, last, saw)
                    truth = with_rating(truth or first_truth(of.sample, rating), rating)
                    one.writes.append(put_rating(rating))
                    unseen |= set() if saw else people
                    one.done.accepted += 1
                    one.done.not_blind += saw
                    is_drawn = rating.selection == "random"
                    one.done.chosen += of.sample.split == "holdout" and not is_drawn
            one.writes += [nothing_shown(grader.id, *pair) for pair in sorted(unseen)]
            if truth is not None and one.writes:
                one.writes.append(put_truth(truth, revision=revision))
            prepared.append(one)
        return prepared

    def _rating(
        self,
        caller: Caller,
        grader: DeckGrader,
        version: GraderVersion,
        said: ImportedFeedback,
        last: Rating | None,
        saw_result: bool,
    ) -> Rating:
        rater = said.rater or caller.principal_id
        return Rating(
            **identity(grader, said.sample_id, rater, last.correction + 1 if last else 0),
            score=said.score,
            explanation=said.explanation,
            version=version.version,
            criteria=criteria_digest(version.rubric),
            saw_result=saw_result,
            selection=last.selection if last else said.selection,
            probability=last.probability if last else said.probability,
            imported_by=caller.principal_id,
            created_at=self.clock.now(),
        )


def _with_sample(
    one: NumberedLine | RejectedLine, known: Mapping[str, str]
) -> Numbered | RejectedLine:
    """Return a line with its sample's id, by external id; rejected where the deck has no such."""
    if isinstance(one, RejectedLine):
        return one
    line, said = one
    sample_id = said.sample_id or known.get(said.external_id or "")
    if sample_id is None:
        return RejectedLine(line=line, field="externalId", expected="that of a sample of this deck")
    kept = said.model_dump(exclude={"sample_id", "external_id"})
    return line, ImportedFeedback(sample_id=sample_id, **kept)


def _packed(prepared: Iterable[_Prepared]) -> Iterator[list[_Prepared]]:
    """Yield as many at a time as one transaction writes."""
    together: list[_Prepared] = []
    size = 0
    for one in prepared:
        if together and size + len(one.writes) > MAX_ADDITIONS:
            yield together
            together, size = [], 0
        together.append(one)
        size += len(one.writes)
    if together:
        yield together


def _count(done: _Sorted, more: _Sorted) -> None:
    done.accepted += more.accepted
    done.repeated += more.repeated
    done.not_blind += more.not_blind
    done.chosen += more.chosen
    done.rejected += more.rejected


def _is_drawn_otherwise(last: Rating, said: ImportedFeedback) -> bool:
    """Return whether a line says of its sample that it was drawn, and the first word did not."""
    return said.selection == "random" != last.selection


def _is_repeated(last: Rating, said: ImportedFeedback, version: GraderVersion) -> bool:
    before = (last.score, last.explanation, last.version)
    return before == (said.score, said.explanation, version.version)
