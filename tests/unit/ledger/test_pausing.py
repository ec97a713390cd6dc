"""A connection is paused by the clock of what pauses it."""

from datetime import UTC, datetime
from typing import Any
from unittest.mock import Mock

from autotune_platform.ledger.batching.stepping import Desk
from autotune_platform.ledger.calls import Refusal
from tests.unit.ledger.asking import connection

NOW = datetime(2031, 2, 3, tzinfo=UTC)


def test_the_desk_pauses_at_the_time_of_its_own_clock() -> None:
    anything: Any = Mock()
    clock: Any = Mock()
    clock.now.return_value = NOW
    desk = Desk(
        batches=anything,
        connections=anything,
        keys=anything,
        exchanges=anything,
        roles=anything,
        clock=clock,
    )
    desk.pause(connection("openai"), Refusal("account", "the key was deleted"))
    before, after, event = anything.change_status.call_args.args
    assert (before.status, after.status) == ("active", "paused")
    assert after.updated_at == event.occurred_at == NOW
