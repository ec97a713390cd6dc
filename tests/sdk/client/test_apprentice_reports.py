"""``client.apprentice``: standing, report and estimate, blocking and not."""

import asyncio
import json
from datetime import UTC, datetime

import pytest

from autotune import AsyncAutotuneClient, InvalidRequestError, NotFoundError
from tests.support.apprentice_folding import Apprentice
from tests.support.ledger import ledger as make_ledger


@pytest.fixture
def apprentice(api):
    """A task with a version in shadow, which agreed in 94 of 100 pairs."""
    with make_ledger(api.platform) as ledger:
        made = Apprentice(api.platform, ledger.connect())
        made.add_version(1)
        scores = [0.0 if place % 17 == 0 else 1.0 for place in range(100)]
        made.store(made.answered(score, created_at=datetime.now(UTC)) for score in scores)
        made.follow()
        yield made


def test_the_sdk_reads_the_same_blocking_and_not(client, api, apprentice):
    status = client.apprentice.status("intents")
    report = client.apprentice.report("intents", days=7)
    estimate = client.apprentice.estimate("intents")
    assert (status.phase, status.versions[0].agreement.mean) == (2, 0.94)
    assert report.status == status
    assert report.days[0].counts.remote == 100

    async def read():
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as other:
            return (
                await other.apprentice.status("intents"),
                await other.apprentice.report("intents", days=7),
                await other.apprentice.estimate("intents"),
            )

    read_too = asyncio.run(read())
    assert read_too[:2] == (status, report)
    assert read_too[2].pairs == estimate.pairs
    sent = {client.apprentice.send_report("intents", days=7, idempotency_key="k") for _ in "ab"}
    assert [one.event_id[:4] for one in sent] == ["evt_"]
    with pytest.raises(NotFoundError):
        client.apprentice.status("another")
    with pytest.raises(InvalidRequestError):
        client.apprentice.report("intents", days=91)
    assert json.loads(status.model_dump_json(by_alias=True))["examplesNeeded"] == 50
