"""``python -m tests.chaos.mutations``: does chaos notice when a guard is gone?

Each mutation takes one guard out of a copy of the repository and runs chaos there, with fewer
completions. Ends with 1 where a run did not end with 1, or found something else than it should.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("layers/sdk/python", "layers/platform/python")
INSTALLED = (".venv", "node_modules")
LEFT_OUT = (
    *INSTALLED,
    ".git",
    ".autotune",
    ".hypothesis",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    "__pycache__",
    "build",
    "cdk.out",
    "out",
)
COMPLETIONS = 1_400


@dataclass(frozen=True)
class Mutation:
    """One guard, the text that is it, what stands there instead, and who must find out.

    Attributes:
        invariant: a part of what is printed then, or the name of the test that fails.
        asked: further arguments of the run that finds out.
    """

    name: str
    file: str
    guard: str
    instead: str
    invariant: str
    asked: Sequence[str] = ()


MUTATIONS = (
    Mutation(
        "the conditional put",
        "layers/platform/python/autotune_platform/storage/transactions.py",
        'if condition.exists else "attribute_not_exists"',
        'if condition.exists else "attribute_exists(pk) OR attribute_not_exists"',
        "a verdict is written once",
    ),
    Mutation(
        "the request binding in the response signature",
        "layers/sdk/python/autotune/protocol/signing.py",
        'f"{moment}.{request_id}.{question}.".encode()',
        'f"{moment}.".encode()',
        "no score that the grader did not sign",
    ),
    Mutation(
        "the deadline",
        "layers/platform/python/autotune_platform/verdicts/models.py",
        "if completion.deadline <= at",
        "if completion.deadline <= completion.created_at",
        "deadlines end what waits",
    ),
    Mutation(
        "the silence of logs about texts",
        "layers/platform/python/autotune_platform/judging/http/judge.py",
        'completion_ids=" ".join(completion_ids),',
        'completion_ids=" ".join(one.response for one in pack),',
        "texts lie in content alone",
    ),
)


class GuardNotFoundError(Exception):
    """A mutation's text is not in its file exactly once: the code moved on."""


def mutate(root: Path, mutation: Mutation) -> None:
    """Take a guard out of the repository in ``root``.

    Raises:
        GuardNotFoundError: it is not there exactly once.
    """
    file = root / mutation.file
    text = file.read_text()
    if text.count(mutation.guard) != 1:
        message = f"{mutation.file} has {mutation.guard!r} {text.count(mutation.guard)} times"
        raise GuardNotFoundError(message)
    file.write_text(text.replace(mutation.guard, mutation.instead))


def run_mutated(mutation: Mutation, asked: Sequence[str]) -> tuple[int, str]:
    """Run a module without a guard; return its exit code and what it printed.

    Args:
        asked: the module and its arguments.
    """
    with tempfile.TemporaryDirectory(prefix="autotune-mutation-") as folder:
        root = Path(folder) / "repository"
        shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(*LEFT_OUT))
        for name in INSTALLED:
            (root / name).symlink_to(ROOT / name)
        mutate(root, mutation)
        finished = subprocess.run(
            [sys.executable, "-m", *asked],
            cwd=root,
            # Before what is installed from the repository itself.
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([*(str(root / one) for one in PACKAGES), str(root)]),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    return finished.returncode, finished.stdout


def run_all(
    mutations: Sequence[Mutation], asked: Sequence[str], *, said_by: str = "violated:"
) -> int:
    """Run a module without each of the guards, print who found it, return the exit code.

    Args:
        said_by: how lines begin that say what was found.
    """
    missed = 0
    for mutation in mutations:
        print(f"without {mutation.name} ...", flush=True)
        code, printed = run_mutated(mutation, [*asked, *mutation.asked])
        said = [line for line in printed.splitlines() if line.startswith(said_by)]
        is_found = code == 1 and any(mutation.invariant in line for line in said)
        missed += not is_found
        print("\n".join(said) if is_found else printed)
        print(f"without {mutation.name}: {'found' if is_found else 'MISSED'}, exit code {code}\n")
    return 1 if missed else 0


def main() -> int:
    """Run every mutation of chaos, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--completions", type=int, default=COMPLETIONS)
    arguments = parser.parse_args()
    asked = ["tests.chaos", "storm", "--completions", str(arguments.completions)]
    return run_all(MUTATIONS, asked)


if __name__ == "__main__":
    sys.exit(main())
