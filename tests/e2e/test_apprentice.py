"""Tasks of the apprentice on the real way: put, changed, answered, listed and deleted."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from autotune import APIError, AuditedEvent, AutotuneClient
from autotune.protocol.apprentice_runs import ApprenticeRun
from autotune.protocol.llm_connections import LlmConnection
from tests.e2e.conftest import until
from tests.providers.answers import Reply
from tests.providers.server import FakeServer, serve
from tests.support.apprentice import configuration
from tests.support.apprentice_runs import ANSWER, INPUT
from tests.support.students import made_up
from tests.support.trainings import VERBS, taught

PATIENCE = 60
# So low that some dozens of held-out examples suffice, and fewer than are asked. None begins by
# itself: the batch is more than are asked.
LENIENT = {
    "phase1ToPhase2": 50,
    "phase2ToPhase3": 0.6,
    "coachingTrigger": 0.5,
    "emergencyThreshold": 0.3,
}
TRAINING = {"backend": "linear", "fineTuneBatchSize": 200, "holdout": 0.3}


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


@pytest.fixture
def provider() -> Iterator[FakeServer]:
    with serve() as fake:
        fake.world.prices.add("compatible", "small", (0.1, 0.1, 0.4))
        fake.world.keys["compatible"] = {"fake-key": "main"}
        fake.world.answers.answerer = lambda _: Reply(ANSWER, has_token=False)
        yield fake


@pytest.fixture
def teacher(client: AutotuneClient, provider: FakeServer) -> Iterator[LlmConnection]:
    made = client.llm.connections.create(
        name="teacher",
        provider="simulated",
        base_url=f"{provider.base_url}/served/v1",
        api_key="fake-key",
        prices={"small": {"input_usd": "0.1", "output_usd": "0.4"}},
    )
    yield made
    client.llm.connections.revoke(made.id)


def test_runs_are_answered_paid_once_and_listed(
    client: AutotuneClient, provider: FakeServer, teacher: LlmConnection
) -> None:
    client.apprentice_tasks.put("answered", configuration=configuration(teacher.id))
    apprentice = client.apprentice

    waited = apprentice.run("answered", input=INPUT, wait=25, idempotency_key="one")
    if waited.state == "pending":  # a machine that is busy
        waited = until(lambda: _ended(client, waited.id), seconds=PATIENCE)
    again = apprentice.run("answered", input=INPUT, wait=25, idempotency_key="one")
    sent = apprentice.run("answered", input=INPUT, wait=0)

    assert sent.state == "pending"
    runs = [waited, again, until(lambda: _ended(client, sent.id), seconds=PATIENCE)]
    assert again == apprentice.get_run(waited.id)
    assert {(one.state, str(one.output)) for one in runs} == {
        ("answered", "{'intent': 'open_door'}")
    }
    bill = provider.world.bill()
    assert bill["executions"] == 2
    ids = [one.routing.request_ids for one in (waited, runs[2]) if one.routing]
    rows = [client.llm.get(row_id) for of_run in ids for row_id in of_run]
    assert sum(row.cost_nano_usd or 0 for row in rows) == bill["total_nano_usd"]
    listed = until(lambda: _listed(client, 2), seconds=PATIENCE)
    assert [one.id for one in listed] == [sent.id, waited.id]
    client.apprentice_tasks.delete("answered")
    with pytest.raises(APIError) as found:
        apprentice.get_run(waited.id)
    assert found.value.status == 404


def _ended(client: AutotuneClient, run_id: str) -> ApprenticeRun | None:
    run = client.apprentice.get_run(run_id)
    return None if run.state == "pending" else run


def _listed(client: AutotuneClient, count: int) -> list[ApprenticeRun] | None:
    runs = [one for one in client.apprentice.runs("answered") if one.state == "answered"]
    return runs if len(runs) == count else None


def test_a_storm_of_runs_costs_no_more_than_the_task_may(
    client: AutotuneClient, provider: FakeServer, teacher: LlmConnection
) -> None:
    """The provider keeps the bill that counts; eight ask at once, and some wait for the queue."""
    asked = configuration(teacher.id)
    client.apprentice_tasks.put("stormed", configuration=asked)
    first = client.apprentice.run("stormed", input=INPUT, wait=25)
    assert first.routing is not None, first
    bound = client.llm.get(first.routing.request_ids[0]).bound_nano_usd
    limit = provider.world.bill()["total_nano_usd"] + 20 * bound + bound // 2
    budgets = {"daily": f"{Decimal(limit) / 10**9:f}"}
    client.apprentice_tasks.put("stormed", configuration={**asked, "budgets": budgets})

    def run(number: int) -> str:
        try:
            sent = client.apprentice.run("stormed", input=INPUT, wait=25 if number % 4 else 0)
        except APIError as error:
            if (error.status, error.code) != (402, "budget_exhausted") or error.budget is None:
                raise
            return f"refused by {error.budget.scope}"
        return sent.id

    with ThreadPoolExecutor(8) as threads:
        became = list(threads.map(run, range(60)))
    ids = [one for one in became if not one.startswith("refused")]
    ended = [until(lambda: _ended(client, one), seconds=PATIENCE) for one in ids]  # noqa: B023
    # Answers cost less than their bounds, so that there is room again until there is none for one.
    while len(became) < 600 and not (last := run(1)).startswith("refused"):
        became.append(last)

    bill = provider.world.bill()["total_nano_usd"]
    assert limit - bound < bill <= limit, (limit, bound, bill)
    assert {one for one in became if one.startswith("refused")} <= {"refused by apprentice_task"}
    assert {one.state for one in ended} <= {"answered", "refused"}
    rows = client.llm.list(connection_id=teacher.id)
    assert sum(one.cost_nano_usd for one in rows) == bill
    periods = client.apprentice_tasks.get("stormed").spend.periods
    assert {(one.spent_nano_usd, one.reserved_nano_usd) for one in periods} == {(bill, 0)}
    task_id = client.apprentice_tasks.get("stormed").id
    (exhausted,) = until(lambda: _audited(client, task_id), seconds=PATIENCE)
    assert exhausted.data["limitNanoUsd"] == limit
    assert client.apprentice.send_report("stormed", days=1).event_id.startswith("evt_")
    client.apprentice_tasks.delete("stormed")


def _audited(client: AutotuneClient, task_id: str) -> list[AuditedEvent]:
    """The budget that is used up is in the audit log, without a webhook."""
    found = client.audit.list(action="budget_exhausted")
    return [
        one for one in found if isinstance(one, AuditedEvent) and one.data.get("taskId") == task_id
    ]


def test_a_small_model_is_trained_judged_hosted_and_asked_beside_the_paid_one(
    client: AutotuneClient, provider: FakeServer, teacher: LlmConnection
) -> None:
    """From answers of the paid model to a version in shadow: all steps are functions."""
    provider.world.answers.answerer = taught
    asked = configuration(teacher.id, thresholds=LENIENT, training=TRAINING)
    client.apprentice_tasks.put("trained", configuration=asked)
    questions = [given for given, _ in made_up(100)]

    def ask(question: dict[str, str]) -> str:
        return client.apprentice.run("trained", input=question, wait=25).id

    with ThreadPoolExecutor(8) as threads:
        ids = list(threads.map(ask, questions[:90]))
    assert all(until(lambda: _ended(client, one), seconds=PATIENCE) for one in ids)  # noqa: B023
    until(lambda: client.apprentice.examples.counts("trained").examples == 90, seconds=PATIENCE)

    begun = client.apprentice.trainings.start("trained")
    hosted = client.apprentice.trainings.wait_for("trained", begun.number, timeout=180)

    assert (hosted.state, hosted.objections, hosted.error) == ("hosted", [], None)
    assert hosted.model is not None
    assert hosted.version is not None
    version = client.apprentice.versions.get("trained", hosted.version)
    assert (version.model, version.digest) == (hosted.model.name, hosted.model.sha256)

    def shadowed() -> ApprenticeRun | None:
        run = client.apprentice.run("trained", input=questions[-1], wait=25)
        return run if run.routing and run.routing.pairs else None

    run = until(shadowed, seconds=PATIENCE)
    (verb,) = VERBS.intersection(questions[-1]["text"].split())
    assert str(run.output) == str({"intent": verb})
    client.apprentice_tasks.delete("trained")
