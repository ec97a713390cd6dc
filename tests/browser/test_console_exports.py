"""Exports in the console: started, followed, downloaded and deleted."""

import gzip
import json

from playwright.sync_api import expect

from tests.support.console import until


def test_an_export_is_started_followed_downloaded_and_deleted(console, made):
    served = console.served
    served.export_seconds = None  # until it is told to
    page = console.open("#/exports")
    expect(page.locator(".empty")).to_contain_text("autotune export --task")
    page.get_by_role("button", name="New export").click()
    page.get_by_label("Task", exact=True).select_option(made.task_id)
    page.get_by_label("Score from", exact=True).fill("0.9")
    page.get_by_label("Score to", exact=True).fill("0.2")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("dialog .trouble")).to_contain_text("maxScore")
    expect(page.get_by_label("Score to", exact=True)).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Score to", exact=True).fill("")
    page.get_by_label("Decided from", exact=True).fill("2020-01-01T00:00")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("h1")).to_have_text("Export")
    (listed,) = made.read("exports")["exports"]
    assert page.url.endswith(f"#/exports/{listed['id']}")
    filters = listed["request"]["filters"]
    assert (filters["taskId"], filters["minScore"]) == (made.task_id, 0.9)
    assert filters["startDate"].startswith(("2019-12-31", "2020-01-01"))
    expect(page.locator(".stat").first).to_contain_text(listed["state"])
    expect(page.locator(".table-box")).to_have_count(0)

    while not made.platform.write_export({"export_id": listed["id"], "redrive": 0})["done"]:
        pass
    done = made.read(f"exports/{listed['id']}")["export"]
    stats = page.locator(".stat dd:not(.hint)")
    progress = done["progress"]
    expect(stats).to_have_text(
        ["completed", *(str(progress[name]) for name in ("recordsWritten", "scanned", "parts"))]
    )
    assert progress["recordsWritten"] == 2
    (part,) = done["downloads"]["parts"]
    row = page.locator("tbody tr").first
    for text in (part["name"], str(part["records"]), part["sha256"]):
        expect(row).to_contain_text(text)
    with page.context.expect_page() as opened, page.expect_popup():
        page.get_by_role("link", name=f"Download {part['name']}").click()
    until(page, lambda: part["name"] in served.storage.names_asked())
    opened.value.close()
    records = gzip.decompress(served.storage.stored(part["name"])).splitlines()
    assert [json.loads(line)["score"] for line in records]

    page.get_by_role("button", name="Delete").click()
    page.locator("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator("h1")).to_have_text("Exports")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text("canceled")
    assert made.read("exports")["exports"][0]["state"] == "canceled"


def test_pairs_and_labels_are_asked_for_with_their_options(console, made):
    page = console.open("#/exports")
    for shape, label, value, told in (
        ("preference", "Their scores differ by", "0.5", {"minScoreDelta": 0.5}),
        ("unpaired", "Good from a score of", "0.7", {"threshold": 0.7}),
        ("stepwise", "Good from a score of", "0.25", {"threshold": 0.25}),
    ):
        page.get_by_role("button", name="New export").click()
        page.get_by_label("Records are", exact=True).select_option(shape)
        page.get_by_label(label, exact=True).fill(value)
        page.get_by_label("Format", exact=True).select_option("parquet")
        page.get_by_role("button", name="Start").click()
        expect(page.locator("h1")).to_have_text("Export")
        expect(page.locator(".facts")).to_contain_text(value)
        newest = made.read("exports")["exports"][-1]["request"]
        assert (newest["shape"], newest["format"]) == (shape, "parquet")
        assert told.items() <= newest[shape].items()
        console.go(page, "#/exports")
        expect(page.locator("tbody tr").first).to_contain_text(shape)
    listed = made.read("exports")["exports"]
    expect(page.locator("tbody a[data-row]")).to_have_text([one["id"] for one in listed[::-1]])
