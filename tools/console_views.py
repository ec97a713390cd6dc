"""The console as a reader goes through it: every page that there is, and what its links lead to.

Tests, benchmarks and pictures go over the same views; a page that is added to ``console/pages.js``
is among them by its link in the navigation, without a word here.
"""

import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Request, ViewportSize, expect

from autotune.protocol.ids import ID_BODY

DESKTOP = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=390, height=844)
SECONDS = 10.0

_API = "/api/v1/"
_ID = re.compile(rf"\b[a-z]{{3,4}}_{ID_BODY}\b")
# Until what the view renders first is there, which says whether it waits for data.
_GO = """view => new Promise((done) => {
  if (location.hash === view) return done();
  const shown = () => requestAnimationFrame(() => requestAnimationFrame(done));
  addEventListener("hashchange", shown, { once: true });
  location.hash = view;
})"""
# How long that takes, seen frame by frame: until nothing loads in three of them.
_TIME = """([view, loading]) => new Promise((done) => {
  const began = performance.now();
  let ready = null;
  let frames = 0;
  const look = () => {
    const waits = document.querySelector("h1") === null || document.querySelector(loading) !== null;
    if (waits) {
      ready = null;
    } else if (ready === null) {
      ready = performance.now();
      frames = 1;
    } else if ((frames += 1) === 3) {
      return done(ready - began);
    }
    return requestAnimationFrame(look);
  };
  addEventListener("hashchange", () => requestAnimationFrame(look), { once: true });
  location.hash = view;
})"""
_HASHES = "them => them.map((it) => it.hash)"
_LOADING = "[aria-busy=true], .skeleton, .loading"
_MOST_VIEWS = 200


class TooManyViewsError(RuntimeError):
    """Links lead on and on, as where an address has what no other has."""


class Troubles(list[str]):
    """What browsers reported: errors of pages and consoles, and what a policy stopped."""

    def watch(self, context: BrowserContext) -> None:
        """Note what goes wrong in a browser from now on."""
        context.add_init_script(
            "addEventListener('securitypolicyviolation', (event) => console.error("
            "`policy: ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`))"
        )
        context.on("weberror", lambda error: self.append(str(error.error)))
        context.on("console", self._note)

    def _note(self, line: Any) -> None:
        # The browser itself tells of answers that are not 2xx, which pages are expected to show.
        if line.type in {"error", "warning"} and "Failed to load resource" not in line.text:
            self.append(line.text)


class Reader:
    """Somebody who is signed in, and reads page after page.

    Attributes:
        page: the tab.
        troubles: what went wrong in it.
        asked: method and path of each request to the API, with its query, in order.
        heard: ids that the answers held.
    """

    def __init__(self, page: Page, *, seconds: float = SECONDS) -> None:
        self.page = page
        self.troubles = Troubles()
        self.asked: list[str] = []
        self.heard: set[str] = set()
        self._seconds = seconds
        self._finished: list[Request] = []
        self.troubles.watch(page.context)
        page.set_default_timeout(seconds * 1_000)
        page.on("request", self._note)
        page.on("requestfinished", self._keep)

    def sign_in(self, link: str) -> None:
        """Open the link of a session; it works once."""
        self.page.goto(link)
        expect(self.page.locator(".brand")).to_be_visible(timeout=self._seconds * 1_000)

    def go(self, view: str) -> None:
        """Go to a view, as a link to it does, and wait until its data is there."""
        go_to(self.page, view, seconds=self._seconds)

    def seconds_to(self, view: str) -> float:
        """Go to another view; return how long it takes until its first data is there."""
        took: float = self.page.evaluate(_TIME, [view, _LOADING])
        return took / 1_000

    def pages(self) -> list[str]:
        """Return the views of the navigation: the pages that the session's role may open."""
        found: list[str] = self.page.locator("nav[aria-label=Pages] a").evaluate_all(_HASHES)
        return found

    def links(self) -> list[str]:
        """Return the views that the page of now leads to."""
        found: list[str] = self.page.locator('main a[href^="#/"]').evaluate_all(_HASHES)
        return found

    def views(self) -> Iterator[str]:
        """Go to every page, and to one view of each shape that pages lead to; yield each there.

        Raises:
            TooManyViewsError: there are more than two hundred shapes.
        """
        due = deque(self.pages())
        seen = {shape_of(view) for view in due}
        while due:
            view = due.popleft()
            self.go(view)
            # Before anybody goes on from here.
            found = self.links()
            yield view
            for link in found:
                if shape_of(link) not in seen:
                    seen.add(shape_of(link))
                    due.append(link)
            if len(seen) > _MOST_VIEWS:
                message = f"there are more than {_MOST_VIEWS} views, such as {sorted(seen)[-1]}"
                raise TooManyViewsError(message)

    def shown_of(self, others: set[str], views: list[str]) -> dict[str, set[str]]:
        """Go to views, and to all own pages; return which ids of others are there, by view.

        What is asked for in an address may be repeated: there, by an answer that comes late, and by
        the audit log, which has what was asked in vain.
        """
        found = {}
        asked: set[str] = set()
        before = ""
        for view in sorted({*views, *self.pages()}, key=lambda one: len(ids_in(one))):
            asked |= ids_in(view)
            known = asked if view.startswith("#/audit") else ids_in(before + view)
            before = view
            self.heard.clear()
            self.go(view)
            if shown := (ids_in(self.text()) | self.ids()) & (others - known):
                found[view] = shown
        return found

    def text(self) -> str:
        """Return all that the page of now says, read or not."""
        said: str = self.page.locator("body").evaluate("it => it.textContent")
        return said

    def ids(self) -> set[str]:
        """Return the ids that answers of the API held so far."""
        while self._finished:
            answer = self._finished.pop().response()
            if answer is not None:
                self.heard |= ids_in(answer.text())
        return self.heard

    def _note(self, request: Request) -> None:
        _, is_asked, path = request.url.partition(_API)
        if is_asked:
            self.asked.append(f"{request.method} {path}")

    def _keep(self, request: Request) -> None:
        # What answers hold cannot be read while one of them is being told of.
        if _API in request.url:
            self._finished.append(request)


def shape_of(view: str) -> str:
    """Return what views of one kind have in common: ids and values of filters taken out.

    >>> shape_of("#/tasks/task_06bn3v0c2k06bn3v0c2k06bn3v?window=7d")
    '#/tasks/{id}?window'
    """
    path, _, query = view.partition("?")
    names = sorted({one.partition("=")[0] for one in query.split("&") if one})
    return _ID.sub("{id}", path) + (f"?{'&'.join(names)}" if names else "")


def ids_in(text: str) -> set[str]:
    """Return the ids in a text, of whatever kind."""
    return set(_ID.findall(text))


def go_to(page: Page, view: str, *, seconds: float = SECONDS) -> None:
    """Go to a view, as a link to it does, and wait until its data is there."""
    page.evaluate(_GO, view)
    settled(page, seconds=seconds)


def settled(page: Page, *, seconds: float = SECONDS) -> None:
    """Wait until a page shows its heading, and nothing that still loads."""
    page.locator("h1").first.wait_for()
    expect(page.locator(_LOADING)).to_have_count(0, timeout=seconds * 1_000)


@contextmanager
def reading(browser: Browser, link: str, *, seconds: float = SECONDS) -> Iterator[Reader]:
    """Sign in by the link of a session in a browser of its own, until the block is left."""
    context = browser.new_context(viewport=DESKTOP, locale="en-GB", timezone_id="UTC")
    try:
        reader = Reader(context.new_page(), seconds=seconds)
        reader.sign_in(link)
        yield reader
    finally:
        context.close()
