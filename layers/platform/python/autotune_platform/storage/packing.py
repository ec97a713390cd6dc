"""Texts as they are kept: as JSON, compressed where that pays."""

import json
import zlib
from typing import Any

from autotune.protocol.compact_json import compact

_COMPRESSED_FROM_BYTES = 1_024
_LARGEST_IN_ITEM_BYTES = 300_000
_PLAIN, _ZLIB = b"p", b"z"


def pack(value: Any) -> bytes:
    """Return the bytes that stand for JSON; the first one says how it is packed."""
    encoded = compact(value).encode()
    if len(encoded) < _COMPRESSED_FROM_BYTES:
        return _PLAIN + encoded
    return _ZLIB + zlib.compress(encoded, level=6)


def unpack(packed: bytes) -> Any:
    """Return what was packed."""
    return json.loads(packed[1:] if packed[:1] == _PLAIN else zlib.decompress(packed[1:]))


def outgrows_item(packed: bytes) -> bool:
    """Return whether what is packed must live in S3; an item holds 400 KB, names included."""
    return len(packed) > _LARGEST_IN_ITEM_BYTES
