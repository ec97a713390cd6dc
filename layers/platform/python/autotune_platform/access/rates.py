"""How many requests a second a key and its organisation may send, whatever answers them.

A second of an organisation is an item that counts its requests, and those of each key in it, with
those of the key's sessions: one write tells whether there is room for one more. Of an organisation
that may send many, a second has several items, because DynamoDB takes a thousand writes a second of
one.
"""

import random
from dataclasses import field

from aws_lambda_powertools import Logger
from cachetools import TTLCache

from autotune.protocol.problems import LimitProblem
from autotune_platform.access.models import Caller
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import TooManyRequestsError
from autotune_platform.runtime.parts import part
from autotune_platform.storage.table import Table

logger = Logger()

REQUESTS_OF_AN_ITEM = 500
"""Requests a second for which an organisation gets another item."""

_ALL = "all"
_SECOND = "second"
_KEPT_SECONDS = 60
_REMEMBERED = 1_024


@part
class RequestRates:
    """Counts requests, and refuses those beyond a limit.

    Attributes:
        table: a table whose client gives up soon: requests are not held up to be counted.
    """

    table: Table
    clock: Clock = SYSTEM_CLOCK
    # Whose limit was met in which second: what comes in the rest of it costs no write.
    _full: TTLCache[str, int] = field(
        default_factory=lambda: TTLCache(_REMEMBERED, _KEPT_SECONDS), init=False
    )

    def take(self, caller: Caller) -> None:
        """Count a request. Where the table refuses to count, there is room.

        Raises:
            TooManyRequestsError: the key or its organisation has sent as many in this second.
        """
        second = int(self.clock.unix())
        for who in (caller.key_id, caller.organization_id):
            if self._full.get(who) == second:
                raise _too_many(caller, of_key=who == caller.key_id)
        items = -(-caller.limits.requests_per_second // REQUESTS_OF_AN_ITEM)
        full: str | None = None
        for item in random.sample(range(items), items):
            full = self._spend(caller, second, item, items)
            if full is None:
                return
        of_key = full == caller.key_id
        self._full[caller.key_id if of_key else caller.organization_id] = second
        raise _too_many(caller, of_key=of_key)

    def _spend(self, caller: Caller, second: int, item: int, items: int) -> str | None:
        """Count a request in an item; return whose limit is met there, None for nobody's."""
        limits = caller.limits
        ceilings = {
            _ALL: _share(limits.requests_per_second, item, items),
            caller.key_id: _share(limits.requests_per_second_of_key, item, items),
        }
        without_room = [who for who, most in ceilings.items() if most == 0]
        if without_room:
            return without_room[0]
        try:
            return self.table.spend(
                f"rate#{caller.organization_id}#{second}#{item}",
                _SECOND,
                ceilings,
                expires_at=second + _KEPT_SECONDS,
            )
        except REFUSALS:
            logger.warning("request not counted", key_id=caller.key_id, exc_info=True)
            return None


def _share(limit: int, item: int, items: int) -> int:
    """Return an item's part of a limit; all of them together are the limit."""
    return limit // items + (item < limit % items)


def _too_many(caller: Caller, *, of_key: bool) -> TooManyRequestsError:
    limits = caller.limits
    name, most = ("organization", limits.requests_per_second)
    if of_key:
        name, most = ("key", limits.requests_per_second_of_key)
    return TooManyRequestsError(
        f"this {name} may send {most} requests a second",
        limit=LimitProblem(
            name=f"requests per second of the {name}", maximum=most, unit="requests per second"
        ),
        retry_after_seconds=1,
    )
