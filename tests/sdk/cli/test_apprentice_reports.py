"""``autotune apprentice status``, ``report`` and ``estimate``."""

from datetime import UTC, datetime

import pytest

from autotune.cli import exit_codes
from tests.support.apprentice_folding import Apprentice
from tests.support.ledger import ledger as make_ledger


@pytest.fixture
def apprentice(api):
    """A task with a version in shadow, which agreed in 94 of 100 pairs."""
    with make_ledger(api.platform) as ledger:
        made = Apprentice(api.platform, ledger.connect())
        made.add_version(1)
        scores = [0.0 if place % 17 == 0 else 1.0 for place in range(100)]
        made.store(made.answered(score, created_at=datetime.now(UTC)) for score in scores)
        made.follow()
        yield made


def table(ran):
    """Lines of cells, which are apart by two spaces at least."""
    lines = (line.split("  ") for line in ran.stdout.splitlines())
    return [[cell.strip() for cell in line if cell.strip()] for line in lines]


def test_each_task_has_a_line(run, apprentice):
    ran = run("apprentice", "status")
    heads, line = table(ran)
    shown = dict(zip(heads, line, strict=False))
    assert (shown["NAME"], shown["PHASE"]) == ("intents", "2")
    (status,) = run("apprentice", "status", "--json").json_lines
    agreement = status["versions"][0]["agreement"]
    assert f"{agreement['mean']:.1%}" in line
    assert f"{agreement['bound']:.1%}" in line


def test_a_tasks_standing_is_printed(run, apprentice):
    ran = run("apprentice", "status", "intents")
    assert ran.exit_code == 0
    (status,) = run("apprentice", "status", "intents", "--json").json_lines
    agreement = status["versions"][0]["agreement"]
    assert agreement["mean"] == 0.94
    said = " ".join(ran.stdout.split())
    assert "version 1 shadow; agrees 94.0% of 100 pairs, at least" in said
    assert f"at least {agreement['bound']:.1%} (0.975 sure)" in said
    assert "100.0% checked (not graduated)" in said
    assert "examples 100 of 50" in said
    assert "0 spent, 0 reserved" in said


def test_a_report_has_a_line_a_day(run, apprentice):
    ran = run("apprentice", "report", "intents", "--days", "3")
    assert ran.exit_code == 0
    today = datetime.now(UTC).date().isoformat()
    line = next(line for line in table(ran) if line[:1] == [today] and len(line) > 3)
    assert line[:4] == [today, "100", "0", "100"]
    assert "1: 94.0%" in line
    (report,) = run("apprentice", "report", "intents", "--days", "3", "--json").json_lines
    assert report["totals"]["begun"] == 100
    assert run("apprentice", "report", "intents", "--days", "91").exit_code == 2


def test_an_estimate_says_how_long_it_takes(run, apprentice):
    ran = run("apprentice", "estimate", "intents")
    (estimate,) = run("apprentice", "estimate", "intents", "--json").json_lines
    assert estimate["prospect"] == "foretold"
    lines = table(ran)
    pairs = estimate["pairs"]
    assert ["pairs", *(str(pairs[name]) for name in ("low", "median", "high"))] in lines
    assert ["day", *(estimate["dates"][name] for name in ("low", "median", "high"))] in lines
    assert " ".join(ran.stdout.split()).startswith(estimate["message"])


def test_a_report_is_sent_to_webhooks(run, api, apprentice):
    ran = run("apprentice", "report", "intents", "--send")
    (sent,) = run("apprentice", "report", "intents", "--send", "--json").json_lines
    stored = {one["dynamodb"]["Keys"]["sk"]["S"] for one in api.platform.stored_events()}
    assert stored == {f"event#{ran.last_line}", f"event#{sent['eventId']}"}


def test_without_a_name_each_task_has_a_line_of_what_became_of_it(run, apprentice):
    heads, line = table(run("apprentice", "report", "--days", "7"))
    shown = dict(zip(heads, line, strict=False))
    assert (shown["NAME"], shown["RUNS"], shown["REMOTE"]) == ("intents", "100", "100")
    (report,) = run("apprentice", "report", "--json").json_lines
    assert report["totals"]["begun"] == 100
    assert run("apprentice", "report", "--send").exit_code == exit_codes.USAGE
