"""The apprentice in the console on the deployed stack: each figure is the API's."""

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from autotune_platform.apprentice.runs.repository import RunRepository
from local.records import LocalProfile
from tests.e2e.conftest import until
from tests.e2e.demonstrated import Organization, founded
from tests.e2e.figures_of_apprentice import APPRENTICE
from tests.e2e.stored_runs import add_version, answered, apprentice_table
from tests.support.apprentice import configuration
from tests.support.page_figures import Shown, differences
from tools.browser import launched
from tools.console_views import reading

RUNS = 60
# The first request of each function starts it, and other tests run beside this one.
PATIENCE = 60
LATE_SECONDS = 10


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as running:
        yield running


@pytest.fixture(scope="module")
def taught(profile: LocalProfile) -> Organization:
    """An organisation with a task that has a version in shadow, with evidence."""
    made = founded(profile, "taught")
    organization_id = made.profile.organization_id
    with made.client() as client:
        connection = client.llm.connections.create(
            name="teacher",
            provider="simulated",
            base_url="http://127.0.0.1:9/v1",
            prices={"small": {"input_usd": "0.1", "output_usd": "0.4"}},
        )
        asked = configuration(connection.id)
        client.apprentice_tasks.put("intents", configuration=asked)
        task = client.apprentice_tasks.put(
            "intents", configuration={**asked, "budgets": {"monthly": "20"}}
        )
        table = apprentice_table(profile)
        add_version(table, task, organization_id)
        runs = RunRepository(table)
        for place in range(RUNS):
            assert runs.add(answered(task, organization_id, float(place % 12 > 0)))
        pairs = client.apprentice_tasks.pairs
        until(lambda: len(list(pairs("intents", version=1))) == RUNS, seconds=PATIENCE)
    return made


def test_figures_are_those_of_the_api(browser: Browser, taught: Organization) -> None:
    found = {}
    with reading(browser, taught.link, seconds=PATIENCE) as reader:

        def compared(address: str) -> list[str]:
            shown = Shown.on(reader.page)
            return [
                one
                for part in APPRENTICE[address]
                for one in differences(shown, part, taught.answer(part.asks))
            ]

        for address in APPRENTICE:
            reader.go(address)
            ends = time.monotonic() + LATE_SECONDS
            while (wrong := compared(address)) and time.monotonic() < ends:
                reader.page.wait_for_timeout(250)
            if wrong:
                found[address] = wrong
        assert found == {}
        assert reader.troubles == []
