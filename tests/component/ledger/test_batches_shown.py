"""What a batch shows of its canceling and of the tokens that it is estimated at."""

import pytest

from tests.component.ledger.test_jobs import MODELS, connect
from tests.support.ledger import Ledger

PROVIDERS = [("openai", None), ("openrouter", "openrouter cancels no batch jobs")]


@pytest.mark.parametrize(("provider", "detail"), PROVIDERS)
def test_a_batch_that_was_canceled_says_so_and_why_its_job_goes_on(
    ledger: Ledger, provider: str, detail: str | None
) -> None:
    connection = connect(ledger, provider, batches="always", maxWaitSeconds=0)
    ledger.enqueue(connection, "a", "b", model=MODELS[provider])
    (state,) = ledger.started()
    while not ledger.fake.world.batches:
        state = ledger.step(state)
    (before,) = ledger.batches()
    assert (before["cancelRequestedAt"], before["cancelDetail"]) == (None, None)
    path = f"/api/v1/llm-batches/{before['id']}/cancel"
    canceled = ledger.platform.call("POST", path).json["batch"]
    assert canceled["cancelRequestedAt"] is not None
    if detail is None:
        assert canceled["cancelDetail"] is None
    else:
        assert canceled["cancelDetail"].startswith(detail)
    ledger.finish(state)
    ledger.run_jobs()
    (after,) = ledger.batches()
    assert (after["cancelRequestedAt"], after["cancelDetail"]) == (
        canceled["cancelRequestedAt"],
        None,
    )


def test_a_job_shows_its_tokens_and_single_calls_have_none(ledger: Ledger) -> None:
    model = MODELS["openai"]
    connection = connect(
        ledger, "openai", maxWaitSeconds=0, limits={"enqueuedTokens": {model: 100_000}}
    )
    ledger.enqueue(connection, "a", "b", model=model)
    ledger.run_jobs()
    (job,) = ledger.batches()
    # Each is a byte, two of no format, and a message.
    assert (job["inputTokens"], job["countedTokens"]) == (2 * 131, 2 * 131)
    ledger.enqueue(ledger.connect(maxWaitSeconds=0), "a")
    ledger.run()
    (calls,) = [one for one in ledger.batches() if one["mode"] == "calls"]
    assert (calls["inputTokens"], calls["countedTokens"]) == (None, None)
