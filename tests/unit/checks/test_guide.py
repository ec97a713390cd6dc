"""Every configuration in the guide and the examples is one."""

import json
import re
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from autotune.protocol.builtin import BuiltinConfiguration
from autotune.protocol.completions import ReasonCode
from autotune_platform.checks.compiling import check_builtin
from autotune_platform.checks.openai import from_openai
from autotune_platform.checks.patterns import compiled

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "guides" / "builtin-graders.md").read_text("utf-8")
EXAMPLES = sorted((ROOT / "examples" / "builtin_graders").glob("*.json"))
configurations: TypeAdapter[BuiltinConfiguration] = TypeAdapter(BuiltinConfiguration)


def test_every_configuration_of_the_guide_compiles() -> None:
    shown = [json.loads(one) for one in re.findall(r"^```json\n(.*?)^```$", GUIDE, re.M | re.S)]
    assert {one["type"] for one in shown} == {
        *("exact_match", "string_check", "text_similarity", "numeric", "json_schema", "multi")
    }
    for one in shown:
        check_builtin(configurations.validate_python(one), field="builtin")


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_example_compiles(file: Path) -> None:
    document = json.loads(file.read_text("utf-8"))
    if file.stem.startswith("openai"):
        check_builtin(from_openai(document, field="openai"), field="openai")
    else:
        check_builtin(configurations.validate_python(document), field="builtin")


def test_the_sizes_of_patterns_in_the_guide_are_theirs() -> None:
    told = re.findall(r"`([^`]+)` (?:compiles )?to ([\d,]+)", GUIDE)
    assert len(told) == 3
    for pattern, size in told:
        assert compiled(pattern, with_groups=False).programsize == int(size.replace(",", ""))


def test_the_guide_tells_every_reason_code() -> None:
    codes = [code for code in ReasonCode.__args__ if code.startswith("builtin_")]
    assert set(re.findall(r"^\| `(builtin_\w+)` \|", GUIDE, re.M)) == set(codes)
