"""A batch that cannot be gone on with holds up no other one.

LiteLLM's #35357: its poller goes through batches in a loop, and one that raises ends the loop, so
that no batch behind it is ever looked at.
"""

from typing import Any
from unittest.mock import patch

import pytest

from autotune_platform.ledger.batching.polling import JobPolling
from autotune_platform.ledger.models import Batch, Connection
from tests.component.ledger.test_jobs import MODELS, connect
from tests.component.ledger.test_journeys import assert_settled, statuses
from tests.support.ledger import Ledger

MODEL = MODELS["openai"]


class BrokenError(Exception):
    """Nobody foresaw it."""


@pytest.mark.parametrize("place", [0, 1])
def test_a_batch_whose_look_always_raises_holds_up_no_other(ledger: Ledger, place: int) -> None:
    connections = [connect(ledger, "openai", maxWaitSeconds=0) for _ in range(2)]
    ids = [ledger.enqueue(one, "a", "b", model=MODEL) for one in connections]
    broken, real, looks = connections[place], JobPolling.poll, []

    def poll(self: JobPolling, batch: Batch, connection: Connection) -> Any:
        if batch.connection_id == broken:
            looks.append(batch.id)
            raise BrokenError
        return real(self, batch, connection)

    with (
        patch.object(JobPolling, "poll", poll),
        pytest.raises(AssertionError, match="under way"),
    ):
        ledger.run_jobs(hours=0.5, killed_by=BrokenError)
    assert len(looks) > 10
    assert statuses(ledger, ids[1 - place]) == {"completed": 2}
    assert statuses(ledger, ids[place]) == {"submitted": 2}
    by_connection = {one["connectionId"]: one for one in ledger.batches()}
    assert by_connection[connections[1 - place]]["status"] == "completed"
    assert by_connection[connections[1 - place]]["reservedNanoUsd"] == 0
    assert by_connection[broken]["status"] == "submitted"
    ledger.run_jobs()
    assert statuses(ledger, [*ids[0], *ids[1]]) == {"completed": 4}
    assert_settled(ledger)
