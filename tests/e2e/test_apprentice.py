"""Tasks of the apprentice on the real way: put, changed, listed and deleted."""

from collections.abc import Iterator

import pytest

from autotune import APIError, AutotuneClient
from autotune.protocol.llm_connections import LlmConnection
from tests.support.apprentice import configuration


@pytest.fixture
def connection(client: AutotuneClient) -> Iterator[LlmConnection]:
    made = client.llm.connections.create(
        name="teacher",
        provider="simulated",
        base_url="http://127.0.0.1:9/v1",
        prices={"small": {"input_usd": "0.1", "output_usd": "0.4"}},
    )
    yield made
    client.llm.connections.revoke(made.id)


def test_a_task_is_put_changed_listed_and_deleted(
    client: AutotuneClient, connection: LlmConnection
) -> None:
    tasks = client.apprentice_tasks
    asked = configuration(connection.id)
    first = tasks.put("intents", configuration=asked)
    assert tasks.put("intents", configuration=asked) == first

    second = tasks.put("intents", configuration={**asked, "budgets": {"weekly": "20"}})

    assert (first.version, second.version) == (1, 2)
    assert second.definition_hash == first.definition_hash
    assert tasks.get("intents") == second
    assert [one.name for one in tasks.list()] == ["intents"]
    assert [one.version for one in tasks.configurations("intents")] == [2, 1]
    assert tasks.configuration("intents", 1).configuration == first.configuration
    tasks.delete("intents")
    with pytest.raises(APIError) as found:
        tasks.get("intents")
    assert found.value.status == 404
    assert list(tasks.list()) == []
