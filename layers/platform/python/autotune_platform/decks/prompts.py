"""Hashes of system prompts, and of what makes a group of samples.

What a prompt is as a template is where judges need it, too: ``judging/rubric/system_prompts.py``.
"""

import hashlib

from autotune_platform.judging.rubric.system_prompts import (
    filled_in,
    literal_characters,
    normalized,
    placeholders,
)

__all__ = [
    "filled_in",
    "group_hash",
    "literal_characters",
    "normalized",
    "placeholders",
    "prompt_hash",
]


def prompt_hash(organization_id: str, prompt: str) -> str:
    """Return the SHA-256, in hexadecimal, of an organisation and a prompt's normal form.

    Two organisations with the same prompt have different hashes.
    """
    return _sha256("prompt", organization_id, normalized(prompt))


def group_hash(organization_id: str, *parts: str) -> str:
    """Return the SHA-256, in hexadecimal, of an organisation and what makes a group."""
    return _sha256("group", organization_id, *parts)


def _sha256(*parts: str) -> str:
    """Hash parts, each with its length, so that no two lists of them collide."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()
