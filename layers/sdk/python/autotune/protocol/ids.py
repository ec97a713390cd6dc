"""Identifiers: a kind prefix and 26 characters of lower-case base32hex."""

import base64
import hashlib
import re
import secrets
import time
from datetime import datetime
from typing import Literal

IdKind = Literal[
    "org",
    "key",
    "ses",
    "task",
    "grd",
    "pnl",
    "cmp",
    "bat",
    "run",
    "call",
    "req",
    "scr",
    "rev",
    "rvl",
    "evt",
    "whk",
    "aud",
    "exp",
    "rwu",
    "llc",
    "llm",
    "lbt",
    "lim",
    "llt",
    "llf",
    "lob",
    "dck",
    "smp",
    "drn",
    "res",
    "fbk",
    "edt",
    "ped",
    "ump",
    "igu",
    "apt",
    "apr",
    "trn",
    "exm",
]

ID_BODY = r"[0-9a-v]{26}"


def new_id(kind: IdKind) -> str:
    """Return a fresh id such as ``task_06bn3v0c2k...``.

    The first 48 bits are the time in milliseconds and the alphabet keeps byte order, so that ids of
    one kind sort by creation; the other 80 bits are random.
    """
    moment = time.time_ns() // 1_000_000
    return f"{kind}_{_encode(moment.to_bytes(6, 'big') + secrets.token_bytes(10))}"


def derived_id(kind: IdKind, *parts: str) -> str:
    """Return the id that always follows from ``parts``, so that a repeated write meets itself.

    Parts are length-prefixed before hashing (SHA-256, first 128 bits): no two lists of parts
    collide by concatenation.
    """
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return f"{kind}_{_encode(digest.digest()[:16])}"


def timed_id(kind: IdKind, at: datetime, place: int, seed: str) -> str:
    """Return the id that always follows from a time, a place and a seed that nobody else has.

    It sorts by the time, and among those of one seed by the place, which is below 65,536.
    """
    moment = int(at.timestamp() * 1_000)
    digest = hashlib.sha256(f"{place} {seed}".encode()).digest()
    return f"{kind}_{_encode(moment.to_bytes(6, 'big') + place.to_bytes(2, 'big') + digest[:8])}"


def earliest_id(kind: IdKind, at: datetime) -> str:
    """Return what sorts before every id of a time, and behind those of the millisecond before."""
    return f"{kind}_{_encode(int(at.timestamp() * 1_000).to_bytes(6, 'big') + bytes(10))}"


def capability_id(kind: IdKind) -> str:
    """Return an id of 128 random bits, which nobody can guess: to know it is to be allowed."""
    return f"{kind}_{_encode(secrets.token_bytes(16))}"


def is_id(kind: IdKind, text: str) -> bool:
    """Return whether a text has the shape of an id of a kind."""
    return re.fullmatch(f"{kind}_{ID_BODY}", text) is not None


def _encode(raw: bytes) -> str:
    return base64.b32hexencode(raw).decode().rstrip("=").lower()
