"""Trainings and the life of a version in the console: each figure is the API's."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from autotune_platform.apprentice.training.items import training_key, trainings_of
from autotune_platform.apprentice.versions.repository import VersionRepository
from tests.support.apprentice_folding import Apprentice
from tests.support.console_apprentice import SERVED
from tests.support.console_figures import percent
from tests.support.console_trainings import (
    GIVEN_UP,
    HOSTED,
    NAME,
    RUNNING,
    WORSE,
    filled_trainings,
    under_way_in_a_job,
)
from tests.support.executions import inputs_of
from tests.support.lambdas import LambdaContext, handler
from tests.support.ledger import ledger as make_ledger

TASK = f"apprentice/tasks/{NAME}"
NOTHING = "\u2013"


@pytest.fixture
def connection(console):
    with make_ledger(console.served.platform) as ledger:
        yield ledger.connect()


@pytest.fixture
def trained(console, connection):
    return filled_trainings(console.served.platform, connection)


def get(console, path):
    answer = console.served.platform.call("GET", f"/api/v1/{path}")
    assert answer.status == 200, answer.text
    return answer.json


def facts(page, section):
    """Names and values of a section, by its title."""
    box = page.get_by_role("region", name=section, exact=True)
    expect(box).to_be_visible()
    return dict(
        zip(
            box.locator("dt").all_inner_texts(),
            box.locator("dd:not(.hint)").all_inner_texts(),
            strict=True,
        )
    )


def test_trainings_are_listed_with_their_test_and_why_no_version_came(console, trained):
    page = console.open(f"#/apprentice/{NAME}/trainings")
    box = page.get_by_role("region", name="Trainings", exact=True)
    expect(box.locator("tbody tr")).to_have_count(RUNNING)
    rows = [row.locator("td").all_inner_texts() for row in box.locator("tbody tr").all()]
    running, failed, worse, hosted, lacking = [row[:-2] for row in rows]
    assert running == ["5", "running", *[NOTHING] * 5, "learns"]
    assert failed[-1] == "Autotune could not go on"
    assert worse[:-1] == ["3", "discarded", "1,620", "180", "91.2%", "87.4%", "2 / 120"]
    assert worse[-1] == (
        "its mean agreement is not shown to be above 90%; "
        "it is not shown to be as good as version 1, but for 3%"
    )
    assert hosted == ["2", "hosted", "1,620", "180", "96.5%", "93.1%", "812 / 40", "version 1"]
    assert lacking[-1] == "too few examples: 31 of 50 to learn from, 4 of 22 held out"
    status = get(console, f"{TASK}/status")["status"]
    needed = status["nextTraining"]["examplesNeeded"]
    expect(page.locator(".note").last).to_have_text(
        f"The next one begins by itself at {needed:,} examples; there are {status['examples']}."
    )
    train = page.get_by_role("button", name="Train now", exact=True)
    expect(train).to_be_disabled()
    expect(train).to_have_accessible_description(
        "Training 5 is under way; a task has one at a time."
    )


def test_a_training_shows_its_data_its_test_and_its_model(console, trained):
    page = console.open(f"#/apprentice/{NAME}/trainings/{WORSE}")
    training = get(console, f"{TASK}/trainings/{WORSE}")["training"]
    data = facts(page, "Data")
    assert data["SHA-256 of what it learned from"] == training["data"]["trainSha256"]
    assert data["SHA-256 of what judges it"] == training["data"]["holdoutSha256"]
    assert facts(page, "Model")["SHA-256"] == training["model"]["sha256"]
    test = facts(page, "Test")
    assert (test["Agrees"], test["At least"], test["Evidence"]) == ("91.2%", "87.4%", "2")
    assert test["Judged under this definition"] == "1 before it, so it has to show more"
    assert test["Beside"] == "version 1, which served: not shown to be as good, but for 3%"
    assert test["Power"] == "41.2% to pass if both were equal; 390 groups make it 80 %"
    console.go(page, f"#/apprentice/{NAME}/trainings/1")
    assert facts(page, "What it lacked")["Held out"].startswith("4 of the 22 inputs")


def test_a_versions_life_is_on_one_page(console, trained):
    page = console.open(f"#/apprentice/{NAME}/versions")
    page.get_by_role("region", name="Versions of the small model", exact=True).get_by_role(
        "link", name="1", exact=True
    ).click()
    life = page.get_by_role("list", name="Its life", exact=True)
    expect(life.locator(".timeline-title")).to_have_text(
        ["Training 2 began", "It became version 1", "It graduates"]
    )
    status = get(console, f"{TASK}/status")["status"]
    agreement = status["versions"][0]["agreement"]
    beside = facts(page, "Beside the paid model")
    assert beside["Agrees"] == f"{100 * agreement['mean']:.1f}".removesuffix(".0") + "%"
    assert facts(page, "Test")["At least"] == "93.1%"
    training = get(console, f"{TASK}/trainings/{HOSTED}")["training"]
    assert facts(page, "Model")["SHA-256"] == training["model"]["sha256"]
    expect(page.get_by_text(f"autotune apprentice certificate {NAME} 1 --verify")).to_be_visible()
    signed = get(console, f"{TASK}/versions/1/certificate")["certificate"]
    certified = facts(page, "Certificate")
    assert certified["Hash of the data"] == signed["certificate"]["data"]["sha256"]
    assert certified["Test"] == "agrees in more than 93.1% of 171 groups of inputs"
    page.get_by_role("link", name="pairs of version 1", exact=True).click()
    expect(page.get_by_label("Version", exact=True)).to_have_value("1")


def test_a_version_in_its_canary_shows_how_far_it_has_come(console, trained):
    now = datetime.now(UTC)
    trained.store(trained.answered(1.0, created_at=now) for _ in range(200))
    trained.follow()
    status = get(console, f"{TASK}/status")["status"]
    canary = status["versions"][0]["canary"]
    page = console.open(f"#/apprentice/{NAME}/versions/1")
    life = page.get_by_role("list", name="Its life", exact=True)
    expect(life.locator(".timeline-title").nth(2)).to_have_text("It answers 25% of all inputs")
    expect(life.locator(".timeline-title")).to_have_count(4)
    expect(life).to_contain_text(
        f"step 1 of 2: {canary['pairs']} of {canary['pairsNeeded']} answers were checked"
    )
    expect(life.locator(".timeline-title").last).to_have_text("It answers more")


def test_a_versions_life_says_how_far_it_came_and_why_it_went_back(console, trained):
    for score, number in ((1.0, 200), (0.0, 40)):
        now = datetime.now(UTC)
        trained.store(trained.answered(score, created_at=now) for _ in range(number))
        trained.follow()
    changes = get(console, f"{TASK}/versions/1")["version"]["changes"]
    assert [one["kind"] for one in changes[:3]] == ["canary_began", "alarm", "canary_rolled_back"]
    page = console.open(f"#/apprentice/{NAME}/versions/1")
    life = page.get_by_role("list", name="Its life", exact=True)
    for place, title in enumerate(
        ["It answers 25% of all inputs", "It raised an alarm", "Its canary was ended"], start=2
    ):
        expect(life.locator(".timeline-title").nth(place)).to_have_text(title)
    expect(life).to_contain_text(f"it graduated at pair {changes[0]['sequence']}")
    mean = percent(changes[1]["meanAgreement"])
    expect(life).to_contain_text(
        f"at pair {changes[1]['sequence']}; it agrees in {mean} of its last pairs"
    )


def test_a_versions_life_has_the_order_of_its_pairs(console, trained):
    """Pairs of runs that were counted late have earlier dates than those before them."""
    now = datetime.now(UTC)
    trained.store(trained.answered(1.0, created_at=now) for _ in range(200))
    trained.follow()
    versions = VersionRepository(trained.table)
    [began] = versions.changes(trained.task.id, 1, limit=10)
    for sequence, kind, seconds in (
        (1, "canary_began", -20),
        (2, "alarm", -40),
        (2, "canary_rolled_back", -40),
        (began.sequence, "coverage", 20),
    ):
        at = began.at + timedelta(seconds=seconds)
        other = began.model_copy(update={"sequence": sequence, "kind": kind, "at": at})
        assert trained.evidence.write([trained.evidence.change(other)]) is None
    page = console.open(f"#/apprentice/{NAME}/versions/1")
    life = page.get_by_role("list", name="Its life", exact=True)
    expect(life.locator(".timeline-title")).to_have_text(
        [
            "Training 2 began",
            "It became version 1",
            "It answers 25% of all inputs",
            "It raised an alarm",
            "Its canary was ended",
            "It answers 25% of all inputs",
            "It is sure of fewer inputs",
            "It answers more",
        ]
    )


def test_an_operator_ends_a_canary(console, trained):
    now = datetime.now(UTC)
    trained.store(trained.answered(1.0, created_at=now) for _ in range(200))
    trained.follow()
    page = console.open(f"#/apprentice/{NAME}/versions/1")
    expect(page.get_by_role("button", name="Promote", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Retire", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Go back", exact=True).click()
    back = page.get_by_role("dialog", name="Go back from version 1?", exact=True)
    expect(back).to_contain_text("Its canary ends, and it is retired for good.")
    back.get_by_role("button", name="Go back", exact=True).click()
    life = page.get_by_role("list", name="Its life", exact=True)
    expect(life.locator(".timeline-title").last).to_have_text("It was rolled back")
    version = get(console, f"{TASK}/versions/1")["version"]
    assert (version["state"], version["wasCanary"]) == ("retired", True)


def test_an_operator_promotes_a_version_and_takes_it_out(console, trained):
    platform = console.served.platform
    operator = platform.new_key("training_operator")
    now = datetime.now(UTC)
    trained.store(trained.answered(1.0, created_at=now) for _ in range(200))
    trained.follow()
    page = console.open(f"#/apprentice/{NAME}/versions/1", api_key=operator)
    page.get_by_role("button", name="Promote", exact=True).click()
    dialog = page.get_by_role("dialog", name="Promote version 1?", exact=True)
    dialog.get_by_role("button", name="Promote", exact=True).click()
    life = page.get_by_role("list", name="Its life", exact=True)
    expect(life.locator(".timeline-title").last).to_have_text("It was promoted")
    version = get(console, f"{TASK}/versions/1")["version"]
    assert version["promotedBy"] == platform.me(operator)["id"]
    # There is none before it, and the API says so.
    page.get_by_role("button", name="Go back", exact=True).click()
    back = page.get_by_role("dialog", name="Go back from version 1?", exact=True)
    back.get_by_role("button", name="Go back", exact=True).click()
    expect(back.get_by_role("alert")).to_be_visible()
    back.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Retire", exact=True).click()
    out = page.get_by_role("dialog", name="Retire version 1?", exact=True)
    out.get_by_role("button", name="Retire", exact=True).click()
    expect(life.locator(".timeline-title").last).to_have_text("It was retired")
    expect(page.get_by_role("button", name="Retire", exact=True)).to_have_count(0)


def test_a_training_that_runs_is_canceled(console, trained):
    page = console.open(f"#/apprentice/{NAME}/trainings/{RUNNING}")
    page.get_by_role("button", name="Cancel training", exact=True).click()
    dialog = page.get_by_role("dialog", name=f"Cancel training {RUNNING}?", exact=True)
    dialog.get_by_role("button", name="Cancel training", exact=True).click()
    expect(page.get_by_text("it was canceled", exact=True)).to_be_visible()
    assert get(console, f"{TASK}/trainings/{RUNNING}")["training"]["error"] == "canceled"
    expect(page.get_by_role("button", name="Cancel training", exact=True)).to_have_count(0)


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ("train", "Its job is stopped within a minute, and paid for as far as it came."),
        ("verify", "nobody has looked at what it left, which is deleted."),
        ("deploy", "nobody judged, is kept for 30 days, and may be hosted until then."),
    ],
)
def test_canceling_says_what_becomes_of_a_job_and_its_model(console, trained, step, says):
    under_way_in_a_job(trained, RUNNING, step=step)
    page = console.open(f"#/apprentice/{NAME}/trainings/{RUNNING}")
    page.get_by_role("button", name="Cancel training", exact=True).click()
    dialog = page.get_by_role("dialog", name=f"Cancel training {RUNNING}?", exact=True)
    expect(dialog).to_contain_text(says)
    expect(dialog).to_contain_text("No version comes of it.")


def test_the_model_of_a_canceled_training_may_be_hosted(console, trained):
    under_way_in_a_job(trained, RUNNING, step="deploy")
    page = console.open(f"#/apprentice/{NAME}/trainings/{RUNNING}")
    page.get_by_role("button", name="Cancel training", exact=True).click()
    dialog = page.get_by_role("dialog", name=f"Cancel training {RUNNING}?", exact=True)
    dialog.get_by_role("button", name="Cancel training", exact=True).click()
    expect(page.get_by_role("button", name="Host its model", exact=True)).to_be_visible()
    training = get(console, f"{TASK}/trainings/{RUNNING}")["training"]
    assert (training["error"], training["modelKeptUntil"] is None) == ("canceled", False)


def test_the_training_that_has_a_model_is_named(console, trained):
    key = (trainings_of(trained.task.id), training_key(GIVEN_UP))
    trained.table.update(*key, {"model_taken_by": RUNNING, "error": "not_hosted"})
    page = console.open(f"#/apprentice/{NAME}/trainings/{GIVEN_UP}")
    said = f"SageMaker does not host what was trained; training {RUNNING} has its model"
    expect(page.get_by_text(said, exact=True)).to_be_visible()
    page.get_by_role("link", name=f"training {RUNNING}", exact=True).click()
    expect(page.get_by_text(f"Training {RUNNING}", exact=True)).to_be_visible()


def test_examples_are_counted_listed_and_deleted(console, connection):
    platform = console.served.platform
    Apprentice(platform, connection, NAME)
    lines = [
        {"input": {"text": f"card {number} is lost"}, "output": {"intent": "lost_card"}}
        for number in range(3)
    ]
    body = "\n".join(map(json.dumps, lines)).encode()
    assert platform.call("POST", f"/api/v1/{TASK}/examples", raw=body).status == 201
    page = console.open(f"#/apprentice/{NAME}/examples")
    box = page.get_by_role("region", name="Examples", exact=True)
    expect(box.locator("tbody tr")).to_have_count(3)
    counts = get(console, f"{TASK}/examples/counts")["counts"]
    shown = dict(
        zip(
            page.locator(".stat dt").all_inner_texts(),
            page.locator(".stat dd:not(.hint)").all_inner_texts(),
            strict=True,
        )
    )
    sides = counts["sides"]
    assert shown == {
        "Examples": "3",
        "Learned from": str(sides["train"]),
        "Held out": str(sides["holdout"]),
        "Neither": str(sides["neither"]),
    }
    first = box.locator("tbody tr").first
    expect(first).to_contain_text('{"intent":"lost_card"}')
    first.get_by_role("button", name="Delete", exact=True).click()
    dialog = page.get_by_role("dialog", name="Delete this example?", exact=True)
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(box.locator("tbody tr")).to_have_count(2)
    assert get(console, f"{TASK}/examples/counts")["counts"]["examples"] == 2


def test_an_operator_trains_now(console, connection):
    platform = console.served.platform
    Apprentice(platform, connection, NAME)
    operator = platform.new_key("training_operator")
    page = console.open(f"#/apprentice/{NAME}/trainings", api_key=operator)
    expect(page.locator(".empty")).to_contain_text(f"autotune apprentice train {NAME}")
    page.get_by_role("button", name="Train now", exact=True).click()
    # Somebody else was faster: the API says so.
    begun = platform.call("POST", f"/api/v1/{TASK}/trainings").json["training"]
    dialog = page.get_by_role("dialog", name="Train now?", exact=True)
    dialog.get_by_role("button", name="Train", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text(f"training 1 of {NAME} is under way")
    (event,) = inputs_of("train_student").values()
    handler("functions.apprentice.fail_training")(event, LambdaContext())
    assert get(console, f"{TASK}/trainings/{begun['number']}")["training"]["state"] == "failed"
    dialog.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_text("Training 2", exact=True)).to_be_visible()
    assert (
        get(console, f"{TASK}/trainings/2")["training"]["createdBy"] == platform.me(operator)["id"]
    )


def test_a_task_whose_models_are_registered_says_why_nothing_is_trained(console, connection):
    Apprentice(console.served.platform, connection, NAME).put(**SERVED)
    page = console.open(f"#/apprentice/{NAME}/trainings")
    train = page.get_by_role("button", name="Train now", exact=True)
    expect(train).to_be_disabled()
    expect(train).to_have_accessible_description(
        "Nothing is trained: the configuration has no training, and vllm serves models that are "
        "registered."
    )
    expect(page.locator(".empty")).to_contain_text(f"versions register {NAME} MODEL")
