"""The table's stream on the real way: runs that end are counted, and their pairs folded."""

from collections.abc import Iterator

import pytest

from autotune import AutotuneClient
from autotune.protocol.apprentice_pairs import ApprenticeVersionPair
from autotune.protocol.apprentice_tasks import ApprenticeTask
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.storage.table import Table
from local.records import LocalProfile
from tests.e2e.conftest import until
from tests.e2e.stored_runs import add_version, answered, apprentice_table
from tests.support.apprentice import configuration

RUNS = 30


@pytest.fixture
def table(profile: LocalProfile) -> Table:
    return apprentice_table(profile)


@pytest.fixture
def task(client: AutotuneClient) -> Iterator[ApprenticeTask]:
    connection = client.llm.connections.create(
        name="teacher",
        provider="simulated",
        base_url="http://127.0.0.1:9/v1",
        prices={"small": {"input_usd": "0.1", "output_usd": "0.4"}},
    )
    yield client.apprentice_tasks.put("folded", configuration=configuration(connection.id))
    client.llm.connections.revoke(connection.id)


def test_runs_that_end_become_pairs_and_evidence(
    client: AutotuneClient, task: ApprenticeTask, table: Table
) -> None:
    organization_id = client.keys.me().organization_id
    add_version(table, task, organization_id)
    runs, evidence = RunRepository(table), EvidenceRepository(table)
    made = [answered(task, organization_id, place % 3 / 2) for place in range(RUNS)]
    for run in made:
        assert runs.add(run)

    def pairs() -> list[ApprenticeVersionPair]:
        found = list(client.apprentice_tasks.pairs("folded", version=1))
        return found if len(found) == RUNS else []

    found = until(pairs, seconds=60)
    assert [one.sequence for one in found] == list(range(RUNS, 0, -1))
    scores = {run.id: run.pairs[0].score for run in made}
    assert {one.run_id: one.score for one in found} == scores
    days = evidence.days(task.id, "2000-01-01", "2100-01-01")
    assert sum(day.remote for day in days) == RUNS
    assert sum(day.cost_answers for day in days) == RUNS * 1_000
    assert evidence.examples_of(task.id, task.definition_hash) == RUNS

    client.apprentice_tasks.delete("folded")

    assert runs.get(made[0].id) is None
    assert list(table.items(task.id)) == []
    assert evidence.all_of(task.id) == []
