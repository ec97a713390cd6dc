import asyncio
from datetime import UTC, datetime

import pytest

from autotune import AsyncAutotuneClient, ConflictError, InvalidInputError, NotFoundError


def test_reviews_are_taken_read_answered_and_listed(client, review):
    first, second = (review(prompt) for prompt in ("one", "two"))
    assert [review.id for review in client.reviews.list(page_size=1)] == [first, second]
    taken = client.reviews.next()
    assert taken is not None
    assert (taken.id, taken.prompt, taken.preliminary) == (first, "one", None)
    assert client.reviews.next(skip=[first]).id == second
    assert client.reviews.get(first, include_preliminary=True).preliminary.value == 0.5
    answered = client.reviews.answer(first, value=0.25, explanation="why")
    assert (answered.state, answered.answer.value) == ("answered", 0.25)
    assert [review.id for review in client.reviews.list(state="answered")] == [first]
    client.reviews.answer(second, value=1)
    assert client.reviews.next() is None
    assert client.reviews.answer(second, value=1).answer.value == 1
    with pytest.raises(ConflictError, match="answered"):
        client.reviews.answer(second, value=0)


def test_reviews_are_claimed_released_and_assigned(client, review):
    review_id = review()
    me = client.keys.me().principal_id
    assert client.reviews.claim(review_id).lease.holder == me
    assert client.reviews.release(review_id).lease is None
    assert client.reviews.assign(review_id, assignee_id="anna").assignee_id == "anna"
    assert client.reviews.assign(review_id, assignee_id=None).assignee_id is None
    with pytest.raises(NotFoundError):
        client.reviews.claim("rev_1")


def test_who_cannot_judge_says_why_and_what_people_did_is_read(client, review):
    review_id = review()
    passed_on = client.reviews.cannot_judge(review_id, reason="other", explanation="mine")
    assert (passed_on.state, passed_on.cannot_judge[0].reason) == ("open", "other")
    assert client.reviews.next() is None
    client.reviews.answer(review_id, value=0.5)
    with pytest.raises(ConflictError, match="corrected"):
        client.reviews.correct(review_id, value=0.25)
    (me,) = client.reviews.progress(page_size=1)
    assert me.reviewer_id == client.keys.me().principal_id
    assert (me.today.answered, me.total.cannot_judge) == (1, 1)
    agreement = client.reviews.agreement(window="7d")
    assert (agreement.window, agreement.pairs, agreement.weighted_kappa) == ("7d", 0, None)


def test_a_link_is_made_for_a_person(client):
    made = client.reviews.link(reviewer_id="cleo", expires_in_seconds=61)
    link = made.link
    assert (link.reviewer_id, link.review_id) == ("cleo", None)
    assert 50 < (link.expires_at - datetime.now(UTC)).total_seconds() <= 61
    assert "/review#" in made.url
    assert [one.id for one in client.reviews.links()] == [link.id]
    assert client.reviews.revoke_link(link.id).status == "revoked"
    with pytest.raises(NotFoundError):
        client.reviews.revoke_link("rvl_none")


def test_arguments_out_of_range_are_named_and_nothing_is_sent(api, client):
    for call, field in (
        (lambda: client.reviews.answer("rev_1", value=2), "value"),
        (lambda: client.reviews.assign("rev_1", assignee_id="a b"), "assignee_id"),
        (lambda: client.reviews.link(reviewer_id="x", expires_in_seconds=1), "expires_in_seconds"),
        (lambda: client.reviews.next(skip=["cmp_1"]), "skip"),
        (lambda: client.reviews.correct("rev_1", value=-1), "value"),
        (lambda: client.reviews.cannot_judge("rev_1", reason="other"), "explanation"),
    ):
        with pytest.raises(InvalidInputError, match=field):
            call()
    assert api.received == []


def test_the_asynchronous_client_does_the_same(api, review):
    review_id = review()

    async def use() -> None:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            assert [review.id async for review in client.reviews.list()] == [review_id]
            assert (await client.reviews.next()).id == review_id
            assert (await client.reviews.answer(review_id, value=0)).state == "answered"

    asyncio.run(use())
