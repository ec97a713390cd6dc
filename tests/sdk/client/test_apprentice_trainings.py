"""``client.apprentice.trainings``, blocking and not."""

import asyncio

import pytest

from autotune import (
    AsyncAutotuneClient,
    ConflictError,
    NotFoundError,
    WaitTimeoutError,
)
from tests.support.apprentice_runs import runs as make_runs
from tests.support.ledger import ledger as make_ledger
from tests.support.trainings import trainings as make_trainings

SERVED_ELSEWHERE = {"backend": "vllm", "url": "https://models.example.com/v1"}


@pytest.fixture
def trainings(api, monkeypatch):
    """A task whose small model is trained here, without examples."""
    with (
        make_ledger(api.platform) as ledger,
        make_runs(ledger) as runs,
        make_trainings(runs, monkeypatch) as made,
    ):
        yield made


def test_a_training_is_started_waited_for_and_read(client, trainings, no_waiting):
    trainings.ask(160)
    ours = client.apprentice.trainings
    begun = ours.start("intents")
    assert (begun.state, begun.step, begun.backend) == ("running", "freeze", "linear")
    seen = []

    def look(training):
        seen.append(training.step)
        step = {"freeze": "freeze_examples", "train": "train_linear"}.get(training.step)
        if training.state == "running":
            trainings.steps(trainings.executions()[0], through=step or "host_student")

    ended = ours.wait_for("intents", 1, on_progress=look)
    assert seen == ["freeze", "train", "validate", "host"]
    assert [one for one in no_waiting if one >= 1] == [1.0, 1.2, 1.44]
    assert (ended.state, ended.version, ended.objections) == ("hosted", 1, [])
    assert ours.get("intents", 1) == ended
    assert ended.test.bound > ended.test.threshold == 0.6
    assert client.apprentice.versions.get("intents", 1).digest == ended.model.sha256


def test_one_without_examples_says_how_many_it_takes(client, trainings):
    ours = client.apprentice.trainings
    for number in (1, 2):
        assert ours.start("intents").number == number
        trainings.steps(trainings.executions()[0])
    second, first = list(ours.list("intents", page_size=1))
    assert (second.number, first.number) == (2, 1)
    assert (first.state, first.objections) == ("discarded", ["too_few_examples"])
    assert first.shortage.train == first.shortage.holdout == 0
    assert first.shortage.train_needed == 50
    assert first.shortage.holdout_needed > 1


def test_what_cannot_be_is_an_error(client, trainings):
    ours = client.apprentice.trainings
    with pytest.raises(NotFoundError):
        ours.start("none")
    with pytest.raises(NotFoundError, match="task intents has no training 1"):
        ours.get("intents", 1)
    ours.start("intents")
    with pytest.raises(ConflictError, match="training 1 of intents is under way"):
        ours.start("intents")
    with pytest.raises(WaitTimeoutError, match="training 1 still ran after 0 s"):
        ours.wait_for("intents", 1, timeout=0)
    trainings.step("fail_training", trainings.executions()[0])
    trainings.put(training=None, local=SERVED_ELSEWHERE)
    with pytest.raises(ConflictError, match="the configuration of intents has no training"):
        ours.start("intents")


def test_the_asynchronous_client_does_the_same(api, trainings):
    async def use() -> None:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            ours = client.apprentice.trainings
            begun = await ours.start("intents")
            assert await ours.get("intents", 1) == begun
            with pytest.raises(WaitTimeoutError):
                await ours.wait_for("intents", 1, timeout=0)
            trainings.steps(trainings.executions()[0])
            ended = await ours.wait_for("intents", 1)
            assert ended.state == "discarded"
            assert [one async for one in ours.list("intents")] == [ended]

    asyncio.run(use())
