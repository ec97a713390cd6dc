"""Each import up the staircase breaks the contract that ``make lint`` checks."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PLATFORM = ROOT / "layers" / "platform" / "python" / "autotune_platform"
LINTER = Path(sys.executable).parent / "lint-imports"
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
(STAIRCASE,) = [contract for contract in SETTINGS["contracts"] if contract.get("exhaustive")]
STEPS: list[str] = STAIRCASE["layers"]


class Copy:
    """A copy of the platform, checked by the staircase's contract alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._settings = folder / "importlinter.toml"
        self.platform = folder / "autotune_platform"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PLATFORM, self.platform, ignore=ignored)
        self._settings.write_text(
            "[tool.importlinter]\nroot_packages = ['autotune_platform']\n"
            f"[[tool.importlinter.contracts]]\n{as_toml(STAIRCASE)}"
        )

    @contextmanager
    def with_file(self, path: str, text: str) -> Iterator[None]:
        """Add a file for a while, and its folder if there is none."""
        added = self.platform / path
        is_new = not added.parent.exists()
        added.parent.mkdir(exist_ok=True)
        added.write_text(text)
        yield
        added.unlink()
        if is_new:
            added.parent.rmdir()

    def lint(self) -> subprocess.CompletedProcess[str]:
        command = [LINTER, "--config", self._settings, "--no-cache", "--no-logo"]
        return subprocess.run(
            command,
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": str(self._folder), "COLUMNS": "200"},
            check=False,
            capture_output=True,
            text=True,
        )


def as_toml(table: dict[str, Any]) -> str:
    """Return texts, flags and lists of texts as TOML, which spells them as JSON does."""
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in table.items())


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy(tmp_path_factory.mktemp("copy"))


def test_the_staircase_as_it_is_holds(copy: Copy) -> None:
    done = copy.lint()
    assert done.returncode == 0, done.stdout
    assert "1 kept, 0 broken" in done.stdout


@pytest.mark.parametrize(("upper", "lower"), list(itertools.pairwise(STEPS)))
def test_an_import_of_the_step_above_is_refused(copy: Copy, upper: str, lower: str) -> None:
    with copy.with_file(f"{lower}/upward.py", f"import autotune_platform.{upper}\n"):
        done = copy.lint()
    assert done.returncode == 1, done.stdout
    assert re.findall(r"(\S+) is not allowed to import (\S+):", done.stdout) == [
        (f"autotune_platform.{lower}", f"autotune_platform.{upper}")
    ]
    assert re.findall(r"(\S+) -> (\S+) \(l\.1\)", done.stdout) == [
        (f"autotune_platform.{lower}.upward", f"autotune_platform.{upper}")
    ]


def test_a_domain_that_is_not_listed_is_refused(copy: Copy) -> None:
    with copy.with_file("no_such_domain/__init__.py", ""):
        done = copy.lint()
    assert done.returncode == 1, done.stdout
    assert "- autotune_platform.no_such_domain" in done.stdout


def test_make_lint_checks_the_contract() -> None:
    (lint,) = re.findall(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text("utf-8"), re.M)
    assert "lint-imports" in lint
    assert "autotune_platform" in SETTINGS["root_packages"]
