"""Every page of the console: read by all, at each width, in light and dark."""

import re
import time
from pathlib import Path
from typing import get_args

import pytest
from playwright.sync_api import expect

from autotune.protocol.access import Role
from tests.support import exports
from tests.support.console import DESKTOP, PHONE, cut, faults_of_access, overflow
from tests.support.console_apprentice import filled_apprentice, newest_run
from tests.support.console_decks import filled_decks
from tests.support.console_ledger import filled_ledger
from tests.support.console_reviews import filled_reviews
from tests.support.console_trainings import filled_trainings
from tests.support.graded import graded
from tests.support.history import scored

CONSOLE = Path(__file__).parents[2] / "console"
# View by page: with what `filled` made; `{webhook_id}` and the like are of that.
VIEWS = {
    "completions": [
        "#/completions",
        "#/completions?state=pending",
        "#/completions/{completion_id}",
        "#/completions/{pending_id}",
    ],
    "batches": ["#/batches", "#/batches/{batch_id}", "#/batches/{open_batch_id}"],
    "runs": ["#/runs", "#/runs/{run_id}"],
    "exports": ["#/exports", "#/exports/{export_id}"],
    "reviews": [
        "#/reviews",
        "#/reviews?state=answered",
        "#/reviews/{review_id}",
        "#/reviews/{answered_id}",
        "#/reviews/reviewers",
        "#/reviews/agreement",
        "#/reviews/links",
    ],
    "ledger": [
        "#/ledger",
        "#/ledger?by=connection&group={connection_id}",
        "#/ledger/requests",
        "#/ledger/requests/{request_id}",
        "#/ledger/batches",
        "#/ledger/batches/{llm_batch_id}",
        "#/ledger/connections",
        "#/ledger/connections/{paused_id}",
        "#/ledger/imports",
        "#/ledger/imports/{import_id}",
    ],
    "apprentice": [
        "#/apprentice",
        "#/apprentice/intents",
        "#/apprentice/intents?days=7",
        "#/apprentice/intents/runs",
        "#/apprentice/intents/runs?state=failed",
        "#/apprentice/intents/runs/{apprentice_run_id}",
        "#/apprentice/intents/pairs",
        "#/apprentice/intents/examples",
        "#/apprentice/intents/versions",
        "#/apprentice/intents/configuration",
        "#/apprentice/intents/configuration?shown=1",
        "#/apprentice/intents/configuration?a=1&b=2",
        "#/apprentice/idle",
        "#/apprentice/idle/pairs",
        "#/apprentice/idle/examples",
        "#/apprentice/idle/trainings",
        "#/apprentice/routes/trainings",
        "#/apprentice/routes/trainings/1",
        "#/apprentice/routes/trainings/3",
        "#/apprentice/routes/trainings/5",
        "#/apprentice/routes/versions/1",
    ],
    "": ["#/", "#/?window=7d"],
    "tasks": ["#/tasks", "#/tasks/{task_id}", "#/tasks/{task_id}/compare?a=base&b=step"],
    "graders": ["#/graders", "#/graders/{grader_id}", "#/graders/{grader_id}?window=all"],
    "decks": [
        "#/decks",
        "#/decks/new",
        "#/decks/unmatched",
        "#/decks/unmatched/{unmatched_id}",
        "#/decks/{deck_id}",
        "#/decks/{deck_id}/samples",
        "#/decks/{deck_id}/samples/{sample_id}",
        "#/decks/{deck_id}/runs",
        "#/decks/{deck_id}/runs/{deck_run_id}",
        "#/decks/{deck_id}/versions?a=1&b=2",
        "#/decks/{deck_id}/propose",
        "#/decks/{deck_id}/graders/new",
        "#/decks/{deck_id}/graders/{proposed_id}",
        "#/decks/{labelled_id}/graders/{measured_id}?a=1&b=2",
        "#/decks/{labelled_id}/graders/{measured_id}/edit",
        "#/decks/{labelled_id}/graders/{measured_id}/results",
        "#/decks/{labelled_id}/graders/{measured_id}/agreement",
        "#/decks/{labelled_id}/graders/{measured_id}/agreement?version=1",
        "#/decks/{labelled_id}/graders/{measured_id}/disagreements",
        "#/decks/{labelled_id}/graders/{measured_id}/patterns",
        "#/decks/{labelled_id}/graders/{measured_id}/fix",
        "#/decks/{labelled_id}/graders/{measured_id}/published",
        "#/decks/{labelled_id}/graders/{measured_id}/published?means=shown",
        "#/decks/{labelled_id}/graders/{measured_id}/propose?pattern=too+kind",
    ],
    "labelling": ["#/labelling", "#/labelling/{deck_id}/{proposed_id}"],
    "webhooks": ["#/webhooks", "#/webhooks/{webhook_id}"],
    "reward-urls": ["#/reward-urls"],
    "keys": ["#/keys"],
    "sessions": ["#/sessions"],
    "audit": ["#/audit", "#/audit?days=7&action=create_key"],
}

# Notes what changes its place without anybody having done something, and by how much.
_WATCH = """() => {
  window.moved = [];
  new PerformanceObserver((list) => {
    for (const shift of list.getEntries()) {
      const what = shift.sources.map(({ node }) => node?.outerHTML ?? node?.data ?? "");
      window.moved.push([shift.value, ...what.map((it) => it.slice(0, 90))]);
    }
  }).observe({ type: "layout-shift" });
}"""


def filled(served):
    """Make some of everything; return the ids."""
    platform = served.platform
    hook = platform.call("POST", "/api/v1/webhooks", {"url": "https://example.com/" + "hook" * 40})
    assert hook.status == 201, hook.text
    for name in ("a trainer", "x" * 100):
        platform.call("POST", "/api/v1/keys", {"name": name, "role": "training_operator"})
    reviews = filled_reviews(platform)
    with filled_ledger(platform) as ledger, graded(platform) as made:
        decks = filled_decks(ledger.ledger)
        decks.labelled.get("agreement")  # its page has the figures only of what was read
        apprentice = filled_apprentice(platform, ledger.connection)
        filled_trainings(platform, ledger.connection)
        return {
            "deck_id": decks.runs.deck_id,
            "unmatched_id": decks.unmatched_id,
            "sample_id": decks.sample_id,
            "deck_run_id": decks.run_id,
            "proposed_id": decks.proposed_id,
            "labelled_id": decks.labelled.id,
            "measured_id": decks.labelled.grader_id,
            "webhook_id": hook.json["webhook"]["id"],
            "review_id": reviews.open,
            "answered_id": reviews.answered,
            "apprentice_run_id": newest_run(apprentice),
            "connection_id": ledger.connection,
            "request_id": ledger.unread,
            "llm_batch_id": ledger.unclear,
            "paused_id": ledger.paused,
            "import_id": ledger.imported,
            **_ids(made),
            **compared(served),
        }


def _ids(made):
    export_id = exports.start(made.platform)
    exports.finish(made.platform, export_id)
    return {
        "completion_id": made.completion_ids[0],
        "pending_id": made.parked["completionIds"][0],
        "batch_id": made.batch_id,
        "open_batch_id": made.parked["batchId"],
        "run_id": made.read("runs", state="sleeping")["runs"][0]["id"],
        "export_id": export_id,
    }


def compared(served):
    """Have two models' answers scored; return the ids of the task and its grader."""
    task_id = served.new_task("x" * 100)
    for model in ("base", "step"):
        some = [{"modelId": model, "metadata": {"value": value}} for value in (0.1, 0.9)]
        failed = {"modelId": model, "metadata": {"outcome": "failed"}}
        scored(served.platform, task_id, *some, failed)
    return {"task_id": task_id, "grader_id": served.grader_id}


def test_every_page_has_a_view_here():
    pages = re.findall(r'page: "([a-z-]*)"', (CONSOLE / "pages.js").read_text())
    assert set(pages) == set(VIEWS)


def test_fields_are_found_by_their_whole_label():
    """What a label only begins with may be on the page before, where nothing can be filled in."""
    calls = {
        (path.name, call)
        for path in Path(__file__).parent.glob("*.py")
        for call in re.findall(r"get_by_label\([^()]*\)", path.read_text())
    }
    assert len(calls) > 50
    assert {one for one in calls if "exact=True" not in one[1]} == set()


@pytest.mark.parametrize(
    ("viewport", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop", "phone"]
)
def test_pages_can_be_read_by_all(console, viewport, scheme):
    ids = filled(console.served)
    page = console.open(viewport=viewport, color_scheme=scheme)
    found = {}
    for view in [view for views in VIEWS.values() for view in views]:
        console.go(page, view.format(**ids))
        expect(page.locator(".trouble")).to_have_count(0)
        assert (overflow(page), cut(page)) == (0, []), view
        found[view] = faults_of_access(page)
    assert found == {view: [] for view in found}


@pytest.mark.parametrize("role", get_args(Role))
def test_a_role_may_ask_all_that_its_pages_ask_and_is_told_of_the_others(console, role):
    """Pages name the roles that may open them, as the API's permissions are."""
    ids = filled(console.served)
    # Whose graders they are: a grader's owner sees what these scored.
    owner = console.served.platform.me()["principalId"]
    page = console.open(api_key=console.served.platform.new_key(role, principal_id=owner))
    links = page.locator("nav[aria-label=Pages] a").evaluate_all(
        "them => them.map((it) => it.hash)"
    )
    assert links
    for name, views in VIEWS.items():
        for view in views:
            console.go(page, view.format(**ids))
            is_told = page.locator(".empty", has_text="may not open this page").count() == 1
            # The first address opens the first page that a role has.
            assert is_told == (name != "" and f"#/{name}" not in links), view
            expect(page.locator(".trouble")).to_have_count(0)


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_nothing_moves_when_data_arrives(console, viewport):
    ids = filled(console.served)
    page = console.open("#/sessions", viewport=viewport)
    page.evaluate(_WATCH)
    # Slow enough that each answer is drawn before the next comes, in whatever order.
    console.served.before_answer = lambda one: time.sleep(0.04 * (1 + len(one.path) % 4))
    found = {}
    for view in [view for views in VIEWS.values() for view in views]:
        console.go(page, "#/nothing")
        page.evaluate("window.moved.length = 0")
        console.go(page, view.format(**ids))
        page.wait_for_timeout(50)
        found[view] = page.evaluate("window.moved")
    assert found == {view: [] for view in found}
