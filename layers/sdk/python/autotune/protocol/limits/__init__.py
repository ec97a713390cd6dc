"""Limits that a caller can meet, in one place; each error that enforces one names it.

A module has those of a domain; this one has them all, and is what others import.
"""

from autotune.protocol.limits.apprentice import *  # noqa: F403
from autotune.protocol.limits.decks import *  # noqa: F403
from autotune.protocol.limits.ledger import *  # noqa: F403
from autotune.protocol.limits.scoring import *  # noqa: F403
