"""Where samples are stored: a header in their deck's partition, texts in one of their own."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from autotune.protocol.ids import is_id
from autotune.protocol.limits import MAX_DECK_SAMPLES
from autotune_platform.decks.expiring import expiring, expiry_key
from autotune_platform.decks.external_ids import (
    ExternalIds,
    ExternalIdTakenError,
    IdentifiedSample,
    content_digest,
    external_key,
    identifying,
)
from autotune_platform.decks.items import COUNTS, MADE, SAMPLE, TEXT, item_of, model_from
from autotune_platform.decks.models import Sample, SampleTexts, WholeSample
from autotune_platform.decks.sample_objects import CONTENT, object_key
from autotune_platform.runtime.errors import NotFoundError, UnavailableError
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.retry import BUSY
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.storage.expressions import Filter
from autotune_platform.storage.packing import outgrows_item, pack, unpack
from autotune_platform.storage.table import Table
from autotune_platform.storage.transactions import PRESENT, Add, Condition, Delete, Put, Write

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

AT_A_TIME = 30
"""Most samples of one transaction: three items each, and the count; DynamoDB takes 100. Of those
that expire, which have four, 20; of those that were generated, 15."""

MOST_ITEMS = 99
"""Most items of one transaction beside the count."""

BYTES_AT_A_TIME = 3_000_000
"""Most packed bytes of one transaction; DynamoDB takes 4 MB."""

_COUNTED = "samples"
_NEW = Condition(exists=False)
_ATTEMPTS = 5
_CONCURRENT_OBJECTS = 8
_READ_AT_ONCE = 20


class PackedSample(NamedTuple):
    """A sample, its texts as they are stored, and the digest that goes with an external id."""

    sample: Sample
    texts: bytes
    content: str

    @property
    def identified(self) -> IdentifiedSample:
        """The sample and its digest, without its texts."""
        return IdentifiedSample(self.sample, self.content)

    @property
    def most_items(self) -> int:
        """How many items store it at most."""
        optional = (self.sample.external_id, self.sample.source_id, self.sample.expires_at)
        return 3 + sum(one is not None for one in optional)


def packed(whole: WholeSample) -> PackedSample:
    """Return a sample with its texts as they are stored."""
    texts = whole.texts
    kept = [texts.request, texts.response, texts.metadata]
    body = pack(kept if texts.values is None else [*kept, texts.values])
    sample = whole.sample.model_copy(update={"has_object": outgrows_item(body)})
    return PackedSample(sample, body, content_digest(whole) if sample.external_id else "")


class SampleRepository:
    """Samples in the ``decks`` table, large texts in the content bucket."""

    def __init__(self, *, table: Table, bucket: str, s3: "S3Client") -> None:
        self._table = table
        self._bucket = bucket
        self._s3 = s3
        self.external_ids = ExternalIds(table)

    def add(self, deck_id: str, samples: Sequence[PackedSample]) -> list[Sample]:
        """Store samples of one deck, at most ``AT_A_TIME``; those that are stored stay as they are.

        Returns:
            They as they are stored, from the front as many as the deck has room for.

        Raises:
            NotFoundError: the deck was deleted.
            ExternalIdTakenError: another sample has the external id of one; some may be stored.
            UnavailableError: a store is busy; storing the same again is safe.
        """
        left = list(samples)
        for _ in BUSY.attempts(_ATTEMPTS):
            if not left:
                return []
            left = [one._replace(sample=sample) for one, sample in self._with_duplicates(left)]
            self._put_objects(left)
            writes = [*_writes(left), _count(deck_id, len(left))]
            refused = self._table.transact(writes)
            if not refused:
                return [one.sample for one in left]
            stored = self.headers(deck_id, (one.sample.id for one in left))
            if stored:  # by this request, when it came before
                there = [stored[one.sample.id] for one in left if one.sample.id in stored]
                rest = [one for one in left if one.sample.id not in stored]
                return [*there, *self.add(deck_id, rest)]
            if taken := self.external_ids.taken(one.sample for one in left):
                self._delete_objects([one for one in left if one.sample.id in taken])
                raise ExternalIdTakenError
            if len(writes) - 1 in refused:
                room = self._room(deck_id)
                self._delete_objects(left[room:])
                left = left[:room]
        raise UnavailableError("the deck is busy", retry_after_seconds=1)

    def headers(self, deck_id: str, sample_ids: Iterable[str]) -> dict[str, Sample]:
        """Return those samples that a deck has, without their texts, by id."""
        wanted = [(deck_id, SAMPLE + one) for one in sample_ids if is_id("smp", one)]
        found = self._table.get_many(wanted).values()
        return {sample.id: sample for sample in (model_from(item, Sample) for item in found)}

    def texts(self, samples: Iterable[Sample]) -> dict[str, SampleTexts]:
        """Return the texts of samples, by id; of those that were deleted since there are none."""
        return {sample.id: texts for sample, texts in self._texts(list(samples))}

    def each_texts(self, samples: Iterable[Sample]) -> Iterator[tuple[Sample, SampleTexts]]:
        """Yield samples with their texts, of which some are read at a time, and one is unpacked."""
        for some in groups(samples, _READ_AT_ONCE):
            yield from self._texts(some)

    def _texts(self, samples: Sequence[Sample]) -> Iterator[tuple[Sample, SampleTexts]]:
        items = self._table.get_many((sample.id, CONTENT) for sample in samples)
        for sample in samples:
            item = items.get((sample.id, CONTENT))
            if item is None:
                continue
            body = item.get("body")
            if body is None:
                body = self._read_object(sample)
            if body is not None:
                request, response, metadata, *values = unpack(body)
                yield (
                    sample,
                    SampleTexts(
                        request=request,
                        response=response,
                        metadata=metadata,
                        values=values[0] if values else None,
                    ),
                )

    def page(
        self,
        deck_id: str,
        *,
        limit: int,
        below: str | None,
        equal: Mapping[str, str | int],
    ) -> tuple[list[Sample], str | None]:
        """Return a page of a deck's samples, newest first, and the id behind which to go on.

        It is what one query reads: with a filter, a megabyte of headers, however few it finds.

        Args:
            below: the id behind which the page starts.
            equal: attributes with the values that they are to have.
        """
        after = None if below is None else {"pk": deck_id, "sk": SAMPLE + below}
        page = self._table.query(
            deck_id,
            starting=SAMPLE,
            newest_first=True,
            limit=None if equal else limit,
            after=after,
            where=_filter(equal) if equal else None,
        )
        found = [model_from(item, Sample) for item in page.items[:limit]]
        if len(page.items) > limit:
            return found, found[-1].id
        return found, page.last_key["sk"].removeprefix(SAMPLE) if page.last_key else None

    def made_from(self, sample: Sample) -> list[Sample]:
        """Return the samples that were generated from the input of one."""
        leads = self._table.items(sample.id, starting=MADE)
        found = self.headers(sample.deck_id, [one["sk"].removeprefix(MADE) for one in leads])
        return list(found.values())

    def walk(self, deck_id: str) -> Iterator[Sample]:
        """Yield every sample of a deck, oldest first, without its texts."""
        for item in self._table.items(deck_id, starting=SAMPLE):
            yield model_from(item, Sample)

    def delete(self, sample: Sample) -> None:
        """Delete a sample with its texts; deleting again is fine.

        The header goes last: until then it can be deleted again. What names it by an external id
        goes first, so that no sample that comes with this id is taken for one that is half gone.

        Raises:
            UnavailableError: the table is busy.
        """
        is_first = Condition(only_if={"sample_id": sample.id})
        if (key := external_key(sample)) is not None:
            self._table.transact([Delete(pk=key[0], sk=key[1], condition=is_first)])
        if sample.has_object:
            self._s3.delete_object(Bucket=self._bucket, Key=_object_key(sample))
        self._table.delete(sample.id, CONTENT)
        if sample.source_id is not None:
            self._table.delete(sample.source_id, MADE + sample.id)
        text_key = TEXT + sample.content_hash
        self._table.transact([Delete(pk=sample.deck_id, sk=text_key, condition=is_first)])
        fewer = Add(pk=sample.deck_id, sk=COUNTS, name=_COUNTED, by=-1, only_existing=True)
        header = Delete(pk=sample.deck_id, sk=SAMPLE + sample.id, condition=PRESENT)
        self._table.transact([header, fewer])
        if sample.expires_at is not None:
            self._table.delete(*expiry_key(sample.id))

    def _with_duplicates(
        self, samples: Sequence[PackedSample]
    ) -> Iterator[tuple[PackedSample, Sample]]:
        """Yield samples with the first one of the deck that has the same texts."""
        keys = [(one.sample.deck_id, TEXT + one.sample.content_hash) for one in samples]
        found = self._table.get_many(keys).values()
        first = {item["sk"].removeprefix(TEXT): str(item["sample_id"]) for item in found}
        for one in samples:
            before = first.setdefault(one.sample.content_hash, one.sample.id)
            duplicate_of = None if before == one.sample.id else before
            yield one, one.sample.model_copy(update={"duplicate_of": duplicate_of})

    def _room(self, deck_id: str) -> int:
        """Return how many samples a deck has room for.

        Raises:
            NotFoundError: it was deleted.
        """
        counts = self._table.get(deck_id, COUNTS)
        if counts is None:
            raise NotFoundError(f"no deck {deck_id}")
        return max(0, MAX_DECK_SAMPLES - int(counts.get(_COUNTED, 0)))

    def _put_objects(self, samples: Sequence[PackedSample]) -> None:
        def put(one: PackedSample) -> None:
            self._s3.put_object(
                Bucket=self._bucket,
                Key=_object_key(one.sample),
                Body=one.texts,
            )

        large = [one for one in samples if one.sample.has_object]
        if large:
            in_parallel(put, large, at_most=_CONCURRENT_OBJECTS)

    def _delete_objects(self, samples: Sequence[PackedSample]) -> None:
        for one in samples:
            if one.sample.has_object:
                self._s3.delete_object(Bucket=self._bucket, Key=_object_key(one.sample))

    def _read_object(self, sample: Sample) -> bytes | None:
        try:
            stored = self._s3.get_object(Bucket=self._bucket, Key=_object_key(sample))
        except self._s3.exceptions.NoSuchKey:
            return None
        return stored["Body"].read()


def _writes(samples: Sequence[PackedSample]) -> Iterator[Write]:
    """Yield what stores samples: header and texts, and which sample was the first with its texts.

    Where another one becomes the first in the meantime, nothing is written.
    """
    for one in samples:
        sample, body = one.sample, one.texts
        owner = {"organization_id": sample.organization_id}
        header = item_of(sample, pk=sample.deck_id, sk=SAMPLE + sample.id)
        texts = {**owner, "pk": sample.id, "sk": CONTENT}
        yield Put(item=header, condition=_NEW)
        if sample.source_id is not None:
            lead = {"pk": sample.source_id, "sk": MADE + sample.id, "deck_id": sample.deck_id}
            yield Put(item={**owner, **lead})
        yield Put(item=texts if sample.has_object else {**texts, "body": body}, condition=_NEW)
        if (named := identifying(one.identified)) is not None:
            yield Put(item=named, condition=_NEW)
        if sample.duplicate_of is None:
            key = {"pk": sample.deck_id, "sk": TEXT + sample.content_hash}
            first = {**owner, **key, "sample_id": sample.id}
            yield Put(item=first, condition=_NEW)
        if sample.expires_at is not None:
            due = expiring(sample.id, sample.expires_at, owner | {"deck_id": sample.deck_id})
            yield Put(item=due, condition=_NEW)


def _count(deck_id: str, added: int) -> Write:
    return Add(
        pk=deck_id,
        sk=COUNTS,
        name=_COUNTED,
        by=added,
        below=MAX_DECK_SAMPLES - added + 1,
        only_existing=True,
    )


def _filter(equal: Mapping[str, str | int]) -> Filter:
    names = {f"#f{place}": name for place, name in enumerate(equal)}
    values = {f":f{place}": value for place, value in enumerate(equal.values())}
    expression = " AND ".join(f"#f{place} = :f{place}" for place in range(len(equal)))
    return Filter(expression, names, values)


def _object_key(sample: Sample) -> str:
    return object_key(sample.deck_id, sample.id)
