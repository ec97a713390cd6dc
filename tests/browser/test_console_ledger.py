"""The ledger in the console: each figure is the API's, and what an operator changes is done."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.console import PHONE, overflow
from tests.support.console_ledger import filled_ledger


@pytest.fixture
def filled(console):
    with filled_ledger(console.served.platform) as made:
        yield made


def get(console, path, **query):
    answer = console.served.platform.call("GET", f"/api/v1/{path}", query=query)
    assert answer.status == 200, answer.text
    return answer.json


def dollars(nano):
    """As the page has them, below a cent."""
    text = f"{nano / 1e9:.9f}".rstrip("0")
    whole, _, fraction = text.partition(".")
    return f"${whole}.{fraction.ljust(2, '0')}"


def figures(page):
    """The figures of a page, by their labels."""
    return dict(
        page.locator(".stat").evaluate_all(
            "them => them.map((it) => [it.children[0].textContent, it.children[1].textContent])"
        )
    )


def facts(page, section=None):
    root = page.locator(f'section[aria-label="{section}"]') if section else page
    return dict(
        root.locator(".facts > div").evaluate_all(
            "them => them.map((it) => [it.children[0].textContent, it.children[1].textContent])"
        )
    )


def dialog(page):
    return page.locator("dialog")


def test_spend_is_the_apis_by_model_purpose_and_day(console, filled):
    page = console.open("#/ledger")
    before = len(console.served.received)
    with page.expect_response("**/llm-costs?*"):
        console.go(page, "#/ledger?days=7")
    asked = [one.path for one in console.served.received[before:] if "/api/v1/llm" in one.path]
    budget = "/api/v1/llm-budget"  # by time
    assert [path for path in asked if path != budget] == ["/api/v1/llm-costs"]
    costs = get(console, "llm-costs")["costs"]
    sums = {
        name: sum(one[name] for one in costs)
        for name in ("rows", "costNanoUsd", "inputTokens", "outputTokens")
    }
    assert sums["rows"] == 5
    assert figures(page) == {
        "Spent": dollars(sums["costNanoUsd"]),
        "Requests": "5",
        "Input tokens": str(sums["inputTokens"]),
        "Output tokens": str(sums["outputTokens"]),
    }
    page.get_by_label("By", exact=True).select_option("purpose")
    by_purpose = {
        one["group"]: one for one in get(console, "llm-costs", groupBy="purpose")["costs"]
    }
    assert set(by_purpose) == {"scoring", "audit"}
    for purpose, cost in by_purpose.items():
        row = page.locator("tr", has_text=purpose)
        expect(row).to_contain_text(dollars(cost["costNanoUsd"]))
        expect(row.locator("td").nth(3)).to_have_text(str(cost["rows"]))
    page.get_by_role("link", name="audit", exact=True).click()
    expect(page.locator("h3")).to_have_text("Spend by day: audit")
    label = page.get_by_role("img", name="Spend by day: audit").get_attribute("aria-label")
    assert dollars(by_purpose["audit"]["costNanoUsd"]) in label
    page.get_by_role("link", name="Requests of audit").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text("verdict missing")
    assert page.url.endswith("#/ledger/requests?purpose=audit")


def test_the_budget_is_shown_and_changed_after_it_was_asked_twice(console, filled):
    page = console.open("#/ledger")
    meters = page.locator(".meter")
    for meter, use in zip(meters.all(), get(console, "llm-budget")["periods"], strict=True):
        expect(meter).to_contain_text(f"{dollars(use['spentNanoUsd'])} spent")
        expect(meter).to_contain_text(f"{dollars(use['reservedNanoUsd'])} reserved")
        expect(meter).to_contain_text("no limit")
        assert use["reservedNanoUsd"] > 0
    page.get_by_role("button", name="Change the budget").click()
    dialog(page).get_by_label("A day, in US dollars", exact=True).fill("a lot")
    dialog(page).get_by_role("button", name="Continue").click()
    dialog(page).get_by_role("button", name="Set").click()
    expect(dialog(page).locator(".trouble")).to_contain_text("dayUsd")
    dialog(page).get_by_label("A day, in US dollars", exact=True).fill("0.0005")
    dialog(page).get_by_role("button", name="Continue").click()
    expect(dialog(page)).to_contain_text("A day: no limit → $0.0005")
    expect(dialog(page)).to_contain_text("A month: no limit → no limit")
    assert get(console, "llm-budget")["limits"]["dayUsd"] is None
    dialog(page).get_by_role("button", name="Set").click()
    expect(meters.first).to_contain_text("of $0.0005")
    assert get(console, "llm-budget")["limits"] == {
        "dayUsd": "0.0005",
        "weekUsd": None,
        "monthUsd": None,
    }


def test_a_request_is_found_read_whole_asked_again_and_its_texts_deleted(console, filled):
    page = console.open("#/ledger/requests")
    listed = get(console, "llm-requests", limit="50")["requests"]
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(len(listed))
    assert [row.locator("code").inner_text() for row in rows.all()] == [one["id"] for one in listed]
    page.get_by_label("Status", exact=True).select_option("submitted")
    page.get_by_role("button", name="Look").click()
    expect(rows).to_have_count(2)
    assert page.url.endswith("?status=submitted")
    page.keyboard.press("/")
    page.keyboard.type(filled.good)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Request")
    expect(page.get_by_label("Answer", exact=True)).to_contain_text("Both hold.")
    request = get(console, f"llm-requests/{filled.good}")["request"]
    shown = facts(page)
    for name, told in (
        ("Batch", request["batchId"]),
        ("Labels", "step: 4"),
        ("Cost", dollars(request["costNanoUsd"])),
        ("At most", dollars(request["boundNanoUsd"])),
        ("Input tokens", str(request["usage"]["inputTokens"])),
        ("Output tokens", str(request["usage"]["outputTokens"])),
    ):
        assert shown[name] == told, name
    assert facts(page, "Answered")["Verdict"] == request["parsedVerdict"] == "good"
    for label, text in (
        ("System", request["input"]["system"]),
        ("User", request["input"]["user"]),
        ("{{proof}}", request["input"]["variables"]["proof"]),
        ("Answer", request["rawOutput"]),
    ):
        assert page.get_by_label(label, exact=True).text_content() == text
    (attempt,) = request["attempts"]
    attempts = page.get_by_role("region", name="Attempts that are over").get_by_role("row")
    expect(attempts.last).to_contain_text("answered")
    expect(attempts.last).to_contain_text(dollars(attempt["costNanoUsd"]))

    page.get_by_role("button", name="Read again").click()
    dialog(page).get_by_label("As", exact=True).select_option("label")
    dialog(page).get_by_label("Labels", exact=True).fill("poor, good")
    dialog(page).get_by_role("button", name="Read it").click()
    readings = page.get_by_role("region", name="Readings").locator("tbody tr")
    expect(readings).to_have_count(2)
    expect(readings.last).to_contain_text("label: poor, good")
    assert len(get(console, f"llm-requests/{filled.good}/parses")["parses"]) == 2
    page.get_by_role("button", name="Delete the texts").click()
    dialog(page).get_by_role("button", name="Delete").click()
    expect(page.locator("main")).to_contain_text("The texts were deleted.")
    assert "Both hold" not in page.content()

    console.go(page, f"#/ledger/requests/{filled.unread}")
    page.get_by_role("button", name="Ask again").click()
    dialog(page).get_by_role("button", name="Ask again").click()
    expect(page.get_by_text("queued", exact=True)).to_be_visible()
    again = page.url.rpartition("/")[2]
    assert get(console, f"llm-requests/{again}")["request"]["retryOf"] == filled.unread
    page.get_by_role("button", name="Cancel").click()
    dialog(page).get_by_role("button", name="Cancel it").click()
    expect(page.get_by_text("canceled", exact=True).first).to_be_visible()
    assert get(console, f"llm-requests/{again}")["request"]["status"] == "canceled"


def test_an_unclear_batch_comes_first_and_an_admin_says_which_job_is_its_own(console, filled):
    operator = console.served.platform.new_key("training_operator")
    reader = console.open(f"#/ledger/batches/{filled.unclear}", api_key=operator)
    expect(reader.locator("main")).to_contain_text(f"autotune llm resolve-batch {filled.unclear}")
    expect(reader.get_by_role("button", name="There is none")).to_have_count(0)

    page = console.open("#/ledger")
    page.get_by_role("link", name="See what is unclear").click()
    waiting = page.get_by_role("region", name="Batches that wait for an operator")
    waiting.get_by_role("link").click()
    expect(page.get_by_role("heading", name="Was its job created?")).to_be_visible()
    batch = get(console, f"llm-batches/{filled.unclear}")["batch"]
    assert facts(page)["Our name of it"].startswith(batch["job"]["nonce"])
    assert figures(page)["Requests"] == str(batch["counts"]["rows"]) == "2"
    expect(page.locator(".stat", has_text="Cost")).to_contain_text(
        f"{dollars(batch['reservedNanoUsd'])} reserved"
    )
    page.get_by_role("button", name="There is none").click()
    expect(dialog(page)).to_contain_text("all its 2 requests are paid twice")
    dialog(page).get_by_role("button", name="There is none: create it").click()
    expect(dialog(page).locator(".trouble")).to_contain_text("resubmit is possible from")
    dialog(page).get_by_role("button", name="Cancel").click()
    (mine,) = filled.ledger.fake.world.batches
    page.get_by_role("button", name=f"This is it: {mine}").click()
    dialog(page).get_by_role("button", name="Adopt it").click()
    expect(page.get_by_role("heading", name="Was its job created?")).to_have_count(0)
    expect(page.locator(".facts")).to_contain_text(mine)
    assert get(console, f"llm-batches/{filled.unclear}")["batch"]["job"]["id"] == mine
    console.go(page, "#/ledger/batches")
    expect(waiting).to_have_count(0)


def test_a_paused_connection_says_why_is_verified_and_taken_up_again(console, filled):
    page = console.open("#/ledger/connections")
    row = page.locator("tr", has_text="lapsed")
    expect(row).to_contain_text("paused")
    why = get(console, f"llm-connections/{filled.paused}")["connection"]["pausedBecause"]
    expect(row).to_contain_text(why)
    row.get_by_role("link").click()
    expect(page.locator("h1")).to_have_text("lapsed")
    expect(page.locator(".notice")).to_contain_text(why)
    page.get_by_role("button", name="Verify").click()
    dialog(page).get_by_role("button", name="Ask").click()
    expect(dialog(page)).to_contain_text("does not work")
    dialog(page).get_by_role("button", name="Close").click()
    filled.ledger.fake.world.keys["compatible"]["of-nobody"] = "main"
    page.get_by_role("button", name="Take up again").click()
    dialog(page).get_by_role("button", name="Take it up").click()
    expect(page.locator(".notice")).to_have_count(0)
    assert get(console, f"llm-connections/{filled.paused}")["connection"]["status"] == "active"
    page.get_by_role("button", name="Verify").click()
    dialog(page).get_by_role("button", name="Ask").click()
    expect(dialog(page).get_by_text("works", exact=True)).to_be_visible()


def test_an_import_says_which_lines_were_rejected(console, filled):
    page = console.open("#/ledger/imports", viewport=PHONE)
    page.get_by_role("link", name=filled.imported).click()
    expect(page.locator("h1")).to_have_text("Import")
    found = get(console, f"llm-imports/{filled.imported}")["import"]
    rejected = page.get_by_role("region", name="Lines that were rejected")
    expect(rejected).to_contain_text("body.temperature")
    assert figures(page) == {
        "Lines read": str(found["counts"]["lines"]),
        "Enqueued": str(found["counts"]["enqueued"]),
        "Rejected": str(found["counts"]["rejected"]),
        "Bytes read": str(found["counts"]["bytes"]),
    }
    page.get_by_role("link", name="Its requests").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    assert overflow(page) == 0


def test_what_another_organization_asked_and_paid_is_not_found(console, filled):
    stranger = console.open(
        "#/ledger", api_key=console.served.platform.new_organization("strangers")
    )
    expect(stranger.locator(".empty")).to_contain_text("Nothing was spent")
    expect(stranger.locator(".notice")).to_have_count(0)
    for kind, id_ in (
        ("requests", filled.good),
        ("batches", filled.unclear),
        ("connections", filled.paused),
        ("imports", filled.imported),
    ):
        console.go(stranger, f"#/ledger/{kind}")
        expect(stranger.locator(".empty")).to_contain_text(re.compile("^No "))
        stranger.evaluate("view => { location.hash = view; }", f"#/ledger/{kind}/{id_}")
        expect(stranger.locator(".trouble").first).to_contain_text("There is no such thing here")


def test_pages_ask_for_a_constant_number_of_things(console, filled):
    page = console.open("#/keys")
    for view, most in (
        ("#/ledger", 3),
        ("#/ledger?by=connection", 4),
        ("#/ledger/requests", 1),
        (f"#/ledger/requests/{filled.good}", 2),
        ("#/ledger/batches", 2),
        ("#/ledger/connections", 1),
        (f"#/ledger/connections/{filled.connection}", 1),
        ("#/ledger/imports", 1),
        (f"#/ledger/imports/{filled.imported}", 1),
    ):
        console.go(page, "#/keys")
        before = console.served.count("GET /api/v1/llm")
        console.go(page, view)
        assert console.served.count("GET /api/v1/llm") - before <= most, view
