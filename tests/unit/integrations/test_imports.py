"""What the tests of an environment import is there: the SDK, its lock, and files of this tree.

The platform is not: its dependencies are in no lock.
"""

import ast

import pytest

from integrations.environments import INTEGRATIONS, REPOSITORY_ROOT, find_environments

HERE = ("benchmarks", "integrations", "local", "tests", "tools")
NOT_THERE = ("autotune_platform", "aws_cdk", "functions", "infra")


def file_of(module):
    """Return the file of a module of this tree; None of another one's."""
    if module.partition(".")[0] not in HERE:
        return None
    path = REPOSITORY_ROOT.joinpath(*module.split("."))
    found = [path.with_suffix(".py"), path / "__init__.py"]
    return next((one for one in found if one.is_file()), None)


def imported_by(file):
    """Yield the modules that a file imports when it is imported itself."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)


def reached_from(files):
    """Return what some files import, and what that imports, each with who does."""
    left, reached = list(files), {}
    while left:
        file = left.pop()
        for module in imported_by(file):
            if module not in reached:
                reached[module] = file.relative_to(REPOSITORY_ROOT).as_posix()
                found = file_of(module)
                left += [found] if found else []
    return reached


@pytest.mark.parametrize("environment", find_environments([]), ids=lambda one: one.name)
def test_an_environment_needs_nothing_of_the_platform(environment):
    reached = reached_from([INTEGRATIONS / "conftest.py", *environment.source.glob("*.py")])
    assert "autotune" in reached
    missing = {
        module: file for module, file in reached.items() if module.partition(".")[0] in NOT_THERE
    }
    assert missing == {}


def test_what_is_imported_along_is_looked_at():
    reached = reached_from([INTEGRATIONS / "lora" / "tasks.py"])
    assert reached["tests.support.apprentice"] == "integrations/lora/tasks.py"
    assert reached["typing"] in {"integrations/lora/tasks.py", "tests/support/apprentice.py"}
