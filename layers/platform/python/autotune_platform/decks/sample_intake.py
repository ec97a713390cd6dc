"""Taking in samples: each is converted, put in its half for good, and stored once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from autotune.protocol.deck_sample_labels import NewLabelledSample
from autotune.protocol.deck_samples import AddSamplesRequest
from autotune.protocol.ids import timed_id
from autotune.protocol.limits import MAX_BULK_SAMPLES, MAX_DECK_SAMPLES
from autotune.protocol.problems import FieldProblem, LimitProblem
from autotune_platform.access.models import Caller
from autotune_platform.decks.conversion import FaultySampleError, conversation_of
from autotune_platform.decks.external_ids import (
    ExternalIdTakenError,
    IdentifiedSample,
    require_same,
)
from autotune_platform.decks.models import Deck, Sample, WholeSample
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.sample_lines import FaultyLine, Given, faulty_line, read_lines
from autotune_platform.decks.sample_making import SampleOrigin, made_sample
from autotune_platform.decks.sample_repository import (
    AT_A_TIME,
    BYTES_AT_A_TIME,
    MOST_ITEMS,
    PackedSample,
    SampleRepository,
    packed,
)
from autotune_platform.decks.sample_requests import SampleRequest, SampleRequests
from autotune_platform.decks.service import DeckService
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    InvalidRequestError,
    TooManyEntitiesError,
    UnavailableError,
)
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY
from autotune_platform.runtime.uploaded_lines import require_few_lines

_ATTEMPTS = 4


@dataclass
class _Made:
    """What becomes of samples, by their places, before the first of them is stored.

    Attributes:
        samples: those that are ready to be stored.
        there: those that the deck has by their external id.
        repeated: those that an earlier one of the request is, by external id; with its place.
        faulty: what is wrong with the others.
    """

    samples: list[tuple[int, PackedSample]] = field(default_factory=list)
    there: dict[int, Sample] = field(default_factory=dict)
    repeated: dict[int, int] = field(default_factory=dict)
    faulty: list[FaultyLine] = field(default_factory=list)

    @property
    def fields(self) -> list[FieldProblem]:
        """What is wrong, as fields of a request."""
        return [
            FieldProblem(field=f"samples[{one.place}].{one.field}", expected=one.expected)
            for one in self.faulty
        ]


@dataclass(frozen=True)
class Uploaded:
    """What came of lines: those that are stored, with their samples, and those that are not."""

    stored: Sequence[tuple[Given, Sample]]
    rejected: Sequence[FaultyLine]


LineCheck = Callable[[Deck, Sequence[Given]], Sequence[FaultyLine]]


@part
class SampleIntake:
    """Takes in the samples of an organisation's decks."""

    decks: DeckService
    deck_repository: DeckRepository
    repository: SampleRepository
    requests: SampleRequests
    clock: Clock = SYSTEM_CLOCK

    def add_all(
        self,
        caller: Caller,
        deck_id: str,
        request: AddSamplesRequest,
        body: bytes,
        *,
        idempotency_key: str | None,
    ) -> list[Sample]:
        """Store samples, of which none may be faulty; a repeat stores them once.

        Args:
            body: the request's, by which it is known again.

        Raises:
            NotFoundError: there is no such deck, or it is another organisation's.
            InvalidRequestError: a sample is faulty; nothing is stored.
            TooManyEntitiesError: the deck has no room for all of them.
            IdempotencyKeyReusedError: the key came before with another body.
            UnavailableError: a store is busy; some may be stored, and a repeat stores the others.
        """
        given = [Given(place, sample) for place, sample in enumerate(request.samples)]
        deck = self.decks.require(caller, deck_id)
        known = self._known(deck, body, idempotency_key)
        _, stored = self._stored(deck, known, given, all_or_none=True)
        if len(stored) < len(given):
            raise _full(MAX_DECK_SAMPLES)
        return [stored[place] for place in sorted(stored)]

    def add_lines(
        self,
        caller: Caller,
        deck_id: str,
        body: bytes,
        *,
        idempotency_key: str | None,
        check: LineCheck,
    ) -> Uploaded:
        """Store each line that is a sample, and say of each other one what is wrong with it.

        Args:
            check: returns what is wrong with lines beyond the samples in them.

        Raises:
            NotFoundError: there is no such deck, or it is another organisation's.
            InvalidRequestError: there is no line.
            RequestTooLargeError: there are too many lines.
            IdempotencyKeyReusedError: the key came before with another body.
            UnavailableError: a store is busy; some may be stored, and a repeat stores the others.
        """
        deck = self.decks.require(caller, deck_id)  # whose it is not learns nothing of the lines
        require_few_lines(body, most=MAX_BULK_SAMPLES, limit="bulkSamples", line="a sample")
        lines = list(read_lines(body, NewLabelledSample))
        read = [line for line in lines if isinstance(line, Given)]
        rejected = [line for line in lines if isinstance(line, FaultyLine)]
        rejected += check(deck, read)
        wrong = {one.place for one in rejected}
        given = [one for one in read if one.place not in wrong]
        known = self._known(deck, body, idempotency_key)
        faulty, stored = self._stored(deck, known, given, all_or_none=False)
        rejected += faulty
        wrong |= {one.place for one in faulty}
        expected = f"a deck of at most {MAX_DECK_SAMPLES} samples, which this one has"
        rejected += [
            faulty_line(one.place, "line", expected)
            for one in given
            if one.place not in stored and one.place not in wrong
        ]
        return Uploaded(
            stored=[(one, stored[one.place]) for one in given if one.place in stored],
            rejected=sorted(rejected, key=lambda one: one.place),
        )

    def _known(self, deck: Deck, body: bytes, idempotency_key: str | None) -> SampleRequest:
        """Return what the ids of a request's samples follow from."""
        return self.requests.begin(
            deck.organization_id, deck.id, body, key=idempotency_key, now=self.clock.now()
        )

    def _stored(
        self, deck: Deck, request: SampleRequest, given: Sequence[Given], *, all_or_none: bool
    ) -> tuple[Sequence[FaultyLine], dict[int, Sample]]:
        """Store samples; return what is wrong with some, and those that the deck has, by place.

        Raises:
            InvalidRequestError: none may be faulty, and one is.
            TooManyEntitiesError: all are to be stored, and the deck has no room for them.
            UnavailableError: a store is busy, or others bring the same external ids.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            made = self._made(deck, request, given)
            if all_or_none and made.faulty:
                fields = made.fields
                raise InvalidRequestError(f"{fields[0].field}: {fields[0].expected}", fields=fields)
            if all_or_none:
                self._require_room(deck, made)
            try:
                return made.faulty, self._store(deck, made)
            except ExternalIdTakenError:
                del made  # what the other request stored is found now
        raise UnavailableError("others bring samples with these ids", retry_after_seconds=1)

    def _made(self, deck: Deck, request: SampleRequest, given: Sequence[Given]) -> _Made:
        """Return what becomes of samples, as far as that is known before they are stored."""
        prompts = self._prompts(deck, given)
        named = self.repository.external_ids.find(
            deck.id, (one.sample.external_id for one in given)
        )
        made, first = _Made(), dict[str, tuple[int, IdentifiedSample]]()
        for one in given:
            external_id = one.sample.external_id
            try:
                sample = packed(_sample(deck, request, one, prompts))
                if external_id is None:
                    made.samples.append((one.place, sample))
                elif (there := named.get(external_id)) is not None:
                    require_same(there, sample.identified, one.sample)
                    made.there[one.place] = there.sample
                elif external_id in first:
                    place, before = first[external_id]
                    require_same(before, sample.identified, one.sample)
                    made.repeated[one.place] = place
                else:
                    first[external_id] = one.place, sample.identified
                    made.samples.append((one.place, sample))
            except FaultySampleError as error:
                made.faulty.append(faulty_line(one.place, error.field, error.expected))
        return made

    def _store(self, deck: Deck, made: _Made) -> dict[int, Sample]:
        """Store samples; return those that the deck has then, by place."""
        places = {one.sample.id: place for place, one in made.samples}
        stored = dict(made.there)
        for some in in_transactions([one for _, one in made.samples], at_most=AT_A_TIME):
            added = self.repository.add(deck.id, some)
            stored.update({places[sample.id]: sample for sample in added})
            if len(added) < len(some):
                break
        again = {place: of for place, of in made.repeated.items() if of in stored}
        return stored | {place: stored[of] for place, of in again.items()}

    def _require_room(self, deck: Deck, made: _Made) -> None:
        """Require room for all samples, those that are there already not counted.

        Raises:
            TooManyEntitiesError: there is none.
        """
        counts = self.deck_repository.counts([deck.id]).get(deck.id)
        there = 0 if counts is None else counts.samples
        if there + len(made.samples) <= MAX_DECK_SAMPLES:
            return
        repeated = self.repository.headers(deck.id, (one.sample.id for _, one in made.samples))
        if there + len(made.samples) - len(repeated) > MAX_DECK_SAMPLES:
            raise _full(there)

    def _prompts(self, deck: Deck, given: Sequence[Given]) -> Mapping[int, str]:
        """Return the system prompts of the versions that samples name."""
        named = {one.sample.deck_version or deck.version for one in given}
        there = (version for version in sorted(named) if version <= deck.versions)
        return self.deck_repository.prompts(deck.id, there)


def _sample(
    deck: Deck, request: SampleRequest, one: Given, prompts: Mapping[int, str]
) -> WholeSample:
    """Return what is stored of a sample.

    Raises:
        FaultySampleError: it cannot be used.
    """
    given = one.sample
    version = given.deck_version or deck.version
    if version not in prompts:
        raise FaultySampleError("deckVersion", f"a version of the deck, at most {deck.versions}")
    origin = SampleOrigin(
        sample_id=timed_id("smp", request.received_at, one.place, request.seed),
        deck_version=version,
        prompt=prompts[version],
        collection="manual",
        created_at=request.received_at,
    )
    return made_sample(deck, given, conversation_of(given), origin)


def in_transactions(
    samples: Sequence[PackedSample], *, at_most: int
) -> Iterator[list[PackedSample]]:
    """Yield samples in as many as one transaction takes."""
    some: list[PackedSample] = []
    size = items = 0
    for one in samples:
        bytes_of = 0 if one.sample.has_object else len(one.texts)
        is_full = len(some) == at_most or items + one.most_items > MOST_ITEMS
        if some and (is_full or size + bytes_of > BYTES_AT_A_TIME):
            yield some
            some, size, items = [], 0, 0
        some.append(one)
        size += bytes_of
        items += one.most_items
    if some:
        yield some


def _full(there: int) -> TooManyEntitiesError:
    return TooManyEntitiesError(
        f"the deck has {there} samples, and {MAX_DECK_SAMPLES} is the limit",
        limit=LimitProblem(
            name="deckSamples", maximum=MAX_DECK_SAMPLES, unit="samples", actual=there
        ),
    )
