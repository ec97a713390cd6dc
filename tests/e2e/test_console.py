"""The console on the deployed stack, with what ``make demo`` does: every page that there is."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import boto3
import pytest
from playwright.sync_api import Browser, expect

from autotune import AutotuneClient
from autotune.protocol.windows import Bucket
from local import demo, demo_deck
from local.endpoint import REGION, isolated_environment
from local.records import LocalProfile
from tests.e2e.conftest import CommandLine, until
from tools.browser import launched
from tools.console_views import reading

PAGES = Path("console/pages.js")
# The first request of each function starts it, and other tests run beside this one.
PATIENCE = 60


@dataclass(frozen=True)
class Organization:
    """One that has the stack to itself, as far as it can see."""

    profile: LocalProfile

    @property
    def link(self) -> str:
        """Of a new session of its admin."""
        return command_line_of(self.profile).run("console", "--print").stdout.split()[-1]


def command_line_of(profile: LocalProfile) -> CommandLine:
    return CommandLine(
        isolated_environment(
            {
                "AUTOTUNE_BASE_URL": profile.base_url,
                "AUTOTUNE_API_KEY": profile.api_key,
                "AWS_ENDPOINT_URL": profile.aws_endpoint_url,
            }
        )
    )


def founded(profile: LocalProfile, name: str) -> Organization:
    created = command_line_of(profile).read("ops", "create-organization", name)
    own = {"api_key": created["apiKey"], "organization_id": created["organization"]["id"]}
    return Organization(profile.model_copy(update=own))


@pytest.fixture(scope="module")
def demonstrated(profile: LocalProfile, tmp_path_factory: pytest.TempPathFactory) -> Organization:
    """An organisation for which the demo has run."""
    folder = tmp_path_factory.mktemp("demo")
    made = founded(profile, "demonstrated")
    with pytest.MonkeyPatch.context() as patched:
        for name in ("DIRECTORY", "SCORES", "ONE_COMPLETION", "REQUESTS", "REQUEST_IDS"):
            patched.setattr(demo, name, folder / name.lower())
        for name in ("IDS", "LABELS"):
            patched.setattr(demo_deck, name, folder / name.lower())
        demo.DIRECTORY.mkdir()
        demo.score_examples(demo.CommandLine(made.profile))
    return made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as running:
        yield running


def test_every_page_shows_the_demo_to_its_organisation_alone(
    browser: Browser, profile: LocalProfile, demonstrated: Organization
) -> None:
    with reading(browser, demonstrated.link, seconds=PATIENCE) as owner:
        views = []
        for view in owner.views():
            expect(owner.page.locator(".trouble")).to_have_count(0)
            assert owner.page.locator("h1").first.inner_text(), view
            views.append(view)
        assert owner.troubles == []
        assert {page_of(view) for view in views} == set(pages_there_are())
        theirs = owner.ids()

    stranger_to_it = founded(profile, "strangers")
    with reading(browser, stranger_to_it.link, seconds=PATIENCE) as stranger:
        assert stranger.shown_of(theirs, views) == {}
        assert stranger.troubles == []


def test_figures_are_those_of_the_api_and_of_the_tables(
    browser: Browser, demonstrated: Organization
) -> None:
    profile = demonstrated.profile
    stored = verdicts_of(profile)
    with (
        AutotuneClient(base_url=profile.base_url, api_key=profile.api_key) as client,
        reading(browser, demonstrated.link, seconds=PATIENCE) as reader,
    ):

        def counted() -> Bucket | None:
            totals = client.overview.get().totals
            return totals if totals.counts.scored == stored.total() else None

        totals = until(counted, seconds=PATIENCE)
        reader.go("#/")
        shown = dict(
            zip(
                reader.page.locator(".stat dt").all_inner_texts(),
                reader.page.locator(".stat dd:not(.hint)").all_inner_texts(),
                strict=True,
            )
        )
        counts = totals.counts
        assert (shown["Submitted"], totals.submitted) == (str(stored.total()), stored.total())
        assert (shown["Scored"], counts.scored) == (str(stored.total()), stored.total())
        assert [shown["Abstained"], shown["Failed"]] == [str(counts.abstained), str(counts.failed)]
        assert shown["Open completions"] == "0"

        batches = list(client.batches.list())
        assert Counter({one.id: one.counts.scored for one in batches}) == stored
        for batch in batches:
            reader.go(f"#/batches/{batch.id}")
            parts = reader.page.locator(".shares-legend li").all_inner_texts()
            shares = dict(part.split()[:2] for part in parts)
            assert {state: int(number) for state, number in shares.items()} == {
                state: getattr(batch.counts, state) for state in shares
            }
            assert shares.keys() == {"scored", "abstained", "failed", "canceled", "pending"}


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


def page_of(view: str) -> str:
    return view.split("/")[1].partition("?")[0]
