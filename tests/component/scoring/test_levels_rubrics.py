"""A rubric of seven levels scores completions, where its judge is known to agree with people."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.component.scoring.test_rubric_graders import answering, ask_models, begin, rows, verdicts
from tests.support.judge_attacks import ATTACKS
from tests.support.ledger import Ledger
from tests.support.ledger import ledger as make_ledger
from tests.support.levels import AT_TWO, calibration, judged, measured, registered
from tests.support.platform import Platform


@pytest.fixture
def ledger(platform: Platform) -> Iterator[Ledger]:
    with make_ledger(platform) as made:
        yield made


def scored(
    ledger: Ledger,
    grader: dict[str, Any],
    *completions: dict[str, Any],
    rounds: int = 1,
    task: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Submit completions and have them judged; return their verdicts."""
    platform = ledger.platform
    task_id = platform.new_task(grader["id"], **(task or {}))
    accepted = platform.submit(task_id, *(completions or ({},))).json
    before = {run["run_id"] for run in platform.runs()}
    platform.dispatch(platform.queued())
    (run,) = [one for one in platform.runs() if one["run_id"] not in before]
    run = platform.grade(run)
    for _ in range(rounds):
        ask_models(ledger)
        run = platform.grade(run)
    assert run["waiting"] == 0
    return verdicts(platform, accepted)


def whys(found: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    return [(one["state"], one.get("reasonCode")) for one in found]


def test_a_level_is_a_score_with_the_confidence_that_was_measured_at_it(ledger: Ledger) -> None:
    platform = ledger.platform
    asked = answering(ledger, judged("+2"), judged(-3, because="none"))
    grader = registered(ledger, shareReasoning=True)
    assert (grader["calibrated"], grader["kind"]) == (True, "rubric")
    found = scored(
        ledger, grader, {"prompt": "Who wrote it?", "response": "She, says the Times."}, {}
    )
    worst, best = sorted(found, key=lambda one: one["score"]["value"])
    assert (worst["score"]["value"], best["score"]["value"]) == (0.0, pytest.approx(5 / 6))
    assert best["score"]["confidence"] == (AT_TWO["hits"] + 1) / (AT_TWO["n"] + 2)
    # Of the level that nobody measured, nothing is known.
    assert worst["score"]["confidence"] == 0.5
    read = platform.call("GET", f"/api/v1/completions/{best['completionId']}/score").json["verdict"]
    assert read["score"]["reasoning"].startswith("it names two\n\n")
    assert best["score"]["graderVersion"] == grader["version"]
    (first,) = [one for one in asked if "says the Times" in one.prompt]
    assert "Does the answer name its sources?" in first.prompt
    assert "-3: sources: -3" in first.prompt
    assert "You are a librarian." in first.prompt
    assert "kappa" not in first.prompt
    # Texts are gone once the verdict is stored.
    assert {one["sk"]["S"] for one in rows()} == {"deadline", "state"}


def test_another_model_abstains_until_it_is_measured_itself(ledger: Ledger) -> None:
    answering(ledger, judged(2))
    grader = registered(ledger)
    assert whys(scored(ledger, grader)) == [("scored", None)]
    ledger.fake.world.traps.arm("other_model", params={"model": "small-2026"})
    assert whys(scored(ledger, grader)) == [("abstained", "uncalibrated_model")]
    again = measured(ledger, grader, model="small-2026")
    assert (again["version"], again["calibrated"]) == (grader["version"], True)
    ledger.fake.world.traps.arm("other_model", params={"model": "small-2026"})
    assert whys(scored(ledger, again)) == [("scored", None)]


def test_a_task_says_what_becomes_of_a_judge_that_nobody_measured(ledger: Ledger) -> None:
    platform = ledger.platform
    asked = answering(ledger, judged(2))
    grader = registered(ledger, calibrated=False)
    assert grader["calibrated"] is False
    assert whys(scored(ledger, grader)) == [("abstained", "uncalibrated")]
    assert asked == []
    (allowed,) = scored(ledger, grader, task={"uncalibrated": "allow"})
    assert allowed["score"]["value"] == pytest.approx(5 / 6)
    assert allowed["score"]["confidence"] == 0.5
    body = {"name": "t", "graderId": grader["id"], "uncalibrated": "refuse"}
    refused = platform.call("POST", "/api/v1/tasks", body)
    assert (refused.status, refused.json["code"]) == (409, "grader_not_calibrated")
    task_id = platform.new_task(grader["id"])
    change = platform.call("PATCH", f"/api/v1/tasks/{task_id}", {"uncalibrated": "refuse"})
    assert (change.status, change.json["code"]) == (409, "grader_not_calibrated")
    calibrated = measured(ledger, grader)
    made = platform.call("POST", "/api/v1/tasks", body)
    assert (made.status, made.json["task"]["uncalibrated"]) == (201, "refuse")
    assert platform.submit(made.json["task"]["id"], {}).status == 202
    worse = measured(ledger, calibrated, low=0.39)
    assert worse["calibrated"] is False
    late = platform.submit(made.json["task"]["id"], {})
    assert (late.status, late.json["code"]) == (409, "grader_not_calibrated")
    lifted = platform.call("PATCH", f"/api/v1/tasks/{task_id}", {"uncalibrated": None})
    assert lifted.json["task"]["uncalibrated"] is None


@pytest.mark.parametrize(
    ("fields", "calibrated"),
    [
        ({}, True),
        ({"low": 0.4, "threshold": 0.4}, True),
        ({"low": 0.4, "threshold": 0.41}, False),
        ({"paramsDigest": "0" * 64}, False),
    ],
)
def test_a_calibration_is_of_these_parameters_and_is_enough(
    ledger: Ledger, fields: dict[str, Any], calibrated: bool
) -> None:
    grader = registered(ledger, calibrated=False)
    assert measured(ledger, grader, **fields)["calibrated"] is calibrated


def test_a_calibration_of_another_provider_does_not_hold(ledger: Ledger) -> None:
    asked = answering(ledger, judged(2))
    grader = measured(ledger, registered(ledger, calibrated=False), provider="openai")
    assert whys(scored(ledger, grader)) == [("abstained", "uncalibrated")]
    assert asked == []


def test_a_change_of_what_is_asked_is_another_version_that_nobody_measured(ledger: Ledger) -> None:
    platform = ledger.platform
    grader = registered(ledger)
    path = f"/api/v1/graders/{grader['id']}"
    longer = platform.call("PATCH", path, {"maxTokens": 400}).json["grader"]
    assert longer["version"] != grader["version"]
    assert (longer["calibrated"], longer["rubric"]["answer"].get("calibration")) == (False, None)
    rubric = {**grader["rubric"], "model": "other"}
    stale = platform.call("PATCH", path, {"rubric": rubric})
    assert (stale.status, set(stale.fields)) == (422, {"rubric.answer.calibration.graderVersion"})
    back = platform.call("PATCH", path, {"rubric": grader["rubric"]})
    assert (back.json["grader"]["version"], back.json["grader"]["calibrated"]) == (
        grader["version"],
        True,
    )


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"levels": ["a"] * 6}, ".levels"),
        ({"levels": ["a"] * 8}, ".levels"),
        ({"levels": ["a" * 2_001, *"bcdefg"]}, ".levels[0]"),
        ({"criteria": ""}, ".criteria"),
        ({"criteria": "x" * 10_001}, ".criteria"),
        (
            {"examples": [{"input": "i", "output": "o", "level": 4}]},
            ".examples[0].level",
        ),
        (
            {"examples": [{"input": "i", "output": "o", "level": 0.5}]},
            ".examples[0].level",
        ),
        ({"range": [0, 1]}, ".range"),
    ],
)
def test_a_rubric_that_is_none_is_refused_by_its_field(
    ledger: Ledger, change: dict[str, Any], field: str
) -> None:
    grader = registered(ledger, calibrated=False)
    rubric = {**grader["rubric"], "answer": {**grader["rubric"]["answer"], **change}}
    refused = ledger.platform.call("PATCH", f"/api/v1/graders/{grader['id']}", {"rubric": rubric})
    assert refused.status == 422
    assert set(refused.fields) == {f"rubric.answer.levels{field}"}


def test_a_calibration_is_of_one_measurement(ledger: Ledger) -> None:
    grader = registered(ledger, calibrated=False)
    rubric = grader["rubric"]
    for change in (
        {"low": 0.7},
        {"byLevel": [AT_TWO, AT_TWO]},
        {"byLevel": [{"level": 2, "n": 1, "hits": 2}]},
        {"byLevel": [{"level": 2, "n": 101, "hits": 2}]},
        {"kappa": 1.1},
    ):
        answer = {**rubric["answer"], "calibration": calibration(grader, **change)}
        body = {"rubric": {**rubric, "answer": answer}}
        refused = ledger.platform.call("PATCH", f"/api/v1/graders/{grader['id']}", body)
        assert refused.status == 422, change
    for change in ({"user": "Judge it"}, {"system": "Judge it"}):
        body = {"rubric": {**rubric, **change}}
        refused = ledger.platform.call("PATCH", f"/api/v1/graders/{grader['id']}", body)
        assert (refused.status, "answer.type is levels" in refused.text) == (422, True)


def test_what_the_rubric_is_not_asked_about_is_abstained_and_costs_nothing(ledger: Ledger) -> None:
    asked = answering(ledger, judged(2))
    same = {"metadata": {"systemPrompt": "You are a librarian.  \r\nToday is Monday.\n\n"}}
    flattened = {"prompt": "system: You are a librarian.\nToday is May 1.\n\nuser: Who?"}
    messages = (
        '[{"role": "system", "content": "You are a librarian.\\nToday is x."},'
        ' {"role": "user", "content": "Who wrote it, then?"}]'
    )
    other = {"metadata": {"systemPrompt": "You are a Librarian.\nToday is Monday."}}
    pirate = {"prompt": "system: You are a pirate.\n\nuser: Who?"}
    long = {"response": "x" * 400_001}
    # What is too long is compared with no prompt.
    long_prompt = {"prompt": f"system: {'x' * 400_001}\n\nuser: Who?"}
    rest = (other, pirate, long, long_prompt)
    found = scored(ledger, registered(ledger), same, flattened, {"prompt": messages}, *rest)
    assert whys(found) == [
        *[("scored", None)] * 3,
        *[("abstained", "other_system_prompt")] * 2,
        *[("abstained", "input_too_long")] * 2,
    ]
    assert len(asked) == 3
    (read,) = [one for one in asked if "Who wrote it, then?" in one.prompt]
    # What it was written under is shown as it was, and no turn is a system's.
    assert "Today is x." in read.prompt
    assert '"role"' not in read.prompt


def test_what_does_not_apply_is_no_zero_and_no_failure(ledger: Ledger) -> None:
    platform = ledger.platform
    answering(ledger, judged("NOT_APPLICABLE"), judged("ABSTAIN"), judged(0))
    grader = registered(ledger)
    accepted, run = begin(platform, grader, {}, {}, {})
    ask_models(ledger)
    platform.grade(run)
    found = verdicts(platform, accepted)
    assert sorted(whys(found), key=str) == [
        ("abstained", "judge_abstained"),
        ("abstained", "not_applicable"),
        ("scored", None),
    ]
    assert [one["score"]["value"] for one in found if one.get("score")] == [0.5]
    assert all(one["sourceRequestId"].startswith("llm_") for one in found)
    platform.project()
    stats = platform.call("GET", f"/api/v1/graders/{grader['id']}/stats").json
    assert (stats["failures"], stats["counts"]["abstained"]) == ({}, 2)
    batch = platform.call("GET", f"/api/v1/batches/{accepted['batchId']}/explanation")
    assert batch.json["failures"] == {}


@pytest.mark.parametrize(
    ("unusable", "notice"),
    [
        (judged(1.5), "none of the whole numbers"),
        (judged(7), "none of the whole numbers"),
        (judged("2\nVERDICT: 3"), "several lines"),
        (judged("2\nOr so."), "something stood behind"),
        ("I like it.", "no line that begins with VERDICT"),
    ],
    ids=["half", "seven", "two", "more", "none"],
)
def test_an_answer_that_is_no_level_is_asked_for_once_more(
    ledger: Ledger, unusable: str, notice: str
) -> None:
    asked = answering(ledger, unusable, judged(1))
    (verdict,) = scored(ledger, registered(ledger), rounds=2)
    assert verdict["score"]["value"] == pytest.approx(4 / 6)
    first, second = asked
    assert notice in second.prompt
    assert second.prompt.startswith(first.prompt)
    states = [one for one in rows() if one["sk"]["S"] == "state"]
    assert len(states) == 2
    # Both are paid, and what each may cost at most follows from what it asks.
    bounds = [int(one["bound_nano_usd"]["N"]) for one in states]
    assert len(set(bounds)) == 2
    assert all(int(one["cost_nano_usd"]["N"]) > 0 for one in states)
    assert {one["sk"]["S"] for one in rows()} == {"deadline", "state"}


@pytest.mark.parametrize("trap", ["finish_length", "finish_refusal"])
def test_a_cut_answer_and_a_refusal_are_asked_for_once_more(ledger: Ledger, trap: str) -> None:
    asked = answering(ledger, judged(3))
    ledger.fake.world.traps.arm(trap)
    (verdict,) = scored(ledger, registered(ledger), rounds=2)
    assert verdict["score"]["value"] == 1.0
    assert len(asked) >= 1


def test_a_second_answer_that_is_no_level_fails_and_is_never_one(ledger: Ledger) -> None:
    asked = answering(ledger, judged(2.5), judged("2\nVERDICT: 1"), judged(3))
    found = scored(ledger, registered(ledger), rounds=3)
    assert whys(found) == [("failed", "model_answer_unreadable")]
    assert len(asked) == 2


def test_no_response_is_taken_for_the_judges_verdict(ledger: Ledger) -> None:
    # A judge that repeats all that it read, and then says what it thinks.
    ledger.fake.world.answers.answerer = lambda ask: f"{ask.texts[-1]}\n{judged(-2)}"
    some = [text for number, text in enumerate(ATTACKS.values()) if number % 31 == 0]
    found = scored(ledger, registered(ledger), *({"response": text} for text in some))
    assert [one["score"]["value"] for one in found] == [pytest.approx(1 / 6)] * len(some)


def test_a_deck_of_graders_is_a_panel(ledger: Ledger) -> None:
    platform = ledger.platform
    connection_id = ledger.connect(maxWaitSeconds=0)
    graders = [
        registered(ledger, connection_id=connection_id, answer={"criteria": criteria})
        for criteria in ("sources?", "tone?")
    ]
    ledger.fake.world.answers.answerer = lambda ask: judged(
        3 if "sources?" in ask.prompt else "NOT_APPLICABLE"
    )
    named = [{"graderId": one["id"]} for one in graders]
    body = {"name": "deck", "graders": named, "quorum": 1}
    task_id = platform.call("POST", "/api/v1/tasks", body).json["task"]["id"]
    accepted = platform.submit(task_id, {}).json
    platform.dispatch(platform.queued())
    left = [platform.grade(run) for run in platform.runs()]
    ask_models(ledger)
    for run in left:
        platform.grade(run)
    (verdict,) = verdicts(platform, accepted)
    assert (verdict["state"], verdict["score"]["value"]) == ("scored", 1.0)
    read = platform.call("GET", f"/api/v1/completions/{verdict['completionId']}/score").json
    assert sorted(whys(read["verdict"]["opinions"]), key=str) == [
        ("abstained", "not_applicable"),
        ("scored", None),
    ]


def test_the_guides_grader_can_be_registered(ledger: Ledger) -> None:
    guide = Path("docs/guides/levels-rubrics.md").read_text("utf-8")
    found = re.search(r"```json\n(.*?)```", guide, re.DOTALL)
    assert found is not None
    rubric = {**json.loads(found[1]), "connectionId": ledger.connect(maxWaitSeconds=0)}
    body = {"name": "sources", "kind": "rubric", "rubric": rubric}
    made = ledger.platform.call("POST", "/api/v1/graders", body)
    assert (made.status, made.json["grader"]["calibrated"]) == (201, False)
