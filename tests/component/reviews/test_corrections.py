"""An answer may be corrected while its verdict waits for that, and what people did is counted."""

from datetime import timedelta

from autotune.protocol.tasks import ReviewPolicy
from autotune_platform.judging.human.records import ReviewRecords
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from functions.reviews import api

POLICY = ReviewPolicy(correct_within_minutes=10)


def correct(reviewing, review_id, value, **options):
    return reviewing.post(
        review_id, "correct", {"value": value, "explanation": "better"}, **options
    )


def test_the_verdict_waits_until_an_answer_is_final(reviewing, clock):
    id_ = reviewing.request(policy=POLICY)
    answered = reviewing.answer(id_, 0.25, api_key=reviewing.anna).json["review"]
    assert (answered["state"], answered["correctableUntil"] is not None) == ("answered", True)
    assert reviewing.verdict(id_)["state"] == "pending"
    clock.turn(minutes=5)
    corrected = correct(reviewing, id_, 0.75, api_key=reviewing.anna).json["review"]
    assert (corrected["answer"]["value"], corrected["answer"]["explanation"]) == (0.75, "better")
    assert corrected["answer"]["correctedAt"] > corrected["answer"]["answeredAt"]
    assert corrected["correctableUntil"] == answered["correctableUntil"]
    assert reviewing.verdict(id_)["state"] == "pending"
    # The same correction again is fine, and counted once.
    assert correct(reviewing, id_, 0.75, api_key=reviewing.anna).status == 200
    assert reviewing.progress()["anna"]["total"]["corrected"] == 1
    clock.turn(minutes=6)
    late = correct(reviewing, id_, 0.5, api_key=reviewing.anna)
    assert (late.status, late.json["code"]) == (409, "review_final")
    resolve(reviewing, id_)
    verdict = reviewing.verdict(id_)
    assert (verdict["score"]["value"], verdict["decidedBy"]) == (0.75, "person")
    assert reviewing.read(id_)["correctableUntil"] is None


def resolve(reviewing, review_id):
    """Look again, as the run does when the time is up, and the sweeper."""
    parts, review = api.parts(), reviewing.read(review_id)
    headers = parts.completions.headers_in(review["batchId"], [review["completionId"]])
    return parts.resolver.resolve(headers, run_id=None)


def test_the_run_is_told_until_when_a_verdict_waits(reviewing, clock):
    id_ = reviewing.request(policy=POLICY)
    completion_id = reviewing.read(id_)["completionId"]
    reviewing.answer(id_, api_key=reviewing.anna)
    until = ReviewRecords(Table("completions", clients.dynamodb())).find(id_).correctable_until
    assert resolve(reviewing, id_) == {completion_id: until}
    clock.turn(minutes=11)
    assert resolve(reviewing, id_) == {}


def test_a_run_that_waits_for_longer_looks_again_in_time(reviewing, monkeypatch):
    asked = []

    class Waits:
        def look_again_within(self, run_id, seconds):
            asked.append((run_id, seconds))

        def wake(self, run_id):
            asked.append((run_id, None))

    monkeypatch.setattr(api.parts().review_answering, "waits", Waits())
    reviewing.answer(reviewing.request(run_id="run_1", policy=POLICY))
    reviewing.answer(reviewing.request(run_id="run_2"))
    assert [run_id for run_id, _ in asked] == ["run_1", "run_2"]
    assert 590 < asked[0][1] <= 600
    assert asked[1][1] is None


def test_an_answer_that_is_sealed_is_corrected_by_no_slower_clock(reviewing, clock):
    id_ = reviewing.request(policy=POLICY)
    reviewing.answer(id_, 0.25, api_key=reviewing.anna)
    clock.turn(minutes=11)
    resolve(reviewing, id_)
    clock.ahead = timedelta(minutes=1)
    refused = correct(reviewing, id_, 0.5, api_key=reviewing.anna)
    assert (refused.status, refused.json["code"]) == (409, "review_final")
    assert reviewing.read(id_)["answer"]["value"] == 0.25


def test_only_who_answered_corrects(reviewing):
    id_ = reviewing.request(policy=POLICY)
    none = correct(reviewing, id_, 0.5, api_key=reviewing.anna)
    assert (none.status, none.json["code"]) == (409, "review_final")
    reviewing.answer(id_, 0.25, api_key=reviewing.anna)
    assert correct(reviewing, id_, 0.5, api_key=reviewing.ben).status == 403
    other = reviewing.platform.new_organization("other")
    assert correct(reviewing, id_, 0.5, api_key=other).status == 404
    wrong = correct(reviewing, id_, 1.5, api_key=reviewing.anna)
    assert (wrong.status, list(wrong.fields)) == (422, ["value"])


def test_without_a_time_for_corrections_an_answer_is_final_at_once(reviewing):
    id_ = reviewing.request()
    answered = reviewing.answer(id_, 0.25, api_key=reviewing.anna).json["review"]
    assert answered["correctableUntil"] is None
    assert reviewing.verdict(id_)["state"] == "scored"
    assert correct(reviewing, id_, 0.5, api_key=reviewing.anna).json["code"] == "review_final"


def test_no_correction_goes_beyond_the_time_of_the_review(reviewing, clock):
    id_ = reviewing.request(policy=POLICY, expires_in=timedelta(minutes=4))
    answered = reviewing.answer(id_, 0.25, api_key=reviewing.anna).json["review"]
    assert answered["correctableUntil"] == answered["expiresAt"]
    late = reviewing.request(policy=POLICY, expires_in=timedelta(minutes=4))
    clock.turn(minutes=5)
    # Nobody closed it yet, so a person's word counts, and at once.
    assert reviewing.answer(late, api_key=reviewing.anna).json["review"]["correctableUntil"] is None
    assert reviewing.verdict(late)["state"] == "scored"


def test_what_was_canceled_meanwhile_is_corrected_no_more(reviewing):
    id_ = reviewing.request(policy=POLICY)
    reviewing.answer(id_, 0.25, api_key=reviewing.anna)
    completion_id = reviewing.read(id_)["completionId"]
    canceled = reviewing.platform.call("POST", f"/api/v1/completions/{completion_id}/cancel")
    assert canceled.status == 200
    refused = correct(reviewing, id_, 0.5, api_key=reviewing.anna)
    assert (refused.status, refused.json["code"]) == (409, "review_final")
    assert reviewing.verdict(id_)["state"] == "canceled"


def test_a_correction_by_link_and_what_was_looked_at_meanwhile(reviewing):
    id_ = reviewing.request(policy=POLICY, preliminary={"state": "scored", "value": 0.5})
    link = reviewing.bearer(reviewing.link()["url"])
    assert reviewing.answer(id_, 0.25, **link).status == 200
    assert correct(reviewing, id_, 0.5, **link).status == 200
    reviewing.read(id_, query={"include": "preliminary"})
    assert not reviewing.read(id_)["answer"]["sawPreliminary"]
    assert correct(reviewing, id_, 0.75).status == 403


def test_progress_counts_what_each_person_did_today_and_in_all(reviewing, clock):
    for value in (0.1, 0.2):
        reviewing.answer(reviewing.request(), value, api_key=reviewing.anna)
    repeated = reviewing.request()
    for _ in range(2):
        reviewing.answer(repeated, 0.5, api_key=reviewing.ben)
    mine = reviewing.progress(api_key=reviewing.anna)
    assert mine.keys() == {"anna"}
    assert (mine["anna"]["today"]["answered"], mine["anna"]["total"]["answered"]) == (2, 2)
    clock.turn(days=1)
    reviewing.answer(reviewing.request(expires_in=timedelta(days=3)), api_key=reviewing.ben)
    everybody = reviewing.progress()
    assert everybody.keys() == {"anna", "ben"}
    assert (everybody["anna"]["today"]["answered"], everybody["anna"]["total"]["answered"]) == (
        0,
        2,
    )
    assert (everybody["ben"]["today"]["answered"], everybody["ben"]["total"]["answered"]) == (1, 2)
    by_link = reviewing.bearer(reviewing.link("cleo")["url"])
    assert reviewing.progress(**by_link)["cleo"]["total"]["answered"] == 0
    other = reviewing.platform.new_organization("other")
    assert reviewing.progress(api_key=other) == {}


def test_progress_comes_in_pages(reviewing):
    for api_key in (reviewing.anna, reviewing.ben):
        reviewing.answer(reviewing.request(), api_key=api_key)

    def page(**query):
        return reviewing.platform.call("GET", "/api/v1/reviews/progress", query=query)

    first = page(limit=1).json
    assert [one["reviewerId"] for one in first["reviewers"]] == ["anna"]
    following = page(limit=1, nextToken=first["nextToken"]).json
    assert [one["reviewerId"] for one in following["reviewers"]] == ["ben"]
    assert page(nextToken="x").fields.keys() == {"nextToken"}


def test_what_is_counted_is_counted_with_the_answer_or_not_at_all(reviewing, monkeypatch):
    id_ = reviewing.request()
    figures = api.parts().review_figures
    with monkeypatch.context() as broken:
        broken.setattr(figures, "done", None)
        assert reviewing.answer(id_, api_key=reviewing.anna).status == 500
    assert reviewing.read(id_)["state"] == "open"
    assert reviewing.answer(id_, api_key=reviewing.anna).status == 200
    assert reviewing.progress()["anna"]["total"]["answered"] == 1
