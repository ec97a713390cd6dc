"""How a completion's text is kept: compressed in its item, or in S3 where it outgrows one."""

from typing import Any

from autotune_platform.storage import packing

CONTENT = "content"
"""Sort key of the item that holds a completion's text, and prefix of the object's name."""


def pack(prompt: str, response: str, metadata: dict[str, Any]) -> bytes:
    """Return the bytes that stand for a completion's text."""
    return packing.pack([prompt, response, metadata])


def unpack(packed: bytes) -> tuple[str, str, dict[str, Any]]:
    """Return prompt, response and metadata."""
    prompt, response, metadata = packing.unpack(packed)
    return prompt, response, metadata


def object_key(completion_id: str) -> str:
    """Return the name of the object in S3; it follows from the id, which a removal's record has."""
    return f"{CONTENT}/{completion_id}"
