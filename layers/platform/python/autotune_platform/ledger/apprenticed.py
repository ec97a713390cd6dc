"""Calls that a run of an apprentice's task makes: in the task's budget, and stored with the run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autotune_platform.ledger.calls import Outcome
from autotune_platform.ledger.models import Row
from autotune_platform.runtime.errors import ConflictError
from autotune_platform.storage.counting import Addition


@dataclass(frozen=True)
class Apprenticed:
    """Whose call it is, and what is written with it.

    Attributes:
        opening: returns what is written in the transaction that reserves and stores the row. One
            whose condition does not hold keeps the call from being made.
        closing: returns what is written in the transaction that ends and settles the row. Where a
            condition of it does not hold, the row is settled without it: money waits for nobody.
    """

    task_id: str
    run_id: str
    opening: Callable[[Row], Sequence[Addition]]
    closing: Callable[[Row, Outcome], Sequence[Addition]]


class NotOpenedError(ConflictError):
    """A condition of what is written before the call does not hold: nothing was asked."""

    code = "run_under_way"
    title = "Another worker has this run"

    def __init__(self) -> None:
        super().__init__("the run was begun, ended or deleted by another worker")


Lost = Callable[[Row], Sequence[Addition]]
"""Returns what is written in the transaction that settles a row whose caller was killed.

The row has ended: its error is ``platform_error`` where it was not asked, and costs nothing then;
``outcome_unclear`` where nobody knows, and it is charged in full. It is of a run where it has an
``apprentice_run_id``. As with ``closing``, what has a condition that fails is left out.
"""


def nothing_lost(_: Row) -> Sequence[Addition]:
    """Return nothing: what a row is part of needs no word of its end."""
    return ()
