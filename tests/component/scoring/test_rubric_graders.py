"""Completions of a rubric grader are judged by a model that the ledger asks; runs wait for it."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import boto3
import pytest

from autotune_platform.budgets.scopes import PeriodUse
from functions.scoring import await_answers as await_module
from functions.scoring import grade_chunk
from tests.providers.answers import Ask
from tests.support.lambdas import LambdaContext, handler
from tests.support.ledger import MODEL, Ledger, later
from tests.support.ledger import ledger as make_ledger
from tests.support.platform import Platform

CONNECTION = {"maxWaitSeconds": 0}
SCORE = {
    "type": "score_model",
    "name": "closeness",
    "model": MODEL,
    "input": [
        {"role": "system", "content": "You grade answers."},
        {"role": "user", "content": "Answer: {{sample.output_text}} Truth: {{item.truth}}"},
    ],
    "range": [0, 10],
    "sampling_params": {"temperature": 0.5, "seed": 7},
}
LABELS = {
    "type": "label_model",
    "name": "tone",
    "model": MODEL,
    "input": [{"role": "user", "content": "Tone of: {{ sample.output_text }}"}],
    "labels": ["kind", "neutral", "rude"],
    "passing_labels": ["kind", "neutral"],
}


@pytest.fixture
def ledger(platform: Platform) -> Iterator[Ledger]:
    with make_ledger(platform) as made:
        yield made


def registered(ledger: Ledger, openai: dict[str, Any], **fields: Any) -> dict[str, Any]:
    body = {
        "name": "g",
        "kind": "rubric",
        "openai": openai,
        "connectionId": fields.pop("connection_id", None) or ledger.connect(**CONNECTION),
        "maxTokens": 300,
        **fields,
    }
    answer = ledger.platform.call("POST", "/api/v1/graders", body)
    assert answer.status == 201, answer.text
    grader: dict[str, Any] = answer.json["grader"]
    return grader


def answering(ledger: Ledger, *texts: str) -> list[Ask]:
    """Have the provider give answers in turn, the last for ever; return what it is asked."""
    asked: list[Ask] = []

    def answer(ask: Ask) -> str:
        asked.append(ask)
        return texts[min(len(asked), len(texts)) - 1]

    ledger.fake.world.answers.answerer = answer
    return asked


def judged(result: Any) -> str:
    steps = [{"description": "compared", "conclusion": "alike"}]
    return json.dumps({"steps": steps, "result": result})


def begin(platform: Platform, grader: dict[str, Any], *completions: dict[str, Any]) -> Any:
    """Submit completions; return what was accepted, and the run that waits for the model."""
    task_id = platform.new_task(grader["id"])
    accepted = platform.submit(task_id, *completions).json
    before = {run["run_id"] for run in platform.runs()}
    platform.dispatch(platform.queued())
    (run,) = [one for one in platform.runs() if one["run_id"] not in before]
    return accepted, platform.grade(run)


def rows() -> list[dict[str, Any]]:
    """What the ledger keeps of requests, texts included."""
    items = boto3.client("dynamodb").scan(TableName="ledger", ConsistentRead=True)["Items"]
    return [one for one in items if one["pk"]["S"].startswith("llm_")]


def ask_models(ledger: Ledger) -> None:
    """Have the sweeper begin what is due a minute later, and the ledger ask it."""
    ledger.passed += 61
    with later(timedelta(seconds=ledger.passed)):
        ledger.sweep()
        ledger.run()


COMPLETION = {"response": "Paris", "metadata": {"truth": "Paris"}}


def verdicts(platform: Platform, accepted: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = platform.batch(accepted["batchId"])["verdicts"]
    return found


def test_a_model_scores_in_its_range_and_nothing_of_the_text_stays(ledger: Ledger) -> None:
    platform = ledger.platform
    grader = registered(ledger, SCORE, shareReasoning=True)
    asked = answering(ledger, judged(7.5))
    accepted, run = begin(platform, grader, COMPLETION)
    assert (run["remaining"], run["waiting"]) == (0, 1)
    assert run["wait_seconds"] > 0
    assert asked == []
    ask_models(ledger)
    left = platform.grade(run)
    assert (left["remaining"], left["waiting"]) == (0, 0)
    (verdict,) = verdicts(platform, accepted)
    assert verdict["score"]["value"] == 0.75
    assert verdict["score"]["graderVersion"] == grader["version"]
    read = platform.call("GET", f"/api/v1/completions/{accepted['completionIds'][0]}/score").json
    assert read["verdict"]["score"]["reasoning"] == "compared: alike"
    (ask,) = asked
    assert ask.system == "You grade answers."
    assert "Answer: Paris Truth: Paris" in ask.prompt
    assert "a number from 0 to 10" in ask.prompt
    (state,) = [one for one in rows() if one["sk"]["S"] == "state"]
    assert state["purpose"]["S"] == "scoring"
    assert state["completion_id"]["S"] == accepted["completionIds"][0]
    assert sorted(one["sk"]["S"] for one in rows()) == ["deadline", "state"]


def test_a_label_passes_or_not(ledger: Ledger) -> None:
    platform = ledger.platform
    ledger.fake.world.answers.answerer = lambda ask: judged(
        "rude" if "Tone of: no" in ask.prompt else "neutral"
    )
    grader = registered(ledger, LABELS)
    accepted, run = begin(platform, grader, {"response": "well"}, {"response": "no"})
    ask_models(ledger)
    platform.grade(run)
    found = [verdict["score"]["value"] for verdict in verdicts(platform, accepted)]
    assert found == [1.0, 0.0]


def test_what_the_completion_says_is_never_a_template(ledger: Ledger) -> None:
    platform = ledger.platform
    asked = answering(ledger, judged(1))
    text = "{{place_1}} {{ autotune_form }} {{item.truth}}"
    accepted, run = begin(
        platform,
        registered(ledger, SCORE),
        {"response": text, "metadata": {"truth": "secret truth"}},
    )
    ask_models(ledger)
    platform.grade(run)
    assert verdicts(platform, accepted)[0]["state"] == "scored"
    assert f"Answer: {text} Truth: secret truth" in asked[0].prompt


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (judged(11), "model_answer_out_of_range"),
        (judged(-0.1), "model_answer_out_of_range"),
        (judged("9"), "model_answer_unreadable"),
        (judged(result=True), "model_answer_unreadable"),
        ('{"steps": []}', "model_answer_unreadable"),
        ("I would say 9 of 10.", "model_answer_unreadable"),
        ("[1]", "model_answer_unreadable"),
    ],
    ids=["above", "below", "text", "boolean", "none", "prose", "list"],
)
def test_what_cannot_be_read_fails_and_is_no_zero(ledger: Ledger, answer: str, reason: str) -> None:
    platform = ledger.platform
    answering(ledger, answer)
    accepted, run = begin(platform, registered(ledger, SCORE), COMPLETION)
    ask_models(ledger)
    platform.grade(run)
    (verdict,) = verdicts(platform, accepted)
    assert (verdict["state"], verdict["reasonCode"]) == ("failed", reason)
    assert verdict.get("score") is None


def test_a_missing_field_fails_and_is_not_asked(ledger: Ledger) -> None:
    platform = ledger.platform
    accepted, run = begin(platform, registered(ledger, SCORE), {"metadata": {}})
    assert (run["remaining"], run["waiting"]) == (0, 0)
    (verdict,) = verdicts(platform, accepted)
    assert (verdict["state"], verdict["reasonCode"]) == ("failed", "builtin_input_missing")
    assert rows() == []


def test_the_same_question_is_one_row_whoever_asks_again(ledger: Ledger) -> None:
    platform = ledger.platform
    asked = answering(ledger, judged(10))
    grader = registered(ledger, SCORE)
    accepted = platform.submit(platform.new_task(grader["id"]), COMPLETION, COMPLETION).json
    platform.dispatch(platform.queued())
    (run,) = platform.runs()
    first, second = platform.grade(run), platform.grade({**run, "run_id": f"{run['run_id']}x"})
    assert set(first["waiting_ids"]) == set(second["waiting_ids"])
    ask_models(ledger)
    platform.grade(second)
    platform.grade(first)
    assert len(asked) == 2
    assert [one["score"]["value"] for one in verdicts(platform, accepted)] == [1.0, 1.0]


def test_a_wait_goes_on_at_once_when_the_row_ended_meanwhile(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = ledger.platform
    answering(ledger, judged(10))
    _, run = begin(platform, registered(ledger, SCORE), COMPLETION)
    tokens: list[str] = []
    await_answers = handler("functions.scoring.await_answers")
    monkeypatch.setattr(
        type(await_module.parts().run_waits.wait.tokens),
        "succeed",
        lambda self, token: tokens.append(token) or True,
    )
    await_answers({"progress": run, "token": "early"}, LambdaContext())
    assert tokens == []
    ask_models(ledger)
    await_answers({"progress": run, "token": "late"}, LambdaContext())
    assert tokens == ["late"]


def test_a_revoked_connection_is_a_failure_of_its_own(ledger: Ledger) -> None:
    platform = ledger.platform
    connection_id = ledger.connect(**CONNECTION)
    grader = registered(ledger, SCORE, connection_id=connection_id)
    accepted, run = begin(platform, grader, COMPLETION)
    assert run["waiting"] == 1
    assert platform.call("DELETE", f"/api/v1/llm-connections/{connection_id}").status == 200
    ask_models(ledger)
    platform.grade(run)
    (asked_before,) = verdicts(platform, accepted)
    assert (asked_before["state"], asked_before["reasonCode"]) == (
        "failed",
        "model_connection_lost",
    )
    accepted, run = begin(platform, grader, COMPLETION)
    assert run["waiting"] == 0
    assert verdicts(platform, accepted)[0]["reasonCode"] == "model_connection_lost"


def test_a_budget_without_room_fails_only_where_it_will_not_come_in_time(ledger: Ledger) -> None:
    platform = ledger.platform
    grader = registered(ledger, SCORE)
    assert platform.call("PUT", "/api/v1/llm-budget", {"dayUsd": "0"}).status == 200
    accepted, run = begin(platform, grader, COMPLETION)
    ask_models(ledger)
    left = platform.grade(run)
    assert left["waiting"] == 0
    (verdict,) = verdicts(platform, accepted)
    assert (verdict["state"], verdict["reasonCode"]) == ("failed", "budget_exhausted")


def test_a_full_budget_is_waited_for_while_another_period_comes_in_time(ledger: Ledger) -> None:
    _, run = begin(ledger.platform, registered(ledger, SCORE), COMPLETION)
    assert run["waiting"] == 1
    orders = grade_chunk.parts().row_orders
    (row_id,) = {one["pk"]["S"] for one in rows()}
    row = orders.look([row_id])[row_id].row
    full = PeriodUse("day", "day#x", row.bound_nano_usd, 1, 0)
    now = orders.clock.now()
    in_days = row.model_copy(update={"complete_by": now + timedelta(days=2)})
    soon = row.model_copy(update={"complete_by": now + timedelta(microseconds=1)})
    assert not orders.end_without_money(in_days, [full])
    assert not orders.end_without_money(soon, [full._replace(spent=0), full._replace(limit=None)])
    assert orders.look([row_id])[row_id].row.status == "queued"
    assert orders.end_without_money(soon, [full])
    assert not orders.end_without_money(soon, [full])
    assert orders.look([row_id])[row_id].row.status == "canceled"


def test_others_cannot_spend_what_the_owner_pays(ledger: Ledger) -> None:
    platform = ledger.platform
    connection_id = ledger.connect(**CONNECTION)
    body = {"name": "g", "kind": "rubric", "openai": SCORE, "connectionId": connection_id}
    public = platform.call("POST", "/api/v1/graders", {**body, "visibility": "public"})
    assert (public.status, set(public.fields)) == (422, {"visibility"})
    owner = platform.new_key("grader_owner")
    assert platform.call("POST", "/api/v1/graders", body, api_key=owner).status == 403
    other = platform.new_organization("second")
    stranger = platform.call("POST", "/api/v1/graders", body, api_key=other)
    assert (stranger.status, set(stranger.fields)) == (422, {"connectionId"})


def test_costs_by_trace_say_what_each_rubric_grader_costs(ledger: Ledger) -> None:
    platform = ledger.platform
    answering(ledger, judged(5))
    graders = [registered(ledger, SCORE, name=name) for name in ("one", "two")]
    for grader, texts in zip(graders, (("a",), ("b", "c")), strict=True):
        _, run = begin(platform, grader, *({**COMPLETION, "response": text} for text in texts))
        ask_models(ledger)
        platform.grade(run)
    query = {"groupBy": "trace", "traceField": "rubricId"}
    # They are of the day in which they were asked, which is the next one a minute before midnight.
    with later(timedelta(seconds=ledger.passed)):
        listed = platform.call("GET", "/api/v1/llm-costs", query=query).json["costs"]
    found = {one["group"]: one["rows"] for one in listed}
    assert found == {graders[0]["id"]: 1, graders[1]["id"]: 2}
    assert all(one["costNanoUsd"] > 0 for one in listed)
