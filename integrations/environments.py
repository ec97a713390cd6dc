"""Virtual environments of frameworks, made from locks with hashes and kept while the lock stays."""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from local.progress import Progress

INTEGRATIONS = Path(__file__).resolve().parent
REPOSITORY_ROOT = INTEGRATIONS.parent
VENVS = REPOSITORY_ROOT / ".venvs"
PYTHON_VERSION = "3.11"
INSTALL_SECONDS = 600

# What a framework would fetch or send if it were let.
OFFLINE = {
    "DO_NOT_TRACK": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_OFFLINE": "1",
    "WANDB_MODE": "disabled",
}

_UV = Path(sys.executable).with_name("uv")
_TORCH = "torch=="
_STAMP = "installed-lock.sha256"


class InstallationError(RuntimeError):
    """An environment could not be made; the message ends with what the failing command printed."""


class Environment:
    """The frameworks of one ``requirements.txt`` and what else is in its folder, such as tests.

    The environment is made anew when the lock is another than the one that it was made from. Torch
    is in no lock: it is the same for every environment that asks for it, is installed once beside
    them, and each reads it there.

    Args:
        source: Folder of the lock; no other environment's has its name.

    Attributes:
        name: Name of that folder.
    """

    def __init__(self, source: Path) -> None:
        self.name = source.name
        self.source = source
        self._lock = source / "requirements.txt"
        self._folder = VENVS / self.name

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self._folder / "bin" / "python"

    def install(self, sdk_wheel: Path, progress: Progress) -> None:
        """Makes the environment if there is none for today's lock, and puts today's SDK in it.

        Raises:
            InstallationError: If a command fails, or takes longer than ten minutes.
        """
        self.make(progress)
        self._uv("--no-deps", "--reinstall-package", "autotune-sdk", str(sdk_wheel))

    def make(self, progress: Progress) -> None:
        """Makes the environment if there is none for today's lock.

        Raises:
            InstallationError: If a command fails, or takes longer than ten minutes.
        """
        torch = self._torch()
        digest = hashlib.sha256(self._lock.read_bytes() + (torch or "").encode()).hexdigest()
        stamp = self._folder / _STAMP
        if not stamp.is_file() or stamp.read_text() != digest:
            with progress.step(f"Installing what {self.name} needs"):
                self._make_anew(torch)
            stamp.write_text(digest)

    def version_of(self, package: str) -> str:
        """The version of a package that the lock names.

        Raises:
            ValueError: If it names none.
        """
        for line in self._lock.read_text().splitlines():
            name, _, rest = line.partition("==")
            if name == package:
                return rest.split()[0]
        raise ValueError(f"{self._lock} locks no {package}")

    def _make_anew(self, torch: str | None) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        _run([str(_UV), "venv", "--quiet", "--python", PYTHON_VERSION, str(self._folder)])
        self._uv("--no-deps", "--require-hashes", "--requirements", str(self._lock))
        if torch is not None:
            packages = self._folder / "lib" / f"python{PYTHON_VERSION}" / "site-packages"
            (packages / "torch.pth").write_text(f"{self._shared_torch(torch)}\n")

    def _shared_torch(self, requirement: str) -> Path:
        """Installs torch once, whichever environment asks first; returns its folder."""
        folder = VENVS / requirement.replace("==", "-")
        if not folder.is_dir():
            unfinished = folder.with_name(f"{folder.name}.unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            # By pip, which finds builds for processors alone in the places it is configured with.
            _run(
                [
                    *(sys.executable, "-m", "pip", "--python", str(self.python)),
                    *("install", "--quiet", "--no-deps", "--disable-pip-version-check"),
                    *("--root-user-action", "ignore", "--target", str(unfinished), requirement),
                ]
            )
            unfinished.rename(folder)
        return folder

    def _torch(self) -> str | None:
        """The requirement ``torch==…``, which the lock leaves out; None if it is not needed."""
        for line in self._lock.with_suffix(".in").read_text().splitlines():
            requirement = line.partition("#")[0].strip()
            if requirement.startswith(_TORCH):
                return requirement
        return None

    def _uv(self, *arguments: str) -> None:
        _run([str(_UV), "pip", "install", "--quiet", "--python", str(self.python), *arguments])


def find_environments(names: Sequence[str]) -> list[Environment]:
    """The environments of these names in alphabetical order, or all.

    Raises:
        ValueError: If there is none of a name.
    """
    known = sorted(lock.parent.name for lock in INTEGRATIONS.glob("*/requirements.txt"))
    if unknown := set(names).difference(known):
        raise ValueError(f"no environment {', '.join(sorted(unknown))}; there are {known}")
    return [Environment(INTEGRATIONS / name) for name in known if not names or name in names]


def build_sdk_wheel(folder: Path) -> Path:
    """Builds the public package as its users get it; returns the wheel.

    Raises:
        InstallationError: If it cannot be built.
    """
    _run(
        [
            *(str(_UV), "build", "--quiet", "--wheel", "--no-build-isolation"),
            *("--python", sys.executable, "--out-dir", str(folder)),
            str(REPOSITORY_ROOT / "layers" / "sdk"),
        ]
    )
    (wheel,) = folder.glob("autotune_sdk-*.whl")
    return wheel


def _run(command: Sequence[str]) -> None:
    try:
        finished = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        message = f"{' '.join(command)} did not end within {INSTALL_SECONDS} s"
        raise InstallationError(message) from error
    if finished.returncode:
        message = f"{' '.join(command)} ended with {finished.returncode}: {finished.stdout[-2000:]}"
        raise InstallationError(message)
