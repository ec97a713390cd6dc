"""Samples from a file with what people said of them: first the samples are stored, then the labels.

A repeat stores what is missing: the samples are the same ones by their ``externalId`` or the key of
the request, and a label that is there is not stored again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from autotune.protocol.deck_feedback import ImportedFeedback
from autotune.protocol.deck_sample_labels import SampleLabel
from autotune.protocol.deck_samples import AddedLabels, BulkSamples, RejectedLine
from autotune.protocol.limits import MAX_BULK_LABELS
from autotune.protocol.problems import LimitProblem
from autotune_platform.access.models import Caller
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.labels.importing import Numbered, RatingImport
from autotune_platform.decks.models import Deck, DeckGrader
from autotune_platform.decks.sample_intake import SampleIntake, Uploaded
from autotune_platform.decks.sample_lines import FaultyLine, Given, faulty_line
from autotune_platform.runtime.errors import RequestTooLargeError
from autotune_platform.runtime.parts import part


@dataclass(frozen=True)
class _Label:
    """A label of a stored sample, and where in the request it stands."""

    line: int
    place: int
    said: SampleLabel

    def rejected(self, expected: str, *, field: str | None = None) -> RejectedLine:
        whole = f"labels[{self.place}]"
        name = whole if field is None else f"{whole}.{field}"
        return RejectedLine(line=self.line, field=name, expected=expected)


class _Graders:
    """The graders of a deck, by id and by name."""

    def __init__(self, graders: Sequence[DeckGrader]) -> None:
        self._ids = {one.id: one.id for one in graders}
        self._names: dict[str, list[str]] = {}
        for one in graders:
            self._names.setdefault(one.name, []).append(one.id)

    def named(self, text: str) -> Sequence[str]:
        """Return the ids of graders that are named so: one unless it is wrong or unclear."""
        return [self._ids[text]] if text in self._ids else self._names.get(text, [])


@part
class LabelledUpload:
    """Stores lines of samples with their labels."""

    intake: SampleIntake
    graders: DeckGraderRepository
    ratings: RatingImport

    def add_lines(
        self, caller: Caller, deck_id: str, body: bytes, *, idempotency_key: str | None
    ) -> BulkSamples:
        """Store each line that is a sample whose labels name graders; then what is left of labels.

        Raises:
            NotFoundError: there is no such deck, or it is another organisation's.
            InvalidRequestError: there is no line.
            RequestTooLargeError: there are too many lines, or too many labels.
            IdempotencyKeyReusedError: the key came before with another body.
            UnavailableError: a store is busy; some may be stored, and a repeat stores the others.
        """

        def check(deck: Deck, lines: Sequence[Given]) -> list[FaultyLine]:
            _require_few_labels(lines)
            if not any(one.labels for one in lines):
                return []
            graders = self._graders(deck.id)
            faults = (_fault(caller, graders, one) for one in lines)
            return [one for one in faults if one is not None]

        done = self.intake.add_lines(
            caller, deck_id, body, idempotency_key=idempotency_key, check=check
        )
        return BulkSamples(
            accepted=len(done.stored),
            sample_ids=[sample.id for _, sample in done.stored],
            rejected=[
                RejectedLine(line=one.place + 1, field=one.field, expected=one.expected)
                for one in done.rejected
            ],
            labels=self._add_labels(caller, deck_id, done),
        )

    def _add_labels(self, caller: Caller, deck_id: str, done: Uploaded) -> AddedLabels | None:
        """Store what people said of stored samples, grader by grader; None where they said nothing.

        Raises:
            NotFoundError: a grader was deleted meanwhile.
            UnavailableError: the table is busy; a repeat stores the others.
        """
        if not any(given.labels for given, _ in done.stored):
            return None
        accepted = repeated = not_blind = chosen = 0
        rejected: list[RejectedLine] = []
        first: dict[tuple[str, str, str], _Label] = {}
        for grader_id, sample_id, label in self._labels(deck_id, done):
            key = grader_id, sample_id, label.said.rater or caller.principal_id
            before = first.setdefault(key, label)
            if before is label:
                continue
            if _says_the_same(before.said, label.said):
                repeated += 1
            else:
                rejected.append(
                    label.rejected(
                        f"one label for each sample and grader; line {before.line} was first",
                        field="rater",
                    )
                )
        for grader_id, labels in _by_grader(first).items():
            lines = [_line(place, *one) for place, one in enumerate(labels)]
            found = self.ratings.add(caller, deck_id, grader_id, lines)
            accepted, repeated = accepted + found.accepted, repeated + found.repeated
            not_blind, chosen = not_blind + found.not_blind, chosen + found.chosen
            for one in found.rejected:
                field = None if one.field == "sampleId" else one.field
                rejected.append(labels[one.line][1].rejected(one.expected, field=field))
        return AddedLabels(
            accepted=accepted,
            repeated=repeated,
            not_blind=not_blind,
            chosen=chosen,
            rejected=sorted(rejected, key=lambda one: (one.line, one.field)),
        )

    def _labels(self, deck_id: str, done: Uploaded) -> Iterator[tuple[str, str, _Label]]:
        """Yield labels of stored samples with their graders and samples, by line."""
        graders = self._graders(deck_id)
        for given, sample in done.stored:
            for place, said in enumerate(given.labels):
                for grader_id in graders.named(said.grader)[:1]:
                    yield grader_id, sample.id, _Label(given.place + 1, place, said)

    def _graders(self, deck_id: str) -> _Graders:
        return _Graders(self.graders.list(deck_id))


def _fault(caller: Caller, graders: _Graders, one: Given) -> FaultyLine | None:
    """Return the first fault of a line's labels; None where they can be stored with it."""
    raters: set[tuple[str, str]] = set()
    for place, label in enumerate(one.labels):
        named = graders.named(label.grader)
        if len(named) != 1:
            unclear = f"an id, because {len(named)} graders of this deck have this name"
            expected = unclear if named else "a grader of this deck, by its id or its name"
            return faulty_line(one.place, f"labels[{place}].grader", expected)
        key = named[0], label.rater or caller.principal_id
        if key in raters:
            expected = "one label of each person for each grader"
            return faulty_line(one.place, f"labels[{place}].rater", expected)
        raters.add(key)
    return None


def _by_grader(
    labels: Mapping[tuple[str, str, str], _Label],
) -> dict[str, list[tuple[str, _Label]]]:
    found: dict[str, list[tuple[str, _Label]]] = {}
    for (grader_id, sample_id, _), label in labels.items():
        found.setdefault(grader_id, []).append((sample_id, label))
    return found


def _line(place: int, sample_id: str, label: _Label) -> Numbered:
    """Return a label as a line of ratings; its number is its place."""
    said = label.said
    return place, ImportedFeedback(
        sample_id=sample_id,
        score=None if said.score == "not_applicable" else said.score,
        does_not_apply=said.score == "not_applicable",
        explanation=said.explanation,
        rater=said.rater,
        selection=said.selection,
    )


def _says_the_same(one: SampleLabel, other: SampleLabel) -> bool:
    said = ("score", "explanation", "selection")
    return all(getattr(one, name) == getattr(other, name) for name in said)


def _require_few_labels(lines: Sequence[Given]) -> None:
    count = sum(len(one.labels) for one in lines)
    if count > MAX_BULK_LABELS:
        raise RequestTooLargeError(
            f"the upload has {count} labels, and {MAX_BULK_LABELS} is the limit",
            limit=LimitProblem(
                name="bulkLabels", maximum=MAX_BULK_LABELS, unit="labels", actual=count
            ),
        )
