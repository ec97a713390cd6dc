"""Graders of a deck judge its samples through the ledger, and each judgement is stored once."""

from typing import Any

import pytest

from tests.providers.answers import Ask
from tests.support.deck_runs import DeckRuns, counted, items_of, texts_left, verdict
from tests.support.ledger import Ledger


@pytest.fixture
def runs(ledger: Ledger) -> DeckRuns:
    return DeckRuns(ledger)


def by_text(levels: dict[str, str]) -> Any:
    """A judge that answers by what stands in the response."""

    def judge(ask: Ask) -> str | None:
        return next((text for word, text in levels.items() if word in ask.prompt), None)

    return judge


def test_three_samples_are_judged_end_to_end(runs: DeckRuns) -> None:
    runs.judging(
        by_text(
            {
                "alpha": verdict(2),
                "beta": verdict(-3, "it invents"),
                "gamma": verdict("NOT_APPLICABLE"),
            }
        )
    )
    grader_id = runs.add_grader()
    ids = runs.add_samples("alpha", "beta", "gamma", model="secret-model-name")
    estimate = runs.estimate()
    assert (estimate["samples"], estimate["requests"], estimate["known"]) == (3, 3, 0)
    assert 0 < estimate["estimateNanoUsd"] < estimate["boundNanoUsd"]
    assert (estimate["fits"], runs.asked) == (True, [])

    run = runs.start()
    assert counted(run)["pending"] == 3
    assert run["capNanoUsd"] == run["boundNanoUsd"] == estimate["boundNanoUsd"]
    ended = runs.finish(run)
    assert ended["status"] == "completed"
    counts = counted(ended)
    assert (counts["expected"], counts["scored"], counts["abstained"]) == (3, 2, 1)
    assert 0 < ended["costNanoUsd"] <= ended["capNanoUsd"]
    assert ended["reservedNanoUsd"] == 0
    assert ended["endedAt"]

    results = {one["sampleId"]: one for one in runs.results(grader_id)}
    assert [results[id_].get("score") for id_ in ids] == [2, -3, None]
    alpha, beta, gamma = (results[id_] for id_ in ids)
    assert beta["explanation"] == "it invents"
    assert beta["reasoning"].endswith("I compared the two.")
    assert (gamma["status"], gamma["reason"]) == ("abstained", "not_applicable")
    assert alpha["answeredModel"]
    halves = {
        one["id"]: one["split"]
        for one in runs.platform.call("GET", f"{runs.path}/samples").json["samples"]
    }
    assert {id_: one["split"] for id_, one in results.items()} == halves
    assert sum(one["costNanoUsd"] for one in results.values()) == ended["costNanoUsd"]
    rows = runs.rows()
    assert {one["id"] for one in rows} == {one["requestId"] for one in results.values()}
    assert {one["purpose"] for one in rows} == {"rubric_grading"}
    assert {one["trace"]["sampleId"] for one in rows} == set(ids)
    assert {one["trace"]["rubricId"] for one in rows} == {grader_id}
    assert texts_left() == []
    assert not any("secret-model-name" in ask.prompt for ask in runs.asked)


def test_a_batch_of_what_is_long_enough_begins_with_the_run(runs: DeckRuns) -> None:
    """Nobody waits for the sweeper of the ledger, which comes once a minute."""
    runs.judging(lambda ask: verdict(1))
    runs.add_grader()
    runs.add_samples(*(f"summary {place}" for place in range(20)))
    run = runs.start()
    before = runs.ledger.started()
    runs.step(runs.state(run))
    (begun,) = runs.ledger.started()
    assert before == []
    assert begun["group"].startswith(f"group#{runs.connection_id}#")


def test_what_was_judged_is_not_paid_again_unless_it_is_repeated(runs: DeckRuns) -> None:
    answers = iter([verdict(1), verdict(2), verdict(3), verdict(1), verdict(3), verdict(-1)])
    runs.judging(lambda _: next(answers))
    grader_id = runs.add_grader()
    ids = runs.add_samples("alpha", "beta", "gamma")
    first = runs.finish(runs.start(sampleIds=ids[:2]))
    assert counted(first)["scored"] == 2
    whole = runs.finish(runs.start())
    assert (counted(whole)["scored"], counted(whole)["known"], len(runs.asked)) == (3, 2, 3)
    assert whole["costNanoUsd"] < first["costNanoUsd"]
    before = runs.results(grader_id)
    estimate = runs.estimate(repeat=True)
    assert (estimate["requests"], estimate["known"]) == (3, 0)

    again = runs.finish(runs.start(repeat=True))
    assert len(runs.asked) == 6
    assert runs.results(grader_id) == before
    repeated = runs.results(grader_id, repeated="true")
    assert len(repeated) == 3
    assert {one["runId"] for one in repeated} == {again["id"]}
    levels = {one["sampleId"]: one["score"] for one in before}
    apart = [abs(levels[one["sampleId"]] - one["score"]) for one in repeated]
    assert again["repeatability"] == {
        "compared": 3,
        "same": apart.count(0),
        "withinOne": sum(one <= 1 for one in apart),
    }


def test_what_cannot_be_read_is_asked_for_once_more_and_is_no_level(runs: DeckRuns) -> None:
    said = {"alpha": ["4", "2"], "beta": ["maybe", "0.5"]}

    def judge(ask: Ask) -> str:
        word = next(word for word in said if word in ask.prompt)
        return verdict(said[word].pop(0))

    runs.judging(judge)
    grader_id = runs.add_grader()
    alpha, beta = runs.add_samples("alpha", "beta")
    ended = runs.finish(runs.start())
    assert (counted(ended)["scored"], counted(ended)["failed"]) == (1, 1)
    results = {one["sampleId"]: one for one in runs.results(grader_id)}
    assert results[alpha]["score"] == 2
    assert results[beta].get("score") is None
    assert results[beta]["reason"] == "model_answer_unreadable"
    assert sum(one["costNanoUsd"] for one in results.values()) == ended["costNanoUsd"]
    assert sum(one["costNanoUsd"] for one in runs.rows()) == ended["costNanoUsd"]
    assert (len(runs.asked), len(runs.rows()), texts_left()) == (4, 4, [])

    # A later run judges what failed once more.
    said["beta"] = ["-2"]
    later = runs.finish(runs.start())
    assert (counted(later)["scored"], counted(later)["known"]) == (2, 1)
    assert {one["score"] for one in runs.results(grader_id)} == {2, -2}


def test_a_cap_stops_a_run_before_it_can_cost_more(runs: DeckRuns) -> None:
    runs.judging(lambda _: verdict(0))
    grader_id = runs.add_grader()
    ids = runs.add_samples("alpha", "bravo", "gamma", "delta")
    first = runs.finish(runs.start(sampleIds=ids[:1]))
    (row,) = runs.rows()
    # Room for one more, and after that for less than one.
    cap = row["boundNanoUsd"] + first["costNanoUsd"] // 2
    ended = runs.finish(runs.start(capNanoUsd=cap))
    assert (ended["status"], ended["stoppedBecause"]) == ("stopped", "cap")
    counts = counted(ended)
    assert (counts["scored"], counts["known"], counts["canceled"]) == (2, 1, 2)
    assert len(runs.results(grader_id)) == len(runs.asked) == 2
    assert 0 < ended["costNanoUsd"] <= cap
    nothing = runs.finish(runs.start(capNanoUsd=1))
    assert (nothing["status"], nothing["costNanoUsd"]) == ("stopped", 0)
    assert counted(nothing)["known"] == 2


def test_a_canceled_run_asks_nothing_more(runs: DeckRuns) -> None:
    runs.judging(lambda _: verdict(0))
    grader_id = runs.add_grader()
    runs.add_samples("alpha", "beta")
    run = runs.start()
    runs.step(runs.state(run))
    assert len(runs.rows()) == 2
    canceled = runs.platform.call("POST", f"{runs.path}/runs/{run['id']}/cancel")
    assert canceled.json["run"]["cancelRequestedAt"]
    ended = runs.finish(run, asking=False)
    assert ended["status"] == "canceled"
    assert counted(ended)["canceled"] == 2
    assert (runs.asked, ended["costNanoUsd"], ended["reservedNanoUsd"]) == ([], 0, 0)
    assert {one["status"] for one in runs.results(grader_id)} == {"canceled"}
    again = runs.platform.call("POST", f"{runs.path}/runs/{run['id']}/cancel").json["run"]
    assert again == ended
    # What was canceled gives way to a later run.
    assert counted(runs.finish(runs.start()))["scored"] == 2
    assert {one["status"] for one in runs.results(grader_id)} == {"scored"}


def test_what_is_held_out_is_in_no_prompt_but_those_of_grading(runs: DeckRuns) -> None:
    runs.judging(lambda _: verdict(0))
    runs.add_grader()
    tokens = {f"held{n}back": "" for n in range(12)}
    ids = runs.add_whole_samples([{"input": "i", "output": token} for token in tokens])
    assert len(ids) == len(tokens)
    run = runs.start()
    runs.step(runs.state(run))
    rows = {one["id"]: one["purpose"] for one in runs.rows()}
    texts = {row_id: _asked(runs, row_id) for row_id in rows}
    for token in tokens:
        holders = {rows[row_id] for row_id, text in texts.items() if token in text}
        assert holders == {"rubric_grading"}
    runs.finish(run)
    stored = "".join(str(one) for one in items_of("ledger") + items_of("decks", ["drn_", "grd_"]))
    assert not any(token in stored for token in tokens)


def _asked(runs: DeckRuns, row_id: str) -> str:
    return runs.platform.call("GET", f"/api/v1/llm-requests/{row_id}").text
