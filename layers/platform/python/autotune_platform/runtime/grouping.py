"""Cutting work into the sizes that services take."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def groups(items: Iterable[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the items in groups of ``size``, the last one maybe smaller."""
    remaining = iter(items)
    while group := list(islice(remaining, size)):
        yield group
