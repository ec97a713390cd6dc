"""The console's frame: signing in, finding the way, what it says when something is missing."""

import pytest
from playwright.sync_api import expect

from tests.support.console import press_to_go


def test_who_is_not_signed_in_is_told_the_command(console):
    page = console.visit("#/keys")
    expect(page.locator("h1")).to_have_text("Sign in")
    expect(page.locator(".copy code")).to_have_text("autotune console")


def test_pages_are_reached_by_keys_and_help_names_them(console):
    page = console.open()
    expect(page.locator("h1")).to_have_text("Overview")
    press_to_go(page, "k", "#/keys")
    expect(page.locator("h1")).to_have_text("Keys")
    assert page.url.endswith("#/keys")
    page.keyboard.press("?")
    expect(page.locator("dialog")).to_contain_text("go to Audit")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)


def test_a_role_sees_its_pages_and_is_told_where_another_is_not_its_own(console):
    operator = console.served.platform.new_key("training_operator")
    page = console.open("#/keys", api_key=operator)
    expect(page.locator("nav a")).to_have_text(
        [
            *("Overview", "Tasks", "Graders", "Completions", "Batches", "Runs", "Reviews"),
            *("Decks", "Labelling"),
            *("Exports", "Webhooks", "Reward URLs", "Ledger", "Apprentice", "Sessions"),
        ]
    )
    expect(page.locator(".empty")).to_contain_text("Your role, training operator, may not")
    console.go(page, "#/nothing")
    expect(page.locator("h1")).to_have_text("There is no such page")


@pytest.mark.parametrize(
    "view",
    ["..%2Fkeys", "%252e%252e%2Fkeys", "a%3Fb", "a%23b", "%25zz", "a%5Cb", "a%01", "a%2F%2Fb"],
)
def test_a_link_that_somebody_made_signs_nobody_out(console, view):
    page = console.open()
    console.go(page, f"#/webhooks/{view}")
    expect(page.locator(".trouble-title").first).to_have_text("There is no such thing")
    console.go(page, "#/keys")
    expect(page.locator("td").first).to_be_visible()


def test_nobody_is_signed_in_as_somebody_else_without_a_word(console):
    platform = console.served.platform
    me = platform.me()
    theirs = platform.new_organization("theirs")
    page = console.open()
    page.goto(console.link(theirs))
    expect(page.locator("h1")).to_have_text("Sign in as somebody else?")
    expect(page.locator("main")).to_contain_text(platform.me(theirs)["organizationId"])
    expect(page.locator("main")).to_contain_text(me["organizationId"])
    assert "#code" not in page.url
    page.get_by_role("button", name="Stay signed in").click()
    expect(page.locator(".who")).to_contain_text(me["principalId"])
    found = platform.call("GET", "/api/v1/sessions", api_key=theirs).json["sessions"]
    assert [one["status"] for one in found] == ["revoked"]

    page.goto(console.link(theirs))
    page.get_by_role("button", name="Sign in as the other").click()
    expect(page.locator(".who")).to_contain_text(platform.me(theirs)["principalId"])
    page.reload()
    expect(page.locator(".who")).to_contain_text(platform.me(theirs)["principalId"])
    # Another session of the same principal is nobody else's. What is shown stays the same.
    with page.expect_response("**/sessions/exchange"):
        page.goto(console.link(theirs))
    expect(page.locator(".brand")).to_be_visible()
    sessions = platform.call("GET", "/api/v1/sessions", api_key=theirs).json["sessions"]
    assert [one["status"] for one in sessions] == ["revoked", "active", "active"]
