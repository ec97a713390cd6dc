"""The review page and the console in a real browser, on the real handlers, with moto below."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from functions.reviews import api
from tests.support.console import PATIENCE_SECONDS, Console, served_console
from tests.support.graded import Graded, graded
from tests.support.platform import platform as make_platform
from tests.support.reviews import Reviewing
from tests.support.served_reviews import serve_reviews
from tools.browser import launched

DESKTOP = {"width": 1280, "height": 800}
expect.set_options(timeout=PATIENCE_SECONDS * 1_000)


# Not for the whole session: as long as Playwright runs, no other test can have an event loop.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as running:
        yield running


@pytest.fixture
def reviewing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Reviewing]:
    with make_platform(monkeypatch) as platform, serve_reviews() as base_url:
        monkeypatch.setenv("API_URL", base_url)
        made = Reviewing(platform)
        assert api.parts().reviews  # before requests come from several threads
        yield made


class Opener:
    """Opens links, each in a browser of its own, and notes what goes wrong on their pages."""

    def __init__(self, browser: Browser, opened: ExitStack) -> None:
        self._browser = browser
        self._opened = opened
        self.troubles: list[str] = []

    def __call__(self, url: str, *, viewport: Any = None, **options: Any) -> Page:
        context = self._browser.new_context(viewport=viewport or DESKTOP, **options)
        self._opened.callback(context.close)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_SECONDS * 1_000)
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("console", self._note)
        page.goto(url)
        return page

    def _note(self, line: Any) -> None:
        if _is_trouble(line):
            self.troubles.append(line.text)


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Opener]:
    """Open a link; nothing on the page may go wrong unseen."""
    with ExitStack() as opened:
        opener = Opener(browser, opened)
        yield opener
    assert opener.troubles == []


def _is_trouble(line: Any) -> bool:
    # The browser itself tells of answers that are not 2xx; the page is expected to handle those.
    return line.type in {"error", "warning"} and "Failed to load resource" not in line.text


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch, browser: Browser) -> Iterator[Console]:
    """Open the console; nothing on its pages may go wrong unseen."""
    with served_console(monkeypatch, browser) as made:
        yield made


@pytest.fixture
def made(console: Console) -> Iterator[Graded]:
    """Completions in every state, in the platform that the console shows."""
    with graded(console.served.platform) as some:
        yield some
