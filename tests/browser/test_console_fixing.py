"""The fix loop in the console: edits are proposed, replayed, accepted and rolled back there."""

import re

import pytest
from playwright.sync_api import expect

from tests.component.decks.test_edit_proposals import ProposingDeck
from tests.judges.models import PROPOSING_MODEL
from tests.support.console import DESKTOP, PHONE, faults_of_access, overflow
from tests.support.console_figures import difference, percent, score, stat, texts_of
from tests.support.deck_edits import EditedDeck
from tests.support.ledger import ledger


@pytest.fixture
def deck(console):
    """A deck whose judge has a known fault that one clause removes, labelled."""
    with ledger(console.served.platform) as made:
        deck = EditedDeck(made, number=240)
        deck.label(list(deck.samples))
        yield deck


def fixing(deck, view="fix"):
    return f"#/decks/{deck.deck_id}/graders/{deck.grader_id}/{view}"


def the_edit(deck):
    (edit,) = deck.platform.call("GET", f"{deck.grader_path}/edits").json["edits"]
    return deck.edit(edit["id"])


def finished(deck):
    """Have the replay that was started come to its end."""
    (edit,) = deck.platform.call("GET", f"{deck.grader_path}/edits").json["edits"]
    assert deck.finish(deck.read(edit["runId"]))["status"] == "completed"


def test_an_edit_is_proposed_replayed_accepted_and_rolled_back(console, deck):
    (change,) = deck.patch("good")
    criteria = deck.grader()["rubric"]["criteria"]
    page = console.open(fixing(deck))
    expect(page.locator(".empty")).to_contain_text("autotune decks propose")
    expect(stat(page, "Looks spent")).to_have_text("0")
    expect(stat(page, "Level of the next")).to_have_text("0.025")
    page.get_by_role("link", name="Propose an edit").click()
    propose = page.get_by_role("button", name="Propose")
    expect(propose).to_be_disabled()
    page.get_by_label("What goes wrong", exact=True).fill("courtesy counts")
    page.get_by_label("Criteria", exact=True).fill(
        criteria.replace(change["find"], change["replace"])
    )
    expect(page.get_by_role("status")).to_have_text("Changed: criteria.")
    propose.click()
    edit = page.get_by_role("article", name="courtesy counts")
    expect(edit.locator(".badge").first).to_have_text("proposed")
    expect(edit.locator("ins").first).to_be_visible()
    assert deck.grader()["version"] == 1

    dialog = page.locator("dialog")
    page.get_by_role("button", name="Replay on the development half").click()
    dialog.get_by_role("button", name="What does it cost?").click()
    expect(dialog).to_contain_text("At most$")
    expect(dialog).not_to_contain_text("of level")
    dialog.get_by_role("button", name="Start").click()
    expect(edit.get_by_role("link", name="Its replay, under way")).to_be_visible()
    finished(deck)
    tried = edit.get_by_label("On the development half", exact=True)
    expect(tried).to_be_visible()
    trial = the_edit(deck)["trial"]
    expect(tried).to_contain_text(f"Δ of κ{difference(trial['delta'])}")
    expect(tried).to_contain_text(
        f"{score(trial['old']['value'])} → {score(trial['new']['value'])}"
    )
    expect(stat(page, "Looks spent")).to_have_text("0")

    page.get_by_role("button", name="Replay on the held-out half").click()
    expect(dialog).to_contain_text("This spends a look at their labels")
    dialog.get_by_role("button", name="What does it cost?").click()
    expect(dialog).to_contain_text("Look1, of level 0.025")
    dialog.get_by_role("button", name="Spend the look").click()
    expect(edit.get_by_role("link", name="Its replay, under way")).to_be_visible()
    finished(deck)
    held_out = edit.get_by_label("On the half that is held out", exact=True)
    expect(held_out).to_be_visible()
    effect = the_edit(deck)["effect"]
    delta, low, high = (difference(effect[name]) for name in ("delta", "low", "high"))
    scored = effect["scored"]
    shares = [percent(scored[name] / scored["n"]) for name in ("old", "new")]
    bias = [difference(effect["bias"][name]) for name in ("old", "new")]
    apart = effect["inapplicable"]
    for told in (
        f"Δ {delta}, {low} to {high}",
        f"Share with a level{shares[0]} → {shares[1]}",
        f"Bias{bias[0]} → {bias[1]}",
        f"Newly called positive, though at -3 or -2{effect['newlyPositive']}",
        f"With a level, though the question does not apply{apart['old']} → {apart['new']}",
        f"{effect['groups']}, worth {effect['effectiveGroups']:.1f} of equal size",
        f"Δ that so many labels would find{difference(effect['detectable'])}",
        "Look1, of level 0.025",
        "It agrees better with people, by more than chance explains",
    ):
        expect(held_out).to_contain_text(told)
    expect(held_out.get_by_role("img")).to_have_attribute("aria-label", re.compile("95% interval"))
    expect(stat(page, "Looks spent")).to_have_text("1")
    expect(stat(page, "Level of the next")).to_have_text("0.0125")
    assert faults_of_access(page) == []
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert overflow(page) == 0
    assert faults_of_access(page) == []
    page.set_viewport_size(DESKTOP)

    page.get_by_role("button", name="Accept").click()
    if effect["outcome"] == "needs_consent":
        dialog.get_by_label("I consent to that", exact=True).check()
    dialog.get_by_role("button", name="Accept").click()
    expect(edit.locator(".badge").first).to_have_text("accepted")
    assert deck.grader()["version"] == 2
    expect(stat(page, "Current version")).to_have_text("2")
    rows = page.get_by_role("region", name="Versions and their effects").locator("tbody tr")
    expect(rows.first).to_contain_text(difference(effect["delta"]))
    newest, oldest = texts_of(rows)
    assert (newest[0], oldest[0]) == ("2 current", "1")
    assert oldest[1] == "made without an edit"

    page.get_by_role("button", name="Roll back").click()
    dialog.get_by_label("Why", exact=True).fill("not so sure")
    dialog.get_by_role("button", name="Roll back").click()
    expect(edit.locator(".badge").first).to_have_text("rolled back")
    expect(edit).to_contain_text("rolled back: not so sure")
    assert deck.grader()["version"] == 1
    expect(rows.last).to_contain_text("1 current")


def test_what_does_harm_is_told_and_can_only_be_rejected(console):
    with ledger(console.served.platform) as made:
        deck = EditedDeck(made, number=200)
        deck.label(list(deck.samples))
        measured = deck.measure("harmful")
        assert measured["effect"]["outcome"] == "refused"
        page = console.open(fixing(deck))
        edit = page.locator("article")
        expect(edit).to_contain_text("It is refused: it agrees less with people")
        for name in ("Accept", "Replay", "Roll back"):
            expect(edit.get_by_role("button", name=name)).to_have_count(0)
        edit.get_by_role("button", name="Reject").click()
        page.locator("dialog").get_by_label("Why", exact=True).fill("it is worse")
        page.locator("dialog").get_by_role("button", name="Reject").click()
        expect(edit.locator(".badge").first).to_have_text("rejected")
        assert the_edit(deck)["reason"] == "it is worse"

        # Refused by the service, which names what is wrong.
        console.go(page, fixing(deck, "propose"))
        page.get_by_label("Level +3", exact=True).fill("x " * 9_000)
        page.get_by_role("button", name="Propose").click()
        expect(page.locator(".trouble")).to_be_visible()
        expect(page.get_by_label("Level +3", exact=True)).to_have_value("x " * 9_000)


CHANGED = {"outcome": "needs_consent", "refusals": [], "otherModel": 4, "newlyPositive": 0}


@pytest.mark.parametrize(
    ("newly_positive", "scored", "asked"),
    [
        (0, 3, "2 more samples get a level, to which the question does not apply, as people say."),
        (1, 1, "1 sample that people put at -3 or -2 is newly called positive."),
        (2, 2, "2 samples that people put at -3 or -2 are newly called positive; 1 more sample "),
    ],
)
def test_consent_is_asked_for_what_needs_it(console, deck, newly_positive, scored, asked):
    deck.measure("good")
    page = console.open()

    def tell(route):
        """The service's answer, with figures that need consent for another reason."""
        answer = route.fetch()
        listed = answer.json()
        effect = listed["edits"][0]["effect"]
        apart = {"n": 9, "old": 1, "new": scored, "holds": True}
        effect.update(CHANGED, newlyPositive=newly_positive, inapplicable=apart)
        route.fulfill(response=answer, json=listed)

    page.route("**/edits?*", tell)
    console.go(page, fixing(deck))
    held_out = page.get_by_label("On the half that is held out", exact=True)
    expect(held_out).to_contain_text(f"It needs your consent: {asked}")
    expect(held_out).to_contain_text(
        f"With a level, though the question does not apply1 → {scored} of 9"
    )
    expect(held_out).to_contain_text("Left out, as no model judged both4")
    expect(held_out).not_to_contain_text("0 samples")
    page.get_by_role("button", name="Accept").click()
    expect(page.locator("dialog .notice")).to_contain_text(asked)
    expect(page.locator("dialog .notice")).not_to_contain_text("0 samples")


def test_a_look_is_not_spent_while_labels_are_too_few(console):
    with ledger(console.served.platform) as made:
        deck = EditedDeck(made, number=24)
        deck.label(list(deck.samples))
        deck.replay(deck.propose("good"), "development")
        page = console.open(fixing(deck))
        page.get_by_role("button", name="Replay on the held-out half").click()
        page.locator("dialog").get_by_role("button", name="What does it cost?").click()
        expect(page.locator("dialog .trouble")).to_contain_text("a claim needs 50 and 15")
        page.locator("dialog").get_by_role("button", name="Cancel").click()
        expect(stat(page, "Looks spent")).to_have_text("0")


def test_a_model_proposes_edits_within_a_cap(console):
    with ledger(console.served.platform) as made:
        deck = ProposingDeck(made)
        deck.model.proposer.edits = ["good"]
        page = console.open(fixing(deck))
        page.get_by_role("button", name="Have a model propose").click()
        dialog = page.locator("dialog")
        dialog.get_by_label("Connection", exact=True).select_option(deck.proposer["connectionId"])
        dialog.get_by_label("Model that is asked", exact=True).fill(PROPOSING_MODEL)
        dialog.get_by_label("Stop before it costs more than, in dollars", exact=True).fill("0.5")
        dialog.get_by_role("button", name="What does it cost?").click()
        expect(dialog).to_contain_text("Probably")
        dialog.get_by_role("button", name="Ask it").click()
        told = page.get_by_role("region", name="What a model proposes")
        expect(told).to_contain_text("names what misled the judge")
        expect(page.get_by_role("button", name="Have a model propose")).to_be_disabled()
        proposal = deck.end()
        assert proposal["capNanoUsd"] == 500_000_000
        expect(told.locator(".badge")).to_have_text("completed")
        articles = page.locator("article")
        expect(articles).to_have_count(len(proposal["editIds"]))
        expect(articles.first).to_contain_text("by a model")
        for pattern in proposal["patterns"]:
            expect(page.get_by_role("article", name=pattern["name"])).to_be_visible()


def test_a_model_at_work_is_canceled(console):
    with ledger(console.served.platform) as made:
        deck = ProposingDeck(made)
        assert deck.begin(samples=3).status == 202
        page = console.open(fixing(deck))
        told = page.get_by_role("region", name="What a model proposes")
        told.get_by_role("button", name="Cancel it").click()
        expect(told.get_by_role("button", name="Cancel it")).to_have_count(0)
        assert deck.end()["status"] == "canceled"
        expect(told.locator(".badge")).to_have_text("canceled")
