"""Copies what the console uses of others into it: ``python -m tools.console_libraries``.

``console/package-lock.json`` pins the packages by digests, which npm checks. The files of each that
browsers load are copied to ``console/vendor/<name>@<version>/`` with its licence, changed in
nothing but what ``CHANGES`` says. ``tests/unit/console/test_libraries.py`` compares the copies.
"""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

CONSOLE = Path(__file__).parent.parent / "console"
VENDOR = CONSOLE / "vendor"
LICENSE = "LICENSE"
FILES: Mapping[str, Mapping[str, str]] = {
    "htm": {"dist/htm.mjs": "htm.js"},
    "preact": {"dist/preact.mjs": "preact.js", "hooks/dist/hooks.mjs": "hooks.js"},
    "uplot": {"dist/uPlot.esm.js": "uplot.js", "dist/uPlot.min.css": "uplot.css"},
}
"""What is copied of each package, and what it is called here."""

CHANGES: Mapping[str, tuple[tuple[str, str], ...]] = {
    # A page whose policy forbids inline scripts cannot say what a bare name stands for.
    "hooks.js": (
        ('from"preact"', 'from"./preact.js"'),
        ("\n//# sourceMappingURL=hooks.mjs.map", ""),
    ),
    "preact.js": (("\n//# sourceMappingURL=preact.mjs.map", ""),),
}
"""What is replaced in a copy; each text is there exactly once."""


class UnknownTextError(RuntimeError):
    """A file lacks what is to be replaced in it, as a new version of its package may."""


def versions() -> dict[str, str]:
    """Return the version of each package that the lock pins."""
    packages = json.loads((CONSOLE / "package-lock.json").read_text())["packages"]
    return {name: packages[f"node_modules/{name}"]["version"] for name in FILES}


@contextmanager
def installed() -> Iterator[Path]:
    """Install what the lock pins, and nothing else, for as long as the block lasts."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(CONSOLE / name, folder)
        subprocess.run(
            ["npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"],  # noqa: S607
            cwd=folder,
            check=True,
        )
        yield Path(folder) / "node_modules"


def copies(packages: Path) -> dict[str, bytes]:
    """Return what is to lie in ``vendor``, by path, from installed packages.

    Raises:
        UnknownTextError: a file lacks what is to be replaced in it.
    """
    found: dict[str, bytes] = {}
    for name, version in versions().items():
        folder = f"{name}@{version}"
        found[f"{folder}/{LICENSE}"] = (packages / name / LICENSE).read_bytes()
        for source, copy in FILES[name].items():
            text = (packages / name / source).read_text()
            for old, new in CHANGES.get(copy, ()):
                if text.count(old) != 1:
                    message = f"{name}/{source} has {old!r} {text.count(old)} times, not once"
                    raise UnknownTextError(message)
                text = text.replace(old, new)
            found[f"{folder}/{copy}"] = text.encode()
    return found


def main() -> None:
    """Write ``vendor`` anew."""
    with installed() as packages:
        wanted = copies(packages)
    shutil.rmtree(VENDOR, ignore_errors=True)
    for path, content in wanted.items():
        file = VENDOR / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


if __name__ == "__main__":
    main()
