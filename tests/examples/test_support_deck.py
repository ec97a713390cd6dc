"""The example deck can be read, its samples are what their script writes, and its judge errs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autotune import parse_deck_file
from autotune.protocol.levels import LevelsRubric
from autotune_platform.judging.rubric.conversations import sample_texts
from autotune_platform.judging.rubric.level_prompts import SYSTEM, user_template, variables
from autotune_platform.judging.rubric.levels import levels_format
from autotune_platform.ledger.parsing import parse
from autotune_platform.ledger.templates import fill
from autotune_platform.statistics.kappa import quadratic_kappa
from examples.decks import make_support
from examples.language_models.support_judge import judge

SCRIPT = Path(make_support.__file__)
CLAUSE = " Courtesy does not count."


@pytest.fixture(scope="module")
def rubric() -> LevelsRubric:
    (grader,) = parse_deck_file(SCRIPT.with_name("support.deck.md").read_text("utf-8")).graders
    return grader.rubric


def test_the_script_writes_the_same_bytes_again(tmp_path: Path) -> None:
    def written(*arguments: str) -> bytes:
        command = [sys.executable, str(SCRIPT), *arguments]
        return subprocess.run(command, capture_output=True, check=True).stdout

    samples = SCRIPT.with_name("support_samples.jsonl").read_bytes()
    assert written("samples") == samples
    ids = tmp_path / "ids.txt"
    ids.write_text("\n".join(f"smp_{number}" for number in range(make_support.SAMPLES)))
    labels = [json.loads(line) for line in written("labels", "--ids", str(ids)).splitlines()]
    assert [one["sampleId"] for one in labels] == ids.read_text().split()


def judged(rubric: LevelsRubric) -> list[int]:
    """What the judge says of all samples, asked as the platform asks."""
    levels = []
    for sample, _ in make_support.samples():
        texts = sample_texts(sample["request"], sample["response"])
        named = variables(rubric, texts, texts.system)
        prompt = fill(user_template(rubric, instructed=True), named)
        verdict = parse(judge([fill(SYSTEM, named), prompt]), levels_format()).parsed_verdict
        assert isinstance(verdict, float)
        levels.append(int(verdict))
    return levels


def test_the_judge_takes_courtesy_for_help_until_its_rubric_says_not_to(
    rubric: LevelsRubric,
) -> None:
    truth = [score for _, score in make_support.samples()]
    clear = rubric.model_copy(update={"criteria": rubric.criteria + CLAUSE})
    before = quadratic_kappa(judged(rubric), truth).value
    after = quadratic_kappa(judged(clear), truth).value
    assert before == pytest.approx(0.58, abs=0.1)
    assert after == pytest.approx(0.97, abs=0.03)
