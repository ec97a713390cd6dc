"""What a reviewer judges by, cannot judge, and corrects, in headless Chromium."""

from playwright.sync_api import expect

from autotune.protocol.tasks import ReviewPolicy
from autotune_platform.judging.human.models import Preliminary
from tests.support.console import faults_of_access, overflow
from tests.support.reviews import rubric_grader

PHONE = {"width": 390, "height": 740}
POLICY = ReviewPolicy(show_reference=True, show_metadata=True, correct_within_minutes=10)


def test_people_see_what_they_are_to_judge_by(reviewing, open_page):
    grader_id = rubric_grader(reviewing.platform, system="5: right <b>and</b> short.\n" * 40)
    preliminary = Preliminary(
        state="scored", value=0.5, dimensions=[{"name": "clarity", "value": 0.125}]
    )
    reviewing.request(
        graders=[grader_id],
        preliminary=preliminary,
        policy=POLICY,
        metadata={"answer": "four", "source": "x" * 400},
    )
    page = open_page(reviewing.link("cleo")["url"], viewport=PHONE)
    expect(page.locator("#rubrics")).to_contain_text("5: right <b>and</b> short.")
    expect(page.locator("#rubrics")).to_contain_text("From 1 (here 0.00) to 5 (here 1.00).")
    expect(page.locator("#rubrics")).to_contain_text("Scored one by one: clarity.")
    assert "0.125" not in page.content()
    expect(page.locator("#reference")).to_be_hidden()
    page.locator("#reference-section summary").click()
    expect(page.locator("#reference")).to_have_text("four")
    page.locator("#metadata-section summary").click()
    expect(page.locator("#metadata")).to_contain_text('"answer": "four"')
    assert overflow(page) == 0
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert faults_of_access(page) == [], scheme


def test_what_a_review_has_nothing_of_is_not_on_the_page(reviewing, open_page):
    reviewing.request(metadata={"answer": "four"})
    page = open_page(reviewing.link("cleo")["url"])
    expect(page.locator("#prompt")).to_be_visible()
    for section in ("#criteria", "#reference-section", "#metadata-section", "#correct-button"):
        expect(page.locator(section)).to_be_hidden()
    assert "four" not in page.content()


def test_who_cannot_judge_says_why_by_keyboard_and_gets_the_next(reviewing, open_page):
    first = reviewing.request(9, prompt="Law?")
    reviewing.request(5, prompt="Sums?")
    page = open_page(reviewing.link("cleo")["url"])
    expect(page.locator("#prompt")).to_have_text("Law?")
    page.keyboard.press("c")
    page.keyboard.press("ArrowUp")  # from the first reason round to the last
    page.keyboard.press("Enter")
    expect(page.locator("#cannot-trouble")).to_have_text("Say the reason in words.")
    page.keyboard.type("I wrote it, c and z")
    page.get_by_role("button", name="Leave it to another").click()
    expect(page.locator("#prompt")).to_have_text("Sums?")
    [said] = reviewing.read(first)["cannotJudge"]
    assert (said["reason"], said["explanation"], said["reviewerId"]) == (
        "other",
        "I wrote it, c and z",
        "cleo",
    )
    expect(page.locator("#tally")).to_be_hidden()
    page.keyboard.press("c")
    page.keyboard.press("Escape")
    expect(page.locator("#cannot")).to_be_hidden()
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    expect(page.locator("#notice-title")).to_have_text("Nothing left to review")
    expect(page.locator("#progress")).to_have_text("1 today, 1 in all")


def test_the_last_answer_is_corrected_and_what_was_begun_is_kept(reviewing, open_page):
    first = reviewing.request(9, prompt="One?", policy=POLICY)
    second = reviewing.request(5, prompt="Two?", policy=POLICY)
    page = open_page(reviewing.link("cleo")["url"])
    expect(page.locator("#prompt")).to_have_text("One?")
    page.keyboard.press("z")  # nothing is answered yet
    expect(page.locator("#correcting")).to_be_hidden()
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.locator("#prompt")).to_have_text("Two?")
    page.keyboard.press("9")
    page.keyboard.press("z")
    expect(page.locator("#prompt")).to_have_text("One?")
    expect(page.locator("#correcting")).to_be_visible()
    expect(page.locator("#shown")).to_have_text("0.20")
    page.keyboard.press("s")  # back, with nothing changed
    expect(page.locator("#prompt")).to_have_text("Two?")
    expect(page.locator("#shown")).to_have_text("0.90")
    page.keyboard.press("z")
    page.keyboard.press("7")
    page.keyboard.press("Enter")
    expect(page.locator("#prompt")).to_have_text("Two?")
    expect(page.locator("#shown")).to_have_text("0.90")
    assert reviewing.read(first)["answer"]["value"] == 0.7
    assert reviewing.read(second)["answer"] is None
    page.keyboard.press("Enter")
    expect(page.locator("#notice-title")).to_have_text("Nothing left to review")
    page.keyboard.press("z")
    expect(page.locator("#prompt")).to_have_text("Two?")
    expect(page.locator("#notice")).to_be_hidden()
    page.keyboard.press("8")
    page.keyboard.press("Enter")
    # Its text is there from before; it is shown again once the correction is recorded.
    expect(page.locator("#notice")).to_be_visible()
    expect(page.locator("#notice-title")).to_have_text("Nothing left to review")
    assert reviewing.read(second)["answer"]["value"] == 0.8
    expect(page.locator("#tally")).to_have_text("2 done")


def test_a_link_that_is_revoked_says_so(reviewing, open_page):
    reviewing.request()
    link = reviewing.link("cleo")
    page = open_page(link["url"])
    expect(page.locator("#prompt")).to_be_visible()
    reviewing.platform.call("DELETE", f"/api/v1/review-links/{link['id']}")
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    expect(page.locator("#trouble")).to_contain_text("it was revoked")
    page.reload()
    expect(page.locator("#notice-title")).to_have_text("This link has ended")
