"""What experiments and rubrics cost, by the ids in the traces of requests."""

from collections import Counter
from typing import Any, get_args

import boto3
import pytest
from pydantic.alias_generators import to_camel

from autotune.protocol.llm_batches import LLM_COST_NUMBERS, LlmTraceField
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.access.models import Caller
from autotune_platform.ledger.costs import NO_ID, OTHERS, TRACED
from autotune_platform.storage.counting import MAX_ADDITIONS
from autotune_platform.storage.table import Table
from functions.ledger import connections_api
from tests.component.ledger.test_jobs import enqueue
from tests.support.ledger import Ledger, row


def traced(ledger: Ledger, field: str) -> dict[str, dict[str, Any]]:
    query = {"groupBy": "trace", "traceField": field}
    answer = ledger.platform.call("GET", "/api/v1/llm-costs", query=query)
    assert answer.status == 200, answer.text
    assert (answer.json["groupBy"], answer.json["traceField"]) == ("trace", field)
    return {one["group"]: one for one in answer.json["costs"]}


def enqueue_all(ledger: Ledger, rows: list[dict[str, Any]]) -> list[str]:
    path = "/api/v1/llm-requests/batch"
    answer = ledger.platform.call("POST", path, {"requests": rows})
    assert answer.status == 202, answer.text
    return list(answer.json["requestIds"])


def cost_of(ledger: Ledger, ids: list[str]) -> int:
    return sum(ledger.read(one)["costNanoUsd"] for one in ids)


def test_costs_are_listed_by_experiment_and_by_rubric(ledger: Ledger) -> None:
    connection = ledger.connect(maxRows=2)
    traces = [
        {"experimentId": "one", "rubricId": "polite"},
        {"experimentId": "one", "rubricId": "brief", "sampleId": "s"},
        {"experimentId": "two"},
        {"sampleId": "s"},
    ]
    rows = [row(connection, "q" * 2**number, trace=trace) for number, trace in enumerate(traces)]
    ids = enqueue_all(ledger, rows)
    ledger.run()
    assert len(ledger.batches()) == 2, "sums are of several batches"
    by_experiment = traced(ledger, "experimentId")
    assert {name: one["rows"] for name, one in by_experiment.items()} == {
        "one": 2,
        "two": 1,
        NO_ID: 1,
    }
    assert by_experiment["one"]["costNanoUsd"] == cost_of(ledger, ids[:2]) > 0
    assert by_experiment["two"]["costNanoUsd"] == cost_of(ledger, ids[2:3])
    assert by_experiment["two"]["day"] == ledger.budget()["day"]["name"]
    by_rubric = traced(ledger, "rubricId")
    assert {name: one["costNanoUsd"] for name, one in by_rubric.items()} == {
        "polite": cost_of(ledger, ids[:1]),
        "brief": cost_of(ledger, ids[1:2]),
        NO_ID: cost_of(ledger, ids[2:]),
    }
    (whole,) = ledger.platform.call("GET", "/api/v1/llm-costs", query={"groupBy": "day"}).json[
        "costs"
    ]
    for groups in (by_experiment, by_rubric):
        for name in LLM_COST_NUMBERS:
            spelled = to_camel(name)
            assert sum(one[spelled] for one in groups.values()) == whole[spelled], name
    assert (whole["rows"], whole["costNanoUsd"]) == (4, cost_of(ledger, ids))
    used = [ledger.read(one)["usage"] for one in ids[:2]]
    assert by_experiment["one"]["inputTokens"] == sum(one["inputTokens"] for one in used)
    assert by_experiment["one"]["outputTokens"] == sum(one["outputTokens"] for one in used)


def test_a_batch_of_very_many_ids_sums_the_dearest_apart_and_loses_nothing(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = ledger.connect(maxRows=300, minRows=300)
    rows = [
        # A longer question is dearer.
        row(connection, "q " * number, trace={"experimentId": f"e{number}", "rubricId": "all"})
        for number in range(1, 301)
    ]
    ids = enqueue_all(ledger, rows)
    sizes: list[int] = []
    original = Table.add_together

    def counted(self: Table, additions: Any) -> bool:
        sizes.append(len(additions))
        return original(self, additions)

    monkeypatch.setattr(Table, "add_together", counted)
    ledger.run()
    (batch,) = ledger.batches()
    assert max(sizes) in (MAX_ADDITIONS - 1, MAX_ADDITIONS)
    found = traced(ledger, "experimentId")
    assert sum(one["costNanoUsd"] for one in found.values()) == batch["costNanoUsd"] > 0
    assert sum(one["rows"] for one in found.values()) == len(ids)
    own = found.keys() - {OTHERS}
    assert len(own) > 80
    costs = {f"e{number}": cost_of(ledger, [one]) for number, one in enumerate(ids, 1)}
    assert {name: found[name]["costNanoUsd"] for name in own if name != "all"} == {
        name: costs[name] for name in own
    }
    assert min(costs[name] for name in own) >= max(
        cost for name, cost in costs.items() if name not in own
    )
    # The rubric of all is the dearest of all ids.
    assert traced(ledger, "rubricId")["all"]["costNanoUsd"] == batch["costNanoUsd"]


def test_many_purposes_leave_room_for_some_ids(ledger: Ledger) -> None:
    connection = ledger.connect(maxRows=100, minRows=100)
    rows = [
        row(
            connection,
            purpose=f"purpose_{number}",
            trace={"experimentId": f"e{number}", "rubricId": f"r{number}"},
        )
        for number in range(100)
    ]
    enqueue_all(ledger, rows)
    ledger.run()
    (batch,) = ledger.batches()
    assert batch["status"] == "completed"
    for field in ("experimentId", "rubricId"):
        found = traced(ledger, field)
        assert sum(one["costNanoUsd"] for one in found.values()) == batch["costNanoUsd"]
    sums = [traced(ledger, field).keys() - {OTHERS} for field in ("experimentId", "rubricId")]
    assert sum(map(len, sums)) >= 10


def test_a_row_without_a_trace_writes_no_sum(ledger: Ledger) -> None:
    enqueue(ledger, "openai", count=3)
    ledger.run_jobs()
    items = boto3.client("dynamodb").scan(TableName="ledger", ConsistentRead=True)["Items"]
    kinds = Counter(one["pk"]["S"].partition("#")[0] for one in items)
    assert kinds["cost"] == 1
    assert kinds["traced"] == 0
    assert {name: one["rows"] for name, one in traced(ledger, "rubricId").items()} == {NO_ID: 3}


@pytest.mark.parametrize(
    "query",
    [
        {"groupBy": "trace"},
        {"groupBy": "model", "traceField": "rubricId"},
        {"groupBy": "trace", "traceField": "sampleId"},
        {"traceField": "experimentId"},
    ],
    ids=["none", "other", "unlisted", "default"],
)
def test_which_id_is_said_with_traces_and_only_then(ledger: Ledger, query: dict[str, str]) -> None:
    answer = ledger.platform.call("GET", "/api/v1/llm-costs", query=query)
    assert (answer.status, answer.json["code"]) == (422, "invalid_request")
    assert "traceField" in answer.text


def test_every_name_of_a_trace_that_is_summed_can_be_asked_for() -> None:
    assert [to_camel(name) for name in TRACED] == list(get_args(LlmTraceField))


def test_a_call_that_is_waited_for_counts_once_although_it_is_settled_again(
    ledger: Ledger,
) -> None:
    calls = connections_api.parts().ledger_calls
    caller = Caller(
        key_id="key_x",
        organization_id=ledger.platform.me()["organizationId"],
        principal_id="usr_x",
        role="admin",
        request_id="req_x",
    )
    trace = {"experimentId": "e", "rubricId": "r"}
    asked = EnqueueLlmRequest.model_validate(row(ledger.connect(), trace=trace))
    ended, _ = calls.call(caller, asked)
    for _ in range(2):
        calls.settling.settle(ended)
    for field, value in (("experimentId", "e"), ("rubricId", "r")):
        (only,) = traced(ledger, field).items()
        assert (only[0], only[1]["rows"]) == (value, 1)
        assert only[1]["costNanoUsd"] == ended.cost_nano_usd > 0
