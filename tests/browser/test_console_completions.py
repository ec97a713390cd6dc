"""Completions in the console, as the API has them: found, read, scored again, canceled, deleted."""

import pytest
from playwright.sync_api import expect

from tests.support.console import faults_of_access, settled

ROWS = "main tbody tr"


def figures(verdict):
    """What a list shows of a verdict."""
    value = (verdict.get("score") or {}).get("value")
    reason = (verdict.get("reasonCode") or "").replace("_", " ")
    return [
        verdict["completionId"],
        verdict["state"],
        *([f"{value:.3f}"] if value is not None else []),
        *([reason] if reason else []),
    ]


def expect_rows(page, verdicts):
    rows = page.locator(ROWS)
    expect(rows).to_have_count(len(verdicts))
    for index, verdict in enumerate(verdicts):
        for told in figures(verdict):
            expect(rows.nth(index)).to_contain_text(told)


def asked_for(console, page, view):
    """Return what a view asks the API for first, without its queries."""
    console.go(page, "#/sessions")
    before = len(console.served.received)
    console.go(page, view)
    return sorted(one.path for one in console.served.received[before:] if "/api/" in one.path)


def test_completions_of_a_task_are_listed_newest_first_and_narrowed(console, made):
    page = console.open(f"#/completions?task={made.task_id}")
    newest = {"taskId": made.task_id, "order": "newest"}
    expect_rows(page, made.read("scores", **newest)["scores"])
    expect(page.get_by_label("Task", exact=True)).to_have_value(made.task_id)

    page.get_by_label("State", exact=True).select_option("failed")
    page.get_by_label("Model", exact=True).fill("policy-7b")
    page.keyboard.press("Enter")
    narrowed = made.read("scores", **newest, state="failed", modelId="policy-7b")["scores"]
    assert len(narrowed) == 1
    expect_rows(page, narrowed)
    assert f"task={made.task_id}" in page.url
    page.get_by_label("State", exact=True).select_option("")
    page.get_by_label("Model", exact=True).fill("")
    page.get_by_label("Score from", exact=True).fill("0.25")
    page.get_by_label("Score to", exact=True).fill("0.9")
    page.get_by_role("button", name="Look").click()
    expect_rows(page, made.read("scores", **newest, minScore=0.25, maxScore=0.9)["scores"])
    page.reload()
    expect(page.locator(ROWS)).to_have_count(3)
    page.get_by_label("Score to", exact=True).fill("0.1")
    page.get_by_role("button", name="Look").click()
    expect(page.locator(".trouble")).to_contain_text("maxScore")

    page.get_by_label("Task", exact=True).select_option("all")
    page.get_by_label("Score from", exact=True).fill("")
    page.get_by_label("Score to", exact=True).fill("")
    page.get_by_role("button", name="Look").click()
    expect_rows(page, made.read("scores")["scores"])


def test_pending_completions_are_found_by_their_batch_and_any_by_its_id(console, made):
    page = console.open("#/completions?state=pending&task=all")
    waiting = made.read("batches", state="open")["batches"]
    expect(page.locator(ROWS)).to_have_count(len(waiting))
    page.get_by_role("link", name=made.parked["batchId"]).click()
    expect(page.get_by_label("State", exact=True)).to_have_value("pending")
    expect(page.locator(f"{ROWS} a[data-row]")).to_have_text(made.parked["completionIds"])

    console.go(page, "#/completions")
    page.keyboard.press("/")
    page.keyboard.type("nonsense")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Id", exact=True)).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Id", exact=True).fill(made.completion_ids[0])
    page.keyboard.press("Enter")
    expect(page.locator(".about")).to_contain_text(made.completion_ids[0])
    console.go(page, "#/completions")
    page.get_by_label("Id", exact=True).fill(made.batch_id)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Batch")


def test_a_completion_shows_its_text_its_verdict_and_its_whole_way(console, made):
    scored, failed = made.completion_ids[3], made.completion_ids[6]
    for id_ in (scored, failed):
        page = console.open(f"#/completions/{id_}")
        completion = made.read(f"completions/{id_}")["completion"]
        verdict = made.read(f"completions/{id_}/score")["verdict"]
        for label in ("prompt", "response"):
            shown = page.locator(f"pre[aria-label={label.capitalize()}]")
            assert shown.evaluate("it => it.textContent") == completion[label]
        stats = page.locator(".stat")
        expect(stats.nth(0)).to_contain_text(verdict["state"])
        score = verdict["score"]
        expect(stats.nth(1)).to_contain_text(f"{score['value']:.3f}" if score else "\u2013")
        expect(stats.nth(2)).to_contain_text(f"{score['confidence']:.3f}" if score else "\u2013")
        if not score:
            expect(stats.nth(0)).to_contain_text(verdict["reasonCode"].replace("_", " "))
        for fact in (completion["modelId"], completion["batchId"], verdict["graderId"]):
            expect(page.locator(".facts")).to_contain_text(fact)
        told = made.read(f"completions/{id_}/timeline")["timeline"]
        entries = page.locator(".timeline li")
        expect(entries).to_have_count(len(told))
        for index, entry in enumerate(told):
            if entry.get("runId"):
                expect(entries.nth(index)).to_contain_text(entry["runId"])
            instants = entries.nth(index).locator("time").first
            expect(instants).to_have_attribute("datetime", _browser_instant(page, entry["at"]))
    before = len(console.served.received)
    page.wait_for_timeout(6_000)
    assert len(console.served.received) == before, "what is decided is not asked for again"
    page.locator(".timeline a[href*='#/runs/']").first.click()
    expect(page.locator("h1")).to_have_text("Run")


def _browser_instant(page, at):
    return page.evaluate("at => new Date(at).toISOString()", at)


def test_what_waits_says_for_what_and_until_when(console, made):
    page = console.open(f"#/completions/{made.panel_id}")
    expect(page.locator(".waits")).to_contain_text("Waits for a person to review it, until")
    explained = made.read(f"completions/{made.panel_id}/explanation")
    until = page.locator(".waits time").first
    expect(until).to_have_attribute(
        "datetime", _browser_instant(page, explained["review"]["expiresAt"])
    )
    told = made.read(f"completions/{made.panel_id}/timeline")
    opinions = {
        one["graderId"]: one["value"] for one in told["timeline"] if one["kind"] == "opinion"
    }
    assert len(opinions) == 2
    for grader_id, value in opinions.items():
        row = page.locator(".table-box[aria-label=Opinions]").locator("tr", has_text=grader_id)
        expect(row).to_contain_text(f"{value:.3f}")
    expect(page.locator(".timeline li").last).to_contain_text("to come")
    expect(page.locator(".timeline li").last).to_contain_text("Waits for a person")
    assert faults_of_access(page) == []

    answered = made.platform.call(
        "POST", f"/api/v1/reviews/{explained['review']['reviewId']}/answer", {"value": 0.25}
    )
    assert answered.status == 200, answered.text
    expect(page.locator(".stat").nth(1)).to_contain_text("0.250")
    expect(page.locator(".waits")).to_have_count(0)
    expect(page.locator(".timeline li").last).to_contain_text("decided by person")

    console.go(page, f"#/completions/{made.parked['completionIds'][0]}")
    expect(page.locator(".waits")).to_contain_text("Waits for its next attempt after grader error")
    console.go(page, f"#/completions/{made.waiting['completionIds'][0]}")
    expect(page.locator(".waits")).to_contain_text("the grader\u2019s callback")


def test_an_answer_that_can_be_corrected_is_waited_for(console, made):
    review = {"confidenceBelow": 1.0, "correctWithinMinutes": 30}
    changed = made.platform.call("PATCH", f"/api/v1/tasks/{made.panel_task_id}", {"review": review})
    assert changed.status == 200, changed.text
    (id_,) = made.platform.submit(made.panel_task_id, {}).json["completionIds"]
    made.platform.score_everything()
    review_id = made.read(f"completions/{id_}/explanation")["review"]["reviewId"]
    page = console.open(f"#/completions/{id_}")
    waits = page.locator(".waits")
    asked = waits.get_by_role("link", name=review_id)
    expect(asked).to_have_attribute("href", f"#/reviews/{review_id}")
    path = f"/api/v1/reviews/{review_id}/answer"
    answered = made.platform.call("POST", path, {"value": 0.25})
    assert answered.status == 200, answered.text
    page.reload()
    expect(waits).to_contain_text(f"A person answered {review_id}: the verdict comes at")
    until = made.read(f"completions/{id_}/explanation")["review"]["correctableUntil"]
    instant = _browser_instant(page, until)
    expect(waits.locator("time").first).to_have_attribute("datetime", instant)
    way = page.locator(".timeline").get_by_role("link", name=review_id)
    expect(way.first).to_have_attribute("href", f"#/reviews/{review_id}")


def test_a_completion_is_scored_again_canceled_and_deleted(console, made):
    failed = made.completion_ids[6]
    page = console.open(f"#/completions/{failed}")
    page.get_by_role("button", name="Score again").click()
    page.get_by_role("button", name="Cancel").click()
    assert made.read(f"completions/{failed}/score")["verdict"].get("generation", 0) == 0
    page.get_by_role("button", name="Score again").click()
    page.locator("dialog").get_by_role("button", name="Score again").click()
    expect(page.locator(".stat").nth(1)).to_contain_text("0.545")
    again = made.read(f"completions/{failed}/score")["verdict"]
    assert (again["generation"], again["score"]["value"]) == (1, 0.545)
    page.get_by_role("link", name="first verdict").click()
    expect(page.locator(".stat").nth(0)).to_contain_text("item malformed")
    assert "generation=0" in page.url

    parked = made.parked["completionIds"][0]
    console.go(page, f"#/completions/{parked}")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Cancel it").click()
    expect(page.locator(".stat").nth(0)).to_contain_text("canceled")
    assert made.read(f"completions/{parked}/score")["verdict"]["state"] == "canceled"

    page.get_by_role("button", name="Delete text").click()
    page.locator("dialog").get_by_role("button", name="Delete text").click()
    expect(page.locator("main")).to_contain_text("Its text was deleted, or has expired")
    expect(page.get_by_role("button", name="Delete text")).to_have_count(0)
    expect(page.get_by_role("button", name="Score again")).to_have_count(0)
    assert made.platform.call("GET", f"/api/v1/completions/{parked}").status == 404


def test_a_graders_owner_sees_verdicts_of_their_graders_and_no_text(console, made):
    owner = made.platform.new_key("grader_owner", principal_id=made.platform.me()["principalId"])
    page = console.open("#/completions", api_key=owner)
    answer = made.platform.call("GET", "/api/v1/scores", api_key=owner)
    expect_rows(page, answer.json["scores"])
    page.locator(f"{ROWS} a[data-row]").first.click()
    expect(page.locator(".timeline li").first).to_contain_text("Submitted")
    expect(page.locator("pre.body")).to_have_count(0)
    expect(page.get_by_role("button", name="Score again")).to_have_count(0)
    assert not [one for one in console.served.received if one.path.endswith("/tasks")]


def test_nothing_of_it_shows_in_another_organization(console, made):
    stranger = console.open("#/completions", api_key=made.platform.new_organization("strangers"))
    expect(stranger.locator(".empty")).to_contain_text("No completions yet")
    run_id = made.read("runs")["runs"][0]["id"]
    for view in (
        f"#/completions?task={made.task_id}",
        f"#/completions/{made.completion_ids[0]}",
        f"#/batches/{made.batch_id}",
        f"#/runs/{run_id}",
    ):
        console.go(stranger, view)
        expect(stranger.locator(".trouble").first).to_contain_text("no ")
        assert "policy-7" not in stranger.locator("main").inner_text(), view
    for view, told in (("#/batches", "No batches"), ("#/runs", "No runs"), ("#/exports", "No exp")):
        console.go(stranger, view)
        expect(stranger.locator(".empty")).to_contain_text(told)


@pytest.mark.parametrize("more", [0, 60])
def test_a_view_asks_for_the_same_however_much_there_is(console, made, more):
    if more:
        for _ in range(more // 20):
            made.platform.submit(made.task_id, *[{}] * 20)
        made.platform.score_everything()
        made.platform.project()
    one = made.completion_ids[0]
    run_id = made.read("runs", state="completed")["runs"][0]["id"]
    page = console.open("#/sessions")
    api = "/api/v1"
    for view, paths in {
        "#/completions": ["scores", "tasks"],
        "#/completions?state=pending": ["batches", "tasks"],
        f"#/completions/{one}": [
            f"completions/{one}",
            f"completions/{one}/explanation",
            f"completions/{one}/timeline",
        ],
        "#/batches": ["batches"],
        f"#/batches/{made.batch_id}": [
            f"batches/{made.batch_id}/completions",
            f"batches/{made.batch_id}/explanation",
        ],
        "#/runs": ["runs"],
        f"#/runs/{run_id}": [f"runs/{run_id}"],
        "#/exports": ["exports"],
    }.items():
        assert asked_for(console, page, view) == [f"{api}/{path}" for path in paths], view
        settled(page)
