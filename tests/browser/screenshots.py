"""Pictures of every page of the console: ``python -m tests.browser.screenshots``.

The pages are the real ones, on the real functions with moto below, and show what was scored,
reviewed and asked there. Every page of ``console/pages.js`` is taken at two widths, light and dark;
what its first row leads to in two of these. Ids and times are other ones each time: their texts are
replaced, so that pictures change where pages do. Only the hours below charts are those of the day.
"""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page

from tests.support import exports
from tests.support.console import Console, served_console
from tests.support.console_apprentice import filled_apprentice, newest_run
from tests.support.console_decks import FilledDecks, filled_decks
from tests.support.console_ledger import filled_ledger
from tests.support.console_reviews import filled_reviews
from tests.support.console_trainings import NAME, WORSE, filled_trainings
from tests.support.graded import graded
from tests.support.history import scored
from tools.browser import launched
from tools.console_views import DESKTOP, PHONE, Reader, shape_of

REPOSITORY = Path(__file__).parents[2]
PICTURES = REPOSITORY / "out" / "screenshots"
SHOWN = REPOSITORY / "docs" / "images"
SIZES = {"desktop": DESKTOP, "phone": PHONE}
HOURS = 24
PROMPTS = 4
EXAMPLES = REPOSITORY / "examples" / "data" / "arithmetic.jsonl"
MODELS = ("heron-3b", "condor-70b")

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")

# What differs from day to day, in texts of the same length: the number of an id is its place.
_STEADY = r"""() => {
  const seen = new Map();
  const body = (id) => {
    if (!seen.has(id)) seen.set(id, String(seen.size + 1).padStart(4, "0"));
    return `06h1${seen.get(id)}k2m5q8r3t7v9a4c6e`.slice(0, 26);
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    node.nodeValue = node.nodeValue
      .replace(/\b([a-z]{3,4})_([0-9a-v]{26})\b/g, (_, kind, id) => `${kind}_${body(id)}`)
      .replace(/\breq_[0-9a-f]{32}\b/g, (id) => `req_${id.slice(4).replace(/./g, "0")}`)
      .replace(/\b\d{1,2} [A-Z][a-z]{2,3} 20\d\d, \d\d:\d\d(?=(:\d\d)?)/g, "25 Nov 2026, 10:15")
      .replace(/(?<=10:15):\d\d/g, ":00")
      .replace(/\b[\d.]+ (ms|s|min) ago/g, "1 min ago")
      .replace(/:\d{4,5}\b/g, ":8080");
  }
}"""


def main() -> None:
    """Write ``console-PAGE-SIZE-SCHEME.png`` of every page, and ``console-PAGE-one-…`` of rows.

    They are in ``out/screenshots``; those that the documentation shows are put there anew as well.
    """
    PICTURES.mkdir(parents=True, exist_ok=True)
    with (
        pytest.MonkeyPatch.context() as patched,
        launched() as browser,
        served_console(patched, browser) as console,
        filled(console) as (task_id, decks, run_id),
    ):
        views = {**dict(named_views(console, task_id, decks)), **views_of_apprentice(run_id)}
        for size in SIZES:
            for scheme in SCHEMES:
                is_crossed = (size == "desktop") == (scheme == "light")
                wanted = {
                    name: view
                    for name, view in views.items()
                    if is_crossed or not name.endswith("-one")
                }
                take(browser, console, wanted, size=size, scheme=scheme)
    for picture in PICTURES.glob("console-*.png"):
        if (shown := SHOWN / picture.name).exists():
            shutil.copyfile(picture, shown)


@contextmanager
def filled(console: Console) -> Iterator[tuple[str, FilledDecks, str]]:
    """Have something of everything until the block is left.

    Yields:
        A day's task, decks, and a run of the apprentice.
    """
    served, platform = console.served, console.served.platform
    task_id = served.new_task("arithmetic")
    asked = answers()
    for hour in range(HOURS, 0, -1):
        failed = {"modelId": MODELS[0], "metadata": {"outcome": "failed"}}
        rows = [
            asked[model][(hour * PROMPTS + row) % 50] for model in MODELS for row in range(PROMPTS)
        ]
        scored(platform, task_id, *rows, *[failed] * (hour % 5 == 0), hours_ago=hour)
    exports.finish(platform, exports.start(platform, filters={"taskId": task_id}))
    platform.call("POST", "/api/v1/webhooks", {"url": "https://trainer.example.com/scores"})
    platform.call("POST", "/api/v1/keys", {"name": "trainer", "role": "training_operator"})
    platform.new_reward_url(task_id, name="GRPO run 7", modelId=MODELS[1])
    filled_reviews(platform)
    with filled_ledger(platform) as ledger, graded(platform):
        decks = filled_decks(ledger.ledger, samples=160)
        decks.labelled.get("agreement")  # so that its page has the figures
        apprentice = filled_apprentice(platform, ledger.connection)
        filled_trainings(platform, ledger.connection)
        yield task_id, decks, newest_run(apprentice)


def answers() -> dict[str, list[dict[str, Any]]]:
    """Return what models answered in the examples, with the score that each is to get."""
    found: dict[str, list[dict[str, Any]]] = {model: [] for model in MODELS}
    chance = Random(17)
    for line in EXAMPLES.read_text().splitlines():
        one = json.loads(line)
        if one["modelId"] in found:
            value = round(0.55 * one["metadata"]["isCorrect"] + 0.4 * chance.random(), 3)
            names = ("modelId", "prompt", "response")
            row = {name: one[name] for name in names}
            found[one["modelId"]].append({**row, "metadata": {"value": value}})
    return found


def named_views(console: Console, task_id: str, decks: FilledDecks) -> Iterator[tuple[str, str]]:
    """Yield every page by its name, and what a row of it leads to by that with ``-one``."""
    page = console.open()
    reader = Reader(page)
    # Of that task, where a page shows one.
    narrowed = {"completions": f"?task={task_id}"}
    for address in reader.pages():
        name = re.sub(r"[^a-z-]", "", address) or "overview"
        view = address + narrowed.get(name, "")
        yield name, view
        reader.go(view)
        shape = f"{address}/{{id}}"
        one = next((link for link in reader.links() if shape_of(link) == shape), None)
        if one is not None:
            yield f"{name}-one", one
    earlier, later = MODELS
    yield "compare-one", f"#/tasks/{task_id}/compare?a={earlier}&b={later}"
    grader = f"#/decks/{decks.labelled.id}/graders/{decks.labelled.grader_id}"
    yield "decks-new", "#/decks/new"
    yield "decks-unmatched", "#/decks/unmatched"
    yield "decks-unmatched-one", f"#/decks/unmatched/{decks.unmatched_id}"
    for part in ("samples", "runs", "versions", "propose"):
        yield f"decks-{part}-one", f"#/decks/{decks.runs.deck_id}/{part}"
    yield "decks-run-one", f"#/decks/{decks.runs.deck_id}/runs/{decks.run_id}"
    yield "decks-published-one", f"{grader}/published?means=shown"
    parts = ("results", "agreement", "disagreements", "patterns", "fix", "propose", "edit")
    for part in parts:
        yield f"decks-grader-{part}-one", f"{grader}/{part}"
    yield "decks-grader-one", f"{grader}?a=1&b=2"
    yield "decks-sample-one", f"#/decks/{decks.runs.deck_id}/samples/{decks.sample_id}"
    yield "labelling-sample-one", f"#/labelling/{decks.runs.deck_id}/{decks.proposed_id}"
    page.context.close()


def views_of_apprentice(run_id: str) -> dict[str, str]:
    """Return views of a task of the apprentice by name: its address has no id."""
    task = "#/apprentice/intents"
    views = {
        f"apprentice-{part}-one": f"{task}/{part}"
        for part in ("runs", "examples", "versions", "pairs", "configuration")
    }
    return {
        "apprentice-one": task,
        **views,
        "apprentice-run-one": f"{task}/runs/{run_id}",
        "apprentice-trainings-one": f"#/apprentice/{NAME}/trainings",
        "apprentice-training-one": f"#/apprentice/{NAME}/trainings/{WORSE}",
        "apprentice-version-one": f"#/apprentice/{NAME}/versions/1",
        "apprentice-change-one": f"{task}/configuration?a=1&b=2",
    }


def take(
    browser: Browser, console: Console, views: dict[str, str], *, size: str, scheme: Scheme
) -> None:
    """Take pictures of views at one size, in one scheme."""
    context = browser.new_context(
        viewport=SIZES[size],
        color_scheme=scheme,
        locale="en-GB",
        timezone_id="UTC",
        reduced_motion="reduce",
    )
    reader = Reader(context.new_page())
    reader.sign_in(console.link())
    for name, view in views.items():
        reader.go(view)
        still(reader.page)
        reader.page.screenshot(path=PICTURES / f"console-{name}-{size}-{scheme}.png")
    assert reader.troubles == [], reader.troubles
    context.close()


def still(page: Page) -> None:
    """Have a page look the same each time: without what was focused, and with steady texts."""
    page.evaluate("document.activeElement?.blur()")
    page.evaluate(_STEADY)


if __name__ == "__main__":
    main()
