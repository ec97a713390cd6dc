"""The fakes import nothing of the product, or their bills and verdicts would prove nothing."""

import ast
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
# What each may import of the tests.
FAKES = {"providers": {"providers"}, "judges": {"judges", "providers"}}
OURS = {
    "autotune",
    "autotune_platform",
    "benchmarks",
    "functions",
    "integrations",
    "local",
    "tools",
}


def imported_by(source):
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


@pytest.mark.parametrize("fake", FAKES)
def test_a_fake_imports_only_fakes_and_the_standard_library(fake):
    found = {name for source in (TESTS / fake).glob("*.py") for name in imported_by(source)}
    assert "tests.providers.state" in found
    assert not [name for name in found if name.split(".")[0] in OURS]
    of_tests = {name.split(".")[1] for name in found if name.startswith("tests.")}
    assert of_tests <= FAKES[fake]
    others = {name.split(".")[0] for name in found} - {"tests"}
    # Only whoever wants buckets has boto3, which is imported then.
    assert others - {"boto3", "botocore"} <= sys.stdlib_module_names
