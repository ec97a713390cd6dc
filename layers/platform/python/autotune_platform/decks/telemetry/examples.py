"""Calls that are kept with a prompt that no deck has: a deck of it begins with them."""

from datetime import datetime

from autotune.protocol.deck_samples import NewSample
from autotune_platform.decks.telemetry.models import Exchange
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.packing import pack, unpack
from autotune_platform.storage.table import Item

EXAMPLE = "example#"
_LARGEST_BYTES = 100_000


def example_item(unmatched_id: str, place: int, exchange: Exchange) -> Item | None:
    """Return the item that keeps a call; None where it is too large for an example."""
    given = exchange.given.model_dump(mode="json", by_alias=True, exclude_unset=True)
    body = pack([exchange.source_id, exchange.collection, given])
    if len(body) > _LARGEST_BYTES:
        return None
    expiry = {}
    if exchange.expires_at is not None:
        expiry = {"expires_at": int(exchange.expires_at.timestamp())}
    return {
        "organization_id": exchange.organization_id,
        "pk": unmatched_id,
        "sk": f"{EXAMPLE}{place}",
        "body": body,
        "captured_at": moment(exchange.captured_at),
        **({} if exchange.expires_at is None else {"keep_until": moment(exchange.expires_at)}),
        **expiry,
    }


def exchange_of(item: Item) -> Exchange:
    """Return the call that an item keeps."""
    source_id, collection, given = unpack(item["body"])
    keep_until = item.get("keep_until")
    return Exchange(
        organization_id=item["organization_id"],
        source_id=source_id,
        given=NewSample.model_validate(given),
        collection=collection,
        captured_at=datetime.fromisoformat(item["captured_at"]),
        expires_at=None if keep_until is None else datetime.fromisoformat(keep_until),
    )
