"""Signing in to the console at a certified OpenID provider, in headless Chromium."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.console import Console, faults_of_access
from tests.support.oidc import sign_in_at
from tests.support.openid_provider import openid_provider


@pytest.fixture
def issuer(console: Console, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    people = {"anna": ["admin"], "ben": ["nothing here"]}
    with openid_provider(console.url, roles=people) as running:
        organization_id = console.served.platform.me()["organizationId"]
        sign_in_at(monkeypatch, running, organization_id, SCOPE="openid email roles")
        yield running


def begin(console: Console, issuer: str) -> Page:
    page = console.visit("#/sessions")
    button = page.get_by_role("button", name=f"Sign in with {issuer.removeprefix('http://')}")
    button.click()
    page.wait_for_url(f"{issuer}/**")
    return page


def sign_in(page: Page, name: str) -> None:
    """Enter a name at the provider, and consent."""
    page.locator("[name=login]").fill(name)
    page.locator("[name=password]").fill("anything")
    page.locator("[type=submit]").click()
    page.locator("[name=prompt][value=consent]").wait_for(state="attached")
    page.locator("[type=submit]").click()


def test_a_person_signs_in_at_the_provider_and_works_in_the_console(
    console: Console, issuer: str
) -> None:
    page = begin(console, issuer)
    sign_in(page, "anna")
    expect(page.locator(".brand")).to_be_visible()
    assert page.url == f"{console.url}#/", "code and state have left the address"
    assert page.evaluate("sessionStorage.length") == 0
    console.go(page, "#/sessions")
    row = page.locator("tbody tr").first
    expect(row).to_contain_text("anna@example.com")
    expect(row).to_contain_text("this one")
    expect(row).to_contain_text(issuer.removeprefix("http://"))
    page.reload()
    expect(page.locator("tbody tr").first).to_contain_text("this one")
    assert console.served.count("POST /api/v1/sessions/oidc") == 1
    console.go(page, "#/audit")
    expect(page.locator("tbody")).to_contain_text("sign in")
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("h1")).to_have_text("You are signed out")
    (session,) = console.served.platform.call("GET", "/api/v1/sessions").json["sessions"]
    assert (session["status"], session["issuer"]) == ("revoked", issuer)


def test_somebody_without_a_role_is_told_so(console: Console, issuer: str) -> None:
    page = begin(console, issuer)
    sign_in(page, "ben")
    expect(page.locator("h1")).to_have_text("The sign-in did not succeed")
    expect(page.get_by_role("alert")).to_contain_text("the claim roles of your ID token names none")
    assert "?" not in page.url
    assert faults_of_access(page) == []


def test_what_the_provider_refuses_is_shown_as_text(console: Console, issuer: str) -> None:
    page = begin(console, issuer)
    page.locator("a", has_text="Cancel").click()
    expect(page.get_by_role("alert")).to_contain_text("It said: End-User aborted interaction")
    assert "?" not in page.url


@pytest.mark.parametrize("query", ["code=abc", "error=no&error_description=Call+0900+now"])
def test_a_link_with_a_code_or_error_of_somebody_else_begins_and_shows_nothing(
    console: Console, issuer: str, query: str
) -> None:
    begin(console, issuer)
    page = console.visit("")
    page.goto(f"{console.url}?{query}&state=forged")
    expect(page.get_by_role("alert")).to_contain_text("This sign-in was not begun in this tab")
    expect(page.locator("main")).not_to_contain_text("0900")
    assert console.served.count("POST /api/v1/sessions/oidc") == 0
    assert page.url == f"{console.url}#/"


def test_what_the_provider_is_asked_has_a_challenge_and_no_secret(
    console: Console, issuer: str
) -> None:
    page = console.visit("")
    asked: list[Any] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{console.url}#/")
    page.get_by_role("button", name="Sign in with").click()
    page.wait_for_url(f"{issuer}/**")
    (url,) = [one for one in asked if one.startswith(f"{issuer}/auth?")]
    page.goto(f"{console.url}#/")
    kept = json.loads(page.evaluate("sessionStorage.getItem('autotune-sign-in')"))
    assert "code_challenge_method=S256" in url
    assert f"state={kept['state']}" in url
    assert f"nonce={kept['nonce']}" in url
    assert kept["codeVerifier"] not in url
