"""The overview in the console, compared with what the API says."""

import pytest
from playwright.sync_api import expect

from tests.support.console import settled
from tests.support.console_figures import duration, figures_of, places, stat, texts_of
from tests.support.history import circuit_opened, overdue, scored
from tests.support.page_figures import NOTHING

MIXED = [
    *({"metadata": {"value": value}} for value in (0.0, 0.25, 1.0)),
    {"metadata": {"outcome": "abstained"}},
    {"metadata": {"outcome": "failed"}},
]


@pytest.fixture
def busy(console):
    """Have completions decided over a day, one waiting, and a grader that is down."""
    platform = console.served.platform
    task_id = console.served.new_task()
    scored(platform, task_id, *MIXED, hours_ago=3)
    scored(platform, task_id, *MIXED, {"metadata": {"value": 0.5}})
    scored(platform, task_id, {"metadata": {"value": 1.0}}, hours_ago=60)
    return task_id


def overview(console, window="24h"):
    path = "/api/v1/overview"
    return console.served.platform.call("GET", path, query={"window": window}).json["overview"]


def test_an_organisation_without_traffic_is_told_how_to_begin(console):
    page = console.open("#/")
    expect(page.locator("h1")).to_have_text("Overview")
    expect(page.locator(".empty")).to_contain_text("autotune submit completions.jsonl --task")
    for label in ("Open completions", "Open batches", "Overdue batches", "Circuits open"):
        expect(stat(page, label)).to_have_text("0")
    expect(stat(page, "Oldest open")).to_have_text("none")
    expect(page.locator(".none")).to_have_text(["No batch is overdue.", "Every grader is called."])


def test_every_figure_is_that_of_the_api_in_every_window(console, busy):
    page = console.open("#/")
    for name, window in (("24 hours", "24h"), ("7 days", "7d"), ("30 days", "30d")):
        page.get_by_role("link", name=name).click()
        found = overview(console, window)
        totals, count = found["totals"], len(found["buckets"])
        rows = figures_of(page, "Completions", count=count)
        expect(stat(page, "Submitted")).to_have_text(str(totals["submitted"]))
        for label in ("Scored", "Abstained", "Failed"):
            expect(stat(page, label)).to_have_text(str(totals["counts"][label.lower()]))
        expect(stat(page, "p50 turnaround")).to_have_text(duration(totals["p50TurnaroundMs"]))
        expect(page.locator(".stats")).to_contain_text([f"mean {totals['avgScore']:.3f}"])
        reasons = page.get_by_role("region", name="Failures by reason", exact=True)
        (told,) = texts_of(reasons.locator("tbody tr"))
        assert told[:2] == ["item_failed", str(totals["failures"]["item_failed"])]
        assert [row[1:] for row in rows] == [
            [
                str(one["submitted"]),
                *(str(one["counts"][state]) for state in ("scored", "abstained", "failed")),
            ]
            for one in found["buckets"]
        ]
        rows = figures_of(page, "Failures by reason", count=count)
        counted = [one["failures"].get("item_failed", 0) for one in found["buckets"]]
        assert [row[1] for row in rows] == [str(count) for count in counted]
    assert overview(console)["totals"]["submitted"] == 11
    assert overview(console, "7d")["totals"]["submitted"] == 12
    assert "window=30d" in page.url
    page.go_back()
    expect(page.locator("h2", has_text="Last 7 days")).to_be_visible()


def test_what_stands_in_the_way_is_named_and_linked(console, busy):
    batch_id = overdue(console.served.platform, busy, minutes=7)
    circuit_opened(console.served.grader_id, "grader_timeout")
    page = console.open("#/")
    found = overview(console)
    expect(stat(page, "Open completions")).to_have_text("1")
    expect(stat(page, "Overdue batches")).to_have_text(str(found["stuck"]["total"]))
    expect(stat(page, "Circuits open")).to_have_text(str(len(found["circuits"])))
    row = page.get_by_role("region", name="Overdue batches").locator("tbody tr")
    expect(row).to_contain_text("7 min ago")
    expect(row.get_by_role("link")).to_have_attribute("href", f"#/batches/{batch_id}")
    row = page.get_by_role("region", name="Open circuits").locator("tbody tr")
    expect(row).to_contain_text("grader_timeout")
    link = row.get_by_role("link", name=found["circuits"][0]["name"])
    expect(link).to_have_attribute("href", f"#/graders/{console.served.grader_id}")
    assert texts_of(page.get_by_role("region", name="Budgets").locator("tbody tr")) == [
        [one["period"], one["name"], "$0.00", "$0.00", "none", NOTHING] for one in found["budgets"]
    ]


def test_it_is_live_by_one_request_and_nothing_moves(console, busy):
    page = console.open("#/webhooks")
    before = len(console.served.received)
    with console.served.holding("GET /api/v1/overview"):
        page.evaluate("location.hash = '#/'")
        expect(page.locator(".stat dd.loading").first).to_be_visible()
        waiting = places(page)
    settled(page)
    assert places(page) == waiting, "nothing moves when data arrives"
    asked = [f"{one.method} {one.path}" for one in console.served.received[before:]]
    # More than once on a machine that is slow.
    assert {one for one in asked if "/api/" in one} == {"GET /api/v1/overview"}

    scored(console.served.platform, busy, *MIXED)
    expect(stat(page, "Submitted")).to_have_text("16")
    expect(stat(page, "Failed")).to_have_text("3")
    assert places(page) == waiting, "nothing moves when data changes"


def test_a_window_that_is_none_is_told_and_another_organisation_sees_nothing(console, busy):
    page = console.open("#/?window=2h")
    expect(page.locator(".trouble")).to_contain_text("window")
    stranger = console.open("#/", api_key=console.served.platform.new_organization("strangers"))
    expect(stranger.locator(".empty")).to_be_visible()
    expect(stat(stranger, "Open completions")).to_have_text("0")
