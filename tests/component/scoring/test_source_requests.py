"""From a score, or a failure, to the requests to language models that it came from, and back."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.component.scoring.test_rubric_graders import (
    COMPLETION,
    LABELS,
    SCORE,
    answering,
    ask_models,
    begin,
    judged,
    registered,
    rows,
    verdicts,
)
from tests.component.scoring.test_rubric_reasks import UNREADABLE, states
from tests.component.scoring.test_rubric_reasks import registered as registered_reasking
from tests.support.exports import export
from tests.support.graders import loopback_grader
from tests.support.ledger import Ledger
from tests.support.ledger import ledger as make_ledger
from tests.support.platform import Platform


@pytest.fixture
def ledger(platform: Platform) -> Iterator[Ledger]:
    with make_ledger(platform) as made:
        yield made


def explained(platform: Platform, completion_id: str) -> dict[str, Any]:
    answer = platform.call("GET", f"/api/v1/completions/{completion_id}/explanation")
    assert answer.status == 200, answer.text
    told: dict[str, Any] = answer.json
    return told


def request_of(ledger: Ledger, request_id: str) -> dict[str, Any]:
    found: dict[str, Any] = ledger.platform.call("GET", f"/api/v1/llm-requests/{request_id}").json[
        "request"
    ]
    return found


def test_a_score_names_the_request_that_it_was_read_from(ledger: Ledger) -> None:
    platform = ledger.platform
    answering(ledger, judged(7.5))
    accepted, run = begin(platform, registered(ledger, SCORE), COMPLETION)
    (completion_id,) = accepted["completionIds"]
    (asked,) = explained(platform, completion_id)["graders"]
    (row_id,) = {one["pk"]["S"] for one in rows()}
    assert (asked["state"], asked["waitsFor"]) == ("pending", "model")
    assert (asked["sourceRequestId"], asked["runId"]) == (row_id, run["run_id"])
    (waiting,) = platform.call("GET", f"/api/v1/batches/{accepted['batchId']}/explanation").json[
        "graders"
    ]
    assert [(one["waitsFor"], one["completions"]) for one in waiting["runs"]] == [("model", 1)]

    ask_models(ledger)
    platform.grade(run)
    (verdict,) = verdicts(platform, accepted)
    assert verdict["sourceRequestId"] == row_id
    told = explained(platform, completion_id)
    assert told["verdict"]["sourceRequestId"] == told["graders"][0]["sourceRequestId"] == row_id
    asked_of = request_of(ledger, row_id)
    assert (asked_of["completionId"], asked_of["status"]) == (completion_id, "completed")
    assert asked_of["costNanoUsd"] > 0
    platform.project()
    (listed,) = platform.call("GET", "/api/v1/scores", query={"include": "completion"}).json[
        "scores"
    ]
    assert listed["sourceRequestId"] == row_id
    (record,) = export(platform).records
    assert record["metadata"]["sourceRequestIds"] == [row_id]


def test_what_was_asked_again_names_the_last_which_leads_to_the_first(ledger: Ledger) -> None:
    platform = ledger.platform
    answering(ledger, UNREADABLE, judged(10))
    grader = registered_reasking(ledger, onParseFailure="reask")
    accepted, run = begin(platform, grader, COMPLETION)
    ask_models(ledger)
    left = platform.grade(run)
    (asked,) = explained(platform, accepted["completionIds"][0])["graders"]
    (last,) = [one["pk"]["S"] for one in states() if "reask_of" in one]
    assert (asked["sourceRequestId"], asked["waitsFor"]) == (last, "model")
    ask_models(ledger)
    platform.grade(left)
    (verdict,) = verdicts(platform, accepted)
    assert (verdict["state"], verdict["sourceRequestId"]) == ("scored", last)
    (first,) = [one["pk"]["S"] for one in states() if "reasked_as" in one]
    assert request_of(ledger, last)["reaskOf"] == first


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (judged(11), "model_answer_out_of_range"),
        (UNREADABLE, "model_answer_unreadable"),
    ],
)
def test_a_failure_names_it_too(ledger: Ledger, answer: str, reason: str) -> None:
    platform = ledger.platform
    answering(ledger, answer)
    accepted, run = begin(platform, registered(ledger, SCORE), COMPLETION)
    ask_models(ledger)
    platform.grade(run)
    (verdict,) = verdicts(platform, accepted)
    (row_id,) = {one["pk"]["S"] for one in rows()}
    assert (verdict["reasonCode"], verdict["sourceRequestId"]) == (reason, row_id)


def test_a_budget_without_room_and_a_lost_connection_name_it(ledger: Ledger) -> None:
    platform = ledger.platform
    connection_id = ledger.connect(maxWaitSeconds=0)
    grader = registered(ledger, SCORE, connection_id=connection_id)
    assert platform.call("PUT", "/api/v1/llm-budget", {"dayUsd": "0"}).status == 200
    accepted, run = begin(platform, grader, COMPLETION)
    ask_models(ledger)
    platform.grade(run)
    (verdict,) = verdicts(platform, accepted)
    (row_id,) = {one["pk"]["S"] for one in rows()}
    assert (verdict["reasonCode"], verdict["sourceRequestId"]) == ("budget_exhausted", row_id)
    assert platform.call("DELETE", f"/api/v1/llm-connections/{connection_id}").status == 200
    accepted, run = begin(platform, grader, COMPLETION)
    (never_asked,) = verdicts(platform, accepted)
    assert never_asked["reasonCode"] == "model_connection_lost"
    assert never_asked["sourceRequestId"] is None


def test_a_panels_opinions_name_theirs_and_an_export_all_of_them(ledger: Ledger) -> None:
    platform = ledger.platform
    ledger.fake.world.answers.answerer = lambda ask: (
        judged("rude") if "Tone of" in ask.prompt else judged(10)
    )
    judges = [registered(ledger, SCORE)["id"], registered(ledger, LABELS)["id"]]
    with loopback_grader() as grader:
        third = platform.new_grader(grader)
        members = [{"graderId": id_} for id_ in [*judges, third]]
        accepted = platform.submit(platform.new_task(graders=members), COMPLETION).json
        platform.dispatch(platform.queued())
        runs = platform.runs()
        left = [platform.grade(run) for run in runs]
        ask_models(ledger)
        for run in left:
            if run["waiting"]:
                platform.grade(run)
    (completion_id,) = accepted["completionIds"]
    verdict = platform.call("GET", f"/api/v1/completions/{completion_id}/score").json["verdict"]
    by_grader = {one["graderId"]: one["sourceRequestId"] for one in verdict["opinions"]}
    labels = {one["labels"]["M"]["grader"]["S"]: one["pk"]["S"] for one in states()}
    assert by_grader == {**labels, third: None}
    assert set(labels) == set(judges)
    assert verdict["sourceRequestId"] is None
    told = {
        one["graderId"]: one["sourceRequestId"]
        for one in explained(platform, completion_id)["graders"]
    }
    assert told == by_grader
    platform.project()
    (record,) = export(platform).records
    assert record["metadata"]["sourceRequestIds"] == [by_grader[id_] for id_ in judges]
