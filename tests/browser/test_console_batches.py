"""Batches and runs in the console, as the API has them."""

from playwright.sync_api import expect

STATES = ["scored", "abstained", "failed", "canceled", "pending"]
ROWS = "main tbody tr"


def expect_shares(page, counts):
    """The bar and what stands below it are these counts."""
    legend = page.locator(".shares-legend li")
    for index, state in enumerate(STATES):
        expect(legend.nth(index)).to_contain_text(f"{state} {counts[state]}")
    told = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    expect(page.locator(".shares-box .shares")).to_have_attribute("aria-label", f"Verdicts: {told}")
    parts = page.locator(".shares-box .shares > span").evaluate_all(
        "them => them.map((it) => [it.dataset.state, Number(it.style.flexGrow)])"
    )
    assert parts == [[state, counts[state]] for state in STATES if counts[state]]


def test_batches_are_listed_newest_first_with_their_counts(console, made):
    page = console.open("#/batches")
    listed = made.read("batches")["batches"]
    assert [batch["state"] for batch in listed] == ["open", "open", "open", "closed"]
    rows = page.locator(ROWS)
    expect(rows).to_have_count(len(listed))
    for index, batch in enumerate(listed):
        counts = batch["counts"]
        numbers = [str(counts[name]) for name in ("expected", "failed", "pending")]
        expect(rows.nth(index).locator("td.numeric")).to_have_text(numbers)
        told = [f"{counts[state]} {state}" for state in STATES if counts[state]]
        expect(rows.nth(index).locator(".shares")).to_have_attribute(
            "aria-label", "Verdicts: " + ", ".join(told)
        )
        for text in (batch["id"], batch["state"], batch["priority"], batch["taskIds"][0]):
            expect(rows.nth(index)).to_contain_text(text)
    page.get_by_label("State", exact=True).select_option("closed")
    expect(rows).to_have_count(1)
    assert "state=closed" in page.url
    page.get_by_label("Task", exact=True).fill(made.panel_task_id)
    page.keyboard.press("Enter")
    expect(page.locator(".empty")).to_contain_text("Nothing that fits")
    page.get_by_label("State", exact=True).select_option("open")
    expect(rows).to_have_count(1)
    page.get_by_label("Task", exact=True).fill("no task")
    page.keyboard.press("Enter")
    expect(page.locator(".trouble")).to_contain_text("taskId")
    page.get_by_label("Task", exact=True).fill("")
    page.keyboard.press("Tab")
    expect(rows).to_have_count(3)


def test_a_batch_says_why_there_is_no_score_and_what_failed_is_scored_again(console, made):
    page = console.open(f"#/batches/{made.batch_id}")
    explained = made.read(f"batches/{made.batch_id}/explanation")
    expect_shares(page, explained["counts"])
    assert explained["failures"] == {"item_malformed": 2}
    expect(page.locator(".reasons li")).to_have_text(["item malformed 2"])
    listed = made.read(f"batches/{made.batch_id}/completions")["completions"]
    expect(page.locator(f"{ROWS} a[data-row]")).to_have_text(
        [one["completionId"] for one in listed]
    )
    page.get_by_role("link", name="abstained").click()
    expect(page.locator(ROWS)).to_have_count(2)
    expect(page.get_by_label("State", exact=True)).to_have_value("abstained")
    page.get_by_label("State", exact=True).select_option("canceled")
    expect(page.locator(".empty")).to_contain_text("None is canceled")

    page.get_by_role("button", name="Score the failed again").click()
    page.get_by_role("button", name="Score again", exact=True).click()
    expect(page.locator("dialog")).to_contain_text("2 completions are scored again")
    expect(page.locator("dialog")).not_to_contain_text("Left as they are")
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".shares-legend li").first).to_contain_text("scored 10")
    expect(page.get_by_role("button", name="Score the failed again")).to_have_count(0)
    expect(page.locator(".facts")).to_contain_text("Scored againonce")
    assert made.read(f"batches/{made.batch_id}/explanation")["counts"]["scored"] == 10

    page.get_by_role("button", name="Delete texts").click()
    page.locator("dialog").get_by_role("button", name="Delete texts").click()
    expect(page.locator("dialog")).to_have_count(0)
    gone = made.platform.call("GET", f"/api/v1/completions/{made.completion_ids[0]}")
    assert gone.status == 404


def test_a_batch_says_what_it_waits_for_and_is_canceled(console, made):
    batch_id = made.parked["batchId"]
    page = console.open(f"#/batches/{batch_id}")
    explained = made.read(f"batches/{batch_id}/explanation")
    ((grader,),) = [explained["graders"]]
    (run,) = grader["runs"]
    waits = page.locator(".table-box[aria-label='What it waits for'] tbody tr")
    expect(waits).to_have_count(1)
    for text in (grader["graderId"], run["runId"], "its next attempt", "grader error"):
        expect(waits).to_contain_text(text)
    expect(waits.locator("td.numeric")).to_have_text(["2", "1"])
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("dialog")).to_contain_text("2 of its completions are without a verdict")
    page.get_by_role("button", name="Cancel what is pending").click()
    expect(page.locator(".shares-legend li").nth(3)).to_contain_text("canceled 2")
    assert made.read(f"batches/{batch_id}")["counts"]["canceled"] == 2
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    operator = made.platform.new_key("training_operator")
    other = console.open(f"#/batches/{batch_id}", api_key=operator)
    expect(other.locator(".shares-legend li").nth(3)).to_contain_text("canceled 2")
    expect(other.get_by_role("button", name="Delete texts")).to_have_count(0)


def test_runs_are_listed_by_state_with_what_they_wait_for_and_canceled(console, made):
    page = console.open("#/runs")
    listed = made.read("runs")["runs"]
    rows = page.locator(ROWS)
    expect(rows).to_have_count(len(listed))
    for index, run in enumerate(listed):
        left = f"{run['remaining']} / {run['completions']}"
        expect(rows.nth(index).locator("td.numeric")).to_have_text([left, str(run["attempt"])])
        for text in (run["id"], run["state"], run["graderId"]):
            expect(rows.nth(index)).to_contain_text(text)
    expect(rows.first).to_contain_text("waits for its next attempt")
    page.get_by_label("State", exact=True).select_option("waiting")
    waiting = made.read("runs", state="waiting")["runs"]
    expect(page.locator(f"{ROWS} a[data-row]")).to_have_text([run["id"] for run in waiting])
    expect(rows.filter(has_text="waits for a person")).to_have_count(1)
    page.get_by_label("Grader", exact=True).fill(waiting[0]["graderId"])
    page.keyboard.press("Enter")
    expect(rows).to_have_count(1)
    page.get_by_label("State", exact=True).select_option("sleeping")
    page.get_by_label("Grader", exact=True).fill("")
    page.keyboard.press("Enter")
    (sleeping,) = made.read("runs", state="sleeping")["runs"]
    expect(page.locator(f"{ROWS} a[data-row]")).to_have_text([sleeping["id"]])

    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    run = made.read(f"runs/{sleeping['id']}")["run"]
    expect_shares(page, run["counts"])
    expect(page.locator(".ids li")).to_have_text(run["completionIds"])
    history = page.locator(".timeline li")
    expect(history).to_have_count(len(run["history"]))
    expect(history.last).to_contain_text("Waits for its next attempt")
    expect(history.last).to_contain_text("2 left")
    expect(page.locator(".facts")).to_contain_text("2 of 2")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Cancel what is pending").click()
    expect(page.locator(".shares-legend li").nth(3)).to_contain_text("canceled 2")
    assert made.read(f"runs/{run['id']}")["run"]["counts"]["canceled"] == 2
