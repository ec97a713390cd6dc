"""Parses of an answer after its first: versions, of which none replaces another."""

import json
import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from autotune.protocol.verdict_formats import ParseError, VerdictFormat
from autotune_platform.runtime.frozen_model import FrozenModel

# What is done where a verdict cannot be read says nothing of how it is read.
_NOT_READ_BY = frozenset({"on_parse_failure"})


class LaterParse(FrozenModel):
    """A parse of an answer that has been there for a while.

    Attributes:
        verdict: the format that it was read in.
        by: the key that asked for it.
        reasoning_characters: how many of the answer are its reasoning, from its first that is no
            white space on; so that no text is stored twice.
    """

    version: int
    parser_version: int
    verdict: Mapping[str, Any]
    at: datetime
    by: str
    reasoning_characters: int | None = None
    verdict_text: str | None = None
    parsed_verdict: Any | None = None
    error: ParseError | None = None

    def reasoning_in(self, raw: str) -> str | None:
        """Return the reasoning of an answer."""
        count = self.reasoning_characters
        return None if count is None else raw.lstrip()[:count]


class LatestParse(FrozenModel):
    """What a row shows, without its texts, of the latest parse after its first."""

    version: int
    error: ParseError | None = None


def reading_format(form: VerdictFormat) -> Mapping[str, Any]:
    """Return what of a format says how an answer is read: two that are alike read alike."""
    return form.model_dump(mode="json", exclude=set(_NOT_READ_BY), exclude_none=True)


def packed(parses: Sequence[LaterParse]) -> bytes:
    """Return parses as an item has them."""
    documents = [one.model_dump(mode="json", exclude_none=True) for one in parses]
    return zlib.compress(json.dumps(documents, separators=(",", ":")).encode())


def unpacked(stored: bytes) -> list[LaterParse]:
    """Return the parses that an item has."""
    return [LaterParse.model_validate(one) for one in json.loads(zlib.decompress(stored))]
