"""mypy reads those services of the CDK that are used here, and no other.

What it does not read is of any type: a class with a base of such a module would have any attribute.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import aws_cdk

ROOT = Path(__file__).parents[3]
CDK = Path(aws_cdk.__file__).parent
_ALIAS = re.compile(r"^ *import (aws_cdk[.\w]*) as (_\w+)$", re.MULTILINE)
_CLASS = re.compile(r"^class \w+\((.*?)\):$", re.MULTILINE | re.DOTALL)
_OUTER_BASE = re.compile(r"(_\w+)\.\w+")


def read_by_mypy() -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["overrides"]
    (read,) = (one["module"] for one in settings if one.get("follow_imports") == "normal")
    return read


def imported() -> set[str]:
    """Modules of the CDK that checked code imports."""
    return {
        name
        for folder in ("infra", "local", "benchmarks", "tools")
        for file in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        for name in _modules_of(node)
        if file_of(name).exists()
    }


def _modules_of(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "aws_cdk":
        yield str(node.module)
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "aws_cdk")


def file_of(name: str) -> Path:
    folder = CDK.parent.joinpath(*name.split("."))
    return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


def with_bases(names: set[str]) -> set[str]:
    """Return modules, those of bases of their classes, those of the bases of these, and so on."""
    found: set[str] = set()
    due = sorted(names)
    while due:
        name = due.pop()
        if name not in found:
            found.add(name)
            source = file_of(name).read_text()
            modules = {alias: module for module, alias in _ALIAS.findall(source)}
            bases = " ".join(_CLASS.findall(source))
            due += {modules[alias] for alias in _OUTER_BASE.findall(bases) if alias in modules}
    return found


def test_mypy_reads_what_is_used_with_the_bases_of_its_classes() -> None:
    read, used = read_by_mypy(), with_bases(imported())
    assert "aws_cdk.aws_lambda" in used
    assert "aws_cdk.aws_ec2" in used, "functions may be in a network"
    assert [name for name in sorted(used) if not any(fnmatchcase(name, one) for one in read)] == []
    unused = [one for one in read if not any(fnmatchcase(name, one) for name in used)]
    assert unused == ["aws_cdk._jsii"], "which each of them imports all of"
