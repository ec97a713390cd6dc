"""What reviewers are shown to judge by, and what they say when they cannot."""

import pytest

from autotune.protocol.tasks import ReviewPolicy
from autotune_platform.judging.human.models import Preliminary
from functions.reviews import api
from tests.support.reviews import rubric_grader

METADATA = {"answer": 4, "source": "exam"}


def test_reference_and_metadata_are_shown_where_the_task_allows_it(reviewing):
    def shown(metadata=METADATA, **policy):
        id_ = reviewing.request(metadata=metadata, policy=ReviewPolicy(**policy))
        review = reviewing.read(id_, api_key=reviewing.anna)
        return review["reference"], review["metadata"]

    assert shown() == (None, None)
    assert shown(show_reference=True) == ("4", None)
    assert shown(show_metadata=True) == (None, METADATA)
    assert shown({"reference": "four", "answer": 4}, show_reference=True) == ("four", None)
    assert shown({"answer": {"ü": [1]}}, show_reference=True)[0] == '{\n  "ü": [\n    1\n  ]\n}'
    assert shown({}, show_reference=True, show_metadata=True) == (None, {})


def test_neither_is_shown_once_the_text_is_deleted(reviewing):
    policy = ReviewPolicy(show_reference=True, show_metadata=True)
    id_ = reviewing.request(metadata=METADATA, policy=policy)
    completion_id = reviewing.read(id_)["completionId"]
    reviewing.platform.call("DELETE", f"/api/v1/completions/{completion_id}")
    review = reviewing.read(id_)
    assert (review["reference"], review["metadata"]) == (None, None)


def test_people_judge_by_the_words_of_the_organisations_own_rubrics(reviewing):
    platform = reviewing.platform
    own, others = (
        rubric_grader(platform, api_key=key, system="1: wrong. 5: right and short.")
        for key in (None, platform.new_organization("other"))
    )
    preliminary = Preliminary(
        state="scored", value=0.5, dimensions=[{"name": "clarity", "value": 0.125}]
    )
    id_ = reviewing.request(graders=[own, others], preliminary=preliminary)
    review = reviewing.read(id_, api_key=reviewing.anna)
    [shown] = review["rubrics"]
    assert (shown["name"], shown["system"], shown["user"]) == (
        "clear",
        "1: wrong. 5: right and short.",
        "{{ item.prompt }} {{ sample.output_text }}",
    )
    assert (shown["answer"]["minimum"], shown["answer"]["maximum"]) == (1, 5)
    assert not {"model", "connectionId", "params"} & shown.keys()
    assert review["dimensions"] == ["clarity"]
    assert "0.125" not in str(review)


def test_people_judge_by_the_seven_levels_too(reviewing):
    levels = {
        "type": "levels",
        "criteria": "Is it short?",
        "levels": [f"text {level}" for level in range(-3, 4)],
        "notApplicableWhen": "it is empty",
    }
    grader_id = rubric_grader(reviewing.platform, levels=levels)
    review = reviewing.read(reviewing.request(graders=[grader_id]), api_key=reviewing.anna)
    [shown] = review["rubrics"]
    assert shown["system"] is None
    assert shown["user"].startswith("Is it short?\n\n-3: text -3\n-2: text -2\n")
    assert shown["user"].endswith("3: text 3\n\nIt does not apply when: it is empty")
    assert (shown["answer"]["type"], shown["answer"]["calibration"]) == ("levels", None)


def test_who_cannot_judge_leaves_it_to_another(reviewing):
    id_ = reviewing.request()
    reviewing.post(id_, "assign", {"assigneeId": "anna"})
    assert reviewing.next_id(api_key=reviewing.anna) == id_
    said = reviewing.post(
        id_,
        "cannot-judge",
        {"reason": "needs_expertise", "explanation": "law"},
        api_key=reviewing.anna,
    )
    review = said.json["review"]
    assert (review["state"], review["lease"], review["assigneeId"]) == ("open", None, None)
    assert review["cannotJudge"][0]["reason"] == "needs_expertise"
    again = reviewing.cannot_judge(id_, api_key=reviewing.anna).json["review"]
    assert again["cannotJudge"] == review["cannotJudge"]
    assert reviewing.next_id(api_key=reviewing.anna) is None
    # Another is not told what leaned the first one away.
    assert reviewing.next_id(api_key=reviewing.ben) == id_
    assert reviewing.read(id_, api_key=reviewing.ben)["cannotJudge"] == []
    assert reviewing.read(id_)["cannotJudge"] == review["cannotJudge"]
    answered = reviewing.answer(id_, 0.75, api_key=reviewing.ben)
    assert answered.status == 200
    assert reviewing.verdict(id_)["score"]["value"] == 0.75


def test_after_two_who_cannot_judge_it_ends_as_one_that_nobody_answered(reviewing, monkeypatch):
    id_ = reviewing.request(on_expiry="abstain")
    reviewing.cannot_judge(id_, api_key=reviewing.anna)
    assert reviewing.verdict(id_)["state"] == "pending"
    # The process may end between the record and the verdict: saying it again makes it good.
    with monkeypatch.context() as broken:
        broken.setattr(api.parts().review_answering, "resolver", None)
        assert reviewing.cannot_judge(id_, api_key=reviewing.ben).status == 500
    assert reviewing.verdict(id_)["state"] == "pending"
    assert reviewing.cannot_judge(id_, api_key=reviewing.ben).json["review"]["state"] == "expired"
    verdict = reviewing.verdict(id_)
    assert (verdict["state"], verdict["decidedBy"]) == ("abstained", "expiry")
    late = reviewing.answer(id_, api_key=reviewing.anna)
    assert (late.status, late.json["code"]) == (409, "review_expired")
    assert reviewing.progress()["ben"]["total"]["cannotJudge"] == 1


def test_a_link_to_one_review_has_nothing_left_once_its_bearer_cannot_judge(reviewing):
    id_ = reviewing.request()
    link = reviewing.bearer(reviewing.link(reviewId=id_)["url"])
    assert reviewing.next_id(**link) == id_
    assert reviewing.cannot_judge(id_, **link).status == 200
    assert reviewing.next(**link).json == {"review": None, "skipped": False}


def test_who_cannot_judge_may_think_again(reviewing):
    id_ = reviewing.request()
    reviewing.cannot_judge(id_, api_key=reviewing.anna)
    assert reviewing.answer(id_, 0.5, api_key=reviewing.anna).status == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "reason"),
        ({"reason": "bored"}, "reason"),
        ({"reason": "unclear", "explanation": "x" * 20_001}, "explanation"),
        ({"reason": "unclear", "value": 1}, "value"),
        ({"reason": "other"}, "explanation"),
    ],
)
def test_a_reason_that_is_none_is_refused(reviewing, body, field):
    refused = reviewing.post(reviewing.request(), "cannot-judge", body)
    assert (refused.status, list(refused.fields)) == (422, [field])


def test_another_reason_is_said_in_words(reviewing):
    id_ = reviewing.request()
    refused = reviewing.post(id_, "cannot-judge", {"reason": "other", "explanation": " "})
    assert (refused.status, list(refused.fields)) == (422, ["explanation"])
    said = reviewing.post(id_, "cannot-judge", {"reason": "other", "explanation": "my own text"})
    assert said.status == 200


def test_words_that_may_quote_a_deleted_text_go_with_it(reviewing):
    id_ = reviewing.request()
    body = {"reason": "broken_text", "explanation": "it says QUOTED"}
    reviewing.post(id_, "cannot-judge", body, api_key=reviewing.anna)
    completion_id = reviewing.read(id_)["completionId"]
    reviewing.platform.call("DELETE", f"/api/v1/completions/{completion_id}")
    assert "QUOTED" not in str(reviewing.read(id_))


def test_nobody_else_is_asked_where_somebody_holds_it(reviewing):
    id_ = reviewing.request()
    reviewing.next(api_key=reviewing.anna)
    refused = reviewing.cannot_judge(id_, api_key=reviewing.ben)
    assert (refused.status, refused.json["code"]) == (409, "review_held")
    other = reviewing.platform.new_organization("other")
    assert reviewing.cannot_judge(id_, api_key=other).status == 404
