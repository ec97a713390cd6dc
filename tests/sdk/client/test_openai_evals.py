"""What OpenAI's Evals API returns becomes graders that the platform takes.

The evals follow examples of OpenAI's documentation, read on 2026-11-23: the API reference of
``GET /v1/evals/{eval_id}`` (``developers.openai.com/api/reference``), the guides to graders and to
evals, and the types ``openai/types/eval_retrieve_response.py`` and ``openai/types/graders`` of the
Python package.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from autotune import graders_from_openai_eval
from autotune.cli.application import app
from autotune.protocol.graders import RegisterGraderRequest
from autotune_platform.graders.kinds import initial_status
from autotune_platform.runtime.clock import SYSTEM_CLOCK

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "from-openai-evals.md"
CONNECTION = "llc_00000000000000000000000000"
ITEM = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
SOURCE = {
    "type": "custom",
    "schema": {"type": "object", "properties": {"item": ITEM}, "required": ["item"]},
}
CHECK = {
    "name": "String check",
    "id": "String check-2eaf2d8d-d649-4335-8148-9535a7ca73c2",
    "type": "string_check",
    "input": "{{item.input}}",
    "reference": "{{item.ground_truth}}",
    "operation": "eq",
}
SIMILARITY = {
    "type": "text_similarity",
    "name": "Example text similarity grader",
    "input": "{{sample.output_text}}",
    "reference": "{{item.label}}",
    "pass_threshold": 0.8,
    "evaluation_metric": "fuzzy_match",
}
LABEL = {
    "type": "label_model",
    "name": "First label grader",
    "id": "First label grader-1",
    "model": "o3-mini",
    "input": [
        {
            "type": "message",
            "role": "developer",
            "content": {"type": "input_text", "text": "Classify the sentiment of the statement."},
        },
        {
            "type": "message",
            "role": "user",
            "content": {"type": "input_text", "text": "Statement: {{item.response}}"},
        },
    ],
    "passing_labels": ["positive"],
    "labels": ["positive", "neutral", "negative"],
}
SCORE = {
    "type": "score_model",
    "name": "Example score model grader",
    "input": [
        {
            "role": "user",
            "content": [
                {
                    "type": "input_text",
                    "text": "Score from 0 to 1 how close {{sample.output_text}} is to "
                    "{{item.reference_answer}}.",
                }
            ],
        }
    ],
    "model": "gpt-5-mini",
    "sampling_params": {
        "temperature": 1,
        "top_p": 1,
        "seed": 42,
        "max_completions_tokens": 500,
        "reasoning_effort": "low",
    },
    "range": [0, 1],
}
PYTHON = {
    "type": "python",
    "name": "Example python grader",
    "image_tag": "2025-05-08",
    "source": "def grade(sample, item): return 1.0",
}


def an_eval(*criteria: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "object": "eval",
        "id": "eval_67abd54d9b0081909a86353f6fb9317a",
        "data_source_config": SOURCE,
        "testing_criteria": list(criteria),
        "name": "External Data Eval",
        "created_at": 1739314509,
        "metadata": {},
        **fields,
    }


def taken(arguments: Any) -> dict[str, Any]:
    """What the platform makes of arguments of ``register``; it refuses what is no grader."""
    request = RegisterGraderRequest.model_validate(dict(arguments))
    return initial_status(request, now=SYSTEM_CLOCK.now())


def test_one_check_becomes_one_builtin_grader() -> None:
    converted = graders_from_openai_eval(an_eval(CHECK))
    (grader,) = converted.graders
    assert (grader["name"], grader["kind"]) == ("String check", "builtin")
    assert taken(grader)["builtin"]["type"] == "string_check"
    assert converted.item_fields == ["input", "ground_truth"]
    assert (converted.refused, converted.name) == ([], "External Data Eval")


def test_several_checks_become_one_multi_of_their_least() -> None:
    converted = graders_from_openai_eval(an_eval(CHECK, SIMILARITY, {**CHECK, "name": "min"}))
    (grader,) = converted.graders
    stored = taken(grader)["builtin"]
    assert list(stored["graders"]) == ["string_check", "example_text_similarity_grader", "min_2"]
    formula = "min(string_check, example_text_similarity_grader, min_2)"
    assert stored["calculateOutput"] == formula
    assert any("pass_threshold" in note for note in converted.notes)


def test_models_that_judge_become_rubric_graders() -> None:
    converted = graders_from_openai_eval(an_eval(LABEL, SCORE), connection_id=CONNECTION)
    label, score = (taken(grader)["rubric"] for grader in converted.graders)
    assert label["system"] == "Classify the sentiment of the statement."
    assert label["user"] == "Statement: {{item.response}}"
    assert label["answer"] == {
        "type": "label",
        "labels": ["positive", "neutral", "negative"],
        "passingLabels": ["positive"],
    }
    assert label["params"] == {"maxTokens": 2048}
    assert score["answer"] == {"type": "score", "minimum": 0.0, "maximum": 1.0}
    assert score["params"] == {
        "maxTokens": 500,
        "temperature": 1.0,
        "topP": 1.0,
        "seed": 42,
        "extra": {"reasoning_effort": "low"},
    }
    assert converted.item_fields == ["response", "reference_answer"]


def test_what_becomes_no_grader_is_named_with_the_reason() -> None:
    tools = {**CHECK, "name": "tools", "input": "{{ sample.output_tools[0].function.name }}"}
    cosine = {**SIMILARITY, "name": "cosine", "evaluation_metric": "cosine"}
    converted = graders_from_openai_eval(an_eval(PYTHON, SCORE, tools, cosine, {"type": "new"}))
    assert converted.graders == []
    reasons = {one.name: one.reason for one in converted.refused}
    assert "grader SDK" in reasons["Example python grader"]
    assert "connection" in reasons["Example score model grader"]
    assert "sample.output_tools" in reasons["tools"]
    assert "embedding" in reasons["cosine"]
    assert "new is no type" in reasons["new 5"]


def test_an_eval_of_logs_says_what_is_missing() -> None:
    source = {"type": "logs", "metadata": {"usecase": "chatbot"}}
    converted = graders_from_openai_eval(an_eval(CHECK, data_source_config=source))
    assert any("submit prompts" in note for note in converted.notes)


@pytest.mark.parametrize(
    "document",
    [{}, {"object": "list", "testing_criteria": []}, {"testing_criteria": ["x"]}],
    ids=["nothing", "list", "texts"],
)
def test_what_is_no_eval_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="GET /v1/evals"):
        graders_from_openai_eval(document)


def test_the_command_shows_graders_and_says_what_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "eval.json"
    file.write_text(json.dumps(an_eval(CHECK, SCORE, PYTHON)))
    arguments = ["graders", "from-openai-eval", str(file), "--connection", CONNECTION]
    ran = CliRunner().invoke(app, [*arguments, "--json"])
    shown = json.loads(ran.stdout)
    assert ran.exit_code == 1
    assert [one["kind"] for one in shown["graders"]] == ["builtin", "rubric"]
    assert [one["name"] for one in shown["refused"]] == ["Example python grader"]
    assert shown["registered"] == []
    file.write_text("[]")
    assert CliRunner().invoke(app, arguments).exit_code == 2


def test_the_command_registers_what_it_shows(api: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("AUTOTUNE_BASE_URL", api.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", api.api_key)
    file = tmp_path / "eval.json"
    file.write_text(json.dumps(an_eval(CHECK, SIMILARITY)))
    ran = CliRunner().invoke(
        app, ["graders", "from-openai-eval", str(file), "--register", "--json"]
    )
    assert ran.exit_code == 0, ran.output
    (grader_id,) = json.loads(ran.stdout)["registered"]
    read = api.platform.call("GET", f"/api/v1/graders/{grader_id}").json["grader"]
    assert (read["kind"], read["builtin"]["type"]) == ("builtin", "multi")


def test_the_python_of_the_guide_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("eval.json").write_text(json.dumps(an_eval(CHECK, SCORE)))
    (example,) = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text("utf-8"), re.M | re.S)
    exec(compile(example, GUIDE.name, "exec"), {})
    first, second = capsys.readouterr().out.splitlines()
    assert first == "builtin String check"
    assert second == "rubric Example score model grader"
