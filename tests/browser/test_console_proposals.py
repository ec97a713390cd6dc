"""Making a deck in the console whose graders a model proposes from its prompt."""

import pytest
from playwright.sync_api import expect

from tests.judges.models import PROPOSING_MODEL
from tests.judges.planted_samples import SYSTEM_PROMPT
from tests.support.console import DESKTOP, PHONE, faults_of_access, overflow
from tests.support.deck_proposals import Proposals
from tests.support.ledger import ledger


@pytest.fixture
def proposals(console):
    with ledger(console.served.platform) as made:
        yield Proposals(made)


def ask(page, proposals, cap=""):
    """Enter which model is asked, and have it say what that costs."""
    page.get_by_label("Connection", exact=True).select_option(proposals.connection_id)
    page.get_by_label("Model that is asked", exact=True).fill(PROPOSING_MODEL)
    page.get_by_label("Stop before it costs more than, in dollars", exact=True).fill(cap)
    page.get_by_role("button", name="What does it cost?").click()


def the_run(proposals):
    (run,) = proposals.platform.call("GET", f"{proposals.path}/runs").json["runs"]
    return run


def test_a_deck_is_made_with_samples_and_graders_that_a_model_proposes(console, proposals):
    platform = console.served.platform
    page = console.open("#/decks/new")
    page.get_by_label("Name", exact=True).fill("support")
    page.get_by_label("System prompt", exact=True).fill(SYSTEM_PROMPT)
    page.get_by_role("combobox", name="Graders", exact=True).select_option("model")
    page.get_by_label("Samples, if there are some", exact=True).fill(
        '{"input": "one", "output": "1"}'
    )
    page.get_by_role("button", name="Create").click()
    expect(page.locator("h1")).to_have_text("Graders from the prompt")
    deck = platform.call("GET", "/api/v1/decks").json["decks"][-1]
    assert (deck["name"], deck["samples"]) == ("support", 1)
    proposals.deck_id = deck["id"]
    proposals.path = f"/api/v1/decks/{deck['id']}"

    ask(page, proposals, "0.4")
    expect(page.locator(".facts")).to_contain_text("At most$")
    assert platform.call("GET", f"{proposals.path}/runs").json["runs"] == []
    page.get_by_role("button", name="Have it propose").click()
    expect(page.get_by_role("status")).to_contain_text("The model is at work")
    run = the_run(proposals)
    assert (run["kind"], run["capNanoUsd"]) == ("propose", 400_000_000)
    assert page.url.endswith(f"?run={run['id']}")
    ended = proposals.finish(run)
    assert ended["status"] == "completed", ended
    proposed = page.get_by_role("region", name="Proposed graders")
    graders = proposals.graders()
    assert len(graders) >= 3
    for grader in graders:
        expect(proposed.get_by_role("link", name=grader["name"])).to_be_visible()
        assert grader["judge"]["model"] == PROPOSING_MODEL
    page.reload()
    expect(proposed.get_by_role("link")).to_have_count(len(graders))
    for size, scheme in ((DESKTOP, "light"), (PHONE, "dark")):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert overflow(page) == 0
        assert faults_of_access(page) == []
    page.set_viewport_size(DESKTOP)
    proposed.get_by_role("link", name=graders[0]["name"]).click()
    page.get_by_role("button", name="Activate").click()
    page.locator("dialog").get_by_role("button", name="Activate").click()
    expect(page.locator(".facts .badge").first).to_have_text("active")


def test_what_is_wrong_with_a_proposal_is_named(console, proposals):
    proposals.faults("quote", "quote", "quote")
    page = console.open(f"#/decks/{proposals.deck_id}")
    page.get_by_role("link", name="Have a model propose").click()
    page.get_by_label("Connection", exact=True).select_option(proposals.connection_id)
    page.get_by_label("Model that is asked", exact=True).fill("no-such-model")
    page.get_by_role("button", name="What does it cost?").click()
    expect(page.locator(".trouble")).to_contain_text("model")
    ask(page, proposals)
    page.get_by_role("button", name="Have it propose").click()
    expect(page.get_by_role("status")).to_contain_text("The model is at work")
    ended = proposals.finish(the_run(proposals))
    (refused, *_) = ended["proposal"]["refused"]
    told = page.get_by_role("region", name="Not kept")
    expect(told).to_contain_text("quote not in prompt")
    expect(told).to_contain_text(refused["name"])
    console.go(page, f"#/decks/{proposals.deck_id}/runs/{ended['id']}")
    expect(page.get_by_role("region", name="Not kept")).to_contain_text("quote not in prompt")
