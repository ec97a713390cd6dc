"""How a completion's text is kept: compressed in its item, or in S3 where it outgrows one."""

import json
import zlib
from typing import Any

CONTENT = "content"
"""Sort key of the item that holds a completion's text, and prefix of the object's name."""

_COMPRESSED_FROM_BYTES = 1_024
_LARGEST_IN_ITEM_BYTES = 300_000
_PLAIN, _ZLIB = b"p", b"z"


def pack(prompt: str, response: str, metadata: dict[str, Any]) -> bytes:
    """Return the bytes that stand for a completion's text; the first one says how it is packed."""
    raw = json.dumps([prompt, response, metadata], separators=(",", ":"), ensure_ascii=False)
    encoded = raw.encode()
    if len(encoded) < _COMPRESSED_FROM_BYTES:
        return _PLAIN + encoded
    return _ZLIB + zlib.compress(encoded, level=6)


def unpack(packed: bytes) -> tuple[str, str, dict[str, Any]]:
    """Return prompt, response and metadata."""
    encoded = packed[1:] if packed[:1] == _PLAIN else zlib.decompress(packed[1:])
    prompt, response, metadata = json.loads(encoded)
    return prompt, response, metadata


def outgrows_item(packed: bytes) -> bool:
    """Return whether packed text must live in S3; an item holds 400 KB, names included."""
    return len(packed) > _LARGEST_IN_ITEM_BYTES


def object_key(completion_id: str) -> str:
    """Return the name of the object in S3; it follows from the id, which a removal's record has."""
    return f"{CONTENT}/{completion_id}"
