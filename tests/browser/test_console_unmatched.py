"""Prompts that no deck has, in the console: read, made a deck, dismissed."""

from playwright.sync_api import expect

from tests.support.console_decks import unmatched_prompt
from tests.support.console_figures import stat

PROMPT = "You translate what people say.\nKeep the tone."


def prompts(console):
    return console.served.platform.call("GET", "/api/v1/unmatched-prompts").json["prompts"]


def test_an_unmatched_prompt_becomes_a_deck_that_has_its_calls(console):
    platform = console.served.platform
    page = console.open("#/decks/unmatched")
    expect(page.locator(".empty")).to_contain_text("autotune decks unmatched")
    first = unmatched_prompt(platform, PROMPT, "the weather", "the news")
    second = unmatched_prompt(platform, "You joke.", "cats")
    page.reload()
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2)
    (listed, _) = prompts(console)
    assert (listed["id"], listed["calls"]) == (first, 2)
    expect(rows.first).to_contain_text("You translate what people say.")
    expect(rows.first.locator("td.numeric").first).to_have_text("2")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_label("System prompt", exact=True)).to_have_text(PROMPT)
    expect(page.get_by_role("article")).to_have_count(2)
    expect(page.get_by_role("article", name="Call 1")).to_contain_text("About the weather.")
    page.get_by_label("Name", exact=True).fill("translations")
    page.get_by_role("button", name="Make a deck").click()
    expect(page.locator("h1")).to_have_text("translations")
    expect(stat(page, "Samples")).to_have_text("2")
    assert [one["id"] for one in prompts(console)] == [second]
    expect(page.locator("main")).to_contain_text("1 prompt of captured calls has no deck.")
    expect(page.get_by_role("link", name="Unmatched prompts")).to_have_attribute(
        "href", "#/decks/unmatched"
    )

    console.go(page, "#/decks")
    page.get_by_role("link", name="Unmatched prompts").click()
    page.get_by_role("button", name=f"Dismiss {second}").click()
    expect(page.locator("dialog")).to_contain_text("its count of 1")
    expect(page.locator("dialog")).to_contain_text("it is not listed for 90 days")
    page.locator("dialog").get_by_role("button", name="Dismiss").click()
    expect(page.locator(".empty")).to_contain_text("No unmatched prompts")
    assert prompts(console) == []


def test_another_organisation_finds_no_prompt_of_this_one(console):
    unmatched_id = unmatched_prompt(console.served.platform, PROMPT, "the weather")
    stranger = console.open(
        "#/decks/unmatched", api_key=console.served.platform.new_organization("strangers")
    )
    expect(stranger.locator(".empty")).to_be_visible()
    stranger.evaluate("id => { location.hash = `#/decks/unmatched/${id}`; }", unmatched_id)
    expect(stranger.locator(".trouble")).to_be_visible()
    expect(stranger.locator("main")).not_to_contain_text("You translate")
