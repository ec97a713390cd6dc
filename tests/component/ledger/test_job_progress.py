"""How far a job is, while it is under way, and what it costs to know."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from autotune_platform.runtime import clients
from tests.component.ledger.test_jobs import MODELS, assert_paid_once, connect, trap
from tests.support.ledger import Ledger

ROWS = 4


def wait(ledger: Ledger, *, hours: float) -> None:
    with pytest.raises(AssertionError, match="under way"):
        ledger.run_jobs(hours=hours)


@pytest.fixture
def written(ledger: Ledger) -> list[set[str]]:
    """Which attributes each write of a batch named."""
    found: list[set[str]] = []

    def see(model: Any, params: Any, **_: Any) -> None:
        asked = json.loads(params["body"])
        if model.name == "UpdateItem" and asked["Key"]["pk"]["S"].startswith("lbt_"):
            found.append(set(asked["ExpressionAttributeNames"].values()))

    clients.dynamodb().meta.events.register("before-call.dynamodb", see)
    return found


# Anthropic counts all as processing until the end, and Gemini runs all at once at the fake.
@pytest.mark.parametrize("provider", ["openai", "openrouter"])
def test_a_job_shows_how_far_it_is_and_when_that_was_seen(ledger: Ledger, provider: str) -> None:
    ledger.fake.world.timing.run_seconds = 2 * 3600
    connection = connect(ledger, provider)
    users = [f"q {number}" for number in range(ROWS)]
    ids = ledger.enqueue(connection, *users, model=MODELS[provider])
    wait(ledger, hours=1.2)
    (batch,) = ledger.batches()
    progress = batch["progress"]
    assert 0 < progress["completed"] < ROWS
    assert (progress["failed"], progress["rows"]) == (0, ROWS)
    seen = datetime.fromisoformat(progress["at"]) - datetime.fromisoformat(batch["createdAt"])
    assert timedelta(minutes=50) < seen < timedelta(minutes=80)
    ledger.run_jobs()
    (batch,) = ledger.batches()
    assert (batch["progress"]["completed"], batch["job"]["stored"]) == (ROWS, ROWS)
    assert_paid_once(ledger, ids)


def test_a_look_is_noted_by_the_write_that_lets_the_batch_go_and_by_no_other(
    ledger: Ledger, written: list[set[str]]
) -> None:
    ledger.fake.world.timing.run_seconds = 2 * 3600
    ledger.enqueue(connect(ledger, "openai"), "q 1", "q 2", model=MODELS["openai"])
    wait(ledger, hours=0.5)
    looks = ledger.fake.world.requests["openai.get"]
    written.clear()
    wait(ledger, hours=1)
    looks = ledger.fake.world.requests["openai.get"] - looks
    noted = [names for names in written if "progress" in names]
    assert len(noted) == looks >= 3
    assert all({"worked_until", "due_at"} <= names for names in noted)
    # Whatever else a step stores while it looks on is stored with the job.
    assert not [names for names in written if "job" in names]


def test_counts_that_cannot_be_are_no_progress(ledger: Ledger) -> None:
    trap(ledger, "counts_zero")
    ids = ledger.enqueue(connect(ledger, "openai"), "q 1", model=MODELS["openai"])
    ledger.run_jobs()
    (batch,) = ledger.batches()
    assert batch["progress"] is None or batch["progress"]["rows"] == 1
    assert_paid_once(ledger, ids)


def test_what_an_operator_needs_to_find_a_job_is_shown(ledger: Ledger) -> None:
    ledger.fake.world.timing.run_seconds = 3600
    ledger.enqueue(connect(ledger, "openai"), "q 1", model=MODELS["openai"])
    wait(ledger, hours=0.3)
    (made,) = ledger.fake.world.batches.values()
    (job,) = [one["job"] for one in ledger.batches()]
    assert job["nonce"] == made.metadata["nonce"]
    assert job["inputFile"] == made.input_file_id
    assert job["bytes"] == len(ledger.fake.world.files[made.input_file_id].content)
    assert job["keyVersion"] == 1
