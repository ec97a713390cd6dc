"""Places of chat completions: each that is waited for holds a function."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from autotune.protocol.problems import LimitProblem
from autotune_platform.access.models import Caller
from autotune_platform.budgets.waiting import WaitingShares, Work, half_of
from autotune_platform.runtime.errors import TooManyRequestsError
from autotune_platform.runtime.parts import part

_RETRY_AFTER_SECONDS: Final = 2


@part
class ChatPlaces:
    """Keeps each organisation within its share of the functions that wait.

    Attributes:
        functions: how many wait for answers at once, of all organisations; None where there is no
            bound but the account's.
    """

    waiting: WaitingShares
    functions: int | None = None

    @contextmanager
    def place(self, caller: Caller, seconds: float, *, work: Work | None = None) -> Iterator[None]:
        """Take a place for so long.

        Raises:
            TooManyRequestsError: as many of the organisation's wait as may.
        """
        most = self._most_at_once(caller)
        organization_id = caller.organization_id
        with self.waiting.place(organization_id, seconds, most=most, work=work) as has_place:
            if not has_place:
                raise TooManyRequestsError(
                    f"{most} chat completions of this organization are under way{self._or_all()}",
                    limit=LimitProblem(
                        name="chat completions at once", maximum=most, unit="chat completions"
                    ),
                    retry_after_seconds=_RETRY_AFTER_SECONDS,
                )
            yield

    def _most_at_once(self, caller: Caller) -> int:
        """Return how many of an organisation's wait: half, so that no one keeps out all others."""
        most = caller.limits.waiting_requests
        return most if self.functions is None else min(most, half_of(self.functions))

    def _or_all(self) -> str:
        most = self.waiting.most_of_all
        return "" if most is None else f", or {most} of all organizations"
