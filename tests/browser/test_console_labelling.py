"""Labelling in the console: by keyboard alone, and blind until a rating is given."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.console import press_to_go
from tests.support.deck_labels import LabelledDeck

JUDGED = re.compile(r"explained \S+")


@pytest.fixture
def deck(console):
    made = LabelledDeck(console.served.platform, samples=30)
    made.judged({id_: place % 7 - 3 for place, id_ in enumerate(made.samples)})
    return made


def reviewer(console, name="ada"):
    return console.served.platform.new_key("reviewer", principal_id=name)


def labelling(deck):
    return f"#/labelling/{deck.id}/{deck.grader_id}"


def question(page):
    """The sample that is shown: what it asks."""
    return page.get_by_label("user", exact=True).inner_text()


def test_thirty_samples_are_labelled_by_keyboard_alone_and_blind(console, deck):
    page = console.open(labelling(deck), api_key=reviewer(console))
    answers = page.locator(".said-by")
    given = {}
    for place in range(30):
        expect(answers).to_have_count(0)
        assert not JUDGED.search(page.locator("body").inner_text())
        asked = question(page)
        assert asked not in given
        if place == 3:
            page.keyboard.press("n")
            given[asked] = None
        else:
            page.keyboard.press("1")
            page.keyboard.press(str(place % 7 + 1))
            given[asked] = place % 7 - 3
        if place == 5:
            page.keyboard.press("e")
            page.keyboard.type("it names 3 sources")
            page.keyboard.press("Control+Enter")
        else:
            page.keyboard.press("Enter")
        expect(answers).to_contain_text(JUDGED)
        page.keyboard.press("Enter")
        expect(answers).to_have_count(0)
    expect(page.locator(".empty")).to_contain_text("Nothing is left for you")

    ratings = deck.get("feedback", limit=100)["feedback"]
    assert {one["rater"] for one in ratings} == {"ada"}
    texts = {
        one["id"]: one["inputExcerpt"]
        for one in console.served.platform.call(
            "GET", f"/api/v1/decks/{deck.id}/samples", query={"limit": 100}
        ).json["samples"]
    }
    assert {texts[one["sampleId"]]: one["score"] for one in ratings} == given
    assert [one["explanation"] for one in ratings if one["explanation"]] == ["it names 3 sources"]
    assert not any(one["sawResult"] for one in ratings)
    assert {one["selection"] for one in ratings} == {"random"}


def test_one_is_skipped_held_from_others_and_corrected_after_the_result(console, deck):
    page = console.open(labelling(deck), api_key=reviewer(console))
    other = console.open(labelling(deck), api_key=reviewer(console, "ben"))
    first = question(page)
    assert question(other) != first
    page.keyboard.press("s")
    expect(page.get_by_label("user", exact=True)).not_to_have_text(first)
    # Enter rates nothing before a level is chosen, and keys after g go to a page.
    page.keyboard.press("Enter")
    expect(page.locator(".said-by")).to_have_count(0)
    page.keyboard.press("7")
    page.keyboard.press("Enter")
    expect(page.locator(".said-by")).to_contain_text(JUDGED)
    page.keyboard.press("c")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.locator(".said-by")).to_contain_text(JUDGED)
    said = [one for one in deck.get("feedback")["feedback"] if one["rater"] == "ada"]
    assert [(one["score"], one["sawResult"]) for one in said] == [(3, False), (-2, True)]
    progress = deck.get("feedback/progress")["progress"]
    page.keyboard.press("Enter")
    expect(page.locator(".meter").first).to_contain_text(f"{progress['holdout']['rated']} rated")
    press_to_go(page, "s", "#/sessions")
    expect(page.locator("h1")).to_have_text("Sessions")


def test_where_people_are_apart_a_trainer_decides_blind(console, deck):
    sample_id = deck.of("holdout")[0]
    deck.label({sample_id: -2}, "ada")
    deck.label({sample_id: 3}, "ben")
    page = console.open(f"{labelling(deck)}?task=adjudication")
    assert not JUDGED.search(page.locator("body").inner_text())
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    expect(page.locator(".said-by")).to_contain_text("It is decided")
    (truth,) = deck.get("truth")["truths"]
    assert (truth["sampleId"], truth["score"], truth["source"]) == (sample_id, 1, "adjudicated")
    page.keyboard.press("Enter")
    expect(page.locator(".empty")).to_contain_text("Nothing is left for you")


def test_a_reviewer_finds_what_waits_for_them_and_how_much(console, deck):
    page = console.open("#/sessions", api_key=reviewer(console))
    page.get_by_role("link", name="Labelling").click()
    # The page before has rows, too, and before data is there rows are empty.
    expect(page.locator("h1")).to_have_text("Labelling")
    row = page.locator("tbody tr:not(.skeleton)")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("30 of 30")
    expect(row).not_to_contain_text("to adjudicate")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".rating")).to_be_visible()
    page.keyboard.press("4")
    expect(page.get_by_role("button", name="4 0")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Enter")
    expect(page.locator(".said-by")).to_contain_text(JUDGED)
    progress = deck.get("feedback/progress")["progress"]
    assert progress["holdout"]["rated"] + progress["development"]["rated"] == 1
    console.go(page, "#/labelling")
    expect(row).to_contain_text("29 of 30")
    platform = console.served.platform
    platform.call("PATCH", f"/api/v1/decks/{deck.id}", {"status": "archived"})
    page.reload()
    expect(page.locator(".empty")).to_contain_text("Nothing waits for you")


def test_who_may_adjudicate_is_led_there_and_others_see_nothing_of_it(console, deck):
    sample_id = deck.of("holdout")[0]
    deck.label({sample_id: -2}, "ada")
    deck.label({sample_id: 3}, "ben")
    page = console.open("#/labelling")
    page.get_by_role("link", name="1 to adjudicate").click()
    expect(page.get_by_role("link", name="Adjudicate")).to_have_attribute("aria-current", "page")
    stranger = console.open(
        "#/labelling", api_key=console.served.platform.new_organization("strangers")
    )
    expect(stranger.locator(".empty")).to_contain_text("Nothing waits for you")
