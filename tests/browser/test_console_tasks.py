"""Tasks and the comparison of two models in the console, compared with what the API says."""

import pytest
from playwright.sync_api import expect

from tests.support.console import settled
from tests.support.console_figures import (
    difference,
    duration,
    figures_of,
    places,
    score,
    stat,
    texts_of,
)
from tests.support.history import scored

PROMPTS = ("one", "two", "three", "four")


def answers(model, *values):
    return [
        {"modelId": model, "prompt": prompt, "response": f"{model} says {prompt}", **metadata}
        for prompt, value in zip(PROMPTS, values, strict=False)
        for metadata in [{"metadata": {"value": value}}]
    ]


@pytest.fixture
def task_id(console):
    """Have two models' answers scored by two versions of a grader, and one that failed."""
    served = console.served
    made = served.new_task("letters", description="Words of the policy", deadlineSeconds=7_200)
    scored(served.platform, made, *answers("base", 0.2, 0.4, 0.5, 0.5), hours_ago=50)
    scored(served.platform, made, *answers("step", 0.9, 0.6, 0.5, 0.4))
    failed = {"modelId": "base", "metadata": {"outcome": "failed"}}
    served.grader.version = "2.0.0"
    scored(served.platform, made, failed, {"modelId": "step", "metadata": {"outcome": "abstained"}})
    return made


def stats(console, task_id, **query):
    path = f"/api/v1/tasks/{task_id}/stats"
    return console.served.platform.call("GET", path, query=query).json


def counts(row):
    return [str(row["counts"][state]) for state in ("scored", "abstained", "failed")]


def test_a_task_is_made_listed_and_opened_by_keys(console):
    platform = console.served.platform
    grader_id = console.served.grader_id
    page = console.open("#/tasks")
    expect(page.locator(".empty")).to_contain_text("autotune tasks create --name")
    page.get_by_role("button", name="New task").click()
    page.get_by_label("Name", exact=True).fill("x" * 300)
    page.get_by_label("Grader", exact=True).select_option(grader_id)
    page.get_by_label("Minutes until the deadline", exact=True).fill("90")
    page.get_by_role("button", name="Create").click()
    expect(page.locator("dialog .trouble")).to_contain_text("name")
    page.get_by_label("Name", exact=True).fill("arithmetic")
    page.get_by_role("button", name="Create").click()
    expect(page.locator("h1")).to_have_text("arithmetic")
    (made,) = platform.call("GET", "/api/v1/tasks").json["tasks"]
    assert (made["deadlineSeconds"], made["graderId"]) == (5_400, grader_id)
    assert page.url.endswith(f"#/tasks/{made['id']}")
    facts = page.locator(".facts")
    for told in (made["id"], grader_id, "90 min"):
        expect(facts).to_contain_text(told)
    expect(page.locator(".empty")).to_contain_text(f"--task {made['id']}")
    console.go(page, "#/tasks")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("arithmetic")


def test_a_task_says_how_people_review_it_and_leads_to_what_was_submitted(console):
    review = {"sampledShare": 0.2, "secondOpinionShare": 0.1, "showReference": True}
    task_id = console.served.new_task("essays", review={**review, "correctWithinMinutes": 15})
    batch_id = console.served.platform.submit(task_id, {}).json["batchId"]
    page = console.open(f"#/tasks/{task_id}")
    facts = page.locator(".facts")
    for told in ("20% of all", "prompt, response, reference", "10% of the reviews", "for 15 min"):
        expect(facts).to_contain_text(told)
    facts.get_by_role("link", name="batches").click()
    expect(page.locator("main tbody a[data-row]")).to_have_text(batch_id)
    expect(page.get_by_label("Task", exact=True)).to_have_value(task_id)
    page.go_back()
    facts.get_by_role("link", name="completions").click()
    expect(page.locator(".empty")).to_contain_text("Nothing decided yet")
    expect(page.get_by_label("Task", exact=True)).to_have_value(task_id)


def test_figures_of_a_task_are_the_apis_by_model_and_version(console, task_id):
    page = console.open(f"#/tasks/{task_id}")
    found = stats(console, task_id, window="7d")
    totals = found["totals"]
    assert totals["counts"] == {"scored": 8, "abstained": 1, "failed": 1, "canceled": 0}
    for label in ("Scored", "Abstained", "Failed"):
        expect(stat(page, label)).to_have_text(str(totals["counts"][label.lower()]))
    expect(stat(page, "Mean score")).to_have_text(score(totals["avgScore"]))
    expect(stat(page, "p99 turnaround")).to_have_text(duration(totals["p99TurnaroundMs"]))
    for region, head, key in (
        ("By model", "modelId", "models"),
        ("By version of the grader", "graderVersion", "versions"),
    ):
        rows = texts_of(page.get_by_role("region", name=region, exact=True).locator("tbody tr"))
        assert [[row[0], row[1], *row[3:5]] for row in rows] == [
            [one[head], *counts(one)] for one in found[key]
        ]
        assert [row[2] for row in rows] == [score(one["avgScore"]) for one in found[key]]
    over_time = figures_of(page, "Scores over time", count=7)
    assert [[int(cell) for cell in row[1:]] for row in over_time] == [
        one["scoreDistribution"] for one in found["buckets"]
    ]
    in_all = figures_of(page, "Scores", count=20)
    assert [int(row[1]) for row in in_all] == totals["scoreDistribution"]
    verdicts = figures_of(page, "Verdicts", count=7)
    assert [row[1:] for row in verdicts] == [counts(one) for one in found["buckets"]]
    reasons = page.get_by_role("region", name="Failures by reason", exact=True).locator("tbody tr")
    assert texts_of(reasons) == [["item_failed", "1", "10%"]]

    page.get_by_role("region", name="By model", exact=True).get_by_role("link", name="base").click()
    expect(page.get_by_label("Model", exact=True)).to_have_value("base")
    expect(stat(page, "Scored")).to_have_text("4")
    assert "model=base" in page.url
    page.get_by_label("Version of the grader", exact=True).select_option("2.0.0")
    expect(stat(page, "Scored")).to_have_text("0")
    one = stats(console, task_id, window="7d", model="base", graderVersion="2.0.0")
    expect(stat(page, "Failed")).to_have_text(str(one["totals"]["counts"]["failed"]))
    page.get_by_role("link", name="24 hours").click()
    expect(page.locator("h2", has_text="Last 24 hours")).to_be_visible()
    page.reload()
    settled(page)
    expect(page.get_by_label("Version of the grader", exact=True)).to_have_value("2.0.0")
    assert len(figures_of(page, "Verdicts", count=24)) == 24


def test_two_models_are_compared_and_their_texts_stand_side_by_side(console, task_id):
    platform = console.served.platform
    page = console.open(f"#/tasks/{task_id}")
    page.get_by_role("link", name="Compare models").click()
    expect(page.locator(".empty")).to_contain_text(f"autotune tasks compare {task_id}")
    page.keyboard.press("/")
    expect(page.get_by_label("Model A", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    page.get_by_label("Model A", exact=True).select_option("base")
    page.get_by_label("Model B", exact=True).select_option("step")
    expect(stat(page, "Prompts of both")).to_have_text("4")
    path = f"/api/v1/tasks/{task_id}/comparison"
    found = platform.call("GET", path, query={"a": "base", "b": "step"}).json
    expect(stat(page, "B less A")).to_have_text(difference(found["meanDifference"]))
    expect(stat(page, "Mean of A")).to_have_text(score(found["a"]["avgScore"]))
    expect(stat(page, "Mean of B")).to_have_text(score(found["b"]["avgScore"]))
    low, high = found["interval"]["low"], found["interval"]["high"]
    expect(page.locator(".interval")).to_have_attribute(
        "aria-label",
        f"B less A: {found['meanDifference']:+.3f}, 95 % interval {low:+.3f} to {high:+.3f}",
    )
    expect(page.locator(".interval-told")).to_contain_text("no clear difference")
    shares = page.locator(".proportions")
    told = "Prompts: {wins} B wins, {ties} ties, {losses} A wins"
    expect(shares).to_have_attribute("aria-label", told.format(**found))

    page.get_by_label("A tie is within", exact=True).select_option("0.2")
    expect(shares).to_have_attribute("aria-label", "Prompts: 1 B wins, 3 ties, 0 A wins")
    rows = page.get_by_role("region", name="Examples").locator("tbody tr")
    assert texts_of(rows) == [
        [difference(one["difference"]), score(one["a"]["avgScore"]), score(one["b"]["avgScore"])]
        for one in found["examples"]
    ]
    texts = page.locator("pre.text")
    expect(texts).to_have_text(["one", "base says one", "step says one"])
    before = len(console.served.received)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    second = found["examples"][1]["b"]["completionId"]
    expect(texts).to_have_text(["two", "base says two", "step says two"])
    assert f"example={second}" in page.url
    asked = [one.path for one in console.served.received[before:]]
    assert sorted(path.split("/")[3] for path in asked) == ["completions", "completions"]
    expect(page.get_by_role("link", name="B: step")).to_have_attribute(
        "href", f"#/completions/{second}"
    )
    page.reload()
    expect(texts).to_have_text(["two", "base says two", "step says two"])

    page.get_by_label("Model B", exact=True).select_option("base")
    expect(page.locator(".trouble")).to_contain_text("b")


def test_a_task_is_loaded_by_two_requests_and_nothing_moves(console, task_id):
    page = console.open("#/webhooks")
    before = len(console.served.received)
    with console.served.holding("/stats"):
        page.evaluate("id => { location.hash = `#/tasks/${id}`; }", task_id)
        expect(page.locator("h1")).to_have_text("letters")
        waiting = places(page)
    settled(page)
    arrived = places(page)
    assert arrived[: len(waiting) - 2] == waiting[:-2], "nothing moves when data arrives"
    asked = [one.path for one in console.served.received[before:]]
    assert {one for one in asked if "/api/" in one} == {
        f"/api/v1/tasks/{task_id}",
        f"/api/v1/tasks/{task_id}/stats",
    }


def test_what_another_organisation_scores_is_not_found(console, task_id):
    stranger = console.open(
        f"#/tasks/{task_id}", api_key=console.served.platform.new_organization("strangers")
    )
    expect(stranger.locator(".trouble")).to_contain_text("no task")
    expect(stranger.locator("main")).not_to_contain_text("letters")
    console.go(stranger, f"#/tasks/{task_id}/compare?a=base&b=step")
    expect(stranger.locator(".trouble")).to_contain_text("no task")
    expect(stranger.locator("main")).not_to_contain_text("says")
