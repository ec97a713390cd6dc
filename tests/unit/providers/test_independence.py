"""The fake imports nothing of the product, or its bill would prove nothing."""

import ast
from pathlib import Path

FAKE = Path(__file__).parents[2] / "providers"
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


def test_the_fake_imports_only_itself_and_the_standard_library():
    found = {name for source in FAKE.glob("*.py") for name in imported_by(source)}
    assert "tests.providers.state" in found
    assert not [name for name in found if name.split(".")[0] in OURS]
    assert not [
        name
        for name in found
        if name.startswith("tests.") and not name.startswith("tests.providers")
    ]
