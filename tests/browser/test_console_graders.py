"""Graders in the console: registered, verified, tried, and their figures as the API has them."""

import pytest
from playwright.sync_api import expect

from autotune_platform.judging.human.models import Preliminary
from autotune_platform.verdicts.models import Opinion
from tests.support.console import settled
from tests.support.console_figures import duration, figures_of, percent, score, stat, texts_of
from tests.support.history import scored
from tests.support.http_faults import Fault
from tests.support.reviews import Reviewing

MIXED = [
    *({"metadata": {"value": value}} for value in (0.0, 0.25, 1.0)),
    {"metadata": {"outcome": "abstained"}},
    {"metadata": {"outcome": "failed"}},
]


@pytest.fixture
def grader_id(console):
    """Have two versions of a grader judge, a day apart."""
    served = console.served
    task_id = served.new_task()
    scored(served.platform, task_id, *MIXED, hours_ago=30)
    served.grader.version = "2.0.0"
    scored(served.platform, task_id, {"metadata": {"value": 0.5}})
    served.platform.probe_graders()
    return served.grader_id


def read(console, path, **query):
    return console.served.platform.call("GET", f"/api/v1/graders/{path}", query=query).json


def test_a_grader_is_registered_verified_and_given_a_new_secret(console):
    grader = console.served.grader
    page = console.open("#/graders")
    expect(page.locator(".empty")).to_contain_text("autotune graders register --name")
    page.get_by_role("button", name="New grader").click()
    page.get_by_label("Name", exact=True).fill("of letters")
    page.get_by_label("Endpoint", exact=True).fill("https://127.0.0.1:1/x?y=1")
    page.get_by_role("button", name="Register").click()
    expect(page.locator("dialog .trouble")).to_contain_text("endpoint")
    page.get_by_label("Endpoint", exact=True).fill(grader.url)
    page.get_by_label("Most completions of one request", exact=True).fill("50")
    page.get_by_role("button", name="Register").click()
    expect(page.locator("dialog h2")).to_contain_text("secret")
    first = page.locator("dialog .copy code").inner_text()
    assert first == grader.secret
    page.get_by_role("button", name="I have it").click()
    expect(page.locator("h1")).to_have_text("of letters")
    (made,) = console.served.platform.call("GET", "/api/v1/graders").json["graders"]
    assert page.url.endswith(f"#/graders/{made['id']}")
    assert made["capabilities"]["maxBatchSize"] == 50
    expect(stat(page, "Status")).to_have_text("inactive")

    page.get_by_role("button", name="Verify").click()
    page.locator("dialog").get_by_role("button", name="Verify").click()
    expect(page.locator("dialog h2")).to_have_text("It is verified")
    checks = page.locator(".checks li")
    assert checks.count() > 3
    expect(checks.locator('[data-tone="good"]')).to_have_count(checks.count())
    page.get_by_role("button", name="Close").click()
    expect(stat(page, "Status")).to_have_text("active")

    page.get_by_role("button", name="New secret").click()
    page.locator("dialog").get_by_role("button", name="New secret").click()
    expect(page.get_by_role("button", name="I have it")).to_be_visible()
    second = page.locator("dialog .copy code").inner_text()
    assert second not in {first, ""}
    page.get_by_role("button", name="I have it").click()
    expect(page.locator(".facts")).to_contain_text("The old secret is valid until")
    assert second not in page.content()

    grader.secret = "of somebody else"
    page.get_by_role("button", name="Verify").click()
    page.locator("dialog").get_by_role("button", name="Verify").click()
    expect(page.locator("dialog h2")).to_have_text("It is not verified")
    expect(page.locator('.checks [data-tone="trouble"]').first).to_be_visible()


def test_a_builtin_grader_has_no_secret(console):
    page = console.open("#/graders")
    page.get_by_role("button", name="New grader").click()
    page.get_by_label("Name", exact=True).fill("equality")
    page.get_by_label("Kind", exact=True).select_option("builtin")
    page.get_by_label("Configuration", exact=True).fill("{")
    page.get_by_role("button", name="Register").click()
    expect(page.locator("dialog .trouble")).to_contain_text("valid JSON")
    page.get_by_label("Configuration", exact=True).fill('{"type": "exact_match"}')
    page.get_by_role("button", name="Register").click()
    expect(page.locator("dialog .trouble")).to_contain_text("reference")
    page.get_by_label("Configuration", exact=True).fill(
        '{"type": "exact_match", "reference": "42"}'
    )
    page.get_by_role("button", name="Register").click()
    expect(page.locator("h1")).to_have_text("equality")
    page.get_by_text("Configuration").click()
    expect(page.get_by_role("region", name="Configuration")).to_contain_text('"reference": "42"')
    expect(page.get_by_role("button", name="New secret")).to_have_count(0)


def test_health_and_figures_are_the_apis_by_window_and_version(console, grader_id):
    before = len(console.served.received)
    page = console.open(f"#/graders/{grader_id}")
    paths = [one.path.removeprefix("/api/v1/") for one in console.served.received[before:]]
    parts = [f"graders/{grader_id}{part}" for part in ("", "/health", "/stats", "/usage")]
    own = [path for path in paths if path.startswith(("graders", "reviews"))]
    assert sorted(own) == [*parts, "reviews/agreement"]
    health = read(console, f"{grader_id}/health")["health"]
    expect(stat(page, "Status")).to_have_text(health["status"])
    expect(stat(page, "Circuit")).to_have_text(health["circuit"]["state"])
    expect(stat(page, "Last probe")).to_have_text(health["lastProbe"]["outcome"])
    expect(stat(page, "Probe latency")).to_have_text(duration(health["lastProbe"]["latencyMs"]))
    usage = read(console, f"{grader_id}/usage")
    expect(stat(page, "Used this month")).to_have_text(str(usage["total"]))

    for window, count in (("24h", 24), ("7d", 7), ("30d", 30)):
        page.get_by_role("link", name=window.replace("h", " hours").replace("d", " days")).click()
        found = read(console, f"{grader_id}/stats", window=window)
        rows = figures_of(page, "Verdicts", count=count)
        states = ("scored", "abstained", "failed")
        assert [row[1:] for row in rows] == [
            [str(one["counts"][state]) for state in states] for one in found["overTime"]["buckets"]
        ]
        assert figures_of(page, "Scores over time", count=count)[-1][1:] == [
            str(one) for one in found["overTime"]["buckets"][-1]["scoreDistribution"]
        ]
        same_figures(page, found)
    page.get_by_role("link", name="all time").click()
    expect(page.locator(".lines")).to_have_count(0)
    found = read(console, f"{grader_id}/stats")
    same_figures(page, found)
    page.get_by_role("region", name="By version", exact=True).get_by_role(
        "link", name="1.0.0"
    ).click()
    expect(stat(page, "Scored")).to_have_text("3")
    same_figures(page, read(console, f"{grader_id}/stats", version="1.0.0"))
    assert "version=1.0.0" in page.url


def same_figures(page, found):
    """Compare the figures of a page with an answer."""
    for label in ("Scored", "Abstained", "Failed"):
        expect(stat(page, label)).to_have_text(str(found["counts"][label.lower()]))
    expect(stat(page, "p50 latency")).to_have_text(duration(found["p50LatencyMs"]))
    expect(stat(page, "Error rate")).to_have_text(percent(found["errorRate"]))
    in_all = figures_of(page, "Scores", count=20)
    assert [int(row[1]) for row in in_all] == found["scoreDistribution"]
    rows = page.get_by_role("region", name="By version", exact=True).locator("tbody tr")
    assert [row[:3] for row in texts_of(rows)] == [
        [one["version"], str(one["counts"]["scored"]), score(one["avgScore"])]
        for one in found["versions"]
    ]


def test_one_completion_is_tried(console):
    served = console.served
    page = console.open(f"#/graders/{served.grader_id}")
    page.get_by_role("button", name="Try one completion").click()
    expect(page.locator("dialog .empty")).to_contain_text(f"--grader {served.grader_id}")
    page.get_by_role("button", name="Close").click()
    task_id = served.new_task("letters")
    page.get_by_role("button", name="Try one completion").click()
    expect(page.get_by_label("Task", exact=True)).to_have_value(task_id)
    page.get_by_label("Prompt", exact=True).fill("What is 6 times 7?")
    page.get_by_label("Response", exact=True).fill("42")
    page.get_by_label("Metadata", exact=True).fill("nothing")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("dialog .trouble")).to_contain_text("valid JSON")
    page.get_by_label("Metadata", exact=True).fill('{"value": 0.75}')
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("dialog .facts")).to_contain_text("scored")
    expect(page.locator("dialog .facts")).to_contain_text("0.750")
    (made,) = served.stored()
    assert (made.prompt, made.response) == ("What is 6 times 7?", "42")
    link = page.locator("dialog").get_by_role("link", name="Its whole way")
    expect(link).to_have_attribute("href", f"#/completions/{made.id}")
    page.get_by_role("button", name="Close").click()

    page.get_by_role("button", name="Try one completion").click()
    page.get_by_label("Prompt", exact=True).fill("p")
    page.get_by_label("Response", exact=True).fill("r")
    page.get_by_label("Metadata", exact=True).fill('{"outcome": "failed"}')
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("dialog .facts")).to_contain_text("item_failed")


def test_where_tasks_are_many_the_one_to_try_with_is_entered(console):
    served = console.served
    task_id = served.new_task("letters")
    some = b'{"tasks": [], "nextToken": "more"}'
    fault = Fault("GET /api/v1/tasks$", status=200, body=some, content_type="application/json")
    served.misbehave(fault)
    page = console.open(f"#/graders/{served.grader_id}")
    page.get_by_role("button", name="Try one completion").click()
    # A choice stands in its place until it is known that there are too many.
    page.locator("dialog input[name=taskId]").fill(task_id)
    page.get_by_label("Prompt", exact=True).fill("p")
    page.get_by_label("Response", exact=True).fill("r")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("dialog .facts")).to_contain_text("scored")
    (made,) = served.stored()
    assert made.task_id == task_id


def test_a_grader_leads_to_what_it_decided(console, grader_id):
    platform = console.served.platform
    other = console.served.new_task(grader_id=console.served.new_grader())
    scored(platform, other, {"metadata": {"value": 1.0}})
    owner = platform.new_key("grader_owner", principal_id=platform.me()["principalId"])
    for api_key in (None, owner):
        page = console.open(f"#/graders/{grader_id}", api_key=api_key)
        page.get_by_role("link", name="Its completions").click()
        rows = page.locator("main tbody tr")
        expect(rows).to_have_count(6)
        page.get_by_label("Grader", exact=True).fill("")
        page.keyboard.press("Enter")
        expect(rows).to_have_count(7)
        expect(page.get_by_label("Grader", exact=True)).to_have_count(0)


def test_agreement_with_people_is_that_of_those_who_did_not_look(console, grader_id):
    page = console.open(f"#/graders/{grader_id}?window=24h")
    expect(page.locator(".empty")).to_contain_text("No person answered what it scored")
    reviewing = Reviewing(console.served.platform)
    for value, answer in ((0.9, 0.8), (0.1, 0.1), (0.5, 0.9)):
        opinion = Opinion(
            grader_id=grader_id, grader_version="2.0.0", weight=1.0, state="scored", value=value
        )
        preliminary = Preliminary(state="scored", value=value, opinions=[opinion])
        review_id = reviewing.request(preliminary=preliminary, graders=[grader_id])
        reviewing.answer(review_id, answer, api_key=reviewing.anna)
    page.reload()
    for window, days in (("24h", "1d"), ("7d", "7d"), ("all", "90d")):
        console.go(page, f"#/graders/{grader_id}?window={window}")
        found = reviewing.agreement(graderId=grader_id, window=days)
        assert found["pairs"] == 3
        expect(stat(page, "Compared")).to_have_text("3")
        expect(stat(page, "Same score")).to_have_text(percent(found["shareWithinTolerance"]))
        expect(stat(page, "Mean difference")).to_have_text(score(found["meanAbsoluteDifference"]))
        expect(stat(page, "Weighted kappa")).to_have_text(score(found["weightedKappa"]))
        said = page.locator("section", has=page.get_by_role("heading", name="Agreement"))
        expect(said).to_contain_text(
            f"reviews {'today' if days == '1d' else f'of {days[:-1]} days'}"
        )


def test_roles_see_what_they_may_and_strangers_what_is_public(console, grader_id):
    platform = console.served.platform
    operator = console.open(f"#/graders/{grader_id}", api_key=platform.new_key("training_operator"))
    expect(operator.get_by_role("button", name="Try one completion")).to_be_visible()
    for name in ("Verify", "New secret"):
        expect(operator.get_by_role("button", name=name)).to_have_count(0)
    expect(operator.locator(".trouble")).to_have_count(0)
    console.go(operator, "#/graders")
    expect(operator.get_by_role("button", name="New grader")).to_have_count(0)

    owner = console.open("#/graders", api_key=platform.new_key("grader_owner"))
    expect(owner.locator(".empty")).to_contain_text("No graders")
    expect(owner.get_by_role("button", name="New grader")).to_be_visible()
    stranger = platform.new_organization("strangers")
    other = console.open(f"#/graders/{grader_id}", api_key=stranger)
    expect(other.locator(".trouble")).to_contain_text("no grader")
    platform.call("PATCH", f"/api/v1/graders/{grader_id}", {"visibility": "public"})
    other.reload()
    settled(other)
    expect(other.locator(".empty")).to_contain_text("Its figures are its owner")
    expect(other.locator("main")).not_to_contain_text(console.served.grader.url)
    expect(other.get_by_role("button", name="Verify")).to_have_count(0)
