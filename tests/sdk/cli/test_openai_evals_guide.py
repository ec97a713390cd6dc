"""The guide for those who come from OpenAI Evals, from its files to its scores."""

import json
import re
from pathlib import Path

from autotune.cli import exit_codes

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "from-openai-evals.md"
TEXT = GUIDE.read_text("utf-8")
CHECK = {
    "name": "String check",
    "type": "string_check",
    "input": "{{sample.output_text}}",
    "reference": "{{item.ground_truth}}",
    "operation": "eq",
}


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.M | re.S)


def test_what_was_converted_is_submitted_and_scored(api, run, shell, tmp_path):
    (tmp_path / "eval.json").write_text(json.dumps({"name": "e", "testing_criteria": [CHECK]}))
    made = run("graders", "from-openai-eval", "eval.json", "--register")
    assert made.exit_code == exit_codes.OK, made.stderr
    grader_id = made.stdout.split()[0]
    line, _ = blocks("json")
    (tmp_path / "completions.jsonl").write_text(line)
    (commands,) = [one for one in blocks("text") if "autotune submit" in one]
    ran = shell.run(commands.replace("grd_...", grader_id))
    assert ran.returncode == 0, ran.stderr
    assert "scored 1 of 1" in ran.stdout
    (scored,) = [json.loads(one) for one in ran.stdout.splitlines() if one.startswith("{")]
    assert scored["score"]["value"] == 1


def test_a_file_of_a_grader_is_registered_as_it_is_shown(api, shell, tmp_path):
    body = {"name": "lab", "provider": "openai", "apiKey": "sk-test-0123456789"}
    answer = api.platform.call("POST", "/api/v1/llm-connections", body)
    assert answer.status == 201, answer.text
    connection_id = answer.json["connection"]["id"]
    _, grader = blocks("json")
    (tmp_path / "closeness.json").write_text(grader)
    (command,) = [one for one in blocks("text") if "graders register" in one]
    ran = shell.run(command, CONNECTION_ID=connection_id)
    assert ran.returncode == 0, ran.stderr
    (found,) = [
        one
        for one in api.platform.call("GET", "/api/v1/graders").json["graders"]
        if one["name"] == "closeness"
    ]
    assert (found["kind"], found["rubric"]["connectionId"]) == ("rubric", connection_id)


def test_an_eval_without_criteria_is_told_so(run, tmp_path):
    (tmp_path / "eval.json").write_text(json.dumps({"name": "e", "testing_criteria": []}))
    ran = run("graders", "from-openai-eval", "eval.json")
    assert (ran.exit_code, "eval.json has no criteria" in ran.stderr) == (exit_codes.USAGE, True)
