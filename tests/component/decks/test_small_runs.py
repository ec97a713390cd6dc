"""What a run of a few samples waits for."""

import pytest

from tests.support.deck_runs import DeckRuns, verdict
from tests.support.ledger import Ledger


@pytest.mark.parametrize("samples", [1, 12])
def test_a_run_of_calls_waits_for_no_others_to_share_a_batch_with(
    ledger: Ledger, samples: int
) -> None:
    runs = DeckRuns(ledger)
    # As a connection is without settings: twenty rows, or five minutes.
    runs.connection_id = runs.ledger.connect(minRows=None, maxWaitSeconds=None)
    runs.add_grader()
    runs.add_samples(*(f"sample {place}" for place in range(samples)))
    runs.judging(lambda _: verdict(1))
    runs.step(runs.state(runs.start()))
    runs.ledger.run()  # without the sweeper, and no time has passed
    assert len(runs.asked) == samples
