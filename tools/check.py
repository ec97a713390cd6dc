"""Lint, types and the tests that a change touches, in about two minutes.

``python -m tools.check`` looks at what differs from the main branch, new files too. Tests are found
by what they import and by the tree that mirrors the sources. The closest run first, as many as time
allows, and what is left out is named. ``make test`` runs everything.
"""

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree as ET

import grimp
import pytest

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build"
TIMES = BUILD / "check-times.json"
LIBRARIES = {
    "autotune": "layers/sdk/python/autotune",
    "autotune_platform": "layers/platform/python/autotune_platform",
}
"""Packages that are not at the root of the repository."""
PACKAGES = (*LIBRARIES, "benchmarks", "functions", "grader_template", "infra", "local", "tools")
MIRRORS = (
    (r"layers/platform/python/autotune_platform/(\w+)/", ("component/{}/", "unit/{}/")),
    (r"functions/(\w+)/", ("component/{}/",)),
    (r"layers/sdk/python/autotune/(\w+)/", ("sdk/{}/", "unit/{}/")),
    (r"(?:infra|layers/dependencies|layers/exports)/|app\.py$|cdk\.json$", ("infra/",)),
    (r"(benchmarks|examples|grader_template|statemachines)/", ("{}/",)),
    (r"(console|integrations|tools)/", ("unit/{}/",)),
    (r"functions/(console)/", ("unit/{}/",)),
    (r"functions/\w+/\w*api\.py$", ("component/access/test_matrix.py",)),
    (
        r"functions/\w+/\w*api\.py$|layers/sdk/python/autotune/protocol/",
        ("unit/platform/test_openapi.py",),
    ),
)
"""Where the tests of a source are: a pattern of its path, and folders or files of ``tests``."""
ELSEWHERE = ("tests/browser/", "tests/chaos/", "tests/e2e/")
"""Tests that need a browser or the whole stack."""

_LINT = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    ("lint-imports", "--no-logo"),
)
_WORKERS = 2  # as `make test`
_START_SECONDS = 8.0
_LEAST_SECONDS = 30.0
_UNKNOWN_TEST_SECONDS = 0.75
_UNTIL = "AUTOTUNE_CHECK_UNTIL"
_NO_TIME = "no time left for it"


@dataclass(frozen=True)
class Selection:
    """Which files of tests to run, and which are left out; the closest first."""

    run: list[str]
    left_out: list[str]


@dataclass(frozen=True)
class References:
    """What a file of tests names: modules that it imports, and its texts."""

    modules: frozenset[str]
    texts: frozenset[str]

    def to_any(self, modules: Iterable[str]) -> bool:
        """Tell whether one of some modules is imported, or named as a text by its whole name."""
        return any(
            module in self.modules
            or any(text == module or text.startswith(f"{module}.") for text in self.texts)
            for module in modules
        )

    def to_file(self, path: str) -> bool:
        """Tell whether a file is named, such as a guide whose examples are run."""
        name = PurePosixPath(path).name
        return any(text == name or text.endswith(f"/{name}") for text in self.texts)


def touched_tests(
    changed: Sequence[str],
    tests: Mapping[str, References],
    importers: Mapping[str, Iterable[str]],
) -> dict[str, int]:
    """Return the files of tests that a change touches, and how far each is from it.

    0 is changed itself, 1 names a changed module or file or has its name, 2 is in the folder of a
    changed source's tests, and 3 is 1 or 2 for a module that imports a changed one.

    Args:
        changed: paths of files.
        tests: what each file of tests names.
        importers: the modules that import one directly, by its name.
    """
    modules = {module_of(path) for path in changed if path.endswith(".py")}
    documents = [path for path in changed if not path.endswith(".py")]
    namesakes = {f"test_{PurePosixPath(path).name}" for path in changed}
    folders = tuple(folder for path in changed for folder in folders_of(path))
    around = {one for module in modules for one in importers.get(module, ())} - modules
    folders_around = tuple(folder for module in around for folder in folders_of(path_of(module)))
    found: dict[str, int] = {}
    for test, names in tests.items():
        if test in changed:
            found[test] = 0
        elif names.to_any(modules) or any(map(names.to_file, documents)):
            found[test] = 1
        elif test.startswith(folders):
            found[test] = 1 if PurePosixPath(test).name in namesakes else 2
        elif names.to_any(around) or test.startswith(folders_around):
            found[test] = 3
    return found


def folders_of(path: str) -> list[str]:
    """Return the folders of tests that mirror a file's; those beside a ``conftest.py`` are its."""
    if PurePosixPath(path).name == "conftest.py":
        return [f"{PurePosixPath(path).parent}/"]
    return [
        f"tests/{folder.format(*match.groups())}"
        for pattern, folders in MIRRORS
        if (match := re.match(pattern, path))
        for folder in folders
    ]


def module_of(path: str) -> str:
    """Return the name that a Python file is imported by."""
    for package, folder in LIBRARIES.items():
        if path.startswith(f"{folder}/"):
            path = package + path.removeprefix(folder)
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def path_of(module: str) -> str:
    """Return the path of a module."""
    package, _, rest = module.partition(".")
    return f"{LIBRARIES.get(package, package)}/{rest.replace('.', '/')}.py"


def select(touched: Mapping[str, int], cost: Mapping[str, float], seconds: float) -> Selection:
    """Return which files to run: the closest and quickest first, until their time is used up.

    Args:
        touched: how far each is from the change; changed tests run whatever they take.
        cost: seconds that each takes.
        seconds: for all of them, side by side.
    """
    run: list[str] = []
    left_out: list[str] = []
    for test in sorted(touched, key=lambda test: (touched[test], cost[test], test)):
        fits = touched[test] == 0 or cost[test] / _WORKERS <= seconds
        if fits and not test.startswith(ELSEWHERE):
            run.append(test)
            seconds -= cost[test] / _WORKERS
        else:
            left_out.append(test)
    return Selection(run, left_out)


def changed_files(since: str | None) -> list[str]:
    """Return what differs from a commit; without one, from where the main branch was left."""
    base = since or _base()
    listed = ("ls-files", "--others", "--exclude-standard")
    return sorted({*_git("diff", "--name-only", base), *_git(*listed)})


def _base() -> str:
    for branch in ("origin/main", "main"):
        if found := _git("merge-base", "HEAD", branch, check=False):
            return found[0]
    return "HEAD"


def _git(*arguments: str, check: bool = True) -> list[str]:
    done = subprocess.run(  # noqa: S603
        ["git", *arguments],  # noqa: S607
        cwd=ROOT,
        check=check,
        text=True,
        stdout=subprocess.PIPE,
        stderr=None if check else subprocess.DEVNULL,
    )
    return done.stdout.splitlines()


def references(source: str) -> References:
    """Return what a file of tests names."""
    modules: set[str] = set()
    texts: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                modules.update(name.name for name in names)
            case ast.ImportFrom(module=str(module), names=names):
                modules.update([module, *(f"{module}.{name.name}" for name in names)])
            case ast.Constant(value=str(text)):
                texts.add(text)
    return References(frozenset(modules), frozenset(texts))


def all_tests() -> dict[str, References]:
    """Return every file of tests with what it names."""
    return {
        str(path.relative_to(ROOT)): references(path.read_text("utf-8"))
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
    }


def importers() -> dict[str, set[str]]:
    """Return which modules import each one directly."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    return {module: graph.find_modules_that_directly_import(module) for module in graph.modules}


def costs(tests: Iterable[str]) -> dict[str, float]:
    """Return about how many seconds each file of tests takes: as it was seen, or by its length."""
    seen: dict[str, float] = json.loads(TIMES.read_text()) if TIMES.exists() else {}
    return {
        test: seen[test]
        if test in seen
        else (ROOT / test).read_text("utf-8").count("def test_") * _UNKNOWN_TEST_SECONDS
        for test in tests
    }


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Skip what is not begun in time: this module is a plugin of the tests that it runs."""
    if time.time() > float(os.environ.get(_UNTIL, "inf")):
        pytest.skip(_NO_TIME)


def read_report(report: str) -> tuple[dict[str, float], list[str]]:
    """Return how long each file of tests took, and those for which there was no time."""
    seen: dict[str, float] = {}
    cut_off: set[str] = set()
    for case in ET.fromstring(report).iter("testcase"):  # noqa: S314 - pytest wrote it just now
        test = case.get("file", "")
        seen[test] = seen.get(test, 0.0) + float(case.get("time", 0))
        skipped = case.find("skipped")
        if skipped is not None and skipped.get("message") == _NO_TIME:
            cut_off.add(test)
    return {test: cost for test, cost in seen.items() if test not in cut_off}, sorted(cut_off)


def _run(*command: str) -> bool:
    started = time.monotonic()
    # Beside this Python: its own tools, whatever else is on the path.
    program = Path(sys.executable).parent / command[0]
    done = subprocess.run([program, *command[1:]], cwd=ROOT, check=False)  # noqa: S603
    _say(f"-- {command[0]}: {time.monotonic() - started:.0f} s")
    return done.returncode == 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _test(tests: Sequence[str], seconds: float) -> tuple[bool, list[str]]:
    """Run files of tests in their order; return whether they passed, and which were cut off."""
    BUILD.mkdir(exist_ok=True)
    report = BUILD / "check.xml"
    workers = ("--numprocesses", str(_WORKERS), "--dist", "loadscope", "--no-loadscope-reorder")
    written = ("-o", "junit_family=xunit1", f"--junitxml={report}")
    os.environ[_UNTIL] = str(time.time() + seconds)
    passed = _run("pytest", "--quiet", "-p", "tools.check", *workers, *written, *tests)
    if not report.exists():
        return passed, []
    seen, cut_off = read_report(report.read_text("utf-8"))
    report.unlink()
    before = json.loads(TIMES.read_text()) if TIMES.exists() else {}
    TIMES.write_text(json.dumps({**before, **seen}, indent=1, sort_keys=True))
    return passed, cut_off


def main() -> int:
    """Check what changed; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.check", description=__doc__)
    parser.add_argument("--since", metavar="COMMIT", help="what to compare with")
    parser.add_argument("--seconds", type=float, default=105.0, help="for all of it")
    parser.add_argument("--list", action="store_true", help="name the tests, and run nothing")
    options = parser.parse_args()
    started = time.monotonic()
    changed = changed_files(options.since)
    if not options.list and not all(_run(*command) for command in _LINT):
        return 1
    touched = touched_tests(changed, all_tests(), importers())
    left = options.seconds - (time.monotonic() - started) - _START_SECONDS
    left = max(left, _LEAST_SECONDS)
    selection = select(touched, costs(touched), left)
    if options.list:
        _say("\n".join(selection.run))
        return 0
    passed, cut_off = _test(selection.run, left) if selection.run else (True, [])
    if left_out := [*cut_off, *selection.left_out]:
        _say("Left out, in whole or in part, and run by `make test`:")
        _say("\n".join(f"  {test}" for test in left_out))
    ran = len(touched) - len(left_out)
    _say(f"{len(changed)} files changed; {ran} of {len(touched)} files of tests ran")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
