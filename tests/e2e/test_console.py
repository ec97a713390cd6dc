"""The console on the deployed stack, with what ``make demo`` does: every page that there is."""

import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import boto3
import pytest
from playwright.sync_api import Browser, expect

from autotune.protocol.access import Role
from local import demo, demo_deck
from local.endpoint import REGION
from local.records import LocalProfile
from tests.e2e.conftest import until
from tests.e2e.demonstrated import Organization, founded, ids_of_the_demo
from tests.e2e.figures_of_decks import DECKS
from tests.e2e.figures_of_grading import GRADING
from tests.e2e.figures_of_models import MODELS
from tests.support.page_figures import Part, Shown, differences
from tests.support.subscribers import loopback_subscriber
from tools.browser import launched
from tools.console_views import reading

FIGURES = {**GRADING, **MODELS, **DECKS}
PAGES = Path("console/pages.js")
# The first request of each function starts it, and other tests run beside this one.
PATIENCE = 60
# Figures that follow tables are late by this at most.
LATE_SECONDS = 10
# Pages that a role may open.
OF_REVIEWERS = {"reviews", "labelling", "sessions"}
OF_GRADER_OWNERS = {"graders", "completions", "sessions"}
OF_ADMINS = {"keys", "audit"}


@pytest.fixture(scope="module")
def demonstrated(
    profile: LocalProfile, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Organization]:
    """An organisation for which the demo has run, with a webhook and a reward URL besides."""
    folder = tmp_path_factory.mktemp("demo")
    made = founded(profile, "demonstrated")
    with pytest.MonkeyPatch.context() as patched, loopback_subscriber() as subscriber:
        for name in ("DIRECTORY", "SCORES", "ONE_COMPLETION", "REQUESTS", "REQUEST_IDS"):
            patched.setattr(demo, name, folder / name.lower())
        for name in ("IDS", "LABELS"):
            patched.setattr(demo_deck, name, folder / name.lower())
        demo.DIRECTORY.mkdir()
        with made.client() as client:
            client.webhooks.create(url=subscriber.url, event_types=["batch.completed"])
            demo.score_examples(demo.CommandLine(made.profile))
            (task, *_) = client.tasks.list()
            client.reward_urls.create(name="a trainer", task_id=task.id, model_id="heron-3b")
        yield made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as running:
        yield running


@dataclass(frozen=True)
class Seen:
    """What an admin of the organisation with the demo's data sees of it.

    Attributes:
        views: every page, and one view of each shape that pages lead to.
        ids: those that the API's answers held.
    """

    views: list[str]
    ids: set[str]


@pytest.fixture(scope="module")
def seen(browser: Browser, demonstrated: Organization) -> Seen:
    with reading(browser, demonstrated.link, seconds=PATIENCE) as owner:
        views = []
        for view in owner.views():
            expect(owner.page.locator(".trouble")).to_have_count(0)
            assert owner.page.locator("h1").first.inner_text(), view
            views.append(view)
        assert owner.troubles == []
        return Seen(views, owner.ids())


def test_every_page_shows_the_demo_to_an_admin(seen: Seen) -> None:
    assert {page_of(view) for view in seen.views} == set(pages_there_are())


@pytest.mark.parametrize("role", [role for role in get_args(Role) if role != "admin"])
def test_a_role_sees_its_pages_and_is_told_of_the_others(
    browser: Browser, demonstrated: Organization, seen: Seen, role: Role
) -> None:
    with reading(browser, demonstrated.link_of(role), seconds=PATIENCE) as reader:
        own = {page_of(view) for view in reader.pages()}
        assert own == pages_of(role)
        for view in some_of(seen.views, role):
            reader.go(view)
            is_told = reader.page.locator(".empty", has_text="may not open this page").count() == 1
            # The first address opens the first page that a role has.
            assert is_told == (page_of(view) not in {"", *own}), view
            trouble = reader.page.locator(".trouble")
            # What a panel decided, with a person, is not shown to the owners of its graders.
            if role == "grader_owner" and view.startswith("#/completions/"):
                expect(trouble).to_contain_text("There is no such thing here")
            else:
                expect(trouble).to_have_count(0)
        assert reader.troubles == []


@pytest.mark.parametrize("role", get_args(Role))
def test_no_role_sees_anything_of_another_organization(
    browser: Browser, profile: LocalProfile, seen: Seen, role: Role
) -> None:
    # Of each role's own, as admins read in the audit log what others asked for in vain.
    strangers = founded(profile, f"strangers, {role}")
    with reading(browser, strangers.link_of(role), seconds=PATIENCE) as stranger:
        assert stranger.shown_of(seen.ids, some_of(seen.views, role)) == {}
        assert stranger.troubles == []


def test_figures_are_those_of_the_tables(browser: Browser, demonstrated: Organization) -> None:
    stored = verdicts_of(demonstrated.profile)
    assert stored
    with (
        demonstrated.client() as client,
        reading(browser, demonstrated.link, seconds=PATIENCE) as reader,
    ):

        def counted() -> bool:
            return client.overview.get().totals.counts.scored == stored.total()

        until(counted, seconds=PATIENCE)
        reader.go("#/")
        stats = Shown.on(reader.page).stats
        assert (stats["Submitted"], stats["Scored"]) == ([str(stored.total())],) * 2
        reader.go("#/batches")
        rows = Shown.on(reader.page).tables["Batches"]
        assert Counter({row["Batch"]: int(row["All"]) for row in rows}) == stored


def test_figures_are_those_of_the_api(browser: Browser, demonstrated: Organization) -> None:
    """Each by its label; ``FIGURES`` says which fields they are, and how they are said."""
    ids = ids_of_the_demo(demonstrated)
    with reading(browser, demonstrated.link, seconds=PATIENCE) as reader:

        def compared(parts: list[Part]) -> list[str]:
            shown = Shown.on(reader.page)
            return [
                found
                for part in (part.about(ids) for part in parts)
                for found in differences(shown, part, demonstrated.answer(part.asks))
            ]

        found = {}
        for address, parts in FIGURES.items():
            reader.go(address.format(**ids))
            until_late = time.monotonic() + LATE_SECONDS
            # What was there may stay until what was asked for comes, and figures follow tables.
            while (wrong := compared(parts)) and time.monotonic() < until_late:
                reader.page.wait_for_timeout(250)
            if wrong:
                found[address] = wrong
        assert found == {}
        assert reader.troubles == []


def verdicts_of(profile: LocalProfile) -> Counter[str]:
    """Return how many completions are scored in each batch, as the table of verdicts has it."""
    dynamodb = boto3.client(
        "dynamodb",
        endpoint_url=profile.aws_endpoint_url,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    (name,) = (one for one in dynamodb.list_tables()["TableNames"] if "Completions" in one)
    return Counter(
        item["batch_id"]["S"]
        for page in dynamodb.get_paginator("scan").paginate(TableName=name)
        for item in page["Items"]
        if item["sk"]["S"].startswith("verdict#")
        and item["organization_id"]["S"] == profile.organization_id
        and item["state"]["S"] == "scored"
    )


def pages_there_are() -> list[str]:
    return re.findall(r'page: "([a-z-]*)"', PAGES.read_text())


def pages_of(role: Role) -> set[str]:
    """Return the pages that a role may open; the first address is the overview of trainers."""
    match role:
        case "reviewer":
            return OF_REVIEWERS
        case "grader_owner":
            return OF_GRADER_OWNERS
        case "training_operator":
            return set(pages_there_are()) - OF_ADMINS
        case "admin":
            return set(pages_there_are())


def some_of(views: list[str], role: Role) -> list[str]:
    """Return views that show what a role may do: all for admins, else two of a page, or one."""
    if role == "admin":
        return views
    found: dict[str, list[str]] = {}
    for view in views:
        own = found.setdefault(page_of(view), [])
        if len(own) < (2 if page_of(view) in pages_of(role) else 1):
            own.append(view)
    return [view for own in found.values() for view in own]


def page_of(view: str) -> str:
    return view.split("/")[1].partition("?")[0]
