"""Edits of a deck's system prompt in the console: proposed, priced, answered, accepted."""

import re

from playwright.sync_api import expect

from tests.support.ledger import ledger
from tests.support.prompt_edits import NEW, PromptEdits


def test_a_prompt_is_tried_measured_and_accepted(console):
    with ledger(console.served.platform) as made:
        deck = PromptEdits(made, samples=2)
        page = console.open(f"#/decks/{deck.deck_id}/prompt-edits")
        expect(page.locator(".empty")).to_contain_text("autotune decks prompt-edits propose")
        page.get_by_role("button", name="Try another prompt").click()
        page.get_by_label("System prompt", exact=True).fill(NEW)
        page.get_by_label("Connection", exact=True).select_option(deck.connection_id)
        page.get_by_label("Model that answers under both", exact=True).fill("small")
        page.get_by_role("button", name="Propose").click()
        edit = page.get_by_role("article", name="Version 2")
        expect(edit).to_contain_text("proposed")
        edit.get_by_role("button", name="Generate responses").click()
        page.get_by_role("button", name="What does it cost?").click()
        expect(page.get_by_role("dialog")).to_contain_text("Responses to pay")
        page.get_by_role("button", name="Start").click()
        expect(edit).to_contain_text("generating")
        (listed,) = deck.platform.call("GET", f"{deck.path}/prompt-edits").json["edits"]
        run = deck.finish(deck.read(listed["runId"]))
        assert run["counts"]["scored"] == 4
        page.reload()
        edit.get_by_role("button", name="Judge the responses").click()
        page.get_by_role("button", name="What does it cost?").click()
        expect(page.get_by_role("dialog")).to_contain_text("Judgements to pay4")
        page.get_by_role("button", name="Start").click()
        expect(page).to_have_url(re.compile("/runs/drn_"))
        judged = deck.finish(deck.read(page.url.rpartition("/")[2]))
        assert (judged["promptEditId"], judged["counts"]["scored"]) == (listed["id"], 4)
        page.goto(page.url.replace(f"runs/{judged['id']}", "prompt-edits"))
        edit.get_by_role("button", name="Measure, and spend a look").click()
        page.get_by_role("button", name="Spend the look").click()
        expect(edit.get_by_label("By brief", exact=True)).to_contain_text("0 before, 0 after")
        edit.get_by_role("button", name="Accept").click()
        page.get_by_label("I want it all the same", exact=True).check()
        page.get_by_role("dialog").get_by_role("button", name="Accept").click()
        expect(edit).to_contain_text("accepted")
        assert deck.platform.call("GET", deck.path).json["deck"]["systemPrompt"] == NEW
        edit.get_by_role("button", name="Roll back").click()
        page.get_by_label("Why", exact=True).fill("no")
        page.get_by_role("dialog").get_by_role("button", name="Roll back").click()
        expect(edit).to_contain_text("rolled_back: no".replace("_", " "))
