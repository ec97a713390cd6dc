"""Results that stand in the middle of a job's document: split from it as it comes.

Incremental parsers give up on the whole document where one row holds what they do not take: bytes
that are no UTF-8, a number that is too large. Here only texts, brackets and commas are told apart,
so that such a row spoils its own line alone, and a row of any size passes through as it came.
"""

import re
from typing import Any, Final

from autotune_platform.ledger.providers.documents import document_of

_MARK = re.compile(rb'["\[\]{},]')
_TEXT = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_BREAKS = bytes.maketrans(b"\r\n", b"  ")
_LONGEST_BEGINNING: Final = 100
# The list is a member of the document, and so its items are two levels deep.
_ITEMS: Final = 2


class TooLargeError(Exception):
    """What stands around the results is larger than a job's document is."""


class InlineResults:
    """Splits a document in two: the items of one of its lists, and all that stands around them.

    Attributes:
        has_items: whether there was any so far.
    """

    def __init__(self, member: str, *, most_bytes: int) -> None:
        """Name the list.

        Args:
            most_bytes: of what stands around it.
        """
        self._begins = re.compile(rb'[{,]\s*"%b"\s*:\s*\[\Z' % re.escape(member.encode()))
        self._most_bytes = most_bytes
        self._around = bytearray()
        self._lines = bytearray()
        self._held = b""
        self._depth = 0
        self._is_text = False
        self._is_list = False
        self.has_items = False

    @property
    def is_whole(self) -> bool:
        """Whether the document has come to its end."""
        return self._depth == 0 and not self._is_text and bool(self._around)

    def document(self) -> Any:
        """Return what stands around the items as JSON, None if it is none.

        The list is empty in it. Of a document that ends within the list, it is what stands before.
        """
        return document_of(bytes(self._around) + (b"]}" if self._is_list else b""))

    def split(self, part: bytes) -> bytes:
        """Take the next part; return what came of items, each on a line of its own.

        Raises:
            TooLargeError: there is too much around them.
        """
        part = self._held + part
        self._held = b""
        at = kept = 0
        while at < len(part):
            if self._is_text:
                at = _end_of_text(part, at)
                if part[at:] == b"\\":  # what it escapes is in the next part
                    self._held, part = part[at:], part[:at]
                elif at < len(part):
                    self._is_text = False
                    at += 1
                continue
            found = _MARK.search(part, at)
            if found is None:
                break
            at = found.end()
            kept = self._pass(found.group(), part, kept, at)
        self._keep(part[kept:])
        if len(self._around) > self._most_bytes:
            raise TooLargeError
        lines = bytes(self._lines)
        self._lines.clear()
        return lines

    def _pass(self, mark: bytes, part: bytes, kept: int, end: int) -> int:
        """Go on behind a mark; return up to where the part was kept."""
        if mark == b'"':
            self._is_text = True
        elif mark in {b"[", b"{"}:
            self._depth += 1
            if mark == b"[" and self._depth == _ITEMS and not self._is_list:
                self._keep(part[kept:end])
                kept = end
                self._is_list = bool(self._begins.search(self._around[-_LONGEST_BEGINNING:]))
        elif self._is_list and self._depth == _ITEMS and mark != b"}":
            self._keep(part[kept : end - 1])
            self._lines += b"\n"
            kept = end
            if mark == b"]":
                self._is_list = False
                self._depth -= 1
                kept = end - 1
        elif mark != b",":
            self._depth -= 1
        return kept

    def _keep(self, piece: bytes) -> None:
        if self._is_list:
            self.has_items = self.has_items or bool(piece.strip())
            self._lines += piece.translate(_BREAKS)
        else:
            self._around += piece


def _end_of_text(part: bytes, at: int) -> int:
    """Return where a text ends: at its quote, else at the end, or before half of an escape."""
    found = _TEXT.match(part, at)
    return at if found is None else found.end()
