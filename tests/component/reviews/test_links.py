"""Links: who has one can do what it says, and nothing else."""

import base64
import json
import time
from datetime import timedelta
from unittest.mock import patch

import pytest

from autotune_platform.reviews.links import LinkPayload
from functions.reviews import api
from tests.support.clock import TurnedClock


def get(reviewing, path, token, **headers):
    signed = {"authorization": f"Bearer {token}", **headers}
    return reviewing.platform.call("GET", path, signed=signed)


def payload_of(reviewing, **fields):
    return LinkPayload(
        **{
            "id": "rvl_1",
            "organization_id": reviewing.organization_id,
            "reviewer_id": "cleo",
            "expires_at": int(time.time()) + 60,
            **fields,
        }
    )


def test_a_link_for_all_takes_reads_and_answers_as_the_named_reviewer(reviewing):
    review_id = reviewing.request()
    link = reviewing.link("cleo", expiresInSeconds=3_600)
    assert link["url"].startswith("https://api.test/review#")
    assert (link["reviewerId"], link["reviewId"]) == ("cleo", None)
    by_link = reviewing.bearer(link["url"])
    taken = reviewing.next(**by_link).json["review"]
    assert (taken["id"], taken["lease"]["holder"]) == (review_id, "cleo")
    assert reviewing.read(review_id, **by_link)["prompt"] == "What is 2 + 2?"
    assert reviewing.answer(review_id, **by_link).json["review"]["answer"]["reviewerId"] == "cleo"


def test_a_link_to_one_review_opens_no_other(reviewing):
    first, second = reviewing.request(5), reviewing.request(1)
    by_link = reviewing.bearer(reviewing.link(reviewId=second)["url"])
    assert reviewing.next_id(**by_link) == second
    assert reviewing.next(skip=(second,), **by_link).json == {"review": None, "skipped": True}
    assert reviewing.platform.call("GET", "/api/v1/reviews", **by_link).status == 403
    assert reviewing.platform.call("GET", f"/api/v1/reviews/{first}", **by_link).status == 404
    for action in ("claim", "release"):
        assert reviewing.post(first, action, **by_link).status == 404
    assert reviewing.answer(first, **by_link).status == 404


def test_a_link_shows_what_is_open_and_nothing_that_ended(reviewing):
    ended, still_open = reviewing.request(5), reviewing.request(1)
    for_all = reviewing.bearer(reviewing.link("cleo")["url"])
    for_one = reviewing.bearer(reviewing.link("cleo", reviewId=ended)["url"])
    assert reviewing.answer(ended, **for_one).status == 200
    for by_link in (for_all, for_one, reviewing.bearer(reviewing.link("dan")["url"])):
        for query in ({}, {"include": "preliminary"}):
            path = f"/api/v1/reviews/{ended}"
            told = reviewing.platform.call("GET", path, query=query, **by_link)
            assert (told.status, told.json["code"]) == (409, "review_answered")
        assert reviewing.post(ended, "release", **by_link).json["code"] == "review_answered"
        assert "What is 2 + 2?" not in reviewing.next(skip=(still_open,), **by_link).text
    assert reviewing.next(**for_one).json["code"] == "review_answered"
    # The same answer again is what a browser sends that did not hear of the first.
    assert reviewing.answer(ended, **for_one).status == 200

    def listed(**query):
        return reviewing.platform.call("GET", "/api/v1/reviews", query=query, **for_all)

    assert [one["id"] for one in listed().json["reviews"]] == [still_open]
    for state in ("answered", "expired", "withdrawn"):
        assert listed(state=state).status == 403
    assert reviewing.read(ended, api_key=reviewing.anna)["answer"]["explanation"] == "why"


def test_a_link_makes_no_links_and_opens_nothing_but_reviews(reviewing):
    by_link = reviewing.bearer(reviewing.link()["url"])
    call = reviewing.platform.call
    refused = call("POST", "/api/v1/review-links", {"reviewerId": "dan"}, **by_link)
    assert (refused.status, refused.json["code"]) == (403, "forbidden")
    for path in ("/api/v1/keys", "/api/v1/tasks", "/api/v1/scores", "/api/v1/webhooks"):
        assert call("GET", path, **by_link).status == 401
    review_id = reviewing.request()
    assigned = reviewing.post(review_id, "assign", {"assigneeId": "dan"}, **by_link)
    assert assigned.status == 403


def test_a_link_of_another_organisation_knows_nothing_of_a_review(reviewing):
    review_id = reviewing.request()
    other = reviewing.platform.new_organization("other")
    made = reviewing.platform.call(
        "POST", "/api/v1/review-links", {"reviewerId": "eve"}, api_key=other
    )
    by_link = reviewing.bearer(made.json["url"])
    assert reviewing.next_id(**by_link) is None
    assert reviewing.platform.call("GET", f"/api/v1/reviews/{review_id}", **by_link).status == 404
    assert reviewing.answer(review_id, **by_link).status == 404


def test_no_token_can_be_made_or_changed_without_the_secret(reviewing):
    path = f"/api/v1/reviews/{reviewing.request()}"
    token = api.parts().review_links.token(payload_of(reviewing))
    assert get(reviewing, path, token).status == 200
    said, _, mac = token.partition(".")
    fields = json.loads(base64.urlsafe_b64decode(said + "=="))
    forged = base64.urlsafe_b64encode(json.dumps({**fields, "e": 9_999_999_999}).encode())
    for wrong in (
        f"{forged.decode().rstrip('=')}.{mac}",
        f"{said}.{'A' * len(mac)}",
        f"{said}.",
        f".{mac}",
        said,
        "",
        "ü.ü",
        f"{token}x",
        "x" * 5_000,
    ):
        refused = get(reviewing, path, wrong)
        assert (refused.status, refused.json["code"]) == (401, "unauthenticated"), wrong


def test_a_link_ends_by_its_time(reviewing):
    token = api.parts().review_links.token(payload_of(reviewing, expires_at=int(time.time()) - 1))
    refused = get(reviewing, "/api/v1/reviews", token)
    assert (refused.status, refused.json["code"]) == (401, "link_expired")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"expiresInSeconds": 604_801}, "expiresInSeconds"),
        ({"expiresInSeconds": 59}, "expiresInSeconds"),
        ({"reviewerId": "a b"}, "reviewerId"),
        ({"reviewId": "cmp_1"}, "reviewId"),
    ],
)
def test_a_link_out_of_range_names_the_field(reviewing, fields, field):
    body = {"reviewerId": "cleo", **fields}
    refused = reviewing.platform.call("POST", "/api/v1/review-links", body)
    assert (refused.status, list(refused.fields)) == (422, [field])


def test_a_shared_link_needs_a_session_and_each_is_a_reviewer_of_its_own(reviewing):
    review_id = reviewing.request()
    url = api.parts().review_links.of_review(api.parts().review_records.find(review_id))
    assert reviewing.next(**reviewing.bearer(url)).status == 401
    assert reviewing.next(**reviewing.bearer(url, session="short")).status == 401
    first, second = (reviewing.bearer(url, session=one * 8) for one in "ab")
    assert reviewing.next_id(**first) == review_id
    assert reviewing.next(**second).json["code"] == "review_held"
    assert reviewing.next_id(**first) == review_id
    answered = reviewing.answer(review_id, **first).json["review"]["answer"]
    assert answered["reviewerId"].startswith("anyone.")


def test_a_published_name_does_not_open_the_session_that_it_stands_for(reviewing):
    first, second = (reviewing.request() for _ in range(2))
    records = api.parts().review_records
    urls = [
        api.parts().review_links.of_review(records.find(review_id)) for review_id in (first, second)
    ]
    session = "SessionOfSomebody"
    names = [
        reviewing.next(**reviewing.bearer(url, session=session)).json["review"]["lease"]["holder"]
        for url in urls
    ]
    assert session not in "".join(names)
    assert len(set(names)) == 2  # a name of one link says nothing of another
    taken = reviewing.bearer(urls[0], session=names[0].removeprefix("anyone."))
    assert reviewing.next(**taken).json["code"] == "review_held"


@pytest.mark.parametrize("authorization", ["Basic eDp5", "Bearer", "x", ""])
def test_other_kinds_of_authorization_are_refused(reviewing, authorization):
    answer = reviewing.platform.call(
        "GET", "/api/v1/reviews", signed={"authorization": authorization}
    )
    assert (answer.status, answer.json["code"]) == (401, "unauthenticated")


def test_a_link_that_was_revoked_opens_nothing(reviewing):
    reviewing.request()
    link, other = reviewing.link("anna"), reviewing.link("anna")
    by_link = reviewing.bearer(link["url"])
    assert reviewing.platform.call("GET", "/api/v1/reviews", **by_link).status == 200
    for _ in range(2):
        revoked = reviewing.platform.call("DELETE", f"/api/v1/review-links/{link['id']}")
        assert revoked.json["link"]["status"] == "revoked"
    refused = reviewing.platform.call("GET", "/api/v1/reviews", **by_link)
    assert (refused.status, refused.json["code"]) == (401, "link_expired")
    kept = reviewing.platform.call("GET", "/api/v1/reviews", **reviewing.bearer(other["url"]))
    assert kept.status == 200


def test_links_are_listed_with_whom_they_are_for_and_without_what_opens(reviewing):
    made = [reviewing.link(name) for name in ("anna", "ben")]
    answer = reviewing.platform.call("GET", "/api/v1/review-links")
    assert [one["reviewerId"] for one in answer.json["links"]] == ["anna", "ben"]
    assert [one["id"] for one in answer.json["links"]] == [one["id"] for one in made]
    assert answer.json["links"][0]["createdBy"].startswith("key_")
    for one in made:
        assert one["url"].partition("#")[2] not in answer.text
    later = TurnedClock(timedelta(days=2))
    with patch.object(api.parts().link_service, "clock", later):
        assert reviewing.platform.call("GET", "/api/v1/review-links").json["links"] == []


def test_when_a_link_was_last_used_is_listed(reviewing, monkeypatch):
    made = reviewing.link()
    assert made["lastUsedAt"] is None

    def last_used():
        (link,) = reviewing.platform.call("GET", "/api/v1/review-links").json["links"]
        return link["lastUsedAt"]

    link = reviewing.bearer(made["url"])
    reviewing.next(**link)
    first = last_used()
    assert first is not None
    # A page calls often: that is noted every few minutes.
    reviewing.next(**link)
    assert last_used() == first
    monkeypatch.setattr(api.parts().review_links, "clock", TurnedClock(timedelta(minutes=6)))
    reviewing.next(**link)
    assert last_used() > first
