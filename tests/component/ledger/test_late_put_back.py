"""A step that puts a row back late leaves it alone where another batch has sent it meanwhile."""

from datetime import UTC, datetime

from functions.ledger import work_batch
from tests.component.ledger.test_jobs import connect
from tests.support.ledger import Ledger


def test_a_row_that_another_batch_has_is_not_put_back(ledger: Ledger) -> None:
    (row_id,) = ledger.enqueue(connect(ledger, "openai"), "question", model="gpt-5-mini")
    ends, now = work_batch.parts().batch_work.remaining.ends, datetime.now(UTC)
    rows = ends.rows
    queued = rows.get(row_id)
    assert queued is not None
    first = rows.claim(queued, "lbt_first", now)
    assert first is not None
    back = ends.put_back(first)
    assert back is not None
    assert rows.claim(back, "lbt_second", now) is not None
    assert ends.put_back(first) is None
    found = rows.get(row_id)
    assert found is not None
    assert (found.status, found.batch_id) == ("submitted", "lbt_second")
