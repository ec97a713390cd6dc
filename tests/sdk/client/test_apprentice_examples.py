import asyncio

import pytest

from autotune import (
    ApprenticeExample,
    AsyncAutotuneClient,
    InvalidInputError,
    NewApprenticeExample,
    NotFoundError,
)
from autotune.client import apprentice_examples
from tests.support.apprentice import configuration
from tests.support.ledger import ledger as make_ledger


@pytest.fixture
def task(api, client):
    """A task whose examples are looked after."""
    with make_ledger(api.platform) as ledger:
        asked = configuration(ledger.connect())
        yield client.apprentice_tasks.put("support", configuration=asked)


def example(number):
    return {"input": {"text": f"question {number}"}, "output": {"intent": "open"}}


def test_examples_are_added_listed_counted_and_deleted(client, task):
    examples = client.apprentice.examples
    new = NewApprenticeExample(**example(1))
    done = examples.add("support", [example(0), new, example(1)])
    assert (done.added, done.repeated, done.rejected) == (2, 1, [])
    found = list(examples.list("support", page_size=1))
    assert all(isinstance(one, ApprenticeExample) for one in found)
    assert sorted(one.input["text"] for one in found) == ["question 0", "question 1"]
    assert examples.add("support", found).repeated == 2
    assert examples.counts("support").selections.imported == 2
    examples.delete("support", found[0].id)
    assert [one.id for one in examples.list("support")] == [found[1].id]
    with pytest.raises(NotFoundError):
        examples.delete("support", found[0].id)
    before = examples.counts("support", definition_hash="0" * 64)
    assert (before.definition_hash, before.examples) == ("0" * 64, 0)


def test_many_examples_go_in_several_requests(client, task, monkeypatch):
    monkeypatch.setattr(apprentice_examples, "MAX_EXAMPLES_AT_ONCE", 4)
    seen = []
    given = [example(number) for number in range(10)]
    given[6] = {"input": {"text": 1}, "output": {"intent": "open"}}
    done = client.apprentice.examples.add(
        "support", iter(given), on_progress=lambda so_far: seen.append(so_far.added)
    )
    assert (done.added, seen) == (9, [4, 7, 9])
    [rejected] = done.rejected
    assert (rejected.line, rejected.field) == (7, "input.text")


def test_what_cannot_be_sent_is_an_error(client, task):
    with pytest.raises(InvalidInputError, match=r"examples\[1\]"):
        client.apprentice.examples.add("support", [example(0), {"input": float("nan")}])
    with pytest.raises(NotFoundError):
        client.apprentice.examples.add("none", [example(0)])
    with pytest.raises(NotFoundError):
        list(client.apprentice.examples.list("none"))


@pytest.mark.usefixtures("task")
def test_the_asynchronous_client_does_the_same(api):
    async def use() -> None:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            examples = client.apprentice.examples
            assert (await examples.add("support", [example(0)])).added == 1
            [found] = [one async for one in examples.list("support")]
            assert (await examples.counts("support")).examples == 1
            await examples.delete("support", found.id)

    asyncio.run(use())
