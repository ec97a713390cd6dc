"""Panels whose completions are scored again: opinions and reviews are of one generation."""

from typing import Any

from tests.component.scoring.conftest import Trio
from tests.support.graders import scoring
from tests.support.projected import counts, events, subscribe


def rescore(trio: Trio, **body: Any) -> list[dict[str, Any]]:
    """Score completions again; return the runs that this starts."""
    answer = trio.platform.call("POST", "/api/v1/completions/rescore", body)
    assert answer.status == 202, answer.text
    before = {run["run_id"] for run in trio.platform.runs()}
    trio.platform.dispatch(trio.platform.queued())
    return [run for run in trio.platform.runs() if run["run_id"] not in before]


def answered(trio: Trio, review_id: str, value: float) -> None:
    body = {"value": value, "explanation": "why"}
    answer = trio.platform.call("POST", f"/api/v1/reviews/{review_id}/answer", body)
    assert answer.status == 200, answer.text


def open_reviews(trio: Trio) -> list[dict[str, Any]]:
    reviews: list[dict[str, Any]] = trio.platform.call("GET", "/api/v1/reviews").json["reviews"]
    return reviews


def test_each_member_is_asked_again_and_its_opinions_are_kept_apart(trio: Trio) -> None:
    webhook_id = subscribe(trio.platform.me()["organizationId"])
    task_id = trio.new_task()
    accepted, runs = trio.start(task_id, {}, {})
    trio.platform.finish(runs.values())
    trio.platform.project()
    for grader in trio.graders:
        grader.disease = scoring(1.0)
    first, second, third = rescore(trio, completionIds=accepted["completionIds"][:1])
    trio.platform.grade(first)
    story = trio.platform.call(
        "GET", f"/api/v1/completions/{accepted['completionIds'][0]}/explanation"
    ).json
    assert [one["state"] for one in story["graders"]].count("scored") == 1
    trio.platform.finish([second, third])
    scored, untouched = trio.verdicts(accepted)
    assert (scored["generation"], scored["score"]["value"]) == (1, 1.0)
    assert [opinion["value"] for opinion in scored["opinions"]] == [1.0] * 3
    assert "generation" not in untouched
    assert untouched["score"]["value"] == 0.5

    for _ in range(2):
        trio.platform.project()
    asked = [one["scored"] for one in counts("statistics#").values()]
    assert asked == [3, 3, 3]
    kinds = [one["event"] for one in events(webhook_id).values()]
    assert (kinds.count("score.completed"), kinds.count("batch.completed")) == (3, 2)


def test_a_person_is_asked_anew_and_an_earlier_answer_decides_nothing(trio: Trio) -> None:
    accepted, runs = trio.start(trio.new_task(1, review={"sampledShare": 1}))
    trio.platform.finish(runs.values())
    (first,) = open_reviews(trio)
    answered(trio, first["id"], 0.1)
    (before,) = trio.verdicts(accepted)
    assert before["score"]["value"] == 0.1

    (run,) = rescore(trio, completionIds=accepted["completionIds"])
    trio.platform.finish([run])
    (second,) = open_reviews(trio)
    assert second["id"] != first["id"]
    (pending,) = trio.verdicts(accepted)
    assert (pending["state"], pending["generation"]) == ("pending", 1)
    answered(trio, second["id"], 0.9)
    (after,) = trio.verdicts(accepted)
    assert (after["score"]["value"], after["reviewId"]) == (0.9, second["id"])
    query = {"generation": 0}
    kept = trio.platform.call(
        "GET", f"/api/v1/completions/{after['completionId']}/score", query=query
    )
    assert kept.json["verdict"] == before
