"""Texts of one run are deleted wherever they are; what was counted of it stays."""

import json
from typing import Any

import pytest

from autotune_platform.apprentice.runs.additional import models_for
from autotune_platform.apprentice.runs.models import RunPair
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.support.apprentice_runs import INPUT, Runs
from tests.support.lambdas import Answer, LambdaContext, handler
from tests.support.tables import items_of_tables, stream_records
from tests.support.task_chats import TaskChats

EXAMPLES = "/api/v1/apprentice/tasks/intents/examples"
ANSWER_TEXT = "open_door"


def follow(runs: Runs) -> None:
    records = {"Records": stream_records("apprentice")}
    handler("functions.apprentice.follow_runs")(records, LambdaContext())


def erase(runs: Runs, run_id: str, **options: Any) -> Answer:
    return runs.platform.call("DELETE", f"/api/v1/apprentice/runs/{run_id}/content", **options)


def answered(runs: Runs, **options: Any) -> dict[str, Any]:
    run: dict[str, Any] = runs.start(wait=20, **options).json["run"]
    follow(runs)
    return run


def said(runs: Runs) -> str:
    """Return all that is stored of runs, requests and examples, as text."""
    tables = items_of_tables()
    return json.dumps([tables["apprentice"], tables["ledger"]], default=repr)


def counted(runs: Runs) -> Any:
    path = "/api/v1/apprentice/tasks/intents/report"
    return runs.platform.call("GET", path).json["report"]["days"]


def test_what_a_run_was_asked_and_answered_goes_and_what_was_counted_stays(runs: Runs) -> None:
    run = answered(runs)
    assert INPUT["text"] in said(runs)
    (row_id,) = run["routing"]["requestIds"]
    before = counted(runs)

    assert erase(runs, run["id"]).status == 204

    left = runs.read(run["id"])
    assert left["contentDeletedAt"]
    gone = {"input": None, "output": None, "contentDeletedAt": None}
    assert {**left, "contentDeletedAt": None} == {**run, **gone}
    assert runs.platform.call("GET", EXAMPLES).json["examples"] == []
    counts = runs.platform.call("GET", f"{EXAMPLES}/counts").json["counts"]
    assert set(counts["selections"].values()) == {0}
    row = runs.ledger.read(row_id)
    assert (row.get("rawOutput"), row["costNanoUsd"]) == (None, run["routing"]["costNanoUsd"])
    assert INPUT["text"] not in said(runs)
    assert f'\\"intent\\": \\"{ANSWER_TEXT}' not in said(runs)
    # The record of the deletion changes no count either.
    follow(runs)
    assert counted(runs) == before
    assert runs.platform.call("GET", EXAMPLES).json["examples"] == []


def test_words_of_the_provider_about_it_go_too(runs: Runs) -> None:
    runs.say("no JSON")
    runs.start(wait=20, key="k")
    follow(runs)
    [listed] = runs.platform.call("GET", "/api/v1/apprentice/tasks/intents/runs").json["runs"]
    stored = runs.stored(listed["id"])
    assert stored is not None
    assert stored.remote_fault is not None
    words = stored.remote_fault.message
    assert words in said(runs)
    assert erase(runs, listed["id"]).status == 204
    left = runs.read(listed["id"])
    assert (left["state"], left["error"]["code"]) == ("failed", "remote_unavailable")
    tables = items_of_tables()
    assert words not in json.dumps(tables["apprentice"], default=repr)


def test_it_may_be_deleted_again_and_is_in_the_audit_log(runs: Runs) -> None:
    run = answered(runs)
    for _ in range(2):
        assert erase(runs, run["id"]).status == 204
    log = runs.platform.call("GET", "/api/v1/audit", query={"limit": 200}).json["entries"]
    deleted = [one for one in log if one.get("route", "").endswith("/content")]
    assert [one["ids"]["apprentice_run_id"] for one in deleted] == [run["id"]] * 2


def test_whoever_is_killed_in_between_leaves_what_a_repeat_deletes(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = answered(runs)
    with monkeypatch.context() as broken:
        broken.setattr(Table, "delete_many", lambda *_: 1 / 0)
        assert erase(runs, run["id"]).status == 500
    assert runs.read(run["id"])["contentDeletedAt"]
    assert erase(runs, run["id"]).status == 204
    assert INPUT["text"] not in said(runs)


def test_a_run_that_somebody_is_at_is_not_deleted(runs: Runs) -> None:
    pending = runs.start().json["run"]
    assert erase(runs, pending["id"]).status == 409
    ended = runs.start({"text": "again"}, wait=20).json["run"]
    early = erase(runs, ended["id"])
    assert (early.status, early.headers["retry-after"]) == (503, "5")
    table = Table("apprentice", clients.dynamodb())
    item = table.get(ended["id"], "run")
    assert item is not None
    table.put({**item, "check": "due"})
    assert erase(runs, ended["id"]).status == 409
    assert runs.read(ended["id"])["input"] == {"text": "again"}


def test_nobody_else_deletes_it(runs: Runs) -> None:
    run = answered(runs)
    other = runs.platform.new_organization("other")
    assert erase(runs, run["id"], api_key=other).status == 404
    assert erase(runs, "apr_1").status == 404
    assert runs.read(run["id"])["input"] == INPUT


def test_its_key_stands_for_it_still_and_asks_nobody(runs: Runs) -> None:
    run = answered(runs, key="k")
    erase(runs, run["id"])
    again = runs.start(wait=20, key="k")
    assert (again.status, again.json["run"]["id"]) == (200, run["id"])
    assert again.json["run"]["output"] is None
    assert runs.work(run["id"]) == []
    assert runs.bill["executions"] == 1


def test_a_chat_whose_texts_are_deleted_says_so(runs: Runs) -> None:
    chats = TaskChats(runs)
    run_id = chats.ask(key="k").json["id"]
    follow(runs)
    assert erase(runs, run_id).status == 204
    again = chats.ask(key="k")
    assert (again.status, again.json["error"]["code"]) == (409, "answer_deleted")


def test_no_additional_model_is_asked_about_nothing(runs: Runs) -> None:
    """A message that comes late finds that there is nothing to ask."""
    additional = [{"connectionId": runs.connection_id, "model": "gpt-4o", "maxOutputTokens": 9}]
    run = answered(runs)
    stored = runs.stored(run["id"])
    assert stored is not None
    pair = RunPair(version=1, score=1, is_drawn=True)
    drawn = stored.model_copy(update={"pairs": (pair,)})
    document = {"remote": {"additional": additional}}
    assert models_for(drawn, document)
    erase(runs, run["id"])
    gone = runs.stored(run["id"])
    assert gone is not None
    assert models_for(drawn.model_copy(update={"erased_at": gone.erased_at}), document) == {}
    # Who read it before it was deleted opens no request any more.
    table = Table("apprentice", clients.dynamodb())
    asking = RunRepository(table).asking_additional(drawn, 0, "llm_" + 26 * "0")
    assert not table.add_together([asking])
