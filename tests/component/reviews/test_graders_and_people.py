"""How far a grader and people agree is counted from answers of people who did not know its own."""

from autotune.protocol.ids import new_id
from autotune.protocol.tasks import ReviewPolicy
from autotune_platform.judging.human.models import Preliminary
from autotune_platform.verdicts.models import Opinion


def said(grader_id, value):
    return Opinion(
        grader_id=grader_id,
        grader_version="1",
        weight=1.0,
        state="scored" if value is not None else "failed",
        value=value,
    )


def review(reviewing, opinions, **policy):
    """Have a completion reviewed that graders gave their opinions on; return the review's id."""
    preliminary = Preliminary(
        state="scored", value=0.5, opinions=[said(*each) for each in opinions.items()]
    )
    return reviewing.request(
        preliminary=preliminary, graders=list(opinions), policy=ReviewPolicy(**policy)
    )


def test_each_grader_is_compared_with_people_who_judged_without_it(reviewing):
    one, other, silent = (new_id("grd") for _ in range(3))
    for value in (0.9, 0.1):
        id_ = review(reviewing, {one: value, other: 0.5, silent: None})
        assert reviewing.answer(id_, value, api_key=reviewing.anna).status == 200
    found = reviewing.agreement(graderId=one, window="1d")
    assert (found["pairs"], found["withinTolerance"], found["graderId"]) == (2, 2, one)
    assert (found["weightedKappa"], found["meanAbsoluteDifference"]) == (1, 0)
    assert reviewing.agreement(graderId=other)["meanAbsoluteDifference"] == 0.4
    assert reviewing.agreement(graderId=silent)["pairs"] == 0
    # People beside people are another question.
    assert reviewing.agreement()["pairs"] == 0
    stranger = reviewing.platform.new_organization("other")
    seen = reviewing.platform.call(
        "GET", "/api/v1/reviews/agreement", query={"graderId": one}, api_key=stranger
    )
    assert seen.json["agreement"]["pairs"] == 0


def test_who_looked_at_graders_is_not_compared_with_them(reviewing):
    grader_id = new_id("grd")
    id_ = review(reviewing, {grader_id: 0.9})
    path = f"/api/v1/reviews/{id_}"
    looked = reviewing.platform.call(
        "GET", path, query={"include": "preliminary"}, api_key=reviewing.anna
    )
    assert looked.json["review"]["preliminary"]["value"] == 0.5
    reviewing.answer(id_, 0.9, api_key=reviewing.anna)
    assert reviewing.agreement(graderId=grader_id)["pairs"] == 0


def test_a_correction_moves_a_pair(reviewing):
    grader_id = new_id("grd")
    id_ = review(reviewing, {grader_id: 0.9}, correct_within_minutes=10)
    reviewing.answer(id_, 0.1, api_key=reviewing.anna)
    assert reviewing.agreement(graderId=grader_id)["withinTolerance"] == 0
    reviewing.post(id_, "correct", {"value": 0.9}, api_key=reviewing.anna)
    found = reviewing.agreement(graderId=grader_id)
    assert (found["pairs"], found["withinTolerance"]) == (1, 1)


def test_a_second_opinion_is_compared_with_the_first_alone(reviewing):
    grader_id = new_id("grd")
    id_ = review(reviewing, {grader_id: 0.9}, second_opinion_share=1)
    reviewing.answer(id_, 0.9, api_key=reviewing.anna)
    second = reviewing.next_id(api_key=reviewing.ben)
    reviewing.answer(second, 0.2, api_key=reviewing.ben)
    assert reviewing.agreement(graderId=grader_id)["pairs"] == 1
    assert reviewing.agreement()["pairs"] == 1


def test_a_task_and_a_grader_are_not_named_together(reviewing):
    query = {"graderId": new_id("grd"), "taskId": new_id("task")}
    refused = reviewing.platform.call("GET", "/api/v1/reviews/agreement", query=query)
    assert (refused.status, set(refused.fields)) == (422, {"graderId"})
    refused = reviewing.platform.call(
        "GET", "/api/v1/reviews/agreement", query={"graderId": "task_1"}
    )
    assert (refused.status, set(refused.fields)) == (422, {"graderId"})
