"""The apprentice in the console: each figure is the API's."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from tests.support.apprentice_folding import Apprentice
from tests.support.console import PHONE, overflow
from tests.support.console_apprentice import DAYS, filled_apprentice, newest_run
from tests.support.ledger import ledger as make_ledger

TASKS = "apprentice/tasks"
NOTHING = "\u2013"


@pytest.fixture
def filled(console):
    platform = console.served.platform
    with make_ledger(platform) as ledger:
        yield filled_apprentice(platform, ledger.connect())


def get(console, path, **query):
    answer = console.served.platform.call("GET", f"/api/v1/{path}", query=query)
    assert answer.status == 200, answer.text
    return answer.json


def percent(share):
    """As the page has it: one decimal at most."""
    return f"{100 * share:.1f}".removesuffix(".0") + "%"


def dollars(nano):
    digits = 9 if abs(nano) < 10_000_000 else 4
    text = f"{abs(nano) / 1e9:.{digits}f}".rstrip("0")
    whole, _, fraction = text.partition(".")
    return f"{'-' if nano < 0 else ''}${whole}.{fraction.ljust(2, '0')}"


def cells(page, label):
    """The rows of a table by their heads."""
    box = page.get_by_role("region", name=label, exact=True)
    heads = box.locator("th").all_inner_texts()
    return [
        dict(zip(heads, row.locator("td").all_inner_texts(), strict=True))
        for row in box.locator("tbody tr").all()
    ]


def stats(page):
    return {
        one.locator("dt").inner_text(): one.locator("dd").all_inner_texts()
        for one in page.locator(".stat").all()
    }


def test_tasks_are_listed_with_how_they_get_on(console, filled):
    page = console.open("#/apprentice")
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.locator("tr.skeleton")).to_have_count(0)
    status = get(console, f"{TASKS}/intents/status")["status"]
    serving = next(one for one in status["versions"] if one["number"] == 1)
    day = status["spend"]["periods"][0]
    used = (day["spentNanoUsd"] + day["reservedNanoUsd"]) / day["limitNanoUsd"]
    idle, intents = cells(page, "Tasks of the apprentice")
    assert idle["Who answers"] == "the paid model"
    assert (idle["Agrees"], idle["At least"]) == (NOTHING, NOTHING)
    assert intents == {
        "Task": "intents",
        "Who answers": "version 1",
        "Agrees": percent(serving["agreement"]["mean"]),
        "At least": percent(serving["agreement"]["bound"]),
        "Budget used": percent(used),
        "Saved, 30 days": dollars(status["savings"]["netNanoUsd"]),
        "Alerts": " ".join(one["kind"] for one in status["alerts"]),
    }
    page.get_by_role("link", name="intents").click()
    expect(page.locator("h1")).to_have_text("intents")


def test_a_task_shows_what_the_report_has(console, filled):
    page = console.open("#/apprentice/intents")
    report = get(console, f"{TASKS}/intents/report")["report"]
    status = report["status"]
    serving = next(one for one in status["versions"] if one["number"] == 1)
    expect(page.locator(".stat")).to_have_count(4)
    shown = stats(page)
    assert shown["Phase"] == ["3", "answered by version 1"]
    assert shown["Agrees at least"][0] == percent(serving["agreement"]["bound"])
    assert shown["Checked"][0] == percent(serving["sampling"]["rate"])
    assert shown["Saved"][0] == dollars(status["savings"]["netNanoUsd"])
    assert dollars(status["savings"]["lowNanoUsd"]) in shown["Saved"][1]
    alerts = page.locator(".notice > div").all_inner_texts()
    assert alerts == [one["message"] for one in status["alerts"]]
    assert {one["kind"] for one in status["alerts"]} >= {"budget", "unmonitored"}

    label = page.get_by_role("img", name="Agreement of version 1 by day").get_attribute(
        "aria-label"
    )
    last = report["days"][-1]["versions"]
    assert f"to graduate {percent(0.9)} at the end" in label
    assert [one["version"] for one in last] == [1, 2]
    assert f"of the day {percent(last[0]['mean'])} at the end" in label
    assert f"at least, in all {percent(last[0]['bound'])} at the end" in label

    days = cells(page, "Runs by day")
    assert len(days) == DAYS
    assert days[0]["Day (UTC)"] == report["lastDay"]
    assert int(days[0]["Runs"]) == report["days"][-1]["counts"]["begun"]
    assert int(days[0]["Small model"]) == report["days"][-1]["counts"]["local"]
    first, second = cells(page, "Versions")[::-1]
    assert (first["Stage"], second["Stage"]) == ("serves", "shadow")
    assert first["Agrees"] == percent(serving["agreement"]["mean"])
    meters = page.locator(".meter")
    expect(meters.first).to_contain_text(
        f"of {dollars(status['spend']['periods'][0]['limitNanoUsd'])}"
    )
    expect(meters.nth(1)).to_contain_text("no limit")
    spend = page.locator('section[aria-label="Spend by day"] .facts')
    expect(spend).to_contain_text(dollars(report["totals"]["costChecksNanoUsd"]))
    expect(spend).to_contain_text(dollars(report["savings"]["avoidedNanoUsd"]))


def test_a_task_shows_how_long_it_takes_until_graduation(console, filled):
    page = console.open("#/apprentice/intents")
    estimate = get(console, f"{TASKS}/intents/estimate")["estimate"]
    assert (estimate["prospect"], estimate["version"]) == ("foretold", 2)
    section = page.locator('section[aria-label="How long until graduation"]')
    expect(section).to_contain_text(f"{estimate['pairs']['median']:,} more pairs")
    pairs, cost, day = cells(page, "How long until graduation")
    assert pairs["Half below"] == f"{estimate['pairs']['median']:,}"
    assert cost["Half below"] == dollars(estimate["costNanoUsd"]["median"])
    assert day["1 in 10 below"] == estimate["dates"]["low"]


def test_versions_of_the_configuration_are_listed_with_what_each_says(console, filled):
    page = console.open("#/apprentice/intents/configuration")
    configurations = get(console, f"{TASKS}/intents/configurations")["configurations"]
    latest, first = cells(page, "Versions of the configuration")
    assert (latest["Version"], first["Version"]) == ("2", "1")
    badge = page.get_by_role("row", name=re.compile("^2 ")).locator(".badge")
    expect(badge).to_have_text(["present"])
    assert (latest["Evidence"], first["Evidence"]) == ("stays", "begins")
    assert latest["By"] == configurations[0]["createdBy"]
    shown = page.get_by_role("region", name="Budgets", exact=True)
    expect(shown).to_contain_text('"monthly": "200"')
    question = page.get_by_role("region", name="Question", exact=True)
    expect(question).to_have_text(configurations[0]["configuration"]["promptTemplate"])
    page.get_by_role("link", name="1", exact=True).click()
    expect(shown).not_to_contain_text('"monthly": "200"')
    assert page.url.endswith("#/apprentice/intents/configuration?shown=1")


def test_what_changed_between_two_configurations_is_marked(console, filled):
    page = console.open("#/apprentice/intents/configuration")
    page.get_by_role("link", name="What changed").click()
    changed = page.get_by_role("region", name="What changed in Budgets")
    expect(changed.locator("ins")).to_contain_text(['"200"'])
    heads = page.locator('section[aria-label="From version 1 to 2"] .text-head')
    expect(heads).to_have_text(["Small model", "Budgets", "Training"])
    console.go(page, "#/apprentice/intents/configuration?a=2&b=2")
    expect(page.locator("main")).to_contain_text("No difference.")


def test_another_definition_is_said_to_begin_evidence_anew(console, filled):
    filled.put(systemPrompt="You tell intents apart, in JSON alone.")
    page = console.open("#/apprentice/intents/configuration")
    latest = cells(page, "Versions of the configuration")[0]
    assert (latest["Version"], latest["Evidence"]) == ("3", "begins anew")
    console.go(page, "#/apprentice/intents/versions")
    rows = cells(page, "Versions of the small model")
    assert {row["Evidence"] for row in rows} == {
        "of an earlier definition: it answers another question"
    }
    assert {row["Stage"] for row in rows} == {"not asked"}
    assert {row["Served by"] for row in rows} == {"vLLM"}


def test_versions_say_where_they_are_served_and_how_their_evidence_stands(console, filled):
    page = console.open("#/apprentice/intents/versions")
    versions = get(console, f"{TASKS}/intents/versions")["versions"]
    status = get(console, f"{TASKS}/intents/status")["status"]
    candidate, serving = status["versions"]
    second, first = cells(page, "Versions of the small model")
    assert (second["Stage"], first["Stage"]) == ("shadow", "serves")
    assert [second["Model"], first["Model"]] == [one["model"] for one in versions]
    expect(page.get_by_text("intents-1")).to_have_attribute("title", versions[1]["digest"])
    assert first["Served by"] == "vLLM at https://models.example.com/v1"
    assert first["Evidence"] == (
        f"agrees in {percent(serving['agreement']['mean'])} of {serving['agreement']['pairs']} "
        f"pairs: graduated at pair {serving['graduatedAt']}, "
        f"and is above {percent(serving['agreement']['bound'])}"
    )
    needed = round(candidate["agreement"]["evidenceNeeded"])
    assert f"of the {needed} that it takes to graduate" in second["Evidence"]
    page.get_by_role("link", name="2", exact=True).click()
    expect(page.get_by_text("none: it was registered", exact=True)).to_be_visible()


def test_days_are_chosen_and_stand_in_the_address(console, filled):
    page = console.open("#/apprentice/intents")
    with page.expect_response("**/report?days=7"):
        page.get_by_role("navigation", name="Time").get_by_role("link", name="7 days").click()
    assert page.url.endswith("#/apprentice/intents?days=7")
    current = page.get_by_role("navigation", name="Time").locator("[aria-current]")
    expect(current).to_have_text("7 days")


def test_pairs_are_listed_by_version(console, filled):
    page = console.open("#/apprentice/intents/pairs")
    newest = get(console, f"{TASKS}/intents/pairs", version=1, limit=1)["pairs"][0]
    expect(page.locator("tbody tr")).to_have_count(50)
    row = cells(page, "Pairs")[0]
    assert (row["Pair"], row["Run"]) == (f"{newest['sequence']}", newest["runId"])
    assert row["Score"] == f"{newest['score']:.3f}"
    page.get_by_label("Version", exact=True).select_option("2")
    expect(page.locator("tbody tr")).to_have_count(40)
    assert page.url.endswith("#/apprentice/intents/pairs?version=2")


def test_runs_are_listed_by_day_with_the_way_that_they_went(console, filled):
    page = console.open("#/apprentice/intents/runs")
    runs = get(console, f"{TASKS}/intents/runs", limit=50)["runs"]
    expect(page.locator("tbody tr")).to_have_count(len(runs))
    row = cells(page, "Runs")[0]
    assert (row["Run"], row["State"]) == (runs[0]["id"], "answered")
    assert row["Answered by"] == "version 1"
    assert row["Cost"] == dollars(runs[0]["routing"]["costNanoUsd"])
    page.get_by_label("State", exact=True).select_option("refused")
    expect(page.locator(".empty")).to_contain_text("Nothing that fits on this page")
    assert page.url.endswith("#/apprentice/intents/runs?state=refused")


def test_runs_of_a_day_lead_to_those_of_the_day_before(console, filled):
    today = datetime.fromisoformat(get(console, f"{TASKS}/intents/report")["report"]["lastDay"])
    days = [f"{today - timedelta(days=back):%Y-%m-%d}" for back in range(1, DAYS)]
    page = console.open(f"#/apprentice/intents/runs?day={days[0]}&state=answered")
    for day in days[1:]:
        page.get_by_role("link", name=f"Runs of {day}", exact=True).click()
        expect(page.get_by_label("Day (UTC)", exact=True)).to_have_value(day)
        expect(page.locator("tbody tr")).to_have_count(40)
    assert page.url.endswith(f"#/apprentice/intents/runs?day={day}&state=answered")


def test_a_run_shows_its_input_and_the_way_that_it_went(console, filled):
    run_id = newest_run(filled)
    page = console.open(f"#/apprentice/intents/runs/{run_id}")
    run = get(console, f"apprentice/runs/{run_id}")["run"]
    facts = page.locator(".facts").first
    expect(facts).to_contain_text("version 1")
    expect(facts).to_contain_text(dollars(run["routing"]["costNanoUsd"]))
    body = page.get_by_role("region", name="Input as JSON")
    expect(body).to_contain_text(run["input"]["text"])


def test_a_run_says_why_its_small_model_had_no_answer(console, filled):
    silent = {"phase": 3, "local_version": 1, "local": "unavailable", "local_fault": "timed_out"}
    one = filled.answered(created_at=datetime.now(UTC), **silent)
    filled.store([one])
    page = console.open(f"#/apprentice/intents/runs/{one.id}")
    expect(page.locator(".facts").first).to_contain_text("version 1: unavailable (timed out)")


def test_a_task_without_runs_says_what_is_next(console, filled):
    page = console.open("#/apprentice/idle")
    expect(page.locator("main")).to_contain_text("50 more answers of the paid model are needed")
    expect(page.locator("main")).to_contain_text("0 of the 50 examples")
    console.go(page, "#/apprentice/idle/pairs")
    expect(page.locator(".empty")).to_contain_text("No versions")
    console.go(page, "#/apprentice/idle/versions")
    expect(page.locator(".empty")).to_contain_text("autotune apprentice versions register idle")


def test_a_task_that_is_not_there_is_a_problem(console, filled):
    page = console.open("#/apprentice/another")
    expect(page.locator(".trouble").first).to_contain_text("another")


def test_on_a_phone_nothing_is_wider_than_the_page(console, filled):
    page = console.open("#/apprentice/intents", viewport=PHONE)
    expect(page.locator(".stat")).to_have_count(4)
    assert overflow(page) == 0


def test_a_task_with_a_gate_says_what_its_version_is_sure_of(console):
    platform = console.served.platform
    with make_ledger(platform) as ledger:
        made = Apprentice(platform, ledger.connect())
        made.put(local={"backend": "linear", "gate": "confidence"})
        gate = {"confidence": 0.8, "coverage": 0.9, "least_coverage": 0.77}
        made.add_version(1, backend="linear", gate=gate)
        now = datetime.now(UTC)
        asked = {"local_version": 1, "created_at": now}
        made.store(made.answered(1, local_confidence=0.9, **asked) for _ in range(30))
        unsure = {"local": "unsure", "local_confidence": 0.2, "escalated": True, "phase": 3}
        made.store(made.answered(**unsure, is_drawn=False, **asked) for _ in range(10))
        made.follow()

    page = console.open("#/apprentice/intents")
    expect(page.get_by_role("heading", name="Gate", exact=True)).to_be_visible()
    found = stats(page)
    assert found["Sure of"][0] == "75%"
    assert "90% of the hold-out" in found["Sure of"][1]
    assert "below 77%" in found["Sure of"][1]
    assert found["Escalated"][0] == "25%"
    assert found["Agrees where it answers"][0] == "100%"
    assert found["Asks for a confidence of"][0] == "80%"
    assert overflow(page) == 0
