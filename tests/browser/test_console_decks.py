"""Decks in the console: made, graded and measured there, with the figures that the API has."""

import pytest
from playwright.sync_api import expect

from tests.support.console_decks import filled_decks, labelled_deck
from tests.support.console_figures import difference, percent, score, stat, texts_of
from tests.support.deck_edits import EditedDeck
from tests.support.deck_labels import LabelledDeck
from tests.support.deck_runs import DeckRuns, verdict
from tests.support.decks import LEVELS, RUBRIC, new_deck
from tests.support.ledger import MODEL, ledger

VIEWS = (
    "/agreement",
    "/agreement?version=1",
    "/disagreements",
    "/patterns",
    "/fix",
    "/published",
    "/results?version=2",
)


@pytest.fixture
def measured(console):
    """A deck whose grader is measured."""
    platform = console.served.platform
    with ledger(platform) as made:
        judge = {"connectionId": made.connect(), "model": MODEL, "params": {"maxTokens": 200}}
        yield labelled_deck(platform, judge)


def of_grader(deck, view=""):
    return f"#/decks/{deck.id}/graders/{deck.grader_id}{view}"


def table(page, label):
    return page.locator(f'[role="region"][aria-label="{label}"] tbody tr')


def level(value):
    return f"{value:+d}".replace("+0", "0")


def interval(one, show=score):
    return f"{show(one['low'])} to {show(one['high'])}"


def test_a_deck_is_made_with_its_samples_and_a_line_that_is_wrong_is_named(console):
    page = console.open("#/decks")
    expect(page.locator(".empty")).to_contain_text("autotune decks create")
    page.get_by_role("link", name="New deck").click()
    page.get_by_label("Name", exact=True).fill("summaries")
    page.get_by_label("System prompt", exact=True).fill("You summarise {{document}}.\nBe brief.")
    page.get_by_label("Share that is held out", exact=True).fill("0.25")
    lines = [
        '{"input": "one", "output": "1"}',
        "no JSON",
        '{"input": "two"}',
        '{"input": "three", "output": "3"}',
    ]
    page.get_by_label("Samples, if there are some", exact=True).fill("\n".join(lines))
    page.get_by_role("button", name="Create").click()
    told = page.locator(".notice")
    expect(told).to_contain_text("2 samples were stored, 2 lines were not.")
    expect(told.locator("li")).to_have_count(2)
    expect(told.locator("li").nth(0)).to_contain_text("Line 2: a line of JSON")
    expect(told.locator("li").nth(1)).to_contain_text("Line 3")
    page.get_by_role("button", name="Go to the deck").click()
    (deck,) = console.served.platform.call("GET", "/api/v1/decks").json["decks"]
    assert (deck["holdoutShare"], deck["samples"]) == (0.25, 2)
    expect(stat(page, "Samples")).to_have_text("2")
    expect(page.locator(".waits")).to_contain_text("Write a rubric")
    expect(page.get_by_label("System prompt of now", exact=True)).to_have_text(
        "You summarise {{document}}.\nBe brief."
    )


def test_a_rubric_is_written_linted_activated_and_its_versions_compared(console):
    platform = console.served.platform
    with ledger(platform) as made:
        connection = made.connect(name="judges")
        deck = new_deck(platform)
        path = f"/api/v1/decks/{deck['id']}/graders"
        page = console.open(f"#/decks/{deck['id']}/graders/new")
        page.get_by_label("Name", exact=True).fill("faithful")
        page.get_by_label("Criteria", exact=True).fill(RUBRIC["criteria"])
        for place, text in enumerate(["bad", *LEVELS[1:5], LEVELS[4], LEVELS[6]]):
            page.get_by_label(f"Level {level(place - 3)}", exact=True).fill(text)
        told = page.locator(".notice")
        expect(told).to_contain_text("Level -3 is vague")
        expect(told).to_contain_text("Level +2 says the same as +1.")
        page.get_by_label("Level +2", exact=True).fill(LEVELS[5])
        page.get_by_label("Level -3", exact=True).fill(LEVELS[0])
        expect(told).to_have_count(0)
        page.get_by_label("Connection of the judge", exact=True).select_option(connection)
        page.get_by_label("Model", exact=True).fill(MODEL)
        page.get_by_role("button", name="Create").click()
        page.get_by_role("button", name="Activate").click()
        page.locator("dialog").get_by_role("button", name="Activate").click()
        expect(page.locator(".facts")).to_contain_text("active")
        (grader,) = platform.call("GET", path).json["graders"]
        assert (grader["status"], grader["rubric"]["levels"]) == ("active", LEVELS)

        page.get_by_role("link", name="Edit").click()
        page.get_by_label("Criteria", exact=True).fill("Is the summary faithful and short?")
        page.get_by_label("Note", exact=True).fill("short, too")
        page.get_by_role("button", name="Save as a new version").click()
        expect(table(page, "Versions")).to_have_count(2)
        page.get_by_role("link", name="What changed").click()
        changed = page.get_by_label("What changed in Criteria", exact=True)
        expect(changed.locator("ins").first).to_contain_text("and")
        expect(changed.locator("del").first).to_contain_text("to")
        page.get_by_role("button", name="Make current: version 1").click()
        page.locator("dialog").get_by_role("button", name="Make current").click()
        expect(table(page, "Versions").nth(1).locator(".badge")).to_have_text("current")
        assert platform.call("GET", f"{path}/{grader['id']}").json["grader"]["version"] == 1


def test_a_run_is_started_within_a_cap_once_its_price_is_known(console):
    with ledger(console.served.platform) as made:
        runs = DeckRuns(made)
        runs.judging(lambda ask: verdict(2 if "alpha" in ask.prompt else -1, "as it says"))
        grader_id = runs.add_grader()
        first, _ = runs.add_samples("alpha", "beta")
        page = console.open(f"#/decks/{runs.deck_id}/runs")
        page.get_by_role("button", name="Grade samples").first.click()
        dialog = page.locator("dialog")
        dialog.get_by_role("button", name="What does it cost?").click()
        estimate = runs.estimate()
        paid = dialog.locator("dl div").filter(has_text="Judgements to pay").locator("dd")
        expect(paid).to_have_text(str(estimate["requests"]))
        cap = estimate["boundNanoUsd"] - 1_000
        dialog.get_by_label("Stop before it costs more than, in dollars", exact=True).fill(
            f"{cap / 1e9:.9f}"
        )
        dialog.get_by_role("button", name="Start").click()
        expect(page.locator("h1")).to_have_text("Run")
        (run,) = console.served.platform.call("GET", f"{runs.path}/runs").json["runs"]
        assert run["capNanoUsd"] == cap
        ended = runs.finish(run)
        expect(stat(page, "Status")).to_have_text("completed")
        expect(page.locator(".shares-legend li").first).to_contain_text(
            f"scored {ended['counts']['scored']}"
        )

        console.go(page, f"#/decks/{runs.deck_id}/graders/{grader_id}/results?score=2")
        (result,) = runs.results(grader_id, score=2)
        row = table(page, "Results")
        expect(row).to_have_count(1)
        for text in (first, "+2", result["explanation"]):
            expect(row).to_contain_text(text)
        row.get_by_role("link").click()
        said = page.locator(".said-by")
        expect(said).to_contain_text("Version 1")
        said.locator("summary").click()
        expect(said).to_contain_text(result["reasoning"])


def test_agreement_shows_what_the_api_says(console, measured):
    found = measured.get("agreement")["agreement"]
    page = console.open(f"#/decks/{measured.id}")
    expect(table(page, "Graders").first).to_contain_text(
        f"{score(found['kappa']['value'])}, {interval(found['kappa'])}"
    )
    console.go(page, "#/decks")
    row = table(page, "Decks").first
    expect(row).to_contain_text(f"{score(found['kappa']['value'])}, {interval(found['kappa'])}")
    expect(row.locator("td").nth(4)).to_have_text(str(found["labels"]))
    console.go(page, of_grader(measured, "/agreement"))
    kappa, bias, ceiling = found["kappa"], found["meanBias"], found["ceiling"]
    for label, value in (
        ("κ with people", score(kappa["value"])),
        ("Its interval", interval(kappa)),
        ("Coverage", percent(found["coverage"])),
        ("Bias", difference(bias["value"])),
        ("Same level", percent(found["percentAgreement"])),
        ("α of people", score(ceiling["alpha"]["value"])),
        ("One with the others", score(ceiling["leaveOneOutKappa"])),
    ):
        expect(stat(page, label)).to_have_text(value)
    expect(stat(page, "Pairs")).to_have_text(str(found["n"]))
    (row,) = texts_of(table(page, "Agreement by version"))
    assert row[:2] == ["2", "0"]
    assert row[2].split() == [score(kappa["value"]), *interval(kappa).split()]
    expect(page.locator("main")).to_contain_text("1 version was not looked at.")
    rows = texts_of(table(page, "Bias by level"))
    for row, one in zip(rows, found["biasByLevel"], strict=True):
        assert (row[0], row[2]) == (level(one["level"]), str(one["n"]))
        if one["low"] is not None:
            assert row[1] == f"{difference(one['value'])}, {interval(one, difference)}"
    applies = [row[1:] for row in texts_of(table(page, "Whether it applies"))]
    counts = found["applicability"]
    assert applies == [
        [str(counts["bothApply"]), str(counts["onlyJudgeAbstains"])],
        [str(counts["onlyTruthDoesNotApply"]), str(counts["neitherApplies"])],
    ]


def test_what_is_undefined_is_no_number_and_too_few_labels_claim_nothing(console):
    deck = LabelledDeck(console.served.platform, samples=8, holdoutShare=1)
    deck.label(dict.fromkeys(deck.samples, 1))
    deck.judged(dict.fromkeys(deck.samples, 1))
    page = console.open(of_grader(deck, "/agreement"))
    page.get_by_role("button", name="Read it, and spend a look").click()
    expect(stat(page, "κ with people")).to_have_text("undefined")
    expect(page.locator(".notice")).to_contain_text("Nothing can be claimed yet")
    expect(page.locator(".stat").first).to_contain_text("all is at one level")


def test_pages_spend_no_look_that_nobody_asked_for(console, measured):
    """Only who presses the button for agreement or means does, of the version that it names."""
    platform = console.served.platform
    page = console.open(f"#/decks/{measured.id}")
    for view in ("", *VIEWS):
        console.go(page, of_grader(measured, view))
    console.go(page, "#/decks")
    expect(table(page, "Decks").first).to_contain_text("not read yet")
    assert platform.call("GET", "/api/v1/decks").json["decks"][0]["agreement"] == []
    asked = {one.path.rpartition("/")[2] for one in console.served.received}
    assert asked.isdisjoint({"agreement", "means"})

    def looks():
        return measured.get("edits")["looks"]

    console.go(page, of_grader(measured, "/agreement"))
    expect(page.locator("main")).to_contain_text("spends a look at the held-out labels")
    assert looks() == 0
    page.get_by_role("button", name="Read it, and spend a look").click()
    expect(stat(page, "Look")).to_have_text("0")
    assert len(measured.get("agreement")["agreement"]["looked"]) == 1
    # Another version is read by nobody who only chooses it; back to the first is free.
    measured.judged(dict.fromkeys(measured.samples, 1))
    page.get_by_label("Version", exact=True).select_option("1")
    expect(page.locator("main h2").first).to_have_text("Version 1 is not read yet")
    expect(page.locator("main")).to_contain_text("κ of version 2 was")
    assert measured.get("agreement")["agreement"]["looked"] == [2]
    page.get_by_role("button", name="Read it, and spend a look").click()
    expect(stat(page, "Look")).to_have_text("1")
    assert measured.get("agreement")["agreement"]["looked"] == [1, 2]
    page.get_by_label("Version", exact=True).select_option("2")
    expect(stat(page, "Look")).to_have_text("0")
    # Opened anew, what was read is there, and costs nothing.
    page.reload()
    expect(stat(page, "Look")).to_have_text("0")
    assert looks() == 1


def test_versions_of_edits_that_are_not_accepted_cannot_be_chosen(console):
    with ledger(console.served.platform) as made:
        deck = EditedDeck(made, number=24)
        deck.label(list(deck.samples))
        deck.replay(deck.propose("good"), "development")
        where = f"#/decks/{deck.deck_id}/graders/{deck.grader_id}"
        page = console.open(where)
        expect(table(page, "Versions").first.locator(".badge")).to_have_text("candidate")
        expect(page.get_by_role("button", name="Make current")).to_have_count(0)
        console.go(page, f"{where}/agreement")
        expect(page.get_by_label("Version", exact=True).locator("option")).to_have_text(
            ["current (1)", "1"]
        )
        page.get_by_role("button", name="Read it, and spend a look").click()
        expect(page.get_by_role("region", name="Agreement by version")).to_be_visible()
        expect(page.locator("main")).not_to_contain_text("not looked at")
        console.go(page, f"{where}/results")
        options = page.get_by_label("Version", exact=True).locator("option")
        expect(options).to_have_text(["current (1)", "2", "1"])


def test_the_matrix_filters_disagreements_and_leads_to_what_is_done_about_them(console, measured):
    platform = console.served.platform
    confusion = measured.get("agreement")["agreement"]["confusion"]
    page = console.open(of_grader(measured, "/disagreements"))
    cells = page.locator(".matrix tbody tr").evaluate_all(
        "them => them.map((row) => [...row.cells].slice(1).map((it) => Number(it.textContent)))"
    )
    assert cells == confusion
    truth, judge = next(
        (row, column)
        for row in range(7)
        for column in range(7)
        if row != column and confusion[row][column]
    )
    page.locator(".matrix tbody tr").nth(truth).locator("td").nth(judge).locator("a").click()
    listed = measured.get("disagreements", truth=truth - 3, score=judge - 3)
    assert listed["total"] == confusion[truth][judge]
    articles = page.locator("article")
    expect(articles).to_have_count(len(listed["disagreements"][:10]))
    one = listed["disagreements"][0]
    expect(articles.first).to_contain_text(one["sampleId"])
    expect(articles.first).to_contain_text(f"People: {level(truth - 3)}")
    expect(articles.first).to_contain_text(f"Judge: {level(judge - 3)}")
    expect(articles.first).to_contain_text(one["result"]["explanation"])
    # Nobody corrects what another person said.
    expect(page.get_by_role("button", name="I was wrong")).to_have_count(0)
    articles.first.get_by_role("link", name="The rubric is wrong").click()
    page.get_by_label("Why", exact=True).fill("a case that the levels leave out")
    page.get_by_role("button", name="Save as a new version").click()
    expect(table(page, "Versions")).to_have_count(3)
    example = platform.call("GET", measured.path).json["grader"]["rubric"]["examples"][-1]
    assert (example["sampleId"], example["level"]) == (one["sampleId"], truth - 3)


def test_who_was_wrong_says_so_and_the_first_rating_stays(console, measured):
    platform = console.served.platform
    wanted = measured.get("disagreements", limit=100)["disagreements"][0]["sampleId"]
    assert measured.rate(wanted, 3).status == 200
    page = console.open(of_grader(measured, "/disagreements"))
    page.get_by_role("button", name="I was wrong").first.click()
    page.locator("dialog").get_by_label("Level", exact=True).select_option("0")
    page.locator("dialog").get_by_label("Why", exact=True).fill("I had read another document")
    page.locator("dialog").get_by_role("button", name="Correct").click()
    expect(page.locator("dialog")).to_have_count(0)
    me = platform.me()["principalId"]
    said = [
        one for one in measured.get("feedback", sampleId=wanted)["feedback"] if one["rater"] == me
    ]
    assert [(one["score"], one["sawResult"]) for one in said] == [(3, True), (0, True)]


def test_patterns_are_those_that_were_counted(console, measured):
    found = measured.get("patterns")["patterns"]
    page = console.open(of_grader(measured, "/patterns"))
    rows = texts_of(table(page, "Errors by kind of sample"))
    assert [(row[1], row[3]) for row in rows] == [
        (difference(one["meanError"]), str(one["n"])) for one in found["errors"]
    ]
    rows = texts_of(table(page, "Levels taken for others"))
    assert [row[:3] for row in rows] == [
        [level(one["truth"]), level(one["score"]), str(one["count"])] for one in found["cells"]
    ]
    sure = [one["significant"] for one in found["cells"]]
    assert [row[-1] == "sure" for row in rows] == sure


def test_the_deck_shows_its_figures_and_the_samples_are_filtered(console):
    with ledger(console.served.platform) as made:
        decks = filled_decks(made)
        runs = decks.runs
        page = console.open(f"#/decks/{runs.deck_id}")
        deck = console.served.platform.call("GET", runs.path).json["deck"]
        run = runs.read(decks.run_id)
        expect(stat(page, "Samples")).to_have_text(str(deck["samples"]))
        expect(stat(page, "Spent")).to_have_text(f"${run['costNanoUsd'] / 1e9}")
        listed = console.served.platform.call("GET", f"{runs.path}/samples").json["samples"]
        for split, text in (("development", "development"), ("holdout", "held out")):
            console.go(page, f"#/decks/{runs.deck_id}/samples?split={split}")
            wanted = [one for one in listed if one["split"] == split]
            halves = table(page, "Samples").locator("td:nth-child(3)")
            expect(halves).to_have_text([text] * len(wanted))


def test_a_proposed_grader_is_tried_on_three_samples_of_the_development_half(console):
    with ledger(console.served.platform) as made:
        decks = DeckRuns(made, holdoutShare=0)
        grader_id = decks.add_grader(active=False)
        sample_ids = decks.add_samples("alpha", "beta", "gamma", "delta")
        page = console.open(f"#/decks/{decks.deck_id}/graders/{grader_id}")
        page.get_by_role("button", name="Try on three samples").click()
        dialog = page.locator("dialog")
        dialog.get_by_role("button", name="What does it cost?").click()
        newest = sample_ids[:-4:-1]
        estimate = decks.estimate(graderIds=[grader_id], sampleIds=newest)
        most = dialog.locator("dl div").filter(has_text="At most").locator("dd")
        expect(most).to_have_text(f"${estimate['boundNanoUsd'] / 1e9:.9f}".rstrip("0"))
        dialog.get_by_role("button", name="Start").click()
        expect(stat(page, "Samples")).to_have_text("3")
        (run,) = console.served.platform.call("GET", f"{decks.path}/runs").json["runs"]
        assert run["graders"] == [{"graderId": grader_id, "version": 1}]
        page.get_by_role("button", name="Cancel").click()
        page.locator("dialog").get_by_role("button", name="Cancel the run").click()
        expect(stat(page, "Status").locator("xpath=following-sibling::dd")).to_have_text(
            "it is being canceled"
        )
