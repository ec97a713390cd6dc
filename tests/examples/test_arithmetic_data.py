"""The example data is what its script writes, and the example graders agree with it."""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from autotune.grader.loading import load_grader
from autotune.protocol.grading import GradedCompletion

ROOT = Path(__file__).parents[2]
DATA = ROOT / "examples/data/arithmetic.jsonl"


@pytest.fixture(scope="module")
def completions() -> list[dict[str, Any]]:
    return [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


def test_the_script_writes_the_same_bytes_again() -> None:
    script = ROOT / "examples/data/make_arithmetic.py"
    written = subprocess.run([sys.executable, str(script)], capture_output=True, check=True).stdout
    assert written == DATA.read_bytes()


def test_each_line_is_a_completion(completions: list[dict[str, Any]]) -> None:
    assert len(completions) == 200
    for completion in completions:
        assert set(completion) == {"prompt", "response", "modelId", "metadata"}
        GradedCompletion.model_validate({"id": "c", "taskId": "t", **completion})


def test_the_models_differ_in_skill_and_all_make_mistakes(
    completions: list[dict[str, Any]],
) -> None:
    right: dict[str, list[bool]] = defaultdict(list)
    for completion in completions:
        right[completion["modelId"]].append(completion["metadata"]["isCorrect"])
    shares = [sum(marks) / len(marks) for marks in right.values()]
    assert len(shares) == 4
    assert shares == sorted(shares)
    assert shares[0] < 0.5 < shares[-1] < 1


@pytest.mark.parametrize(
    "grader_file", ["examples/graders/numeric_answer.py", "grader_template/grader.py"]
)
def test_the_graders_agree_with_the_data(
    completions: list[dict[str, Any]], grader_file: str
) -> None:
    graded = load_grader(str(ROOT / grader_file))
    for completion in completions:
        asked = {name: completion[name] for name in ("prompt", "response", "metadata")}
        is_right = graded.grade(**asked).value == 1.0
        assert is_right == completion["metadata"]["isCorrect"]
