"""The journey of a calibrated deck: 200 completions, another model, a check of twenty labels."""

from collections import Counter
from datetime import timedelta
from typing import Any

import httpx

from tests.component.decks.test_measured_judges import InProcess
from tests.judges.measuring import MeasuredDeck, Rated, Shown
from tests.judges.models import PLANTED_MODEL, serve_planted
from tests.judges.planted import Planted, verdict
from tests.judges.planted_samples import (
    CURED,
    SYSTEM_PROMPT,
    apart_on_every_second,
    as_many_of_each_level,
    samples,
)
from tests.judges.prompts import LEVELS
from tests.support.ledger import Ledger, later

OF_A_LEVEL, COMPLETIONS, CHECKED = 12, 200, 20
LABELLED = OF_A_LEVEL * len(LEVELS)
NEXT_MODEL = "planted-judge-2"
PRICES = {name: {"inputUsd": "0.1", "outputUsd": "0.4"} for name in (PLANTED_MODEL, NEXT_MODEL)}


class Journey:
    """A deck in a task, whose judge answers over HTTP."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.judge = serve_planted(ledger.fake.world, Planted(noise=0))
        self.api = InProcess(ledger)
        self.deck = MeasuredDeck(
            self.api,
            system_prompt=SYSTEM_PROMPT,
            connection_id=ledger.connect(maxWaitSeconds=0, prices=PRICES),
            model=PLANTED_MODEL,
        )
        self.task_id = ""

    def serve_another_model(self, name: str) -> None:
        """Change what the server says that it serves: nobody tells the platform."""
        url = f"{self.ledger.fake.base_url}/_fake/judge"
        answer = httpx.post(url, json={"served_model": name})
        assert answer.json()["served_model"] == name, answer.text

    def publish(self, grader_id: str) -> dict[str, Any]:
        path = f"/decks/{self.deck.id}/graders/{grader_id}/publish"
        grader: dict[str, Any] = self.api.call("POST", path)["grader"]
        return grader

    def judge_again(self) -> dict[str, Any]:
        """Have what is drawn judged once more; return the run once it has ended."""
        path = f"/decks/{self.deck.id}/runs"
        run: dict[str, Any] = self.api.call("POST", path, {"repeat": True})["run"]
        for _ in range(25):
            if run["status"] != "running":
                break
            self.api.let_it_work()
            run = self.api.call("GET", f"{path}/{run['id']}")["run"]
        assert run["status"] == "completed", run
        return run

    def score(self, shown: list[Any]) -> list[dict[str, Any]]:
        """Submit completions, and have queue, runs and ledger do their work; return verdicts."""
        platform = self.ledger.platform
        completions = [{"prompt": one.text.input, "response": one.text.output} for one in shown]
        accepted = platform.submit(self.task_id, *completions).json
        self.work()
        found: list[dict[str, Any]] = platform.batch(accepted["batchId"])["verdicts"]
        assert len(found) == len(shown)
        return found

    def work(self) -> None:
        """Have queue, runs and ledger do their work."""
        platform = self.ledger.platform
        before = {run["run_id"] for run in platform.runs()}
        platform.dispatch(platform.queued())
        runs = [one for one in platform.runs() if one["run_id"] not in before]
        waiting = [platform.grade(run) for run in runs]
        self.ledger.passed += 61
        with later(timedelta(seconds=self.ledger.passed)):
            self.ledger.sweep()
            self.ledger.run()
            for run in waiting:
                assert platform.grade(run)["waiting"] == 0


def test_a_calibrated_deck_scores_until_its_model_changes_and_a_check_brings_it_back(
    ledger: Ledger,
) -> None:
    journey = Journey(ledger)
    deck, platform = journey.deck, ledger.platform
    shown = as_many_of_each_level(OF_A_LEVEL, seed=41)
    ids = deck.add_samples(Shown(one.text.input, one.text.output) for one in shown)
    grader_id = deck.add_grader("help", CURED)
    said = apart_on_every_second(shown)
    deck.import_ratings(
        grader_id, (Rated(id_, "rater", level) for id_, level in zip(ids, said, strict=True))
    )
    deck.grade([grader_id], steps=25)
    published = journey.publish(grader_id)
    assert published["uncalibratedBecause"] is None
    assert (published["calibration"]["model"], published["calibration"]["n"]) == (
        PLANTED_MODEL,
        LABELLED,
    )
    task = journey.api.call("POST", f"/decks/{deck.id}/task", {"uncalibrated": "refuse"})["task"]
    journey.task_id = task["id"]

    scored = list(samples(COMPLETIONS, seed=42, not_applicable=0))
    asked = ledger.fake.world.bill()["executions"]
    found = journey.score(scored)
    assert Counter(one["state"] for one in found) == {"scored": COMPLETIONS}
    assert ledger.fake.world.bill()["executions"] == asked + COMPLETIONS
    levels = [verdict(CURED, one.text, journey.judge.planted) for one in scored]
    values = sorted(round(one["score"]["value"] * 6) - 3 for one in found)
    assert values == sorted(level for level in levels if level is not None)
    confidence = {
        one["level"]: (one["hits"] + 1) / (one["n"] + 2)
        for one in published["calibration"]["byLevel"]
    }
    for one in found:
        level = round(one["score"]["value"] * 6) - 3
        assert one["score"]["confidence"] == confidence[level]

    journey.serve_another_model(NEXT_MODEL)
    (late,) = journey.score(scored[:1])
    assert (late["state"], late["reasonCode"]) == ("abstained", "uncalibrated_model")
    path = f"/api/v1/completions/{late['completionId']}/explanation"
    told = platform.call("GET", path)
    assert told.status == 200, told.text
    read = told.json["verdict"]
    assert (read["state"], read["reasonCode"]) == ("abstained", "uncalibrated_model")
    assert told.json["graders"][0]["sourceRequestId"].startswith("llm_")
    assert journey.publish(grader_id) == published, "nothing was measured of it yet"

    run = journey.judge_again()
    assert run["counts"]["scored"] == CHECKED
    checked = journey.publish(grader_id)
    assert checked["uncalibratedBecause"] is None
    calibration = checked["calibration"]
    assert (calibration["model"], calibration["n"]) == (NEXT_MODEL, CHECKED)
    assert calibration["low"] >= calibration["threshold"]
    (back,) = journey.score(scored[1:2])
    assert (back["state"], back["score"]["graderVersion"]) == (
        "scored",
        checked["published"]["graderVersion"],
    )
    # What was abstained meanwhile is scored again.
    body = {"completionIds": [late["completionId"]], "reasonCodes": ["uncalibrated_model"]}
    again = platform.call("POST", "/api/v1/completions/rescore", body)
    assert (again.status, again.json["rescored"]) == (202, 1), again.text
    journey.work()
    path = f"/api/v1/completions/{late['completionId']}/score"
    rescored = platform.call("GET", path).json["verdict"]
    assert (rescored["state"], rescored["generation"]) == ("scored", 1)
