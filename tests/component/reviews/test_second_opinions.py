"""Another person is asked as well, blind, and changes nothing but what is known of agreement."""

from datetime import timedelta

import pytest

from autotune.protocol.tasks import ReviewPolicy
from autotune_platform.judging.human.figures import LEVELS, pair_name
from autotune_platform.judging.human.models import draw, second_is_drawn, second_review_id
from autotune_platform.reviews.agreement import weighted_kappa

ALWAYS = ReviewPolicy(second_opinion_share=1)


def both(reviewing, first, second, policy=ALWAYS):
    """Have two people answer; return the id of the second one's review."""
    id_ = reviewing.request(policy=policy)
    assert reviewing.answer(id_, first, api_key=reviewing.anna).status == 200
    assert reviewing.answer(second_review_id(id_), second, api_key=reviewing.ben).status == 200
    return second_review_id(id_)


def test_the_first_answer_is_the_verdict_and_another_person_is_asked_blind(reviewing):
    id_ = reviewing.request(policy=ALWAYS, instructions="Be fair")
    assert reviewing.next_id(api_key=reviewing.anna) == id_
    reviewing.answer(id_, 0.8125, api_key=reviewing.anna)
    verdict = reviewing.verdict(id_)
    assert (verdict["state"], verdict["score"]["value"]) == ("scored", 0.8125)
    # Who gave the first is not asked again, and cannot give both.
    assert reviewing.next_id(api_key=reviewing.anna) is None
    second = reviewing.next(api_key=reviewing.ben).json["review"]
    assert (second["id"], second["reason"]) == (second_review_id(id_), "second_opinion")
    assert (second["prompt"], second["instructions"]) == ("What is 2 + 2?", "Be fair")
    reviewing.post(second["id"], "release", api_key=reviewing.ben)
    refused = reviewing.answer(second["id"], api_key=reviewing.anna)
    assert (refused.status, refused.json["code"]) == (409, "review_assigned")
    # Blind: neither review says to the second what the first one scored.
    for shown in (id_, second["id"]):
        assert "0.8125" not in str(reviewing.read(shown, api_key=reviewing.ben))
    released = reviewing.post(id_, "release", api_key=reviewing.ben)
    assert "0.8125" not in released.text
    assert reviewing.read(id_, api_key=reviewing.anna)["answer"]["value"] == 0.8125
    assert reviewing.answer(second["id"], 0.25, api_key=reviewing.ben).status == 200
    assert reviewing.verdict(id_) == verdict
    assert reviewing.next_id(api_key=reviewing.ben) is None


def test_a_share_is_drawn_by_id_alone(reviewing):
    drawn = [second_is_drawn(f"rev_{number}", 0.25) for number in range(4_000)]
    assert 0.22 < sum(drawn) / len(drawn) < 0.28
    assert drawn == [second_is_drawn(f"rev_{number}", 0.25) for number in range(4_000)]
    assert not any(second_is_drawn(f"rev_{number}", None) for number in range(100))
    # What is sampled for a first review says nothing of the second.
    assert draw("review", "rev_1") != draw("second", "rev_1")
    id_ = reviewing.request(policy=ReviewPolicy(second_opinion_share=0))
    reviewing.answer(id_, api_key=reviewing.anna)
    assert reviewing.next_id(api_key=reviewing.ben) is None


def test_agreement_is_counted_from_pairs_by_task_and_in_all(reviewing):
    nothing = reviewing.agreement()
    assert (nothing["pairs"], nothing["meanAbsoluteDifference"]) == (0, None)
    assert (nothing["weightedKappa"], nothing["shareWithinTolerance"]) == (None, None)
    pairs = [(0.0, 0.1), (1.0, 0.9), (0.5, 0.5), (0.2, 0.8)]
    seconds = [both(reviewing, *pair) for pair in pairs]
    found = reviewing.agreement(window="1d")
    assert (found["pairs"], found["withinTolerance"]) == (4, 3)
    assert found["shareWithinTolerance"] == 0.75
    assert found["meanAbsoluteDifference"] == pytest.approx(0.2)
    observed = sum((10 * a - 10 * b) ** 2 for a, b in pairs) / 4
    expected = sum((10 * a - 10 * b) ** 2 for a, _ in pairs for _, b in pairs) / 16
    assert found["weightedKappa"] == pytest.approx(1 - observed / expected)
    task_id = reviewing.read(seconds[3])["taskId"]
    of_task = reviewing.agreement(taskId=task_id)
    assert (of_task["pairs"], of_task["withinTolerance"], of_task["taskId"]) == (1, 0, task_id)
    # The same answer again is no second pair.
    assert reviewing.answer(seconds[0], 0.1, api_key=reviewing.ben).status == 200
    assert reviewing.agreement()["pairs"] == 4
    other = reviewing.platform.new_organization("other")
    seen = reviewing.platform.call(
        "GET", "/api/v1/reviews/agreement", query={"taskId": task_id}, api_key=other
    )
    assert seen.json["agreement"]["pairs"] == 0


def test_agreement_knows_its_windows(reviewing, clock):
    both(reviewing, 0.5, 0.5)
    clock.turn(days=8)
    assert reviewing.agreement(window="7d")["pairs"] == 0
    assert reviewing.agreement(window="30d")["pairs"] == 1
    refused = reviewing.platform.call(
        "GET", "/api/v1/reviews/agreement", query={"window": "8d", "taskId": "x"}
    )
    assert (refused.status, set(refused.fields)) == (422, {"window", "taskId"})


def test_a_second_opinion_that_nobody_gives_ends_by_itself(reviewing, clock):
    policy = ReviewPolicy(second_opinion_share=1, expires_after_seconds=3_600)
    id_ = reviewing.request(policy=policy)
    reviewing.answer(id_, api_key=reviewing.anna)
    clock.turn(hours=2)
    assert reviewing.next_id(api_key=reviewing.ben) is None
    second = reviewing.read(second_review_id(id_))
    assert second["state"] == "expired"
    assert reviewing.verdict(id_)["state"] == "scored"


def test_a_second_opinion_on_a_deleted_text_is_withdrawn(reviewing):
    id_ = reviewing.request(policy=ALWAYS)
    reviewing.answer(id_, api_key=reviewing.anna)
    completion_id = reviewing.read(id_)["completionId"]
    reviewing.platform.call("DELETE", f"/api/v1/completions/{completion_id}")
    assert reviewing.next_id(api_key=reviewing.ben) is None
    assert reviewing.read(second_review_id(id_))["state"] == "withdrawn"


def test_what_a_second_person_wrote_goes_with_the_text(reviewing):
    second = both(reviewing, 0.5, 0.25)
    assert reviewing.read(second)["answer"]["explanation"] == "why"
    completion_id = reviewing.read(second)["completionId"]
    reviewing.platform.call("DELETE", f"/api/v1/completions/{completion_id}")
    assert reviewing.read(second)["answer"]["explanation"] == ""


def test_two_who_cannot_give_a_second_opinion_end_it_without_a_trace_in_the_verdict(reviewing):
    id_ = reviewing.request(policy=ALWAYS)
    reviewing.answer(id_, 0.5, api_key=reviewing.anna)
    cleo = reviewing.platform.new_key("reviewer", principal_id="cleo")
    for api_key in (reviewing.ben, cleo):
        said = reviewing.cannot_judge(second_review_id(id_), api_key=api_key)
        assert said.status == 200
    assert said.json["review"]["state"] == "expired"
    assert reviewing.verdict(id_)["score"]["value"] == 0.5


def test_a_corrected_second_opinion_takes_its_count_back(reviewing, clock):
    policy = ReviewPolicy(second_opinion_share=1, correct_within_minutes=10)
    id_ = reviewing.request(policy=policy)
    reviewing.answer(id_, 0.5, api_key=reviewing.anna)
    # The first may still change: nobody is asked beside it before it is final.
    assert reviewing.next_id(api_key=reviewing.ben) is None
    clock.ahead = timedelta(minutes=11)
    reviewing.answer(id_, 0.5, api_key=reviewing.anna)
    second = second_review_id(id_)
    assert reviewing.next_id(api_key=reviewing.ben) == second
    reviewing.answer(second, 1.0, api_key=reviewing.ben)
    assert reviewing.agreement()["withinTolerance"] == 0
    corrected = reviewing.post(second, "correct", {"value": 0.5}, api_key=reviewing.ben)
    assert corrected.status == 200
    found = reviewing.agreement()
    assert (found["pairs"], found["withinTolerance"]) == (1, 1)
    assert found["meanAbsoluteDifference"] == 0
    assert reviewing.progress()["ben"]["total"] == {
        "answered": 1,
        "corrected": 1,
        "cannotJudge": 0,
        "secondOpinions": 1,
    }


def test_kappa_is_one_for_equals_and_nothing_where_chance_explains_all():
    equal = {pair_name(level, level): 3 for level in range(LEVELS)}
    assert weighted_kappa(equal) == 1
    assert weighted_kappa({pair_name(5, 5): 9}) is None
    opposite = {pair_name(0, 10): 1, pair_name(10, 0): 1}
    assert weighted_kappa(opposite) == -1
    independent = {pair_name(a, b): 1 for a in (0, 10) for b in (0, 10)}
    assert weighted_kappa(independent) == 0
