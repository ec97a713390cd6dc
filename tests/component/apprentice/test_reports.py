"""Where a task stands, what became of it and how long it takes yet: all from what is counted."""

import json
from collections.abc import Iterator
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from autotune_platform.apprentice.agreement import counted, lower_bound
from autotune_platform.apprentice.hosting.repository import HostingCost, HostingRepository
from autotune_platform.apprentice.routing import Local, Refusal, Remote
from autotune_platform.apprentice.runs.models import RunPair
from autotune_platform.apprentice.runs.scoring import missed_fields, score_of
from tests.support.apprentice_folding import Apprentice
from tests.support.ledger import Ledger
from tests.support.platform import Platform
from tests.support.reported import (
    LOCAL,
    UNCHECKED,
    alerts,
    ended,
    examples,
    happened,
    now,
    read,
    stored,
)


@pytest.fixture
def apprentice(platform: Platform, ledger: Ledger) -> Apprentice:
    return Apprentice(platform, ledger.connect())


def scores_of(agreement: float, pairs: int, seed: int = 1) -> Iterator[float]:
    dice = Random(seed)
    return (float(dice.random() < agreement) for _ in range(pairs))


@pytest.mark.parametrize("shown", ["status", "report", "estimate"])
def test_a_parameter_that_nobody_knows_is_refused(apprentice: Apprentice, shown: str) -> None:
    path = f"/api/v1/apprentice/tasks/{apprentice.name}/{shown}"
    answer = apprentice.platform.call("GET", path, query={"day": "3"})
    assert (answer.status, answer.json["errors"][0]["field"]) == (422, "day")


def test_a_task_without_runs_needs_examples(apprentice: Apprentice) -> None:
    status = read(apprentice, "status")

    assert (status["phase"], status["examples"], status["examplesNeeded"]) == (1, 0, 50)
    assert (status["versions"], status["serving"], status["alerts"]) == ([], None, [])
    assert status["thresholds"] == {"graduation": 0.9, "coaching": 0.8, "emergency": 0.6}
    assert status["savings"]["netNanoUsd"] == 0
    assert set(status["today"].values()) == {0}
    report = read(apprentice, "report")
    assert (report["days"], report["status"]) == ([], status)
    estimate = read(apprentice, "estimate")
    assert (estimate["prospect"], estimate["examplesMissing"]) == ("examples", 50)
    assert estimate["dates"] == {"low": None, "median": None, "high": None}


def test_examples_that_are_missing_have_a_price_and_a_date(apprentice: Apprentice) -> None:
    happened(apprentice, examples(apprentice, 10))

    estimate = read(apprentice, "estimate")
    assert (estimate["prospect"], estimate["examplesMissing"]) == ("examples", 40)
    assert estimate["callNanoUsd"] == 1_000
    assert estimate["costNanoUsd"]["median"] == 40_000
    # Ten runs in the task's first hour are 240 a day.
    assert estimate["runsADay"] == pytest.approx(240, rel=0.1)
    assert estimate["dates"]["median"] == (now() + timedelta(days=1)).date().isoformat()


def test_runs_that_are_refused_bring_examples_no_nearer(apprentice: Apprentice) -> None:
    refused = {"state": "refused", "refusal": Refusal.BUDGET_EXHAUSTED, "created_at": now()}
    at_once = [apprentice.run(ended_at=now(), **refused) for _ in range(40)]
    happened(apprentice, at_once)
    estimate = read(apprentice, "estimate")
    assert estimate["runsADay"] > 0
    assert set(estimate["dates"].values()) == {None}
    # One example in the task's first hour is 24 a day, however many runs were refused beside it.
    happened(apprentice, examples(apprentice, 1))

    estimate = read(apprentice, "estimate")
    assert estimate["examplesMissing"] == 49
    assert estimate["dates"]["median"] == (now() + timedelta(days=3)).date().isoformat()


def test_runs_that_cost_nothing_are_no_part_of_the_money_until_graduation(
    apprentice: Apprentice,
) -> None:
    apprentice.add_version(1)
    happened(apprentice, [ended(apprentice, score) for score in [1.0] * 47 + [0.0] * 3])
    before = read(apprentice, "estimate")
    unmonitored = {**UNCHECKED, "phase": 2, "unmonitored": True}
    happened(apprentice, [ended(apprentice, **unmonitored) for _ in range(150)])

    after = read(apprentice, "estimate")
    assert (after["pairs"], after["costNanoUsd"]) == (before["pairs"], before["costNanoUsd"])
    assert after["runsADay"] == pytest.approx(4 * before["runsADay"], rel=0.1)
    assert after["pairsADay"] == pytest.approx(before["pairsADay"], rel=0.1)


def test_with_examples_and_no_version_it_says_so(apprentice: Apprentice) -> None:
    happened(apprentice, examples(apprentice))

    assert read(apprentice, "estimate")["prospect"] == "no_version"


def test_a_version_in_shadow_has_a_bound_and_a_way_to_go(apprentice: Apprentice) -> None:
    apprentice.add_version(1)
    scores = [1.0] * 47 + [0.0] * 3
    happened(apprentice, [ended(apprentice, score) for score in scores])

    status = read(apprentice, "status")
    assert (status["phase"], status["candidate"], status["serving"]) == (2, 1, None)
    [version] = status["versions"]
    assert (version["stage"], version["pairs"]) == ("shadow", 50)
    assert version["sampling"] == {"rate": 1.0, "reason": "not_graduated"}
    agreement = version["agreement"]
    assert (agreement["pairs"], agreement["mean"]) == (50, 0.94)
    assert (agreement["confidence"], agreement["evidenceNeeded"]) == (0.975, 40)
    assert agreement["bound"] == pytest.approx(lower_bound(counted(scores), 40.0))
    # At the threshold the bound is where evidence is at what is needed.
    assert agreement["bound"] < 0.9
    assert agreement["evidence"] < 40
    assert version["window"]["mean"] == pytest.approx(0.94)
    assert version["window"]["bound"] < 0.94

    estimate = read(apprentice, "estimate")
    assert (estimate["prospect"], estimate["version"]) == ("foretold", 1)
    assert (estimate["agreement"], estimate["observedPairs"]) == (0.94, 50)
    pairs, cost = estimate["pairs"], estimate["costNanoUsd"]
    assert 50 < pairs["low"] < pairs["median"] < pairs["high"]
    # Each run of phase 2 is a pair, and costs an answer.
    assert cost == {name: value * 1_000 for name, value in pairs.items()}
    assert estimate["dates"]["low"] <= estimate["dates"]["median"]
    assert f"{pairs['median']:,}" in estimate["message"]


@pytest.mark.parametrize(
    ("scores", "prospect"),
    [([1.0] * 19, "few_pairs"), (([1.0] * 7 + [0.0]) * 6, "never")],
)
def test_what_cannot_be_foretold_is_not(
    apprentice: Apprentice, scores: list[float], prospect: str
) -> None:
    apprentice.add_version(1)
    happened(apprentice, [*examples(apprentice), *(ended(apprentice, one) for one in scores)])

    estimate = read(apprentice, "estimate")
    assert estimate["prospect"] == prospect
    assert estimate["pairs"] == {"low": None, "median": None, "high": None}


def test_a_version_that_serves_saves_what_checks_do_not_cost(apprentice: Apprentice) -> None:
    apprentice.add_version(1)
    happened(apprentice, [ended(apprentice, 1.0) for _ in range(100)])
    [version] = read(apprentice, "status")["versions"]
    assert version["stage"] == "canary"
    assert alerts(read(apprentice, "status")) == [("graduated", 1)]
    assert version["agreement"]["bound"] > 0.9
    assert read(apprentice, "estimate")["prospect"] == "canary"

    apprentice.add_version(1, canary_at=stored(apprentice).sequence)
    checked = {**LOCAL, "check": "done", "cost_nano_usd": 1_000}
    happened(
        apprentice,
        [
            *(ended(apprentice, **UNCHECKED) for _ in range(90)),
            *(ended(apprentice, 1.0, **checked) for _ in range(10)),
        ],
    )

    status = read(apprentice, "status")
    assert (status["phase"], status["serving"]) == (3, 1)
    assert status["today"]["local"] == 100
    saved = status["savings"]
    assert (saved["localAnswers"], saved["paidAnswers"], saved["meanCostNanoUsd"]) == (
        100,
        110,
        1_000,
    )
    assert (saved["avoidedNanoUsd"], saved["checksNanoUsd"]) == (100_000, 10_000)
    assert (saved["lowNanoUsd"], saved["netNanoUsd"], saved["highNanoUsd"]) == (90_000,) * 3
    assert read(apprentice, "estimate")["prospect"] == "serves"


def test_additional_models_are_a_cost_of_their_own(apprentice: Apprentice) -> None:
    run = ended(apprentice, 1.0)
    happened(apprentice, [run])
    before = read(apprentice, "report")
    apprentice.table.add_together(apprentice.runs.paying_additional(run, 2_500))
    apprentice.follow()

    report = read(apprentice, "report")

    assert report["totals"] == {**before["totals"], "costAdditionalNanoUsd": 2_500}
    saved, was = report["savings"], before["savings"]
    assert (saved["additionalNanoUsd"], was["additionalNanoUsd"]) == (2_500, 0)
    assert saved["netNanoUsd"] == was["netNanoUsd"] - 2_500


def test_hosting_is_a_cost_and_its_price_may_be_unknown(apprentice: Apprentice) -> None:
    hostings = HostingRepository(apprentice.table)
    today, task = now().date().isoformat(), apprentice.task
    account = HostingCost(task.organization_id, task.id, today, seconds=3_600, nano_usd=1_408)
    apprentice.table.write_together([hostings.cost(account)], token="first")

    report = read(apprentice, "report")
    assert [one["day"] for one in report["days"]] == [today]
    assert report["totals"]["costHostingNanoUsd"] == 1_408
    assert (report["savings"]["hostingNanoUsd"], report["savings"]["netNanoUsd"]) == (1_408, -1_408)

    unpriced = account._replace(seconds=60, nano_usd=None)
    apprentice.table.write_together([hostings.cost(unpriced)], token="second")
    status = read(apprentice, "status")
    saved = status["savings"]
    assert alerts(status) == [("unpriced", None)]
    assert (saved["hostingNanoUsd"], saved["netNanoUsd"]) == (None, None)
    assert (saved["hostingSeconds"], saved["hostingUnpricedSeconds"]) == (3_660, 60)

    path = f"/api/v1/apprentice/tasks/{apprentice.name}"
    assert apprentice.platform.call("DELETE", path).status == 204
    assert hostings.costs(task.id, today, today) == {}


def test_scores_are_those_of_the_pairs_whatever_the_rules_are(apprentice: Apprentice) -> None:
    apprentice.add_version(1)
    happened(apprentice, [ended(apprentice, one) for one in [0.0] * 3 + [0.7] * 40 + [1.0] * 60])
    pairs = list(apprentice.evidence.pairs(apprentice.task.id, 1))
    alarmed = read(apprentice, "status")["versions"][0]["alarmedAt"] or 0
    kept = [one.score for one in pairs if one.sequence > alarmed]
    assert stored(apprentice).score_counts == counted(kept)

    thresholds = {
        "phase1ToPhase2": 50,
        "phase2ToPhase3": 0.7,
        "coachingTrigger": 0.1,
        "emergencyThreshold": 0.05,
    }
    apprentice.put(thresholds=thresholds)
    # Until they are folded anew, pairs say nothing, as to runs.
    before = read(apprentice, "status")
    assert (before["versions"][0]["agreement"]["pairs"], before["candidate"]) == (0, 1)
    assert alerts(before) == [("refolding", 1)]
    apprentice.follow()
    # By these rules there was no alarm, and it has graduated.
    after = read(apprentice, "status")
    assert after["versions"][0]["agreement"]["pairs"] == 103
    assert alerts(after) == [("graduated", 1)]
    assert stored(apprentice).score_counts == counted(one.score for one in pairs)


def test_a_report_has_days_and_their_sum(apprentice: Apprentice) -> None:
    apprentice.add_version(1)
    yesterday = now() - timedelta(days=1)
    refused = {"state": "refused", "refusal": Refusal.BUDGET_EXHAUSTED}
    failed = {"state": "failed", "refusal": Refusal.REMOTE_UNAVAILABLE, "remote": Remote.FAILED}
    happened(
        apprentice,
        [
            *(ended(apprentice, 1.0, created_at=yesterday) for _ in range(3)),
            ended(apprentice, 0.5, created_at=yesterday),
            apprentice.run(created_at=yesterday),
            apprentice.run(created_at=now(), ended_at=now(), **refused),
            apprentice.run(created_at=now(), ended_at=now(), cost_nano_usd=70, **failed),
            ended(apprentice, escalated=True, local=Local.UNSURE),
            ended(apprentice, **UNCHECKED, unmonitored=True),
            ended(apprentice, created_at=now() - timedelta(days=40)),
        ],
    )

    report = read(apprentice, "report", days=7)
    assert (report["firstDay"], report["lastDay"]) == (
        (now() - timedelta(days=6)).date().isoformat(),
        now().date().isoformat(),
    )
    before, today = report["days"]
    assert before["day"] == yesterday.date().isoformat()
    assert (before["counts"]["remote"], before["counts"]["pending"]) == (4, 1)
    [pairs] = before["versions"]
    assert (pairs["version"], pairs["pairs"], pairs["mean"]) == (1, 4, 0.875)
    assert pairs["wilsonBound"] < 0.875
    assert pairs["bound"] == pytest.approx(
        read(apprentice, "status")["versions"][0]["agreement"]["bound"], abs=1e-6
    )
    counts = today["counts"]
    assert (counts["refused"], counts["failed"], counts["local"], counts["remote"]) == (1, 1, 1, 1)
    assert (counts["escalated"], counts["unmonitored"]) == (1, 1)
    assert counts["costLostNanoUsd"] == 70
    for name, value in report["totals"].items():
        assert value == before["counts"][name] + counts[name]
    assert report["totals"]["begun"] == 9
    ends = ("local", "remote", "refused", "failed", "pending")
    assert report["totals"]["begun"] == sum(report["totals"][name] for name in ends)
    kinds = ["refused", "failed", "unmonitored"]
    assert alerts(report["status"]) == [(kind, None) for kind in kinds]
    said = [one["message"] for one in report["status"]["alerts"]]
    assert all(message.startswith("1 of today's runs ") for message in said)
    assert len(read(apprentice, "report", days=90)["days"]) == 3


def test_fields_have_an_agreement_of_their_own(apprentice: Apprentice) -> None:
    fields = ["intent", "reason"]
    apprentice.put(evaluator={"type": "structured_match", "matchFields": fields})
    apprentice.add_version(1)
    document = read_document(apprentice)
    truth = '{"intent": "a", "reason": "b"}'
    answers = [truth, '{"intent": "a"}', '{"intent": "c", "reason": "d"}', "none"]
    happened(
        apprentice,
        [
            ended(
                apprentice,
                pairs=[
                    RunPair(
                        version=1,
                        score=score_of(document, answer, truth),
                        is_drawn=True,
                        missed=missed_fields(document, answer, truth),
                    )
                ],
            )
            for answer in answers
        ],
    )

    found = read(apprentice, "report")["fields"]
    assert found == [
        {"version": 1, "name": "reason", "pairs": 4, "mean": 0.25},
        {"version": 1, "name": "intent", "pairs": 4, "mean": 0.5},
    ]


def read_document(apprentice: Apprentice) -> Any:
    path = f"/api/v1/apprentice/tasks/{apprentice.name}"
    return apprentice.platform.call("GET", path).json["task"]["configuration"]


def test_another_definition_has_nothing_of_the_first(apprentice: Apprentice) -> None:
    apprentice.add_version(1)
    happened(apprentice, [ended(apprentice, one) for one in scores_of(0.95, 60)])
    apprentice.put(systemPrompt="Another prompt.")

    status = read(apprentice, "status")
    assert (status["phase"], status["versions"], status["examples"]) == (1, [], 0)
    assert status["savings"]["meanCostNanoUsd"] is None


@pytest.mark.parametrize("days", [0, 91, "x"])
def test_a_report_is_of_some_days(apprentice: Apprentice, days: Any) -> None:
    answer = apprentice.platform.call(
        "GET", f"/api/v1/apprentice/tasks/{apprentice.name}/report", query={"days": days}
    )
    assert (answer.status, answer.json["errors"][0]["field"]) == (422, "days")


@pytest.mark.parametrize("what", ["status", "report", "estimate"])
def test_others_tasks_are_not_there(apprentice: Apprentice, what: str) -> None:
    other = apprentice.platform.new_organization("second")
    path = f"/api/v1/apprentice/tasks/{apprentice.name}/{what}"
    assert apprentice.platform.call("GET", path, api_key=other).status == 404
    assert apprentice.platform.call("GET", path.replace("intents", "none")).status == 404


def test_no_input_is_told(apprentice: Apprentice) -> None:
    apprentice.add_version(1)
    happened(apprentice, [ended(apprentice, 1.0) for _ in range(30)])

    told = [read(apprentice, what) for what in ("status", "report", "estimate")]
    assert "a secret wish" not in json.dumps(told)
