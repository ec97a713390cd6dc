"""Signing in to the console in headless Chromium, on the real handlers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route

from autotune import AutotuneClient
from tests.support.served_platform import ServedPlatform, serve_platform

CONSOLE = Path(__file__).parents[2] / "console"
POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'"
)
READ = """async () => {
  const module = new URL("console/session.js", document.baseURI);
  const { current, signedHeaders, signIn } = await import(module);
  const session = await signIn();
  if (session === null) return null;
  const path = "/api/v1/keys/me";
  const query = "a=%C3%A9+'";
  const answer = await fetch(new URL(`${path.slice(1)}?${query}`, document.baseURI), {
    headers: await signedHeaders("GET", path, query),
  });
  return { session, current: current(), status: answer.status, told: await answer.json() };
}"""
FAILED = """async () => {
  const { signIn } = await import(new URL("console/session.js", document.baseURI));
  return signIn().then(() => null, (error) => [error.name, error.message, error.problem?.code]);
}"""
SIGN_OUT = """async () => {
  const module = new URL("console/session.js", document.baseURI);
  const { current, signIn, signOut } = await import(module);
  await signIn();
  await signOut();
  return [current(), await signIn()];
}"""
FORGET = """async () => {
  const { forget } = await import(new URL("console/session.js", document.baseURI));
  await forget();
}"""
STORED = """async () => {
  const database = await new Promise((resolve) => {
    const request = indexedDB.open("autotune-console", 1);
    request.onsuccess = () => resolve(request.result);
  });
  const store = database.transaction("sessions").objectStore("sessions");
  const kept = await new Promise((resolve) => {
    const request = store.getAll();
    request.onsuccess = () => resolve(request.result);
  });
  database.close();
  const shown = await crypto.subtle.exportKey("raw", kept[0].key).catch((error) => error.name);
  return [JSON.stringify(kept), Object.keys(kept[0]), shown];
}"""


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedPlatform]:
    with serve_platform(monkeypatch) as served:
        yield served


@pytest.fixture
def client(api: ServedPlatform) -> Iterator[AutotuneClient]:
    with AutotuneClient(base_url=api.base_url, api_key=api.api_key) as made:
        yield made


@pytest.fixture
def visit(api: ServedPlatform, open_page: Any) -> Any:
    """Open an address of the console, whose page has nothing but the modules."""

    def serve(route: Route) -> None:
        name = route.request.url.partition("/console")[2].partition("#")[0].lstrip("/")
        if name:
            text, kind = (CONSOLE / name).read_text(), "text/javascript"
        else:
            text, kind = "<!doctype html><title>Console</title>", "text/html"
        route.fulfill(body=text, content_type=kind, headers={"content-security-policy": POLICY})

    def visit(url: str, page: Page | None = None) -> Page:
        opened = page or open_page("about:blank")
        opened.route("**/console**", serve)
        opened.route("**/console/**", serve)
        opened.goto("about:blank")
        opened.goto(f"{api.base_url}/console{url[url.index('#') :]}")
        return opened

    return visit


def test_a_browser_signs_in_once_keeps_the_session_and_signs_out(
    api: ServedPlatform, client: AutotuneClient, visit: Any
) -> None:
    made = client.sessions.create(name="anna's browser")
    page = visit(made.url)
    read = page.evaluate(READ)
    assert read["status"] == 200, read["told"]
    assert read["session"] == read["current"]
    assert read["session"]["id"] == made.session.id
    assert read["told"]["key"]["id"] == made.session.key_id
    assert page.url.endswith("/console#/"), "the code has left the address"

    (exchanged,) = [one for one in api.received if one.path.endswith("/exchange")]
    assert "x-autotune-key" not in exchanged.headers
    kept, names, shown = page.evaluate(STORED)
    assert set(names) == {"session", "key", "ahead"}
    assert "secret" not in kept
    assert shown == "InvalidAccessError", "nobody reads the key"

    page.reload()
    assert page.evaluate(READ)["session"]["id"] == made.session.id
    assert api.count("exchange") == 1
    page.reload()
    assert page.evaluate(SIGN_OUT) == [None, None]
    assert [one.status for one in client.sessions.list()] == ["revoked"]
    page.reload()
    assert page.evaluate(READ) is None


def test_an_address_that_was_used_before_signs_nobody_in(
    client: AutotuneClient, visit: Any
) -> None:
    made = client.sessions.create()
    first = visit(made.url)
    assert first.evaluate(READ)["status"] == 200
    second = visit(made.url)
    _, message, code = second.evaluate(FAILED)
    assert (message, code) == (
        "the code is not valid; `autotune console` makes another",
        "unauthenticated",
    )
    assert "#code" not in second.url
    assert second.evaluate(READ) is None
    first.reload()
    assert first.evaluate(READ)["status"] == 401, "nobody knows whose session it was"


def test_a_tab_whose_session_ended_leaves_that_of_another_tab(
    client: AutotuneClient, visit: Any
) -> None:
    first = visit(client.sessions.create().url)
    ended = first.evaluate(READ)["session"]["id"]
    made = client.sessions.create()
    second = visit(made.url, first.context.new_page())
    assert second.evaluate(READ)["session"]["id"] == made.session.id
    client.sessions.revoke(ended)
    first.evaluate(FORGET)
    second.reload()
    assert second.evaluate(READ)["session"]["id"] == made.session.id
    second.evaluate(FORGET)
    second.reload()
    assert second.evaluate(READ) is None


def test_a_code_that_was_cut_off_leaves_the_address_too(visit: Any) -> None:
    page = visit("#code=ses_06e1n2l8r8001a2b3c4d5e6f7g.abc%E0%A4%A")
    assert page.evaluate(FAILED)[2] == "unauthenticated"
    assert page.url.endswith("/console#/")


def test_a_browser_whose_clock_is_wrong_signs_in_time(
    api: ServedPlatform, client: AutotuneClient, visit: Any
) -> None:
    page = visit("#/")
    assert page.evaluate(READ) is None
    page.clock.install(time="2020-01-01T00:00:00Z")
    made = client.sessions.create(expires_in_minutes=5)
    read = visit(made.url, page).evaluate(READ)
    assert read["status"] == 200, read["told"]
