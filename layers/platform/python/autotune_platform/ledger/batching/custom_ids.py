"""The name of a row within a provider's job: letters and digits alone, as every provider takes.

It has the attempt in it, so that what comes late is of an attempt that is over. It is at most 32
characters long, and none of the caller's own.
"""

import re

from autotune.protocol.ids import ID_BODY
from autotune_platform.ledger.models import Row

_NAME = re.compile(rf"({ID_BODY})x([1-9][0-9]?)", re.ASCII)
_KIND = "llm_"


def custom_id(row: Row) -> str:
    """Return the name of a row in its present attempt."""
    return f"{row.id.removeprefix(_KIND)}x{row.attempt}"


def row_of(name: str) -> tuple[str, int] | None:
    """Return the row's id and the attempt; None where it is none of our names."""
    found = _NAME.fullmatch(name)
    return (f"{_KIND}{found[1]}", int(found[2])) if found else None
