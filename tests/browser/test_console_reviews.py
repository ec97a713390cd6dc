"""Reviews in the console: queue, reviewers, agreement and links, as the API has them."""

import re

import pytest
from playwright.sync_api import expect

from autotune.protocol.tasks import ReviewPolicy
from autotune_platform.judging.human.models import Preliminary
from tests.support.console_reviews import filled_reviews
from tests.support.reviews import rubric_grader


@pytest.fixture
def filled(console):
    return filled_reviews(console.served.platform)


def get(console, path, **query):
    answer = console.served.platform.call("GET", f"/api/v1/{path}", query=query)
    assert answer.status == 200, answer.text
    return answer.json


def test_the_queue_is_read_by_state_and_a_review_assigned(console, filled):
    page = console.open("#/reviews")
    rows = page.locator("tbody tr")
    for state in ("open", "answered", "expired"):
        page.get_by_label("State", exact=True).select_option(state)
        listed = get(console, "reviews", state=state)["reviews"]
        if not listed:
            expect(page.locator(".empty")).to_contain_text("No reviews are expired")
            continue
        expect(rows.first).to_contain_text(listed[0]["id"])
        expect(rows).to_have_count(len(listed))
        for row, review in zip(rows.all(), listed, strict=True):
            expect(row).to_contain_text(review["id"])
            expect(row).to_contain_text(review["taskId"])
            expect(row).to_contain_text(review["reason"].replace("_", " "))
            if state == "answered":
                expect(row).to_contain_text(review["completionId"])
    console.go(page, f"#/reviews/{filled.answered}")
    answer = get(console, f"reviews/{filled.answered}")["review"]["answer"]
    said = page.locator('section[aria-label="Answered"]')
    for told in (f"{answer['value']:.3f}", answer["reviewerId"], answer["explanation"]):
        expect(said).to_contain_text(told)
    console.go(page, "#/reviews")
    expect(page.locator("tr", has_text=filled.held)).to_contain_text("ben at it")
    page.get_by_role("link", name=filled.open).click()
    expect(page.get_by_label("Prompt", exact=True)).to_have_text("What is 2 + 2?")
    expect(page.locator("tr", has_text="anna")).to_contain_text("needs expertise")
    page.get_by_role("button", name="Assign").click()
    page.get_by_label("Reviewer", exact=True).fill("cleo")
    page.locator("dialog").get_by_role("button", name="Assign").click()
    expect(page.locator(".facts")).to_contain_text("for cleo")
    assert get(console, f"reviews/{filled.open}")["review"]["assigneeId"] == "cleo"


def test_the_queue_of_one_task_is_read(console, filled):
    page = console.open("#/reviews")
    rows = page.locator("tbody tr")
    (first, *others) = get(console, "reviews")["reviews"]
    expect(rows).to_have_count(1 + len(others))
    page.get_by_label("Task", exact=True).fill(first["taskId"])
    page.keyboard.press("Enter")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(first["id"])
    assert page.url.endswith(f"#/reviews?task={first['taskId']}")
    page.get_by_label("State", exact=True).select_option("answered")
    expect(page.locator(".empty")).to_have_text("No reviews of this task are answered")


def test_a_review_shows_all_that_it_is_judged_by(console, filled):
    reviewing = filled.reviewing
    preliminary = Preliminary(
        state="scored", value=0.5, dimensions=[{"name": "clarity", "value": 0.125}]
    )
    review_id = reviewing.request(
        graders=[rubric_grader(reviewing.platform, system="5: right and short.")],
        preliminary=preliminary,
        policy=ReviewPolicy(show_reference=True, show_metadata=True),
        metadata={"answer": "four", "source": "a book"},
    )
    page = console.open(f"#/reviews/{review_id}")
    (rubric,) = get(console, f"reviews/{review_id}")["review"]["rubrics"]
    words = f"{rubric['system']}\n\n{rubric['user']}"
    judged = page.locator('section[aria-label="Judged"]')
    expect(judged.get_by_label("Rubric: clear", exact=True)).to_have_text(words)
    expect(judged).to_contain_text("Scored one by one: clarity.")
    expect(judged).not_to_contain_text("0.125")
    expect(judged.get_by_label("Reference", exact=True)).to_have_text("four")
    expect(judged.get_by_label("Metadata", exact=True)).to_contain_text('"source": "a book"')


def test_progress_and_agreement_are_the_apis(console, filled):
    page = console.open("#/reviews/reviewers")
    rows = page.locator("tbody tr")
    progress = get(console, "reviews/progress")["reviewers"]
    assert [one["reviewerId"] for one in progress] == ["anna", "ben"]
    for row, one in zip(rows.all(), progress, strict=True):
        total = one["total"]
        names = ("answered", "secondOpinions", "corrected", "cannotJudge")
        figures = [one["today"]["answered"], *(total[name] for name in names)]
        assert row.locator("td").all_inner_texts() == [one["reviewerId"], *map(str, figures)]
    page.get_by_role("link", name="Agreement").click()
    found = get(console, "reviews/agreement")["agreement"]
    assert (found["pairs"], found["withinTolerance"]) == (3, 2)
    values = page.locator(".stat dd:not(.hint)")
    expect(values.first).to_have_text("3")
    assert values.all_inner_texts() == [
        "3",
        f"{100 * found['shareWithinTolerance']:.1f}%",
        f"{found['meanAbsoluteDifference']:.3f}",
        f"{found['weightedKappa']:.3f}",
    ]
    task_id = get(console, f"reviews/{filled.open}")["review"]["taskId"]
    page.get_by_label("Task", exact=True).fill(task_id)
    page.keyboard.press("Enter")
    expect(page.locator(".empty")).to_contain_text("No review has two answers")
    assert page.url.endswith(f"#/reviews/agreement?task={task_id}")


def test_a_link_is_shown_once_opens_the_review_page_and_is_revoked(console, filled):
    page = console.open("#/reviews/links")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_role("button", name="New review link").click()
    dialog = page.locator("dialog")
    dialog.get_by_label("Reviewer", exact=True).fill("dora")
    dialog.get_by_label("Hours", exact=True).fill("1000")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.locator(".trouble")).to_contain_text("expiresInSeconds")
    dialog.get_by_label("Hours", exact=True).fill("2")
    dialog.get_by_role("button", name="Create").click()
    url = dialog.locator("code").inner_text()
    page.get_by_role("button", name="I have it").click()
    assert url.partition("#")[2] not in page.content()
    row = page.locator("tr", has_text="dora")
    expect(row).to_contain_text("active")
    expect(row).to_contain_text(re.compile(r"in 1(20|1\d) min"))
    reviewer = console.visit("")
    reviewer.goto(url)
    expect(reviewer.locator("#prompt")).to_be_visible()
    row.get_by_role("button").click()
    dialog.get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("revoked")
    links = {one["reviewerId"]: one for one in get(console, "review-links")["links"]}
    assert links["dora"]["status"] == "revoked"
    assert links["cleo"]["status"] == "active"


def test_a_reviewer_sees_the_queue_and_what_they_did_themselves(console, filled):
    page = console.open("#/reviews", api_key=filled.reviewing.ben)
    expect(page.locator(".tabs a")).to_have_text(["Queue", "Reviewers"])
    expect(page.get_by_role("button", name="New review link")).to_have_count(0)
    page.get_by_role("link", name="Reviewers").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text("ben")
    for view in ("links", "agreement"):
        console.go(page, f"#/reviews/{view}")
        expect(page.locator(".tabs [aria-current]")).to_have_text("Queue")
    stranger = console.open(
        "#/reviews", api_key=console.served.platform.new_organization("strangers")
    )
    for view in ("", "/reviewers", "/agreement", "/links"):
        console.go(stranger, f"#/reviews{view}")
        expect(stranger.locator(".empty")).to_have_count(1)
    stranger.evaluate("id => { location.hash = `#/reviews/${id}`; }", filled.open)
    expect(stranger.locator(".trouble")).to_contain_text("There is no such thing here")


def test_each_view_asks_once(console, filled):
    page = console.open("#/keys")
    for view in ("", f"/{filled.open}", "/reviewers", "/agreement", "/links"):
        console.go(page, "#/keys")
        before = console.served.count("GET /api/v1/review")
        console.go(page, f"#/reviews{view}")
        assert console.served.count("GET /api/v1/review") - before == 1, view
