import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TREES = ("layers/platform/python", "layers/sdk/python", "functions", "infra", "local", "tools")


def bound(module: ast.Module) -> Iterator[str]:
    """The names that a module's own statements assign, one for each time."""
    for one in module.body:
        match one:
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                yield name


def twice(source: str) -> set[str]:
    return {name for name, times in Counter(bound(ast.parse(source))).items() if times > 1}


@pytest.mark.parametrize("tree", TREES)
def test_no_module_gives_a_name_another_value(tree: str) -> None:
    """The second value would replace the first for what stands above it, too."""
    found = {
        str(path.relative_to(ROOT)): names
        for path in (ROOT / tree).rglob("*.py")
        if (names := twice(path.read_text("utf-8")))
    }
    assert found == {}


def test_a_second_value_is_found() -> None:
    assert twice("A = 1\nB: int = 2\nC: int\nC = 3\nA = 1\n") == {"A"}
