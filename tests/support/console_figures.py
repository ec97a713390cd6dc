"""What a page of the console shows, as tests compare it with the API."""

from playwright.sync_api import Locator, Page, expect

from tests.support import page_figures

_PLACES = """() => [...document.querySelectorAll("main h2, main h3, main .stat, main .chart")]
  .map((it) => [it.tagName, Math.round(it.getBoundingClientRect().top + scrollY)].join(" "))"""


def stat(page: Page, label: str) -> Locator:
    """Return the value of the figure of a label."""
    found = page.locator(".stat").filter(has=page.locator("dt", has_text=label))
    return found.locator("dd:not(.hint)").first


def score(value: float | None) -> str:
    """Return a score as pages show it."""
    return page_figures.score("").of(value)


def difference(value: float) -> str:
    """Return a difference of scores as pages show it."""
    return page_figures.difference("").of(value)


def percent(share: float) -> str:
    """Return a share as pages show it."""
    return page_figures.percent("").of(share)


def duration(milliseconds: float) -> str:
    """Return a duration as pages show it."""
    return page_figures.duration("").of(milliseconds)


def texts_of(rows: Locator) -> list[list[str]]:
    """Return the texts of a table's cells, by row."""
    return [[text.strip() for text in row.locator("td").all_inner_texts()] for row in rows.all()]


def figures_of(page: Page, label: str, *, count: int) -> list[list[str]]:
    """Return the figures that a chart has for who does not see it, once there are so many."""
    chart = page.locator("figure.chart").filter(has=page.locator(f'[aria-label^="{label}:"]'))
    details = chart.locator("details")
    if details.get_attribute("open") is None:
        details.locator("summary").click()
    rows = chart.locator(".figures tbody tr")
    expect(rows).to_have_count(count)
    found: list[list[str]] = rows.evaluate_all(
        "rows => rows.map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    return found


def places(page: Page) -> list[str]:
    """Return where on the page headings, figures and charts stand."""
    found: list[str] = page.evaluate(_PLACES)
    return found
