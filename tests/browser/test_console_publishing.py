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


def test_the_three_means_stand_beside_each_other_once_somebody_asks(console, deck):
    deck.label(deck.grader_id)
    page = console.open(published(deck))
    expect(page.get_by_role("region", name="Means")).to_have_count(0)
    assert not console.served.count("GET .*/means")
    page.get_by_role("link", name="Show the means").click()
    rows = page.get_by_role("region", name="Means").locator("tbody tr")
    expect(rows).to_have_count(3)
    path = f"{deck.path}/graders/{deck.grader_id}/means"
    found = deck.platform.call("GET", path).json["means"]
    naive, corrected, labels = texts_of(rows)
    assert naive[1] == difference(found["naive"])
    for row, one in ((corrected, found["corrected"]), (labels, found["labelsOnly"])):
        assert row[1] == difference(one["value"])
        assert row[2] == f"{difference(one['low'])} to {difference(one['high'])}"
    used = corrected if found["use"] == "corrected" else labels
    assert "to be used" in used[0]
