"""``python -m benchmarks.tracer_import``: what traces cost a function that calls graders.

Imports what is deployed in fresh processes, as ``benchmarks.cold_import`` does, and has each begin
an invocation that is traced. Segments go to a socket on loopback. Processor time, medians.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.cold_import import bundle
from infra.constructs.service_package import LIBRARY_SETTINGS

HANDLER = "functions.scoring.grade_chunk"
REPETITIONS = 15
PACKAGES = ("aws_xray_sdk", "wrapt")
_MEASURED = """
import importlib, json, os, sys, time
sys.path[:0] = json.loads(sys.argv[1])
HEADER = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled="

def seconds(work, times=1):
    started = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - started) / times

def call():
    with segment("grd_1") as made:
        made.annotations.update(grader_id="g", outcome="answered", attempt=1, request_id="r")

os.environ["_X_AMZN_TRACE_ID"] = HEADER + "0"
handler = seconds(lambda: importlib.import_module(sys.argv[2]))
from autotune_platform.wiring.grading import GradingParts
from autotune_platform.gateway import gateway
from autotune_platform.runtime.traces import prepare, segment
untraced = seconds(call, 10_000)
assert not any(name.startswith("aws_xray_sdk") for name in sys.modules)
before = len(sys.modules)
os.environ["_X_AMZN_TRACE_ID"] = HEADER + "1"
tracer = seconds(prepare)
modules = len(sys.modules) - before
traced = seconds(call, 1_000)
print(json.dumps({"handler": handler, "tracer": tracer, "modules": modules,
                  "untraced": untraced, "traced": traced}))
"""


def main() -> None:
    """Measure, and print a table."""
    with (
        tempfile.TemporaryDirectory(prefix="autotune-bundle-") as folder,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as daemon,
    ):
        daemon.bind(("127.0.0.1", 0))
        paths = bundle(Path(folder))
        host, port = daemon.getsockname()
        runs = [_run(paths, f"{host}:{port}") for _ in range(REPETITIONS + 1)][1:]
        kilobytes = _kilobytes(Path(folder) / "dependencies" / "python")
        whole = sum(_kilobytes(Path(folder) / "dependencies" / "python", ("",)).values())
    found = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    rows = {
        f"import of {HANDLER}": f"{found['handler'] * 1000:.0f} ms",
        "import of the tracer, once a process": f"{found['tracer'] * 1000:.0f} ms, "
        f"{found['modules']:.0f} modules; {found['tracer'] / found['handler']:.0%} of the other",
        "a call of an invocation that is not traced": f"{found['untraced'] * 1e6:.1f} µs",
        "a call of one that is": f"{found['traced'] * 1e6:.0f} µs",
        **{f"{name} in the layer": f"{size} KB" for name, size in kilobytes.items()},
        "the whole layer": f"{whole} KB",
    }
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"Python {version}, medians of {REPETITIONS} processes\n\n| what | figure |\n|---|---|")
    for what, figure in rows.items():
        print(f"| {what} | {figure} |")


def _run(paths: list[str], daemon: str) -> Mapping[str, float]:
    finished = subprocess.run(  # noqa: S603 - our own statements
        [sys.executable, "-I", "-S", "-c", _MEASURED, json.dumps(paths), HANDLER],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ
        | LIBRARY_SETTINGS
        | {"LAMBDA_TASK_ROOT": "/var/task", "AWS_XRAY_DAEMON_ADDRESS": daemon},
    )
    measured: dict[str, float] = json.loads(finished.stdout)
    return measured


def _kilobytes(layer: Path, packages: tuple[str, ...] = PACKAGES) -> dict[str, int]:
    return {
        name: sum(file.stat().st_size for file in (layer / name).rglob("*") if file.is_file())
        // 1000
        for name in packages
    }


if __name__ == "__main__":
    main()
