"""What docs/architecture.md and the page of the ledger say is there, is there."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "architecture.md"
PLATFORM = "layers/platform/python/autotune_platform/"
SOURCES = (PLATFORM, "layers/sdk/python", "infra")
PREFIXES = {"platform/": PLATFORM, "sdk/": "layers/sdk/python/autotune/"}

_QUOTED = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"[\w<>./-]+(/|\.(py|js|md|json|toml))")
# Quoted, and neither a path nor a name behind one: Python's own names, packages, tables, commands,
# and patterns.
_OTHERS = {
    *("@part", "cached_property", "python -m tools.data_holders"),
    "python -m tools.console_libraries",
    *("functions", "infra", "autotune", "autotune_platform", "autotune.protocol"),
    *("registry", "completions", "http", "GET /scores", "scores", "export"),
    *("parts()", "parts().grading.grade(...)", "watch_…", "self.alarms.watch_…", "grant_…"),
}


def prose(page: str) -> str:
    """Return the page without its picture."""
    return re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)


def sections(page: str) -> dict[str, str]:
    found = re.split(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def rows(section: str) -> list[list[str]]:
    """Return the cells of a section's table, without its head."""
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def files(path: str) -> list[Path]:
    """Return the files and folders that a path of the page stands for."""
    for short, whole in PREFIXES.items():
        if path.startswith(short):
            path = whole + path.removeprefix(short)
    pattern = re.sub(r"<\w+>", "*", path).rstrip("/")
    return sorted(ROOT.glob(pattern))


@cache
def defined(path: Path) -> set[str]:
    """Return what a module defines, members of its classes as ``Class.member`` as well."""
    found: set[str] = set()

    def collect(node: ast.AST, owner: str) -> None:
        for child in ast.iter_child_nodes(node):
            names = _defined_by(child)
            found.update(names, (owner + name for name in names))
            collect(child, f"{child.name}." if isinstance(child, ast.ClassDef) else owner)

    collect(ast.parse(path.read_text("utf-8")), "")
    return found


def _defined_by(node: ast.AST) -> list[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            return [name]
        case ast.Name(id=name, ctx=ast.Store()):
            return [name]
        case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
            return [name]
    return []


def faults(page: str, steps: list[str]) -> list[str]:
    """Return what a page mentions that is not there.

    A name is looked for in the files that stand before it in its paragraph, row or item of a list.
    """
    found: list[str] = []
    text = re.sub(r"\n(?=[^\n|#\-\d])", " ", prose(page))
    for paragraph in text.splitlines():
        near: list[Path] = []
        for token in _QUOTED.findall(paragraph):
            if _PATH.fullmatch(token):
                there = files(token)
                found += [] if there else [token]
                near += [one for one in there if one.suffix == ".py"]
            elif not (
                any(token in defined(one) for one in near)
                or token in _OTHERS
                or token in steps
                or is_target(token)
                or is_elsewhere(token)
            ):
                found.append(token)
    return found


def is_target(token: str) -> bool:
    """Tell whether a token is a target of the Makefile."""
    name = token.removeprefix("make ")
    return name != token and f"\n{name}:" in (ROOT / "Makefile").read_text("utf-8")


@cache
def every_module() -> list[Path]:
    return [path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*.py"))]


def is_elsewhere(token: str) -> bool:
    """Tell whether a class that is named without its file is one of ours."""
    is_class = re.fullmatch(r"([A-Z][a-z]+)+", token) is not None
    return is_class and any(token in defined(path) for path in every_module())


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text("utf-8")


@pytest.fixture(scope="module")
def steps() -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (staircase,) = [
        contract
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract.get("exhaustive")
    ]
    return list(staircase["layers"])


@pytest.mark.parametrize("name", ["architecture.md", "architecture-ledger.md"])
def test_every_path_and_name_is_there(name: str, steps: list[str]) -> None:
    assert faults((PAGE.parent / name).read_text("utf-8"), steps) == []


def test_the_page_of_the_ledger_draws_each_phase_of_a_batch() -> None:
    picture = (PAGE.parent / "architecture-ledger.md").read_text("utf-8").partition("```")[2]
    source = (ROOT / PLATFORM / "ledger" / "models.py").read_text("utf-8")
    phases = re.search(r"BatchPhase = Literal\[(.*?)\]", source, re.DOTALL)
    assert phases is not None
    for phase in re.findall(r'"(\w+)"', phases[1]):
        assert re.search(rf"\b{phase}\b", picture), phase


@pytest.mark.parametrize(
    "wrong",
    [
        "platform/verdicts/no_such.py",
        "functions/<domain>/no_such.py",
        "NoSuchClass",
        "make no-such",
        "no_such_name",
    ],
)
def test_what_is_not_there_is_found(wrong: str, steps: list[str]) -> None:
    assert faults(f"`README.md`, `wiring` and `make lint`.\n\nLook at `{wrong}`.\n", steps) == [
        wrong
    ]


def test_a_name_that_is_not_in_its_file_is_found(steps: list[str]) -> None:
    line = "`platform/verdicts/service.py` `VerdictService.decides`\n"
    assert faults(line, steps) == ["VerdictService.decides"]


def test_the_staircase_is_that_of_the_contract(page: str, steps: list[str]) -> None:
    listed = rows(sections(page)["The staircase"])
    assert [step.strip("`") for step, _ in listed] == steps
    assert all(holds for _, holds in listed)
    folders = {path.parent.name for path in (ROOT / PLATFORM).glob("*/__init__.py")}
    assert folders == set(steps)


def test_the_way_of_a_completion_lists_each_domain_once(page: str, steps: list[str]) -> None:
    way = rows(sections(page)["One completion's way"])
    stages = [stage for stage, _, _ in way if stage]
    assert stages == ["Submission", "Dispatch", "Round", "Verdict", "Projection", "Webhook"]
    listed = [domain.strip("`") for _, domain, _ in way if domain]
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(steps)
    domain = ""
    for _, named, where in way:
        domain = named.strip("`") or domain
        # A row that names no domain is of the one before it: each row has a file of its domain.
        assert f"/{domain}/" in where, where


def test_the_picture_shows_functions_that_are_there(page: str) -> None:
    (picture,) = re.findall(r"^```mermaid\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    shown = re.findall(r"\[(\w+/\w+)\]", picture)
    assert shown
    assert [name for name in shown if not (ROOT / "functions" / f"{name}.py").exists()] == []


def test_one_may_read_it_in_one_go(page: str) -> None:
    assert len(page.splitlines()) < 200


@pytest.mark.parametrize("linking", ["README.md", "CONTRIBUTING.md"])
def test_it_is_found(linking: str) -> None:
    assert "(docs/architecture.md)" in (ROOT / linking).read_text("utf-8")
