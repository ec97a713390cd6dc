"""What a reviewer sees and does, in headless Chromium."""

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from autotune.protocol.ids import new_id
from autotune_platform.judging.human.models import Preliminary
from autotune_platform.reviews import wire
from autotune_platform.reviews.links import LinkPayload
from functions.reviews import api

NO_SCORE = "\u2013"
PHONE = {"width": 375, "height": 740}


def answers(reviewing, *ids):
    found = [reviewing.read(id_)["answer"] for id_ in ids]
    return [(one["value"], one["explanation"], one["reviewerId"]) if one else None for one in found]


def test_reviews_are_scored_by_keyboard_alone(reviewing, open_page):
    ids = [
        reviewing.request(9, prompt="Name a colour.", response="**Blue**"),
        reviewing.request(8, response="```python\nprint(1)\n```"),
        reviewing.request(7, prompt="Which number?", response="Seven"),
        reviewing.request(6, response="The last one"),
    ]
    page = open_page(reviewing.link("cleo")["url"])
    expect(page.locator("#prompt")).to_have_text("Name a colour.")
    expect(page.locator("#response strong")).to_have_text("Blue")
    page.keyboard.press("7")
    expect(page.locator("#shown")).to_have_text("0.70")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#shown")).to_have_text("0.72")
    page.keyboard.press("e")
    page.keyboard.type("a colour indeed: 5")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")

    expect(page.locator("#response code")).to_have_text("print(1)\n")
    expect(page.locator("#shown")).to_have_text(NO_SCORE)
    expect(page.locator("#tally")).to_have_text("1 done")
    page.keyboard.press("0")
    page.keyboard.press("e")
    page.keyboard.press("Control+Enter")

    expect(page.locator("#prompt")).to_have_text("Which number?")
    page.keyboard.press("s")
    expect(page.locator("#response")).to_have_text("The last one")
    page.keyboard.press("n")
    page.keyboard.press("Enter")

    expect(page.locator("#notice-title")).to_have_text("Only what you skipped is left")
    page.keyboard.press("Enter")  # the button has the focus
    expect(page.locator("#prompt")).to_have_text("Which number?")
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    expect(page.locator("#notice-title")).to_have_text("Nothing left to review")
    assert answers(reviewing, *ids) == [
        (0.72, "a colour indeed: 5", "cleo"),
        (1, "", "cleo"),
        (0.5, "", "cleo"),
        (0, "", "cleo"),
    ]


def test_what_graders_said_is_fetched_only_when_asked_for(reviewing, open_page):
    review_id = reviewing.request(
        preliminary=Preliminary(
            state="scored",
            value=0.8125,
            confidence=0.4,
            dimensions=[{"name": "clarity", "value": 0.3}],
        )
    )
    page = open_page(reviewing.link()["url"])
    expect(page.locator("#prompt")).to_be_visible()
    assert "0.81" not in page.content()
    page.keyboard.press("p")
    expect(page.locator("#graders")).to_contain_text("0.81 · 40 % sure")
    expect(page.locator("#graders")).to_contain_text("clarity")
    page.keyboard.press("p")
    expect(page.locator("#graders")).to_be_hidden()
    page.keyboard.press("8")
    page.keyboard.press("Enter")
    expect(page.locator("#notice-title")).to_have_text("Nothing left to review")
    assert reviewing.read(review_id)["answer"]["sawPreliminary"]


def test_nothing_of_a_text_runs_or_is_loaded(reviewing, open_page):
    attack = (
        '<script>window.hit = 1</script> <img src="/x" onerror="window.hit = 2">\n\n'
        "[click](javascript:window.hit=3) ![pixel](https://evil.example/pixel.png)\n\n"
        "[named](https://evil.example/named) <svg onload=window.hit=4>\n"
    )
    reviewing.request(prompt=attack, response=attack, instructions=attack)
    requests: list[str] = []
    page = open_page("about:blank")
    page.on("request", lambda request: requests.append(request.url))
    page.goto(reviewing.link()["url"])
    expect(page.locator("#response .image")).to_have_text("pixel")
    link = page.locator("#response a")
    expect(link).to_have_count(1)
    expect(link).to_have_attribute("rel", "noreferrer noopener nofollow")
    expect(page.locator("#instructions")).to_contain_text("<script>")
    page.keyboard.press("r")
    expect(page.locator("#response pre.raw")).to_contain_text("<svg onload")
    assert page.evaluate("window.hit") is None
    assert not [url for url in requests if "evil" in url or url.endswith("/x")]


def test_the_pages_policy_stops_what_rendering_would_let_through(reviewing, open_page, monkeypatch):
    """The second line of defence, without the first."""
    monkeypatch.setattr(
        "autotune_platform.reviews.wire.rendered",
        lambda _: '<img src="x" onerror="window.hit = 1"><b>shown</b>',
    )
    reviewing.request()
    page = open_page("about:blank")
    page.add_init_script(
        "document.addEventListener('securitypolicyviolation',"
        " (event) => (window.stopped ??= []).push(event.effectiveDirective))"
    )
    page.goto(reviewing.link()["url"])
    expect(page.locator("#response b")).to_have_text("shown")
    assert page.evaluate("window.hit") is None
    # The picture fails to load, and only then runs its handler. Waiting in the page would be eval.
    for _ in range(100):
        if page.evaluate("window.stopped?.includes('script-src-attr')"):
            break
        page.wait_for_timeout(100)
    else:
        pytest.fail("nothing was stopped within ten seconds")
    assert all("Content Security Policy" in trouble for trouble in open_page.troubles)
    open_page.troubles.clear()


def test_what_was_entered_outlives_a_reload_and_a_network_that_fails(reviewing, open_page):
    review_id = reviewing.request()
    page = open_page(reviewing.link()["url"])
    expect(page.locator("#prompt")).to_be_visible()
    page.keyboard.press("3")
    page.keyboard.press("e")
    page.keyboard.type("kept")
    # Before the page loads: a route for a page that is there reaches its next requests late.
    page.route("**/answer", lambda route: route.abort())
    page.reload()
    expect(page.locator("#shown")).to_have_text("0.30")
    expect(page.locator("#explanation")).to_have_value("kept")
    page.keyboard.press("Enter")
    expect(page.locator("#trouble")).to_contain_text("What you entered is kept; trying again.")
    expect(page.locator("#explanation")).to_have_value("kept")
    page.unroute("**/answer")
    # The next attempt may be thirty seconds away.
    expect(page.locator("#notice-title")).to_have_text("Nothing left to review", timeout=60_000)
    assert answers(reviewing, review_id) == [(0.3, "kept", "cleo")]


def test_an_answer_whose_confirmation_was_lost_is_sent_again_without_harm(reviewing, open_page):
    review_id = reviewing.request()
    page = open_page("about:blank")
    lost = []

    def lose_the_first(route):
        if lost:
            route.continue_()
            return
        lost.append(route.fetch())
        route.abort()

    page.route("**/answer", lose_the_first)
    page.goto(reviewing.link()["url"])
    expect(page.locator("#prompt")).to_be_visible()
    page.keyboard.press("6")
    page.keyboard.press("Enter")
    expect(page.locator("#notice-title")).to_have_text("Nothing left to review")
    assert len(lost) == 1
    assert answers(reviewing, review_id) == [(0.6, "", "cleo")]


def test_a_lost_lease_is_told_and_the_input_stays(reviewing, open_page):
    review_id = reviewing.request()
    page = open_page(reviewing.link()["url"])
    expect(page.locator("#prompt")).to_be_visible()
    page.keyboard.press("4")
    page.keyboard.press("e")
    page.keyboard.type("my words")
    reviewing.post(review_id, "assign", {"assigneeId": "anna"})
    assert reviewing.next_id(api_key=reviewing.anna) == review_id
    page.keyboard.press("Control+Enter")
    expect(page.locator("#trouble")).to_contain_text("another reviewer has it now")
    reviewing.answer(review_id, api_key=reviewing.anna)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#trouble")).to_contain_text("Somebody else answered this review.")
    expect(page.locator("#explanation")).to_have_value("my words")
    expect(page.locator("#shown")).to_have_text("0.40")


def test_a_score_is_asked_for_before_anything_is_sent(reviewing, open_page):
    review_id = reviewing.request()
    page = open_page(reviewing.link()["url"])
    expect(page.locator("#prompt")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#trouble")).to_contain_text("Give a score first")
    assert answers(reviewing, review_id) == [None]


def test_two_browsers_with_the_same_notified_link_do_not_hold_it_both(reviewing, open_page):
    review_id = reviewing.request()
    url = api.parts().review_links.of_review(api.parts().review_records.find(review_id))
    pages = [open_page(url), open_page(url)]
    for page in pages:
        expect(page.get_by_text("Looking for the next review.")).to_be_hidden()
    [other] = [page for page in pages if page.locator("#notice").is_visible()]
    expect(other.locator("#notice-title")).to_have_text("Somebody is at this review")
    [working] = [page for page in pages if page is not other]
    working.keyboard.press("2")
    working.keyboard.press("Enter")
    expect(working.locator("#notice-title")).to_have_text("Thank you")
    [(value, _, reviewer_id)] = answers(reviewing, review_id)
    assert value == 0.2
    assert reviewer_id.startswith("anyone.")


def test_links_that_are_over_or_wrong_are_told(reviewing, open_page):
    link = reviewing.link()
    organization_id = reviewing.organization_id
    expired = LinkPayload(
        id=link["id"], organization_id=organization_id, reviewer_id="cleo", expires_at=1
    )
    gone = LinkPayload(
        id=link["id"],
        organization_id=organization_id,
        reviewer_id="cleo",
        review_id=new_id("rev"),
        expires_at=4_000_000_000,
    )
    past = reviewing.request(expires_in=timedelta(seconds=-1))
    for url, title in (
        (api.parts().review_links.url(expired), "This link has ended"),
        (api.parts().review_links.url(gone), "There is no such review"),
        (link["url"][:-3], "This link does not work"),
        (link["url"].partition("#")[0], "This link does not work"),
        (reviewing.link(reviewId=past)["url"], "This review has expired"),
        (link["url"], "Nothing left to review"),
    ):
        expect(open_page(url).locator("#notice-title")).to_have_text(title)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, {"width": 1280, "height": 800}])
def test_long_text_scrolls_in_its_box_and_never_sideways(reviewing, open_page, viewport, scheme):
    wide = "x" * 500 + "\n\n```\n" + "y" * 500 + "\n```\n\n" + "|a" * 60 + "\n" + "|-" * 60 + "\n"
    reviewing.request(prompt=wide * 3, response="line\n\n" * 400 + wide, instructions=wide)
    page = open_page(reviewing.link()["url"], viewport=viewport, color_scheme=scheme)
    expect(page.locator("#response p").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    box = page.locator("#response")
    assert box.evaluate("box => box.scrollHeight > box.clientHeight + 1000")
    assert box.evaluate("box => box.clientHeight") < viewport["height"]
    assert page.locator("#submit").bounding_box()["height"] >= 40


def test_text_that_is_too_large_is_told_and_can_be_skipped(reviewing, open_page, monkeypatch):
    monkeypatch.setattr(wire, "_LARGEST_REVIEW_BYTES", 5_000)
    reviewing.request(9, response="x" * 5_000)
    reviewing.request(1, response="short")
    page = open_page(reviewing.link()["url"])
    expect(page.locator("#response")).to_contain_text("too large to be shown")
    page.keyboard.press("s")
    expect(page.locator("#response")).to_have_text("short")


def test_every_control_has_a_name_and_shows_the_focus(reviewing, open_page):
    reviewing.request(preliminary=Preliminary(state="scored", value=0.5, confidence=0.5))
    page = open_page(reviewing.link()["url"])
    expect(page.locator("#prompt")).to_be_visible()
    names = []
    for _ in range(30):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            """() => {
              const it = document.activeElement;
              const label = it.getAttribute("aria-label") ?? it.labels?.[0]?.textContent
                ?? document.getElementById(it.getAttribute("aria-labelledby"))?.textContent
                ?? it.textContent;
              const style = getComputedStyle(it);
              return [it.id || label, label.trim(), style.outlineStyle, style.outlineWidth];
            }"""
        )
        if not page.evaluate("document.activeElement === document.body"):
            names.append(focused)
    reached = {name for name, *_ in names}
    assert {"prompt", "response", "value", "explanation", "submit", "skip", "raw-button"} <= reached
    assert all(label for _, label, *_ in names)
    assert all((style, width) == ("solid", "3px") for *_, style, width in names)


def test_whoever_works_keeps_the_review_and_hears_at_once_when_they_lost_it(reviewing, open_page):
    review_id = reviewing.request()
    page = open_page("about:blank")
    page.clock.install()
    page.goto(reviewing.link()["url"])
    expect(page.locator("#prompt")).to_be_visible()
    claims = []
    page.on("request", lambda request: claims.append(request.url) if "/claim" in request.url else 0)
    page.clock.run_for(5 * 60_000)  # nobody is there
    assert claims == []
    page.keyboard.press("7")
    with page.expect_response("**/claim") as kept:
        page.clock.run_for(5 * 60_000)
    assert kept.value.status == 200
    reviewing.post(review_id, "assign", {"assigneeId": "anna"})
    page.keyboard.press("6")
    page.clock.run_for(5 * 60_000)
    expect(page.locator("#trouble")).to_contain_text("assigned to another reviewer")
    expect(page.locator("#shown")).to_have_text("0.60")


def test_help_opens_and_closes_by_key_and_keeps_other_keys_to_itself(reviewing, open_page):
    review_id = reviewing.request()
    page = open_page(reviewing.link()["url"])
    expect(page.locator("#prompt")).to_be_visible()
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("7")
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    expect(page.locator("#shown")).to_have_text(NO_SCORE)
    assert answers(reviewing, review_id) == [None]
