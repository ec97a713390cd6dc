"""What runs wait for, what keeps them within their cap, and who may start which."""

from datetime import timedelta
from typing import Any

import pytest

from autotune_platform.access.organizations import OrganizationService
from tests.support.deck_runs import DeckRuns, counted, items_of, texts_left, verdict
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.ledger import Ledger, in_one, later


@pytest.fixture
def runs(ledger: Ledger) -> DeckRuns:
    made = DeckRuns(ledger)
    made.judging(lambda _: verdict(1))
    return made


def limit(runs: DeckRuns, **limits: Any) -> None:
    organization_id = runs.platform.me()["organizationId"]
    event = {"action": "limit", "organizationId": organization_id, "limits": limits}
    handler("functions.operations.manage_organizations")(event, None)
    forget_processes()


def test_an_answer_that_never_came_is_charged_and_asked_for_once_more(runs: DeckRuns) -> None:
    grader_id = runs.add_grader()
    runs.add_samples("alpha")
    runs.ledger.fake.world.traps.arm("chat_answer_lost", times=1)
    ended = runs.finish(runs.start())
    assert counted(ended)["scored"] == 1
    (result,) = runs.results(grader_id)
    first, second = sorted(runs.rows(), key=lambda one: one["labels"]["ask"])
    assert (first["status"], first["error"]["code"]) == ("error", "outcome_unclear")
    # No second attempt of it may be paid by what was set aside for one.
    assert (first["attempt"], first["costNanoUsd"]) == (1, first["boundNanoUsd"])
    assert (second["status"], second["labels"]["ask"]) == ("completed", "2")
    both = first["costNanoUsd"] + second["costNanoUsd"]
    assert result["costNanoUsd"] == ended["costNanoUsd"] == both <= ended["capNanoUsd"]


def test_a_run_never_costs_more_than_the_bound_that_was_shown(runs: DeckRuns) -> None:
    runs.add_grader()
    runs.add_samples("alpha")
    bound = runs.estimate()["boundNanoUsd"]
    runs.ledger.fake.world.traps.arm("chat_answer_lost", times=3)
    ended = runs.finish(runs.start(capNanoUsd=10**9))
    assert ended["capNanoUsd"] == ended["boundNanoUsd"] == bound
    assert 0 < ended["costNanoUsd"] <= bound
    assert len(runs.rows()) == 2, "for a third time there is no room"
    assert counted(ended)["failed"] == 1


def test_a_cap_that_has_no_room_for_a_second_answer_keeps_it_from_being_asked(
    runs: DeckRuns,
) -> None:
    grader_id = runs.add_grader()
    runs.add_samples("alpha")
    runs.judging(lambda _: "I cannot decide")
    bound = runs.estimate()["boundNanoUsd"] // 2
    ended = runs.finish(runs.start(capNanoUsd=bound))
    assert counted(ended)["failed"] == len(runs.asked) == 1
    (result,) = runs.results(grader_id)
    assert result["reason"] == "model_answer_unreadable"
    assert ended["costNanoUsd"] <= bound


def test_a_run_waits_for_room_among_open_requests_and_says_so(runs: DeckRuns) -> None:
    runs.add_grader()
    runs.add_samples("alpha", "beta")
    limit(runs, openLlmRows=1)
    run = runs.start()
    state = runs.step(runs.state(run))
    assert not state["done"]
    assert state["wait_seconds"] > 1
    waiting = runs.read(run["id"])
    assert (waiting["waitingBecause"], counted(waiting)["pending"]) == ("open_requests", 2)
    assert runs.rows() == []
    limit(runs, openLlmRows=10)
    ended = runs.finish(run)
    assert (ended["status"], counted(ended)["scored"]) == ("completed", 2)
    assert "waitingBecause" not in ended or ended["waitingBecause"] is None


@in_one("day")
def test_a_run_waits_for_a_budget_and_says_so(runs: DeckRuns) -> None:
    runs.add_grader()
    (sample_id, *_) = runs.add_samples("alpha", "beta")
    assert runs.finish(runs.start(sampleIds=[sample_id]))["status"] == "completed"
    (row,) = runs.rows()
    budget(runs, row["boundNanoUsd"] * 3 // 2)
    # Half of one is left, once an answer is lost, for which the bound is charged.
    runs.ledger.fake.world.traps.arm("chat_answer_lost", times=1)
    runs.ledger.enqueue(runs.connection_id, "x" * row_bytes(row), params={"maxTokens": 200})
    runs.ask_models()
    assert runs.estimate()["fits"] is False
    run = runs.start()
    state = runs.step(runs.state(run))
    runs.ask_models()
    state = runs.step(state)
    waiting = runs.read(run["id"])
    assert (waiting["waitingBecause"], counted(waiting)["pending"]) == ("budget_exhausted", 1)
    budget(runs, None)
    runs.ledger.passed += 1_000
    ended = runs.finish(run)
    assert (ended["status"], counted(ended)["scored"]) == ("completed", 2)
    # What costs more than a whole period may is not asked at all.
    budget(runs, 10)
    dear = runs.finish(runs.start(repeat=True))
    assert (counted(dear)["failed"], dear["costNanoUsd"]) == (2, 0)


def budget(runs: DeckRuns, nano_usd: int | None) -> None:
    body = {} if nano_usd is None else {"dayUsd": f"{nano_usd / 10**9:.9f}"}
    answer = runs.platform.call("PUT", "/api/v1/llm-budget", body)
    assert answer.status == 200, answer.text


def row_bytes(row: dict[str, Any]) -> int:
    """How long an input is whose bound is about that of a row."""
    of_tokens = row["boundNanoUsd"] - 200 * 400
    return of_tokens // 100 - 128


def test_a_paused_connection_and_a_suspended_organisation_are_waited_for(
    runs: DeckRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs.add_grader()
    runs.add_samples("alpha")
    run = runs.start()
    organization = OrganizationService.organization

    def suspended(self: OrganizationService, organization_id: str) -> Any:
        return organization(self, organization_id).model_copy(update={"status": "suspended"})

    with monkeypatch.context() as patched:
        patched.setattr(OrganizationService, "organization", suspended)
        state = runs.step(runs.state(run))
    assert runs.rows() == []
    assert runs.read(run["id"])["waitingBecause"] == "organization_suspended"
    state = runs.step(state)
    paused = {"apiKey": "wrong-key-wrong"}
    runs.ledger.fake.world.keys["compatible"] = {"fake-key": "main"}
    path = f"/api/v1/llm-connections/{runs.connection_id}"
    assert runs.platform.call("PATCH", path, paused).status == 200
    runs.ask_models()
    runs.step(state)
    assert runs.read(run["id"])["waitingBecause"] == "connection_paused"
    assert runs.platform.call("PATCH", path, {"apiKey": "fake-key"}).status == 200
    runs.platform.call("POST", f"{path}/verify")
    runs.ledger.passed += 400
    assert runs.finish(run)["status"] == "completed"


def test_a_version_works_in_one_run_at_a_time_and_a_key_starts_one(ledger: Ledger) -> None:
    # Of what is held out, results of the first version alone would be listed.
    runs = DeckRuns(ledger, holdoutShare=0)
    runs.judging(lambda _: verdict(1))
    grader_id = runs.add_grader()
    (first, second) = runs.add_samples("alpha", "beta")
    run = runs.start("key-1", sampleIds=[first])
    again = runs.platform.call(
        "POST", f"{runs.path}/runs", {"sampleIds": [first]}, headers={"idempotency-key": "key-1"}
    )
    assert (again.json["run"]["id"], again.headers["idempotent-replayed"]) == (run["id"], "true")
    other = runs.platform.call(
        "POST", f"{runs.path}/runs", {"sampleIds": [second]}, headers={"idempotency-key": "key-1"}
    )
    assert (other.status, other.json["code"]) == (422, "idempotency_key_reused")
    busy = runs.platform.call("POST", f"{runs.path}/runs", {"sampleIds": [second]})
    assert (busy.status, run["id"] in busy.json["detail"]) == (409, True)
    # Another version of it is free, and so is what is judged again.
    runs.new_version(grader_id, criteria="Is it short?")
    newer = runs.start(sampleIds=[second])
    assert newer["graders"] == [{"graderId": grader_id, "version": 2}]
    for one in (run, newer):
        assert runs.finish(one)["status"] == "completed"
    assert [one["id"] for one in _listed(runs)] == [newer["id"], run["id"]]
    assert [one["sampleId"] for one in runs.results(grader_id)] == [second]
    assert [one["sampleId"] for one in runs.results(grader_id, version=1)] == [first]
    beside = runs.platform.call("GET", f"{runs.path}/samples/{first}/results").json["results"]
    assert [(one["graderId"], one["version"], one["score"]) for one in beside] == [
        (grader_id, 1, 1)
    ]
    assert not items_of("decks", [grader_id]) or all(
        not one["sk"]["S"].startswith("open#") for one in items_of("decks", [grader_id])
    )


def _listed(runs: DeckRuns) -> list[dict[str, Any]]:
    """All runs of the deck, a page of one at a time."""
    found: list[dict[str, Any]] = []
    query: dict[str, Any] = {"limit": 1}
    while True:
        page = runs.platform.call("GET", f"{runs.path}/runs", query=query).json
        found += page["runs"]
        if page.get("nextToken") is None:
            return found
        query["nextToken"] = page["nextToken"]


def test_a_proposed_grader_is_tried_on_three_samples_of_the_development_half_alone(
    runs: DeckRuns,
) -> None:
    samples = [{"input": f"i{n}", "output": f"o{n}"} for n in range(24)]
    runs.add_whole_samples(samples)
    shown = runs.platform.call("GET", f"{runs.path}/samples", query={"limit": 200}).json["samples"]
    halves: dict[str, list[str]] = {"development": [], "holdout": []}
    for one in shown:
        halves[one["split"]].append(one["id"])
    active, proposed = runs.add_grader(), runs.add_grader(active=False)

    def refused(**body: Any) -> dict[str, str]:
        answer = runs.platform.call("POST", f"{runs.path}/runs", body)
        assert answer.status == 422, answer.text
        return answer.fields

    assert list(refused(graderIds=[proposed])) == ["sampleIds"]
    four = halves["development"][:4]
    assert list(refused(graderIds=[proposed], sampleIds=four)) == ["sampleIds"]
    held_out = [halves["development"][0], halves["holdout"][0]]
    assert list(refused(graderIds=[proposed], sampleIds=held_out)) == ["sampleIds[1]"]
    assert list(refused(graderIds=[active], sampleIds=["smp_" + "0" * 26])) == ["sampleIds[0]"]
    assert list(refused(graderIds=["grd_" + "0" * 26])) == ["graderIds[0]"]
    assert refused(sampleIds=four, split="holdout")
    tried = runs.finish(runs.start(graderIds=[proposed], sampleIds=four[:3]))
    assert (counted(tried)["scored"], tried["graders"][0]["graderId"]) == (3, proposed)
    half = runs.finish(runs.start(split="holdout"))
    assert counted(half)["scored"] == len(halves["holdout"])
    assert {one["sampleId"] for one in runs.results(active)} == set(halves["holdout"])
    low = runs.results(active, score=0)
    assert low == []
    assert len(runs.results(active, status="scored", limit=3)) == len(halves["holdout"])


def test_nobody_reaches_anothers_runs_and_a_deck_without_work_says_so(runs: DeckRuns) -> None:
    empty = runs.platform.call("POST", f"{runs.path}/runs", {})
    assert (empty.status, "activate" in empty.json["detail"]) == (409, True)
    grader_id = runs.add_grader()
    bare = runs.platform.call("POST", f"{runs.path}/estimate", {})
    assert (bare.status, "sample" in bare.json["detail"]) == (409, True)
    (sample_id,) = runs.add_samples("alpha")
    run = runs.start()
    other = runs.platform.new_organization("other")
    for method, path in (
        ("POST", "/estimate"),
        ("POST", "/runs"),
        ("GET", "/runs"),
        ("GET", f"/runs/{run['id']}"),
        ("POST", f"/runs/{run['id']}/cancel"),
        ("GET", f"/graders/{grader_id}/results"),
        ("GET", f"/samples/{sample_id}/results"),
    ):
        body = {} if path in ("/estimate", "/runs") and method == "POST" else None
        answer = runs.platform.call(method, runs.path + path, body, api_key=other)
        assert answer.status == 404, path
    unknown = runs.platform.call("GET", f"{runs.path}/runs/drn_{'0' * 26}")
    assert unknown.status == 404
    assert runs.finish(run)["status"] == "completed"


def test_a_deleted_sample_is_judged_no_more_and_takes_its_results_along(runs: DeckRuns) -> None:
    grader_id = runs.add_grader()
    first, second, third = runs.add_samples("alpha", "beta", "gamma")
    runs.finish(runs.start(sampleIds=[first]))
    assert runs.platform.call("DELETE", f"{runs.path}/samples/{first}").status == 204
    assert runs.results(grader_id) == []
    assert not [one for one in items_of("decks", [grader_id, first]) if first in str(one)]
    run = runs.start()
    state = runs.step(runs.state(run))
    assert runs.platform.call("DELETE", f"{runs.path}/samples/{second}").status == 204
    runs.ask_models()
    runs.step(state)
    ended = runs.finish(run)
    assert (counted(ended)["scored"], counted(ended)["canceled"]) == (1, 1)
    assert [one["sampleId"] for one in runs.results(grader_id)] == [third]
    assert not [one for one in items_of("decks", [grader_id, second]) if second in str(one)]
    assert texts_left() == []


def test_a_run_of_a_deleted_deck_is_canceled_and_its_place_is_free(runs: DeckRuns) -> None:
    runs.add_grader()
    runs.add_samples("alpha", "beta")
    run = runs.start()
    state = runs.step(runs.state(run))
    assert runs.platform.call("DELETE", runs.path).status == 204
    erase = handler("functions.decks.erase_decks")
    erase({}, LambdaContext(300))
    assert runs.sweep() == 1
    assert runs.step(state)["done"]
    state = runs.state(run)
    for _ in range(5):
        if (state := runs.step(state))["done"]:
            break
        runs.ask_models()
    assert runs.asked == []
    organization_id = runs.platform.me()["organizationId"]
    (counts,) = items_of("decks", [f"{organization_id}#decks"])
    assert counts["open_runs"]["N"] == "0"
    with later(timedelta(hours=2)):
        erase({}, LambdaContext(300))
    left = [one for one in items_of("decks") if not one["pk"]["S"].startswith("org_")]
    assert left == []


def test_long_samples_are_asked_about_a_few_at_a_time(
    runs: DeckRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.decks.runs.asking.MOST_BYTES", 1_000)
    runs.add_grader()
    runs.add_samples("alpha " * 100, "beta", "gamma " * 300, "delta")
    run = runs.start()
    runs.step(runs.state(run))
    chunks = [one for one in items_of("decks", [run["id"]]) if "chunk" in one["sk"]["S"]]
    assert len(chunks) > 1
    assert sum(len(one["left"]["L"]) for one in chunks) == 4
    assert counted(runs.finish(run))["scored"] == 4


def test_a_judge_that_sends_one_sample_away_for_ever_ends_with_counts(
    runs: DeckRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It is sent away in each step of every round: ten of a round say it as well as fifty.
    monkeypatch.setattr("tests.support.ledger._MOST_STEPS", 10)
    grader_id = runs.add_grader()
    first, stuck = runs.add_samples("alpha", "stuckword")
    runs.ledger.fake.world.traps.arm("chat_429", times=None, contains="stuckword")
    run = runs.start()
    state = runs.state(run)
    for _ in range(6):
        state = runs.step(state)
        runs.ask_models(seconds=max(61, state["wait_seconds"]))
    assert counted(runs.read(run["id"]))["pending"] == 1, "the other one was answered"
    began = runs.ledger.passed
    for _ in range(60):
        state = runs.step(state)
        if state["done"]:
            break
        runs.ask_models(seconds=max(600, state["wait_seconds"]))
    ended = runs.read(run["id"])
    assert ended["status"] == "completed", ended
    assert 6 * 3_600 - 900 <= runs.ledger.passed - began <= 8 * 3_600, "and not after a week"
    counts = counted(ended)
    assert (counts["scored"], counts["failed"], counts["canceled"]) == (1, 1, 0)
    found = {one["sampleId"]: one for one in runs.results(grader_id)}
    assert (found[stuck]["status"], found[stuck]["reason"]) == ("failed", "model_unavailable")
    assert found[first]["status"] == "scored"
    runs.ledger.fake.world.traps.disarm()
    again = runs.finish(runs.start())
    assert (counted(again)["scored"], counted(again)["known"]) == (2, 1), "it is asked anew"
