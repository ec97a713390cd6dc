"""Custom evaluators: a registered grader says how right a version's answer is."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from autotune_platform.apprentice.routing import Decision
from autotune_platform.apprentice.runs.models import RunPair
from autotune_platform.apprentice.runs.scoring import pairs_of
from functions.apprentice import work_runs
from tests.support.apprentice import configuration
from tests.support.apprentice_runs import ANSWER, Runs
from tests.support.graders import LoopbackGrader, deferring, loopback_grader, scoring

OTHER = '{"intent":"close_door"}'
BUILTIN = {"type": "exact_match", "reference": "{{item.reference}}"}


@pytest.fixture
def grader() -> Iterator[LoopbackGrader]:
    with loopback_grader() as made:
        yield made


def scored(runs: Runs, grader_id: str, local: str = ANSWER) -> tuple[RunPair, ...]:
    """Compare what a version answered with the paid model's answer."""
    document = configuration(runs.connection_id)
    document["evaluator"] = {"type": "custom", "graderId": grader_id}
    started = runs.start(wait=20).json["run"]
    run = runs.stored(started["id"])
    assert run is not None
    run = run.model_copy(update={"local_version": 1, "local_output": local})
    decision = replace(Decision(), pair=True)
    runner = work_runs.parts().runner
    return pairs_of(run, decision, document, {}, ANSWER, runner.graders, runner.meanings)


def builtin(runs: Runs, **fields: Any) -> str:
    body = {"name": "g", "kind": "builtin", "builtin": BUILTIN, **fields}
    made: str = runs.platform.call("POST", "/api/v1/graders", body).json["grader"]["id"]
    return made


def test_a_builtin_grader_compares_with_the_paid_models_answer(runs: Runs) -> None:
    grader_id = builtin(runs)

    assert [one.score for one in scored(runs, grader_id)] == [1]
    assert [one.score for one in scored(runs, grader_id, OTHER)] == [0]
    assert [one.score for one in scored(runs, grader_id, f"```json\n{ANSWER}\n```")] == [1]


def test_an_endpoint_is_asked_about_the_answer_with_the_other_as_reference(
    runs: Runs, grader: LoopbackGrader
) -> None:
    grader_id = runs.platform.new_grader(grader)
    grader.disease = scoring(0.25)

    (pair,) = scored(runs, grader_id, OTHER)

    assert (pair.version, pair.score, pair.is_drawn) == (1, 0.25, True)
    ((path, request),) = grader.requests
    asked = request["completion"]
    assert path == "/score"
    assert (asked["response"], asked["metadata"]) == (OTHER, {"reference": ANSWER})
    assert asked["prompt"].startswith("What does the customer want?")


def test_what_cannot_be_read_agrees_with_nothing_and_is_not_asked_about(
    runs: Runs, grader: LoopbackGrader
) -> None:
    assert [one.score for one in scored(runs, runs.platform.new_grader(grader), "door")] == [0]
    assert grader.requests == []


@pytest.mark.parametrize("disease", [scoring(2), scoring(float("nan")), deferring])
def test_a_grader_that_fails_makes_no_pair(
    runs: Runs, grader: LoopbackGrader, disease: Any
) -> None:
    grader_id = runs.platform.new_grader(grader)
    grader.disease = disease

    assert scored(runs, grader_id) == ()
    assert len(grader.requests) == 1


def test_a_grader_that_is_gone_makes_no_pair(runs: Runs) -> None:
    grader_id = builtin(runs)
    assert runs.platform.call("DELETE", f"/api/v1/graders/{grader_id}").status in (200, 204)

    assert scored(runs, grader_id) == ()


def test_a_grader_that_takes_longer_is_no_evaluator(runs: Runs) -> None:
    body = {"name": "people", "kind": "human"}
    grader_id = runs.platform.call("POST", "/api/v1/graders", body).json["grader"]["id"]
    document = configuration(runs.connection_id)
    document["evaluator"] = {"type": "custom", "graderId": grader_id}

    answer = runs.platform.call("PUT", "/api/v1/apprentice/tasks/t", document)

    assert (answer.status, "of kind builtin or http, not human" in answer.text) == (422, True)
    assert answer.json["errors"][0]["field"] == "evaluator.graderId"
