"""Putting the grader and its requirements into one folder, without Docker."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import aws_cdk as cdk
import jsii

NOT_DEPLOYED = [
    ".*",
    "__init__.py",
    "__pycache__",
    "app.py",
    "cdk.json",
    "cdk.out",
    "deployment",
    "node_modules",
    "package*.json",
    "pyproject.toml",
    "README.md",
    "requirements*.txt",
    "tests",
    "*.whl",
]
"""Everything else in the folder travels with the grader: modules, prompts, data."""

LAMBDA_PLATFORM = "aarch64-manylinux_2_28"  # Amazon Linux 2023 on arm64


@jsii.implements(cdk.ILocalBundling)
class UvBundling:
    """Installs ``requirements.txt`` with uv for Lambda's platform, and copies the grader beside it.

    Only wheels are taken, so that nothing is compiled for the wrong machine. A requirement that is
    a folder is built into a wheel first, and therefore has to be pure Python.
    """

    def __init__(self, root: Path, *, python_version: str, target: str) -> None:
        self._root = root
        self._python_version = python_version
        self._target = target

    def try_bundle(self, output_dir: str, *_options: object, **_named_options: object) -> bool:
        """Fill ``output_dir``; the options are Docker's.

        Raises:
            RuntimeError: uv is missing or failed. To return False would make CDK ask for Docker.
        """
        output = Path(output_dir)
        with tempfile.TemporaryDirectory() as scratch:
            requirements = self._with_wheels(Path(scratch))
            self._run_uv(
                "pip",
                "install",
                "--target",
                str(output),
                *self._platform(),
                "-r",
                str(requirements),
            )
        shutil.rmtree(output / "bin", ignore_errors=True)
        shutil.copytree(
            self._root, output, ignore=shutil.ignore_patterns(*NOT_DEPLOYED), dirs_exist_ok=True
        )
        return True

    def _platform(self) -> list[str]:
        if self._target == "local":  # the emulator runs functions under this very interpreter
            return ["--python", sys.executable]
        return [
            *("--python-platform", LAMBDA_PLATFORM),
            *("--python-version", self._python_version),
            *("--only-binary", ":all:"),
        ]

    def _with_wheels(self, scratch: Path) -> Path:
        lines = (self._root / "requirements.txt").read_text(encoding="utf-8").splitlines()
        wheels: list[str] = []
        for line in [line.strip() for line in lines]:
            if line and (self._root / line / "pyproject.toml").is_file():
                built = scratch / f"wheel-{len(wheels)}"
                self._run_uv("build", "--wheel", "--out-dir", str(built), str(self._root / line))
                wheels.append(line)
                lines[lines.index(line)] = str(next(built.glob("*.whl")))
        requirements = scratch / "requirements.txt"
        requirements.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return requirements

    def _run_uv(self, *arguments: str) -> None:
        uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
        if uv is None:
            raise RuntimeError("uv is missing: pip install -r requirements-deploy.txt")
        command = [uv, "--quiet", *arguments]
        done = subprocess.run(  # noqa: S603 - our own arguments
            command, cwd=self._root, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"uv {arguments[0]} failed:\n{done.stderr.strip()}")
