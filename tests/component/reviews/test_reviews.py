"""Who gets which review, for how long, and what an answer does."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from autotune.protocol.ids import derived_id, new_id
from autotune_platform.access.models import Caller
from autotune_platform.judging.human.models import MOST_NAMES_NOTED, Preliminary
from autotune_platform.judging.human.records import ReviewRecords
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from functions.reviews import api

PRELIMINARY = Preliminary(
    state="scored",
    value=0.875,
    confidence=0.25,
    dimensions=[{"name": "clarity", "value": 0.125}],
    opinions=[
        {"grader_id": "grd_1", "grader_version": "1", "weight": 1, "state": "scored", "value": 0.9}
    ],
)


def test_a_review_shows_what_is_judged_and_not_what_graders_said(reviewing):
    review_id = reviewing.request(
        prompt="P", response="R", preliminary=PRELIMINARY, instructions="Be fair"
    )
    review = reviewing.read(review_id, api_key=reviewing.anna)
    assert (review["prompt"], review["response"], review["instructions"]) == ("P", "R", "Be fair")
    assert (review["promptHtml"], review["preliminary"]) == (None, None)
    assert review["hasPreliminary"]
    shown = reviewing.read(review_id, query={"format": "html"}, api_key=reviewing.anna)
    assert shown["responseHtml"] == "<p>R</p>\n"
    assert "0.875" not in str(shown)


def test_that_somebody_saw_what_graders_said_is_noted_for_their_answer_alone(reviewing):
    first, second = (reviewing.request(preliminary=PRELIMINARY) for _ in range(2))
    seen = reviewing.read(first, query={"include": "preliminary"}, api_key=reviewing.anna)
    assert seen["preliminary"]["value"] == 0.875
    assert reviewing.answer(first, api_key=reviewing.anna).json["review"]["answer"][
        "sawPreliminary"
    ]
    assert not reviewing.answer(second, api_key=reviewing.anna).json["review"]["answer"][
        "sawPreliminary"
    ]
    third = reviewing.request(preliminary=PRELIMINARY)
    reviewing.read(third, query={"include": "preliminary"}, api_key=reviewing.ben)
    answered = reviewing.answer(third, api_key=reviewing.anna).json["review"]
    assert not answered["answer"]["sawPreliminary"]


def test_which_graders_were_asked_is_not_told_to_reviewers(reviewing):
    review_id = reviewing.request(preliminary=PRELIMINARY)
    link = reviewing.bearer(reviewing.link()["url"])
    for options in ({"api_key": reviewing.anna}, link):
        seen = reviewing.read(review_id, query={"include": "preliminary"}, **options)
        [told] = seen["preliminary"]["opinions"]
        assert {name: value for name, value in told.items() if value is not None} == {
            "state": "scored",
            "value": 0.9,
        }
    [told] = reviewing.read(review_id, query={"include": "preliminary"})["preliminary"]["opinions"]
    assert (told["graderId"], told["graderVersion"], told["weight"]) == ("grd_1", "1", 1)


def test_many_who_saw_what_graders_said_are_noted_in_bounded_space(reviewing):
    crowd = frozenset(f"reviewer-{number}" for number in range(MOST_NAMES_NOTED - 1))
    review_id = reviewing.request(preliminary=PRELIMINARY, preliminary_seen_by=crowd)
    records = ReviewRecords(Table("completions", clients.dynamodb()))
    assert not records.find(review_id).was_shown_to("anna")
    for api_key in (reviewing.anna, reviewing.ben):
        seen = reviewing.read(review_id, query={"include": "preliminary"}, api_key=api_key)
        assert seen["preliminary"]["value"] == 0.875
    review = records.find(review_id)
    assert len(review.preliminary_seen_by) == MOST_NAMES_NOTED
    assert "ben" not in review.preliminary_seen_by
    answered = reviewing.answer(review_id, api_key=reviewing.ben).json["review"]
    assert answered["answer"]["sawPreliminary"]


def test_a_review_without_graders_has_no_preliminary_to_see(reviewing):
    review_id = reviewing.request(reason="human")
    review = reviewing.read(review_id, query={"include": "preliminary"}, api_key=reviewing.anna)
    assert not review["hasPreliminary"]
    answered = reviewing.answer(review_id, api_key=reviewing.anna).json["review"]
    assert not answered["answer"]["sawPreliminary"]


def test_the_oldest_comes_first_and_no_two_people_get_the_same(reviewing):
    young, old, middle = (reviewing.request(minutes) for minutes in (1, 30, 5))
    assert reviewing.next_id(api_key=reviewing.anna) == old
    assert reviewing.next_id(api_key=reviewing.ben) == middle
    # Who asks again is still at the one that they hold.
    assert reviewing.next_id(api_key=reviewing.anna) == old
    assert reviewing.next_id() == young
    assert reviewing.next(api_key=reviewing.platform.new_key("reviewer")).json == {
        "review": None,
        "skipped": False,
    }


def test_people_who_ask_at_the_same_time_get_different_reviews(reviewing):
    ids = [reviewing.request(minutes) for minutes in range(6)]
    callers = [
        Caller(
            key_id="key_1",
            organization_id=reviewing.organization_id,
            principal_id=f"reviewer-{number}",
            role="reviewer",
            request_id="req_1",
        )
        for number in range(8)
    ]
    service = api.parts().reviews
    with ThreadPoolExecutor(len(callers)) as people:
        taken = list(people.map(lambda caller: service.next(caller, skip=[])[0], callers))
    got = [review.id for review in taken if review is not None]
    assert sorted(got) == sorted(ids)
    holders = {review.lease.holder for review in taken if review is not None}
    assert len(holders) == len(ids)


def test_what_is_assigned_comes_first_and_goes_to_nobody_else(reviewing):
    reviewing.request(60)
    for_anna = reviewing.request(5)
    assigned = reviewing.post(for_anna, "assign", {"assigneeId": "anna"})
    assert assigned.json["review"]["assigneeId"] == "anna"
    assert reviewing.next_id(api_key=reviewing.anna) == for_anna
    assert reviewing.next_id(api_key=reviewing.ben) != for_anna
    claimed = reviewing.post(for_anna, "claim", api_key=reviewing.ben)
    assert (claimed.status, claimed.json["code"]) == (409, "review_held")
    reviewing.post(for_anna, "release", api_key=reviewing.anna)
    claimed = reviewing.post(for_anna, "claim", api_key=reviewing.ben)
    assert (claimed.status, claimed.json["code"]) == (409, "review_assigned")
    reviewing.post(for_anna, "assign", {"assigneeId": None})
    assert reviewing.post(for_anna, "claim", api_key=reviewing.ben).status == 200


def test_an_assignment_to_somebody_else_takes_the_lease_away(reviewing):
    review_id = reviewing.request()
    reviewing.next(api_key=reviewing.anna)
    assert (
        reviewing.post(review_id, "assign", {"assigneeId": "ben"}).json["review"]["lease"] is None
    )
    assert reviewing.answer(review_id, api_key=reviewing.anna).json["code"] == "review_assigned"
    assert reviewing.next_id(api_key=reviewing.ben) == review_id
    assert reviewing.answer(review_id, api_key=reviewing.ben).status == 200
    assert reviewing.next_id(api_key=reviewing.ben) is None


def test_a_reviewer_assigns_to_themselves_alone(reviewing):
    review_id = reviewing.request()
    refused = reviewing.post(review_id, "assign", {"assigneeId": "ben"}, api_key=reviewing.anna)
    assert refused.status == 403
    mine = reviewing.post(review_id, "assign", {"assigneeId": "anna"}, api_key=reviewing.anna)
    assert mine.json["review"]["assigneeId"] == "anna"
    taken = reviewing.post(review_id, "assign", {"assigneeId": None}, api_key=reviewing.ben)
    assert taken.status == 403
    held = reviewing.request()
    reviewing.post(held, "claim", api_key=reviewing.ben)
    refused = reviewing.post(held, "assign", {"assigneeId": "anna"}, api_key=reviewing.anna)
    assert (refused.status, refused.json["code"]) == (409, "review_held")
    assert reviewing.answer(held, api_key=reviewing.ben).status == 200
    wrong = reviewing.post(review_id, "assign", {"assigneeId": "a b"})
    assert (wrong.status, list(wrong.fields)) == (422, ["assigneeId"])


def test_a_lease_that_ran_out_returns_the_review_to_the_pool(reviewing, clock):
    review_id = reviewing.request()
    assert reviewing.next_id(api_key=reviewing.anna) == review_id
    clock.ahead = timedelta(minutes=14)
    assert reviewing.next_id(api_key=reviewing.ben) is None
    assert reviewing.post(review_id, "claim", api_key=reviewing.anna).status == 200
    clock.ahead = timedelta(minutes=28)
    assert reviewing.next_id(api_key=reviewing.ben) is None
    clock.ahead = timedelta(minutes=30)
    assert reviewing.next_id(api_key=reviewing.ben) == review_id
    lost = reviewing.answer(review_id, api_key=reviewing.anna)
    assert (lost.status, lost.json["code"]) == (409, "review_held")
    assert reviewing.answer(review_id, api_key=reviewing.ben).status == 200


def test_an_answer_after_a_lease_that_nobody_took_over_counts(reviewing, clock):
    review_id = reviewing.request()
    reviewing.next(api_key=reviewing.anna)
    clock.ahead = timedelta(hours=1)
    assert reviewing.answer(review_id, api_key=reviewing.anna).status == 200


def test_what_is_released_or_skipped_goes_to_others(reviewing):
    first, second = reviewing.request(9), reviewing.request(1)
    assert reviewing.next_id(api_key=reviewing.anna) == first
    assert reviewing.post(first, "release", api_key=reviewing.anna).json["review"]["lease"] is None
    assert reviewing.next_id(skip=(first,), api_key=reviewing.anna) == second
    left = reviewing.next(skip=(first, second), api_key=reviewing.anna).json
    assert left == {"review": None, "skipped": True}
    assert reviewing.next_id(api_key=reviewing.ben) == first
    # Who holds nothing gives nothing back.
    assert reviewing.post(first, "release", api_key=reviewing.anna).json["review"]["lease"]


def test_an_answer_is_the_completions_verdict_and_can_be_repeated(reviewing):
    review_id = reviewing.request()
    body = {
        "value": 0.7,
        "explanation": "good",
        "dimensions": [{"name": "clarity", "value": 0.9}],
    }
    first = reviewing.post(review_id, "answer", body, api_key=reviewing.anna)
    answer = first.json["review"]["answer"]
    assert (first.status, answer["value"], answer["confidence"]) == (200, 0.7, 1.0)
    assert (answer["reviewerId"], answer["explanation"]) == ("anna", "good")
    again = reviewing.post(review_id, "answer", body, api_key=reviewing.anna)
    assert again.json == first.json
    verdict = reviewing.verdict(review_id)
    assert (verdict["state"], verdict["score"]["value"]) == ("scored", 0.7)
    for changed, key in ((body | {"value": 0.8}, reviewing.anna), (body, reviewing.ben)):
        late = reviewing.post(review_id, "answer", changed, api_key=key)
        assert (late.status, late.json["code"]) == (409, "review_answered")


def test_what_follows_from_an_answer_is_made_good_when_it_is_repeated(reviewing, monkeypatch):
    """The process may end between the record and the verdict."""
    review_id = reviewing.request()
    service = api.parts().review_answering
    with monkeypatch.context() as broken:
        broken.setattr(service, "resolver", None)
        assert reviewing.answer(review_id, api_key=reviewing.anna).status == 500
    assert reviewing.read(review_id)["state"] == "answered"
    assert reviewing.verdict(review_id)["state"] == "pending"
    assert reviewing.answer(review_id, api_key=reviewing.anna).status == 200
    assert reviewing.verdict(review_id)["state"] == "scored"


def test_an_answer_wakes_the_run_that_waits_for_it(reviewing, monkeypatch):
    woken = []

    class Waits:
        def wake(self, run_id):
            woken.append(run_id)

    monkeypatch.setattr(api.parts().review_answering, "waits", Waits())
    reviewing.answer(reviewing.request(run_id="run_1"))
    reviewing.answer(reviewing.request())
    assert woken == ["run_1"]


def test_what_was_decided_without_a_person_is_withdrawn(reviewing):
    review_id = reviewing.request()
    completion_id = reviewing.read(review_id)["completionId"]
    reviewing.platform.call("POST", f"/api/v1/completions/{completion_id}/cancel")
    assert reviewing.next_id(api_key=reviewing.anna) is None
    assert reviewing.read(review_id)["state"] == "withdrawn"
    late = reviewing.answer(review_id, api_key=reviewing.anna)
    assert (late.status, late.json["code"]) == (409, "review_withdrawn")


def test_what_expired_is_offered_to_nobody(reviewing, clock):
    review_id = reviewing.request(expires_in=timedelta(minutes=1))
    held = reviewing.request(expires_in=timedelta(minutes=1))
    assert reviewing.post(held, "claim", api_key=reviewing.anna).status == 200
    clock.ahead = timedelta(minutes=2)
    assert reviewing.next_id(api_key=reviewing.ben) is None
    assert reviewing.post(review_id, "claim").json["code"] == "review_expired"
    # Nobody closed it yet: a person's word is worth more than the fall-back.
    assert reviewing.answer(held, api_key=reviewing.anna).status == 200
    records = ReviewRecords(Table("completions", clients.dynamodb()))
    closed = records.expire(records.find(review_id))
    assert closed.state == "expired"
    assert records.expire(closed) == closed
    assert reviewing.answer(review_id).json["code"] == "review_expired"


def test_what_was_answered_does_not_expire(reviewing):
    review_id = reviewing.request()
    records = ReviewRecords(Table("completions", clients.dynamodb()))
    before = records.find(review_id)
    reviewing.answer(review_id)
    assert records.expire(before).state == "answered"


def test_a_review_is_asked_for_once(reviewing):
    records = ReviewRecords(Table("completions", clients.dynamodb()))
    review = records.find(reviewing.request())
    assert review.id == derived_id("rev", review.completion_id, review.panel_id)
    reviewing.answer(review.id, 0.25)
    assert records.request(review).answer.value == 0.25
    assert records.find_many([review.id, "rev_" + "0" * 26]).keys() == {review.id}


def test_reviews_are_listed_by_state_in_pages(reviewing):
    ids = [reviewing.request(minutes) for minutes in (3, 2, 1)]
    reviewing.answer(ids[1])

    def listed(**query):
        return reviewing.platform.call("GET", "/api/v1/reviews", query=query)

    page = listed(limit=1).json
    assert [one["id"] for one in page["reviews"]] == [ids[0]]
    page = listed(limit=1, nextToken=page["nextToken"]).json
    assert [one["id"] for one in page["reviews"]] == [ids[2]]
    assert [one["id"] for one in listed(state="answered").json["reviews"]] == [ids[1]]
    assert listed(state="answered", nextToken=page["nextToken"]).fields.keys() == {"nextToken"}
    assert listed(state="closed").fields.keys() == {"state"}


def test_reviews_of_one_task_are_found_among_others(reviewing, monkeypatch):
    mine, others = new_id("task"), new_id("task")
    tasks = [others, mine, others, others, others, mine, others, mine]
    ids = [reviewing.request(9 - at, task_id=task_id) for at, task_id in enumerate(tasks)]
    own = [id_ for id_, task_id in zip(ids, tasks, strict=True) if task_id == mine]

    def pages(**query):
        token, found = None, []
        while not found or token is not None:
            asked = {"taskId": mine, **query, **({"nextToken": token} if token else {})}
            answer = reviewing.platform.call("GET", "/api/v1/reviews", query=asked).json
            found.append([one["id"] for one in answer["reviews"]])
            token = answer["nextToken"]
        return found

    assert pages() == [own]
    assert pages(limit=2) == [own[:2], own[2:]]
    assert pages(limit=1) == [[id_] for id_ in own]
    assert pages(state="answered") == [[]]
    assert pages(taskId=new_id("task")) == [[]]
    # What one page looks at is bounded: then it is short, and the next goes on from there.
    for name, most in (("_LOOKED_AT_ONCE", 2), ("_MOST_LOOKS", 1)):
        monkeypatch.setattr(f"autotune_platform.judging.human.records.{name}", most)
    assert pages() == [own[:1], [], own[1:2], own[2:], []]
    wrong = reviewing.platform.call("GET", "/api/v1/reviews", query={"taskId": "x"})
    assert wrong.fields.keys() == {"taskId"}


def test_the_text_of_a_completion_that_was_deleted_is_gone_from_its_review(reviewing):
    review_id = reviewing.request()
    completion_id = reviewing.read(review_id)["completionId"]
    reviewing.platform.call("DELETE", f"/api/v1/completions/{completion_id}")
    review = reviewing.read(review_id, query={"format": "html"})
    assert (review["prompt"], review["response"], review["promptHtml"]) == (None, None, None)


def test_text_that_is_too_long_for_html_comes_as_it_is(reviewing):
    review_id = reviewing.request(prompt="short", response="x" * 100_001)
    review = reviewing.read(review_id, query={"format": "html"})
    assert (review["promptHtml"], review["responseHtml"]) == ("<p>short</p>\n", None)
    assert len(review["response"]) == 100_001


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"value": 1.5}, "value"),
        ({"value": "1"}, "value"),
        ({}, "value"),
        ({"value": 1, "explanation": "x" * 20_001}, "explanation"),
        ({"value": 1, "reason": "x"}, "reason"),
        ({"value": 1, "dimensions": [{"name": "", "value": 1}]}, "dimensions[0].name"),
    ],
)
def test_an_answer_out_of_range_names_the_field(reviewing, body, field):
    refused = reviewing.post(reviewing.request(), "answer", body)
    assert (refused.status, list(refused.fields)) == (422, [field])


def test_reviews_of_others_and_roles_without_reviews(reviewing):
    review_id = reviewing.request()
    other = reviewing.platform.new_organization("other")
    path = f"/api/v1/reviews/{review_id}"
    assert reviewing.platform.call("GET", path, api_key=other).status == 404
    for action, body in (("claim", None), ("release", None), ("answer", {"value": 1})):
        assert reviewing.post(review_id, action, body, api_key=other).status == 404
    assert reviewing.next_id(api_key=other) is None
    link = {"reviewerId": "x", "reviewId": review_id}
    assert (
        reviewing.platform.call("POST", "/api/v1/review-links", link, api_key=other).status == 404
    )
    owner = reviewing.platform.new_key("grader_owner")
    assert reviewing.platform.call("GET", path, api_key=owner).status == 403
    assert reviewing.next(api_key=owner).status == 403
    refused = reviewing.platform.call("POST", "/api/v1/review-links", link, api_key=reviewing.anna)
    assert refused.status == 403


def test_what_was_canceled_and_forgotten_leaves_the_pool(reviewing, clock):
    canceled = reviewing.request(minutes_old=5)
    completion_id = reviewing.read(canceled)["completionId"]
    cancel = f"/api/v1/completions/{completion_id}/cancel"
    assert reviewing.platform.call("POST", cancel).status == 200
    table = Table("completions", clients.dynamodb())
    table.delete(completion_id, "content")
    clock.turn(days=2)  # nobody came in time
    assert reviewing.next_id(api_key=reviewing.anna) is None
    clock.ahead = timedelta()
    assert reviewing.read(canceled)["state"] == "withdrawn"
