"""The loop of sweeps: what is due is looked at, and what fails holds up nothing behind it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from aws_lambda_powertools import Logger

logger = Logger()

DueT = TypeVar("DueT")
FoundT = TypeVar("FoundT")


@dataclass(frozen=True)
class Looks(Generic[FoundT]):
    """What a sweep came to.

    Attributes:
        count: at how many it looked, those too that failed.
        found: what the others came to, in their order.
        failed: the first error; None where nothing failed.
    """

    count: int
    found: list[FoundT]
    failed: Exception | None

    def require(self) -> "Looks[FoundT]":
        """Return it if nothing failed.

        Raises:
            Exception: the first error of a look.
        """
        if self.failed is not None:
            raise self.failed
        return self


def look_at_each(
    due: Iterable[DueT],
    look: Callable[[DueT], FoundT],
    *,
    has_time: Callable[[], bool],
    put_off: Callable[[DueT], object],
) -> Looks[FoundT]:
    """Look at one after the other while there is time; an error ends no other's look.

    Args:
        due: what is due, in the order in which it is looked at.
        look: does what is next for one.
        has_time: asked before each.
        put_off: logs that one failed, and has it looked at later, so that it is not in the way of
            what is due behind it. It is called while its error is handled. If it fails itself, the
            one that failed stays due.
    """
    count, found = 0, []
    failed: Exception | None = None
    for one in due:
        if not has_time():
            break
        count += 1
        try:
            found.append(look(one))
        except Exception as error:  # noqa: BLE001 - it is raised once all others were looked at
            failed = failed or error
            _put_off(one, put_off)
    return Looks(count, found, failed)


def _put_off(one: DueT, put_off: Callable[[DueT], object]) -> None:
    try:
        put_off(one)
    except Exception:
        logger.exception("what failed was not put off")
