"""People rate samples blind; what counts as true follows from it by rule."""

import base64
import json

import pytest

from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_BULK_FEEDBACK
from tests.support.deck_labels import LabelledDeck
from tests.support.platform import Platform


@pytest.fixture
def deck(platform: Platform) -> LabelledDeck:
    return LabelledDeck(platform, samples=24)


@pytest.fixture
def anna(platform: Platform) -> str:
    return platform.new_key("reviewer", principal_id="anna")


@pytest.fixture
def ben(platform: Platform) -> str:
    return platform.new_key("reviewer", principal_id="ben")


def test_a_person_takes_a_sample_rates_it_blind_and_sees_the_result_then(
    deck: LabelledDeck, anna: str
) -> None:
    deck.judged(dict.fromkeys(deck.samples, 2))
    offered = deck.platform.call("GET", "/api/v1/deck-inbox", api_key=anna).json["graders"]
    assert [(one["deckId"], one["graderId"]) for one in offered] == [(deck.id, deck.grader_id)]
    first = deck.get("feedback/next", api_key=anna)
    given = first["next"]
    sample_id = given["sample"]["id"]
    assert deck.samples[sample_id] == "holdout", "those that are held out come first"
    assert (given["task"], given["selection"]) == ("rating", "random")
    assert given["probability"] == 1 / len(deck.of("holdout"))
    assert given["rubric"]["criteria"]
    assert len(given["rubric"]["levels"]) == 7
    assert given["sample"]["messages"][-1]["content"].startswith("question")
    assert not any(word in str(first) for word in ("secret-model", "explained")), "nothing leans"
    assert deck.get("feedback/next", api_key=anna)["next"]["sample"]["id"] == sample_id, (
        "it is held"
    )

    answer = deck.rate(sample_id, -1, api_key=anna, explanation="no").json
    feedback = answer["feedback"]
    assert (feedback["rater"], feedback["score"], feedback["sawResult"]) == ("anna", -1, False)
    assert (feedback["selection"], feedback["probability"]) == ("random", given["probability"])
    assert (answer["result"]["score"], answer["result"]["status"]) == (2, "scored")
    assert deck.rate(sample_id, -1, api_key=anna, explanation="no").json == answer, "once"

    later = deck.rate(sample_id, 2, api_key=anna).json["feedback"]
    assert (later["sawResult"], later["correction"]) == (True, 1)
    (truth,) = deck.get("truth")["truths"]
    assert (truth["score"], truth["source"], truth["raters"]) == (-1, "one_rating", 1)
    assert [(one["score"], one["counts"]) for one in truth["ratings"]] == [(-1, True)]
    listed = deck.get("feedback", api_key=anna)["feedback"]
    assert [one["score"] for one in listed] == [-1, 2], "a correction overwrites nothing"
    assert deck.get("feedback/next", api_key=anna)["next"]["sample"]["id"] != sample_id


def test_a_reviewer_lists_their_own_ratings_and_no_token_names_who_else_rated(
    deck: LabelledDeck, anna: str, ben: str
) -> None:
    own: list[tuple[str, int]] = []
    for place in range(6):
        for key in (anna, ben):
            sample_id = deck.get("feedback/next", api_key=key)["next"]["sample"]["id"]
            assert deck.rate(sample_id, place - 3, api_key=key).status == 200
            if key == anna:
                own.append((sample_id, place - 3))
                if place % 2:
                    assert deck.rate(sample_id, 3, api_key=key).status == 200
                    own.append((sample_id, 3))
    for limit in (1, 2, 4, 50):
        found, query = [], {"limit": limit}
        while True:
            page = deck.get("feedback", api_key=anna, **query)
            assert len(page["feedback"]) <= limit
            found += [(one["sampleId"], one["score"]) for one in page["feedback"]]
            if page.get("nextToken") is None:
                break
            assert len(page["feedback"]) == limit, "a page is full where there are more"
            token = page["nextToken"]
            (last,) = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
            assert (found[-1][0] in last, "#anna" in last, "#ben" in last) == (True, True, False)
            query["nextToken"] = token
        assert sorted(found) == sorted(own), limit
    (sample_id, _) = own[0]
    of_one = deck.get("feedback", api_key=anna, sampleId=sample_id)["feedback"]
    assert [one["rater"] for one in of_one] == ["anna"]
    of_one = deck.get("feedback", api_key=ben, sampleId=sample_id)["feedback"]
    assert {one["rater"] for one in of_one} <= {"ben"}
    other = base64.urlsafe_b64encode(json.dumps(["truth#"]).encode()).decode().rstrip("=")
    path = f"{deck.path}/feedback"
    assert deck.platform.call("GET", path, query={"nextToken": other}, api_key=anna).status == 422


def test_a_rating_is_of_a_version_that_its_rater_was_shown(
    platform: Platform, deck: LabelledDeck, anna: str
) -> None:
    def new_version(criteria: str) -> None:
        rubric = platform.call("GET", deck.path).json["grader"]["rubric"]
        body = {"rubric": {**rubric, "criteria": criteria}}
        assert platform.call("POST", f"{deck.path}/versions", body).status == 201

    new_version("Is it short?")
    given = deck.get("feedback/next", api_key=anna)["next"]
    assert given["version"] == 2
    sample_id = given["sample"]["id"]
    new_version("Is it long?")
    refused = deck.rate(sample_id, 1, api_key=anna, version=1)
    assert (refused.status, "3, the current one" in refused.fields["version"]) == (422, True)
    rated = deck.rate(sample_id, 1, api_key=anna, version=2)
    assert (rated.status, rated.json["feedback"]["version"]) == (200, 2)
    new_version("Is it right?")
    assert deck.rate(sample_id, 1, api_key=anna, version=2).json == rated.json, "the same again"
    assert deck.rate(sample_id, 0, api_key=anna, version=2).status == 200, "they were shown it"
    assert deck.rate(sample_id, -1, api_key=anna, version=3).status == 422
    (other, apart) = [one for one in deck.samples if one != sample_id][:2]
    assert deck.rate(other, 1, version=2).status == 422
    assert deck.rate(other, 1, version=4).status == deck.rate(other, 2).status == 200
    deck.label({apart: -3}, "ada")
    deck.label({apart: 3}, "bob")
    assert "version" in deck.adjudicate(apart, 0, version=1).fields
    assert deck.adjudicate(apart, 0, version=4).status == 200


def test_what_one_person_holds_nobody_else_gets_until_the_lease_ends(
    deck: LabelledDeck, anna: str, ben: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_anna = deck.get("feedback/next", api_key=anna)["next"]["sample"]["id"]
    of_ben = deck.get("feedback/next", api_key=ben)["next"]["sample"]["id"]
    assert of_anna != of_ben
    refused = deck.rate(of_anna, 1, api_key=ben)
    assert refused.status == 409
    assert "another person" in refused.json["detail"]
    other = next(iter(deck.samples.keys() - {of_anna, of_ben}))
    refused = deck.rate(other, 1, api_key=ben)
    assert refused.status == 409, "a reviewer rates what they were given"
    assert deck.rate(other, 1).status == 200, "who runs the deck rates what they choose"

    skipped = deck.get("feedback/next", api_key=anna, skip=[of_anna])["next"]["sample"]["id"]
    assert skipped not in {of_anna, of_ben}
    assert deck.get("feedback/next", api_key=ben, skip=[of_ben])["next"]["sample"]["id"] == of_anna


def test_shares_go_to_several_and_gaps_of_two_to_a_third_who_saw_nothing(
    platform: Platform, anna: str, ben: str
) -> None:
    deck = LabelledDeck(platform, samples=4, holdoutShare=1)
    changed = {"sharedShare": 1, "sharedRaters": 2}
    assert platform.call("PATCH", deck.path, changed).json["grader"]["sharedShare"] == 1
    said = {}
    for key, shift in ((anna, 0), (ben, 1)):
        for place in range(4):
            given = deck.get("feedback/next", api_key=key)
            assert given["left"] == 4 - place
            sample_id = given["next"]["sample"]["id"]
            said.setdefault(sample_id, len(said) - 3)
            score = said[sample_id] + shift * (1 if said[sample_id] < -1 else 2)
            assert deck.rate(sample_id, score, api_key=key).status == 200
        assert deck.get("feedback/next", api_key=key) == {"next": None, "left": 0}
    truths = {one["sampleId"]: one for one in deck.get("truth")["truths"]}
    for sample_id, score in said.items():
        truth = truths[sample_id]
        if score < -1:
            assert truth["source"] == "keyed_hash"
            assert truth["score"] in {score, score + 1}
        else:
            assert (truth["state"], truth["score"], truth["ratings"]) == ("to_adjudicate", None, [])
    apart = [id_ for id_, score in said.items() if score >= -1]
    listed = deck.get("truth", state="to_adjudicate")["truths"]
    assert {one["sampleId"] for one in listed} == set(apart)

    given = deck.get("feedback/next", api_key=anna, task="adjudication")
    assert (given["next"]["task"], given["left"]) == ("adjudication", 2)
    chosen = given["next"]["sample"]["id"]
    refused = deck.adjudicate(chosen, 0)
    assert refused.status == 409, "anna has it"
    settled = deck.adjudicate(chosen, 0, api_key=anna, explanation="so").json["truth"]
    assert (settled["score"], settled["source"], settled["adjudicatedBy"]) == (
        0,
        "adjudicated",
        "anna",
    )
    assert deck.adjudicate(chosen, 0, api_key=anna, explanation="so").json["truth"] == settled
    deck.judged(dict.fromkeys(deck.samples, 3))
    (left,) = set(apart) - {chosen}
    deck.rate(left, 3)  # whose answer shows the result
    refused = deck.adjudicate(left, 3)
    assert refused.status == 409
    assert "shown" in refused.json["detail"]
    agreed = next(id_ for id_, score in said.items() if score < -1)
    assert "agree" in deck.adjudicate(agreed, 3).json["detail"]


def test_a_file_of_ratings_loses_no_line_and_names_each_fault(deck: LabelledDeck) -> None:
    ids = list(deck.samples)
    lines = [
        {"sampleId": ids[0], "rater": "ada", "score": 3, "explanation": "good"},
        {"sampleId": ids[0], "rater": "bob", "score": 1},
        {"sampleId": ids[0], "rater": "eve", "doesNotApply": True},
        "",
        {"sampleId": ids[1], "score": -2, "selection": "random", "probability": 0.5},
        {"sampleId": ids[1], "rater": "ada", "score": 4},
        {"sampleId": ids[1], "rater": "ada", "score": 1, "doesNotApply": True},
        "{no json",
        {"sampleId": new_id("smp"), "score": 0},
        {"sampleId": ids[0], "rater": "ada", "score": -3},
        {"sampleId": ids[2], "score": 0, "version": 2},
        {"sampleId": ids[2], "rater": "an na", "score": 0},
    ]
    answer = deck.upload(lines)
    assert answer.status == 200, answer.text
    assert (answer.json["accepted"], answer.json["repeated"]) == (4, 0)
    assert [(one["line"], one["field"]) for one in answer.json["rejected"]] == [
        (6, "score"),
        (7, "line"),
        (8, "line"),
        (9, "sampleId"),
        (10, "rater"),
        (11, "version"),
        (12, "rater"),
    ]
    again = deck.upload(lines).json
    assert (again["accepted"], again["repeated"], len(again["rejected"])) == (0, 4, 7)
    corrected = deck.upload([{**lines[1], "score": 2}]).json
    assert (corrected["accepted"], corrected["repeated"]) == (1, 0)
    truths = {one["sampleId"]: one for one in deck.get("truth")["truths"]}
    assert len(truths) == 2
    first = truths[ids[0]]
    assert first["source"] == "keyed_hash"
    assert first["score"] in {2, 3}
    assert first["raters"] == 3
    mine = deck.get("feedback", sampleId=ids[1])["feedback"]
    assert [(one["score"], one["selection"], one["probability"]) for one in mine] == [
        (-2, "random", 0.5)
    ]
    assert mine[0]["rater"] == mine[0]["importedBy"]

    refused = deck.upload(["{}"] * (MAX_BULK_FEEDBACK + 1))
    assert refused.status == 422
    assert str(MAX_BULK_FEEDBACK) in refused.fields["body"]
    assert deck.upload([]).status == 422


def test_ratings_under_other_criteria_are_marked_for_another_look(
    platform: Platform, deck: LabelledDeck
) -> None:
    first, second, third = list(deck.samples)[:3]
    grader = platform.call("GET", deck.path).json["grader"]
    deck.label({first: 1, second: 1})
    spaced = {**grader["rubric"], "criteria": grader["rubric"]["criteria"] + " ", "examples": []}
    assert platform.call("POST", f"{deck.path}/versions", {"rubric": spaced}).status == 201
    assert deck.get("feedback/progress")["progress"]["toReview"] == 0, "people see no difference"
    other = {**spaced, "levels": [*grader["rubric"]["levels"][:6], "Even better."]}
    assert platform.call("POST", f"{deck.path}/versions", {"rubric": other}).status == 201
    deck.label({third: 2})
    assert deck.get("feedback/progress")["progress"]["toReview"] == 2
    marked = deck.get("truth", toReview=True)["truths"]
    assert {one["sampleId"] for one in marked} == {first, second}
    assert all(one["ratings"][0]["otherCriteria"] for one in marked)
    assert deck.adjudicate(first, 2).json["truth"]["toReview"] is False
    deck.label({second: 1}, version=3)
    assert deck.get("feedback/progress")["progress"]["toReview"] == 0
