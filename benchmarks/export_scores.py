"""``python -m benchmarks.export_scores``: exports of a million scores, their memory and their time.

The step's handler runs as it is, over HTTP, in a process of its own whose peak memory is measured.
Scores are computed by a synthetic store; records of exports and files are kept by MiniStack. What
was exported is downloaded and checked, record by record.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import boto3

from autotune.protocol.exports import CreateExportRequest
from autotune_platform.exports.models import Export
from autotune_platform.exports.repository import ExportRepository
from autotune_platform.storage.table import Table
from benchmarks import export_checks
from benchmarks import synthetic_scores as scores
from local.deployment import REPOSITORY_ROOT
from local.endpoint import endpoint_url, free_port, isolated_environment
from local.ministack import MiniStack

DEFAULT_SCORES = 1_000_000
STEP_SECONDS = 900.0
REGISTRY, BUCKET = "registry", "exports"
STEP = 100_000

REQUESTS: Mapping[str, Mapping[str, str]] = {
    "jsonl": {"format": "jsonl"},
    "parquet": {"format": "parquet"},
    "tfrecord": {"format": "tfrecord"},
    "pairs": {"format": "jsonl", "shape": "preference"},
}


@dataclass(frozen=True)
class Stores:
    """Where the platform finds its tables and its bucket."""

    environment: Mapping[str, str]
    dynamodb_url: str
    s3_url: str

    def client(self, service: Any, url: str) -> Any:
        """Return a client of one of the two."""
        return boto3.client(
            service,
            endpoint_url=url,
            region_name=self.environment["AWS_REGION"],
            aws_access_key_id="test",
            aws_secret_access_key="test",  # noqa: S106 - what MiniStack expects
        )


def main() -> int:
    """Run what the command line asks for; return 1 where an export is wrong."""
    signal.signal(signal.SIGTERM, _interrupt)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=int, default=DEFAULT_SCORES, help="how many there are")
    parser.add_argument(
        "--only", action="append", choices=REQUESTS, help="one kind of export; may be repeated"
    )
    parser.add_argument("--pairs-of", type=int, help="scores that pairs are made of; else --scores")
    parser.add_argument("--step-seconds", type=float, default=STEP_SECONDS, help="time of a step")
    parser.add_argument("--workers", type=int, default=1, help="processes that compute scores")
    parser.add_argument("--profile", help="file for what cProfile finds in the last export")
    arguments = parser.parse_args()
    wrong = 0
    for kind in arguments.only or REQUESTS:
        count = (arguments.pairs_of if kind == "pairs" else None) or arguments.scores
        with stores(count, workers=arguments.workers) as running:
            try:
                measure(
                    running,
                    kind,
                    count,
                    step_seconds=arguments.step_seconds,
                    profile=arguments.profile,
                )
            except export_checks.WrongExportError as error:
                print(f"  WRONG: {error}")
                wrong = 1
    return wrong


def measure(
    stores: Stores, kind: str, count: int, *, step_seconds: float, profile: str | None
) -> None:
    """Make one export, check it, and print what it took.

    Raises:
        WrongExportError: it does not hold what it has to.
    """
    print(f"{kind}: {count:,} scores", flush=True)
    request = CreateExportRequest.model_validate(
        {**REQUESTS[kind], "filters": {"taskId": scores.TASK}}
    )
    export = Export.new(scores.ORGANIZATION, request)
    repository = ExportRepository(Table(REGISTRY, stores.client("dynamodb", stores.dynamodb_url)))
    repository.open(export)
    told = list(_run(stores, export.id, step_seconds=step_seconds, profile=profile))
    completed = repository.get(export.id)
    if completed is None or completed.manifest is None:
        raise export_checks.WrongExportError("it was not completed")
    with tempfile.TemporaryDirectory(prefix="export-check-") as directory:
        folder = Path(directory)
        s3 = stores.client("s3", stores.s3_url)
        for file in (*repository.files(completed, "part"), completed.manifest):
            s3.download_file(BUCKET, file.key, str(folder / file.name))
        manifest = export_checks.check_files(folder)
        if kind == "pairs":
            export_checks.check_pairs(folder, manifest, count)
        else:
            export_checks.check_scores(folder, manifest, count)
    *files, whole = told
    written = sum(part.bytes for part in manifest.parts)
    print(
        f"  {manifest.total_records:,} records in {len(manifest.parts)} parts, "
        f"{written / 1e6:,.0f} MB; counts and checksums are right\n"
        f"  {whole['seconds']:,.0f} s in {whole['steps']} steps, {whole['cpuSeconds']:,.0f} s CPU, "
        f"{whole['seconds'] / count * STEP:,.1f} s for 100,000 scores\n"
        f"  peak memory {whole['peakBytes'] / 1e6:,.0f} MB\n"
        f"  calls: {', '.join(f'{n:,} {name}' for name, n in whole['calls'].items())}"
    )
    _print_course(files)


def _print_course(files: list[dict[str, Any]]) -> None:
    """Print how long each file took, and the peak memory after it: both are to be flat."""
    seconds = cpu_seconds = 0.0
    for file in files:
        print(
            f"    {file['stored']:<26} {file['seconds'] - seconds:>7.1f} s "
            f"{file['cpuSeconds'] - cpu_seconds:>7.1f} s CPU {file['peakBytes'] / 1e6:>7,.0f} MB"
        )
        seconds, cpu_seconds = file["seconds"], file["cpuSeconds"]


def _run(
    stores: Stores, export_id: str, *, step_seconds: float, profile: str | None
) -> Iterator[dict[str, Any]]:
    command = [sys.executable, "-m", "benchmarks.export_run", export_id]
    command += ["--step-seconds", str(step_seconds)]
    if profile:
        command += ["--profile", profile]
    with subprocess.Popen(  # noqa: S603 - our own program
        command,
        cwd=REPOSITORY_ROOT,
        env=dict(stores.environment),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                told = json.loads(line)
                if "stored" in told or "steps" in told:  # the platform's logs are JSON, too
                    yield told
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise export_checks.WrongExportError(f"the run ended with {process.returncode}")


@contextmanager
def stores(count: int, *, workers: int) -> Iterator[Stores]:
    """Run MiniStack and a synthetic store in front of it."""
    with tempfile.TemporaryDirectory(prefix="export-stores-") as directory:
        ministack = MiniStack(directory=Path(directory), environment={})
        port = free_port()
        pid = ministack.start(port=port)
        try:
            with _synthetic_store(count, onward=endpoint_url(port), workers=workers) as url:
                environment = isolated_environment(
                    {
                        "AWS_ENDPOINT_URL_DYNAMODB": url,
                        "AWS_ENDPOINT_URL_S3": endpoint_url(port),
                        "REGISTRY_TABLE": REGISTRY,
                        "COMPLETIONS_TABLE": "completions",
                        "CONTENT_BUCKET": "content",
                        "EXPORT_BUCKET": BUCKET,
                        "PYTHONPATH": str(REPOSITORY_ROOT),
                    }
                )
                running = Stores(environment, url, endpoint_url(port))
                _make_resources(running)
                yield running
        finally:
            ministack.stop(pid)


@contextmanager
def _synthetic_store(count: int, *, onward: str, workers: int) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.synthetic_store", "--count", str(count)]
    command += ["--onward", onward, "--workers", str(workers)]
    with subprocess.Popen(  # noqa: S603 - our own program
        command, cwd=REPOSITORY_ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def _make_resources(stores: Stores) -> None:
    names = ("pk", "sk", "collection")
    stores.client("dynamodb", stores.dynamodb_url).create_table(
        TableName=REGISTRY,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
        KeySchema=_keys("pk", "sk"),
        GlobalSecondaryIndexes=[
            {
                "IndexName": "byCollection",
                "KeySchema": _keys("collection", "pk"),
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    stores.client("s3", stores.s3_url).create_bucket(Bucket=BUCKET)


def _keys(partition: str, sort: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": partition, "KeyType": "HASH"},
        {"AttributeName": sort, "KeyType": "RANGE"},
    ]


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    began = time.monotonic()
    status = main()
    print(f"{time.monotonic() - began:,.0f} s in all")
    sys.exit(status)
