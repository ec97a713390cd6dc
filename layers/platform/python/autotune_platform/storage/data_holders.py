"""What each domain keeps of completions and organisations: where, for how long, how it is erased.

A domain that stores anything is a data holder, and lists it in its module ``holdings``. What it
keeps of a completion's text it erases through a ``CompletionEraser``. The operators' guide has all
of it as one table (``tools/data_holders.py``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

WITH_COMPLETION = "`DELETE /api/v1/completions/{id}`, `DELETE /api/v1/batches/{id}/content`"
"""How a holding is erased that a ``CompletionEraser`` erases."""

Owner = Literal["completion", "organization", "installation"]
Place = Literal[
    "table registry",
    "table completions",
    "table budgets",
    "table deliveries",
    "table audit",
    "table ledger",
    "table decks",
    "table apprentice",
    "bucket apprentice",
    "bucket content",
    "bucket exports",
    "bucket audit",
    "bucket ledger",
    "queues",
    "executions",
]


@dataclass(frozen=True, kw_only=True)
class Holding:
    """One kind of data that a domain keeps.

    Attributes:
        key: pattern of its keys: ``<pk> / <sk>`` in a table, with ``*`` for any text.
        of: what it says something of: single completions, an organisation, or neither.
        has_text: whether prompts, responses or metadata are in it.
        days: after how many days it goes by itself, at first or since it was of use; None if never.
        kept: how long, in words, where ``days`` does not say it.
        erased: how a caller has it erased; empty where nobody can.
        retained: why nobody can.
    """

    place: Place
    key: str
    what: str
    of: Owner = "organization"
    has_text: bool = False
    days: int | None = None
    kept: str = ""
    erased: str = ""
    retained: str = ""

    def includes(self, place: str, key: str) -> bool:
        """Return whether an item or object is of this kind, by its key."""
        return place == self.place and fnmatchcase(key, self.key)


@dataclass(frozen=True, kw_only=True)
class RegistryHolding(Holding):
    """What is kept in the table of an organisation's few entities."""

    place: Place = "table registry"


@dataclass(frozen=True, kw_only=True)
class CompletionHolding(Holding):
    """What is kept in the table of completions, of single ones of them."""

    place: Place = "table completions"
    of: Owner = "completion"


@dataclass(frozen=True)
class DataHolder:
    """A domain, and all that it keeps."""

    domain: str
    holds: Sequence[Holding]
