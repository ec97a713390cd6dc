"""Rubric graders on the real way: a model is asked by the ledger, and the run waits for it."""

import json
import secrets
from collections.abc import Iterator

import pytest

from autotune import AutotuneClient
from autotune.protocol.llm_connections import LlmConnection
from autotune.protocol.llm_requests import LlmRequestSummary
from local.records import LocalProfile
from tests.e2e.conftest import CommandLine, until
from tests.e2e.due import make_due
from tests.providers.server import FakeServer, serve

# Random, so that packing does not make it small enough for an item of the table.
LARGE = secrets.token_hex(20_000)
SCORE = {
    "type": "score_model",
    "name": "closeness",
    "model": "small",
    "input": [
        {"role": "developer", "content": "You grade answers."},
        {"role": "user", "content": "Answer: {{sample.output_text}} Truth: {{item.truth}}"},
    ],
    "range": [0, 10],
}


@pytest.fixture
def provider() -> Iterator[FakeServer]:
    with serve() as fake:
        fake.world.prices.add("compatible", "small", (0.1, 0.1, 0.4))
        fake.world.keys["compatible"] = {"fake-key": "main"}
        yield fake


@pytest.fixture
def connection(client: AutotuneClient, provider: FakeServer) -> Iterator[LlmConnection]:
    made = client.llm.connections.create(
        name="judges",
        provider="simulated",
        base_url=f"{provider.base_url}/served/v1",
        api_key="fake-key",
        prices={"small": {"input_usd": "0.1", "output_usd": "0.4"}},
        min_rows=1,
        max_wait_seconds=0,
    )
    yield made
    client.llm.connections.revoke(made.id)


def three_rows_of(
    client: AutotuneClient, completion_ids: list[str]
) -> list[LlmRequestSummary] | None:
    found = [one for id_ in completion_ids for one in client.llm.list(completion_id=id_)]
    return found if len(found) == 3 else None


def test_a_model_scores_completions_and_their_texts_go(
    client: AutotuneClient,
    profile: LocalProfile,
    command_line: CommandLine,
    provider: FakeServer,
    connection: LlmConnection,
) -> None:
    steps = [{"description": "compared", "conclusion": "alike"}]
    provider.world.answers.answerer = lambda ask: json.dumps(
        {"steps": steps, "result": 12 if "too good" in ask.prompt else 7.5}
    )
    grader = client.graders.register(
        name="closeness",
        openai=SCORE,
        connection_id=connection.id,
        max_tokens=300,
        share_reasoning=True,
    ).grader
    assert (grader.kind, grader.status) == ("rubric", "active")
    task = client.tasks.create(name="closeness", grader_id=grader.id)
    asked = [
        {"response": "Paris", "metadata": {"truth": "Paris"}},
        {"response": LARGE, "metadata": {"truth": "Paris"}},
        {"response": "too good", "metadata": {"truth": "Paris"}},
        {"response": "Paris", "metadata": {}},
    ]
    (batch,) = client.completions.submit_many(
        [{"prompt": "Capital?", "modelId": "m", "taskId": task.id, **one} for one in asked]
    )
    rows = until(lambda: three_rows_of(client, batch.completion_ids), seconds=60)
    assert len(client.llm.wait([one.id for one in rows], timeout=150)) == len(rows) == 3
    # MiniStack ignores the time-out of the wait (ADR 0016): the look is the sweeper's, made due.
    make_due(profile.aws_endpoint_url, batch.batch_id)
    command_line.run("ops", "sweep")
    done = client.batches.wait(batch.batch_id, timeout=90)
    values = [verdict.score.value if verdict.score else None for verdict in done.verdicts]
    assert values == [0.75, 0.75, None, None]
    assert done.verdicts[2].reason_code == "model_answer_out_of_range"
    assert done.verdicts[3].reason_code == "builtin_input_missing"
    verdict = client.completions.verdict(batch.completion_ids[0])
    assert verdict.score is not None
    assert verdict.score.reasoning == "compared: alike"
    # From a score to what was asked for it, and from a completion to the same.
    source = client.llm.get(str(verdict.source_request_id))
    assert source.completion_id == batch.completion_ids[0]
    (asked_for_it,) = client.completions.explain(batch.completion_ids[0]).graders
    assert asked_for_it.source_request_id == source.id

    rows = [client.llm.get(one.id) for one in rows]
    assert {(one.status, one.purpose) for one in rows} == {("completed", "scoring")}
    assert len(rows) == provider.world.bill()["executions"] == 3
    assert sum(one.cost_nano_usd or 0 for one in rows) == provider.world.bill()["total_nano_usd"]
    assert {(one.input, one.raw_output) for one in rows} == {(None, None)}
