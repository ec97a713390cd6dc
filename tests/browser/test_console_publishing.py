"""What of a deck's grader is published, in the console: calibration and corrected means."""

import pytest
from playwright.sync_api import expect

from tests.support.console_figures import difference, percent, score, stat, texts_of
from tests.support.ledger import ledger
from tests.support.published_decks import PublishedDeck


@pytest.fixture
def deck(console):
    with ledger(console.served.platform) as made:
        deck = PublishedDeck(made)
        deck.grader_id = deck.add_grader()
        deck.add_levels(63)
        assert deck.finish(deck.start())["status"] == "completed"
        yield deck


def published(deck, query=""):
    return f"#/decks/{deck.deck_id}/graders/{deck.grader_id}/published{query}"


def publish(page):
    page.get_by_role("button", name="Publish version 1").click()
    page.locator("dialog").get_by_role("button", name="Publish").click()
    expect(page.locator("dialog")).to_have_count(0)


def test_a_grader_is_published_with_its_calibration_and_says_why_it_has_none(console, deck):
    page = console.open(published(deck))
    expect(page.locator(".empty")).to_contain_text("autotune decks graders publish")
    publish(page)
    expect(page.locator(".notice")).to_contain_text("Not calibrated.")
    expect(page.locator(".notice")).to_contain_text("publish again")

    deck.label(deck.grader_id)
    publish(page)
    expect(stat(page, "Calibrated")).to_have_text("yes")
    path = f"{deck.path}/graders/{deck.grader_id}"
    grader = deck.platform.call("GET", path).json["grader"]
    calibration = grader["calibration"]
    expect(stat(page, "Lower end of κ")).to_have_text(score(calibration["low"]))
    expect(stat(page, "Ratings")).to_have_text(str(calibration["n"]))
    facts = page.locator("main")
    for told in (grader["published"]["graderVersion"], calibration["model"], "1 current"):
        expect(facts).to_contain_text(told)
    link = page.get_by_role("link", name=grader["published"]["graderId"])
    expect(link).to_have_attribute("href", f"#/graders/{grader['published']['graderId']}")
    rows = texts_of(page.get_by_role("region", name="Hits by level").locator("tbody tr"))
    assert [row[1:] for row in rows] == [
        [str(one["n"]), str(one["hits"]), percent((one["hits"] + 1) / (one["n"] + 2))]
        for one in calibration["byLevel"]
    ]


def test_what_a_judge_is_measured_on_is_judged_again_from_where_that_is_told(console, deck):
    deck.label(deck.grader_id)
    deck.publish(deck.grader_id)
    page = console.open(published(deck))
    page.get_by_role("button", name="Judge labelled samples again").click()
    dialog = page.locator("dialog")
    expect(dialog.get_by_label("Which samples", exact=True)).to_have_value("labelled")
    dialog.get_by_role("button", name="What does it cost?").click()
    expect(dialog).to_contain_text("Judgements to pay63")
    dialog.get_by_role("button", name="Start").click()
    expect(page.locator("h1")).to_have_text("Run")
    newest = deck.platform.call("GET", f"{deck.path}/runs").json["runs"][0]
    assert (newest["repeat"], newest["samples"]) == (True, 63)


@pytest.mark.parametrize(
    ("reason", "on_grader", "on_published"),
    [
        ("drifted", "calibration suspended", "20 fresh labels 3 are within one level"),
        ("other_prompt", "not calibrated: other prompt", "of another system prompt"),
    ],
)
def test_a_calibration_that_counts_no_more_is_told(console, deck, reason, on_grader, on_published):
    deck.label(deck.grader_id)
    deck.publish(deck.grader_id)
    where = f"#/decks/{deck.deck_id}/graders/{deck.grader_id}"
    page = console.open(where)
    expect(page.locator(".facts")).to_contain_text("version 1 calibrated")

    def tell(route):
        """The service's answer, as if the judge counted no more."""
        answer = route.fetch()
        told = answer.json()
        told["grader"]["uncalibratedBecause"] = reason
        if reason == "drifted":
            suspended = {"labels": 20, "hits": 3, "predicted": 0.9, "probability": 0.001}
            suspended["at"] = told["grader"]["published"]["at"]
            told["grader"]["calibration"]["suspended"] = suspended
        route.fulfill(response=answer, json=told)

    page.route(f"**/graders/{deck.grader_id}", tell)
    page.reload()
    expect(page.locator(".facts")).to_contain_text(on_grader)
    console.go(page, published(deck))
    expect(page.locator("main")).to_contain_text(on_published)


def test_the_next_useful_step_goes_on_to_a_task(console, deck):
    page = console.open(f"#/decks/{deck.deck_id}")
    of = f"#/decks/{deck.deck_id}/graders/{deck.grader_id}"

    def expect_step(text, href):
        page.reload()
        step = page.locator(".waits a")
        expect(step).to_contain_text(text)
        expect(step).to_have_attribute("href", href)

    label = f"#/labelling/{deck.deck_id}/{deck.grader_id}"
    expect_step("Label samples", label)
    deck.label(deck.grader_id)
    expect_step("Read how far the judge agrees", f"{of}/agreement")
    path = f"{deck.path}/graders/{deck.grader_id}"
    assert deck.platform.call("POST", f"{path}/agreement", {}).status == 200
    expect_step("Publish the grader", f"{of}/published")
    deck.publish(deck.grader_id)
    expect_step("Have a task score by", "#/tasks")


def test_a_judge_that_agrees_too_little_is_to_be_fixed(console, deck):
    deck.label(deck.grader_id, miss=1)
    path = f"{deck.path}/graders/{deck.grader_id}"

    def tell(route):
        """The service's answer, with a judge that agrees less, or of which less is known."""
        answer = route.fetch()
        told = answer.json()
        told["deck"]["agreement"][0].update(changes)
        route.fulfill(response=answer, json=told)

    read = deck.platform.call("POST", f"{path}/agreement", {})
    assert read.json["agreement"]["sufficient"]
    page = console.open()
    page.route(f"**/api/v1/decks/{deck.deck_id}", tell)
    changes = {"low": 0.399}
    console.go(page, f"#/decks/{deck.deck_id}")
    expect(page.locator(".waits")).to_contain_text("Fix the rubric")
    changes = {"low": None, "sufficient": False}
    page.reload()
    expect(page.locator(".waits")).to_contain_text("See why nothing can be claimed")


def test_the_three_means_stand_beside_each_other_once_somebody_asks(console, deck):
    deck.label(deck.grader_id)
    page = console.open(published(deck))
    expect(page.get_by_role("region", name="Means")).to_have_count(0)
    assert not console.served.count("[A-Z]+ .*/means")
    path = f"{deck.path}/graders/{deck.grader_id}/means"
    assert deck.platform.call("GET", path).status == 409, "no look is spent yet"
    page.get_by_role("button", name="Show the means").click()
    rows = page.get_by_role("region", name="Means").locator("tbody tr")
    expect(rows).to_have_count(3)
    found = deck.platform.call("GET", path).json["means"]
    naive, corrected, labels = texts_of(rows)
    assert naive[1] == difference(found["naive"])
    for row, one in ((corrected, found["corrected"]), (labels, found["labelsOnly"])):
        assert row[1] == difference(one["value"])
        assert row[2] == f"{difference(one['low'])} to {difference(one['high'])}"
    used = corrected if found["use"] == "corrected" else labels
    assert "to be used" in used[0]
