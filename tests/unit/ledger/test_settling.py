"""A batch is not settled before its time, whatever a step believes."""

from unittest.mock import Mock

import pytest

from autotune_platform.ledger.models import Batch
from autotune_platform.ledger.settling import BatchSettling, Totals
from autotune_platform.runtime.errors import UnavailableError


@pytest.mark.parametrize("totals", [Totals(pending=1), Totals(reasks_due=1)])
def test_a_batch_with_rows_under_way_is_left_for_a_later_step(totals: Totals) -> None:
    anything = Mock()
    settling = BatchSettling(
        rows=anything,
        batches=anything,
        claims=anything,
        costs=anything,
        live=anything,
        money=anything,
        open_calls=anything,
    )
    with pytest.raises(UnavailableError, match="lbt_1") as refused:
        settling.settle(Batch.model_construct(id="lbt_1"), totals)
    assert refused.value.retry_after_seconds
    assert anything.mock_calls == []
