"""Ids that callers give samples of their own: in a deck, each is one sample's.

An item in the deck's partition names the sample with an id. It is written in the transaction that
stores the sample, so that of two requests at a time one has the id, and it goes first when the
sample is deleted.
"""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from autotune.protocol.compact_json import compact_sorted
from autotune.protocol.deck_samples import NewSample
from autotune_platform.decks.conversion import FaultySampleError
from autotune_platform.decks.items import EXTERNAL, SAMPLE, model_from
from autotune_platform.decks.models import Sample, WholeSample
from autotune_platform.storage.table import Item, Key, Table


class ExternalIdTakenError(Exception):
    """Another request stored a sample with an external id meanwhile: look again which one."""


class IdentifiedSample(NamedTuple):
    """A sample, and a digest of what another one with its external id has to have as well."""

    sample: Sample
    content: str


def content_digest(whole: WholeSample) -> str:
    """Return a digest of what a sample says by itself, whatever version its deck has."""
    sample = whole.sample
    asked = sample.requested_at.isoformat() if sample.requested_at else None
    said = [sample.content_hash, sample.provider, sample.model, asked, whole.texts.metadata]
    return hashlib.sha256(compact_sorted(said).encode()).hexdigest()


def require_same(stored: IdentifiedSample, made: IdentifiedSample, given: NewSample) -> None:
    """Require that a sample says what the one says that has its external id.

    Raises:
        FaultySampleError: it has other content, or names another group or version.
    """
    there, new = stored.sample, made.sample
    is_same = (
        stored.content == made.content
        and (given.deck_version is None or new.deck_version == there.deck_version)
        and (given.group_key is None or new.group_key == there.group_key)
    )
    if not is_same:
        raise FaultySampleError(
            "externalId", f"an id of no other sample; {there.id} has it, with other content"
        )


def external_key(sample: Sample) -> Key | None:
    """Return the key of the item that names a sample by its external id, if it has one."""
    if sample.external_id is None:
        return None
    return sample.deck_id, _sort_key(sample.external_id)


def identifying(one: IdentifiedSample) -> Item | None:
    """Return the item that names a sample by its external id, if it has one."""
    key = external_key(one.sample)
    if key is None:
        return None
    return {
        "organization_id": one.sample.organization_id,
        "pk": key[0],
        "sk": key[1],
        "sample_id": one.sample.id,
        "content": one.content,
    }


class ExternalIds:
    """Which sample of a deck has which external id, in the table ``decks``."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def find(self, deck_id: str, external_ids: Iterable[str | None]) -> dict[str, IdentifiedSample]:
        """Return those samples of a deck that have one of these ids, by this id."""
        keys = {one: (deck_id, _sort_key(one)) for one in external_ids if one is not None}
        items = self._table.get_many(keys.values())
        headers = self._table.get_many(
            (deck_id, SAMPLE + item["sample_id"]) for item in items.values()
        )
        found = {}
        for external_id, key in keys.items():
            item = items.get(key)
            header = headers.get((deck_id, SAMPLE + item["sample_id"])) if item else None
            if item is not None and header is not None:
                sample = model_from(header, Sample)
                found[external_id] = IdentifiedSample(sample, str(item["content"]))
        return found

    def taken(self, samples: Iterable[Sample]) -> set[str]:
        """Return the ids of those samples whose external id another one has."""
        own = {key: one.id for one in samples if (key := external_key(one)) is not None}
        items = self._table.get_many(own).items()
        return {own[key] for key, item in items if item["sample_id"] != own[key]}


def _sort_key(external_id: str) -> str:
    return EXTERNAL + hashlib.sha256(external_id.encode()).hexdigest()
