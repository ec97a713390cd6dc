"""The console in a real browser, on the real functions, with moto below."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.served_platform import ServedPlatform, serve_platform
from tools import browser as browsers
from tools.console_views import DESKTOP, PHONE, Troubles, go_to, settled

__all__ = [
    "DESKTOP",
    "PHONE",
    "Console",
    "cut",
    "faults_of_access",
    "overflow",
    "press_to_go",
    "served_console",
    "settled",
    "until",
]

AXE = browsers.PACKAGE / "node_modules" / "axe-core" / "axe.min.js"
_SERIOUS = ("serious", "critical")
_CUT = """() => {
  const isOut = (tab) => {
    const [own, row] = [tab, tab.parentElement].map((it) => it.getBoundingClientRect());
    return own.left < row.left - 1 || own.right > row.right + 1;
  };
  const heads = [...document.querySelectorAll("main th")];
  const tabs = [...document.querySelectorAll("main .tabs [aria-current]")];
  return [...heads.filter((it) => it.scrollWidth > it.clientWidth), ...tabs.filter(isOut)]
    .map((it) => it.textContent);
}"""
# On a machine that does much else a page takes longer than a reader would wait.
PATIENCE_SECONDS = 30.0


class Console:
    """Opens the console for keys of the platform, and notes what goes wrong on its pages.

    Attributes:
        served: the platform that the console is served by, and that it asks.
        troubles: what browsers reported: errors of pages and consoles, and what a policy stopped.
    """

    def __init__(self, browser: Browser, served: ServedPlatform, opened: ExitStack) -> None:
        self.served = served
        self.troubles = Troubles()
        self._browser = browser
        self._opened = opened

    @property
    def url(self) -> str:
        return f"{self.served.base_url}/console"

    def open(
        self,
        view: str = "#/",
        *,
        api_key: str | None = None,
        viewport: Any = None,
        color_scheme: Any = "light",
    ) -> Page:
        """Sign in for a key, by default the first admin's; return the page at a view."""
        page = self.visit("", viewport=viewport, color_scheme=color_scheme)
        page.goto(self.link(api_key))
        expect(page.locator(".brand")).to_be_visible()
        self.go(page, view)
        return page

    def visit(self, view: str, *, viewport: Any = None, color_scheme: Any = "light") -> Page:
        """Open a view in a browser of its own, signed in or not."""
        context = self._browser.new_context(
            viewport=viewport or DESKTOP, color_scheme=color_scheme, locale="en-GB"
        )
        self._opened.callback(context.close)
        self.troubles.watch(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_SECONDS * 1_000)
        if view:
            page.goto(f"{self.url}{view}")
        return page

    def go(self, page: Page, view: str) -> None:
        """Go to a view, as a link to it does, and wait until its data is there."""
        go_to(page, view, seconds=PATIENCE_SECONDS)

    def link(self, api_key: str | None = None, **fields: Any) -> str:
        """Make a session of a key; return the link that opens it once."""
        answer = self.served.platform.call("POST", "/api/v1/sessions", fields, api_key=api_key)
        assert answer.status == 201, answer.text
        url: str = answer.json["url"]
        return url


def faults_of_access(page: Page) -> list[str]:
    """Return what axe-core finds wrong and holds for serious, with the first element of each."""
    # The page's own policy lets nothing in; what the debugger evaluates is not the page's.
    session = page.context.new_cdp_session(page)
    session.send("Runtime.evaluate", {"expression": Path(AXE).read_text()})
    found = session.send(
        "Runtime.evaluate",
        {
            "expression": "axe.run(document, { resultTypes: ['violations'] })"
            ".then((found) => JSON.stringify(found.violations))",
            "awaitPromise": True,
            "returnByValue": True,
        },
    )
    session.detach()
    return [
        f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}"
        for one in json.loads(found["result"]["value"])
        if one["impact"] in _SERIOUS
    ]


def press_to_go(page: Page, key: str, view: str) -> None:
    """Go to a page by its keys, which have to follow each other within 1.5 seconds."""
    for _ in range(10):
        page.keyboard.press("g")
        page.keyboard.press(key)
        if page.evaluate("location.hash") == view:
            return
    pytest.fail(f"g and {key} do not lead to {view}")


def until(page: Page, holds: Callable[[], bool]) -> None:
    """Wait until something holds that the page does not show, while the page goes on."""
    ends = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < ends, "it did not come to hold"
        page.wait_for_timeout(50)


def overflow(page: Page) -> int:
    """Return by how many pixels a page is wider than its window."""
    width: int = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return width


def cut(page: Page) -> list[str]:
    """Return heads of columns that have no room, and titles of open tabs that are out of sight."""
    found: list[str] = page.evaluate(_CUT)
    return found


@contextmanager
def served_console(monkeypatch: pytest.MonkeyPatch, browser: Browser) -> Iterator[Console]:
    """Serve an empty platform with its console until the block is left."""
    with serve_platform(monkeypatch) as served, ExitStack() as opened:
        monkeypatch.setenv("API_URL", served.base_url)
        console = Console(browser, served, opened)
        yield console
        opened.close()
        assert console.troubles == [], console.troubles
