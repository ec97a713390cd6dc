"""How long a cold start takes to import each handler, against boto3 and one client.

Everything is imported from assets as they are deployed: bundled by the infrastructure's own code,
with bytecode that is used as it is. Imports of the handler and of boto3 take turns in fresh
processes of one run, because a machine's speed changes from minute to minute. What is compared is
processor time, which an import is nearly all of: neighbours take less of it than of time.
"""

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.config import REPOSITORY_ROOT, BuildPlatform, running_python_version
from infra.constructs.bundling import (
    CODE_MOUNT,
    LAYER_MOUNT,
    DependencyBundling,
    SourceBundling,
)
from infra.constructs.service_package import (
    FUNCTION_FILES,
    LAYERS,
    LIBRARY_SETTINGS,
    SDK_FILES,
)

_REPETITIONS = 15
_BASELINE = "import boto3; boto3.client('dynamodb', region_name='us-east-1')"
_IN_LAMBDA = ("boto3", "botocore", "dateutil", "jmespath", "s3transfer", "six", "urllib3")
_TIMED = """
import sys, time
sys.path[:0] = {paths!r}
started = time.process_time()
{statement}
print(time.process_time() - started)
"""


@dataclass(frozen=True)
class ColdImport:
    """Medians, in seconds of processor time.

    Attributes:
        ratio: how often boto3 and a client could have been imported meanwhile; the median over
            pairs of imports, one right after the other, because a machine's speed changes.
    """

    handler: str
    seconds: float
    baseline_seconds: float
    ratio: float

    def as_json(self) -> dict[str, Any]:
        """Return it for the report."""
        return {
            "handler": self.handler,
            "milliseconds": round(self.seconds * 1000),
            "baselineMilliseconds": round(self.baseline_seconds * 1000),
            "ratio": round(self.ratio, 2),
        }


def measure(handlers: Sequence[str]) -> list[ColdImport]:
    """Import handlers, such as ``functions.tasks.api``, each in processes of its own."""
    with tempfile.TemporaryDirectory(prefix="autotune-bundle-") as folder:
        paths = bundle(Path(folder))
        _seconds(_BASELINE, paths)  # the files are in memory from now on
        return [_compare(handler, paths) for handler in handlers]


def handlers() -> list[str]:
    """Return the modules of all functions."""
    root = REPOSITORY_ROOT / "functions"
    files = (file for file in root.rglob("*.py") if file.name != "__init__.py")
    return sorted(
        ".".join(file.relative_to(REPOSITORY_ROOT).with_suffix("").parts) for file in files
    )


def _compare(handler: str, paths: Sequence[str]) -> ColdImport:
    statement = f"import {handler}"
    _seconds(statement, paths)
    ours: list[float] = []
    baseline: list[float] = []
    for _ in range(_REPETITIONS):
        baseline.append(_seconds(_BASELINE, paths))
        ours.append(_seconds(statement, paths))
    return ColdImport(
        handler,
        statistics.median(ours),
        statistics.median(baseline),
        ratio=statistics.median(our / other for our, other in zip(ours, baseline, strict=True)),
    )


def _seconds(statement: str, paths: Sequence[str]) -> float:
    finished = subprocess.run(  # noqa: S603 - our own statements
        # Without this environment's packages: what a layer lacks must not be found here.
        [sys.executable, "-I", "-S", "-c", _TIMED.format(paths=list(paths), statement=statement)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | LIBRARY_SETTINGS,
    )
    return float(json.loads(finished.stdout))


def bundle(folder: Path) -> list[str]:
    """Build the assets for this interpreter; return what Lambda would put on the import path."""
    platform = BuildPlatform(
        python_version=running_python_version(),
        uv_arguments=("--python", sys.executable),
        identity="benchmark",
    )
    dependencies, code = folder / "dependencies", folder / "code"
    requirements = LAYERS / "dependencies" / "requirements.txt"
    DependencyBundling(requirements=requirements, platform=platform).try_bundle(str(dependencies))
    paths = [str(code)]
    layers = {"platform": ("autotune_platform",), "sdk": SDK_FILES}
    for name, packages in layers.items():
        SourceBundling(
            root=LAYERS / name / "python",
            packages=packages,
            destination="python",
            mount=LAYER_MOUNT,
            platform=platform,
        ).try_bundle(str(folder / name))
        paths.append(str(folder / name / "python"))
    SourceBundling(
        root=REPOSITORY_ROOT,
        packages=FUNCTION_FILES,
        destination=".",
        mount=CODE_MOUNT,
        platform=platform,
    ).try_bundle(str(code))
    return [*paths, str(dependencies / "python"), str(_runtime(folder / "runtime"))]


def _runtime(folder: Path) -> Path:
    """Gather what Lambda's Python has beside the standard library."""
    folder.mkdir()
    for name in _IN_LAMBDA:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        origin = Path(spec.origin)
        found = origin.parent if origin.name == "__init__.py" else origin
        (folder / found.name).symlink_to(found)
    return folder
