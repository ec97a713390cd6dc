"""``python -m benchmarks.llm_jobs``: one large job of a provider, and the memory that it takes.

A file is imported, sent as one job and brought home on a local stack, whose functions are killed as
on Lambda where they take more memory than they have. Ends with 1 where one was killed, an
invocation took longer than five minutes, or a row was not answered once.
"""

import argparse
import json
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from autotune import AutotuneClient
from autotune.protocol.llm_batches import LlmBatch
from benchmarks.llm_provider import bill, provider
from benchmarks.stand import Stand, stand
from benchmarks.texts import answer, prompts
from local.logs import read_logs
from local.memory_limits import KILLS, peak_mb

_LIMIT_SECONDS = 300
_WAIT_SECONDS = 3_600
_SAMPLE_SECONDS = 0.5
_MODELS = {"openai": ("gpt-5-mini", "/v1"), "openrouter": ("openai/gpt-5-mini", "/api/v1")}
_PRICES = {
    "inputUsd": "0.25",
    "outputUsd": "2",
    "batchInputUsd": "0.125",
    "batchOutputUsd": "1",
}


def main() -> int:
    """Run the job that the command line asks for, print what it took, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--provider", choices=_MODELS, default="openai")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--input-bytes", type=int, default=3_700, help="of a row's question")
    parser.add_argument("--output-bytes", type=int, default=1_024, help="of a row's answer")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with stand() as made, provider(answer(arguments.output_bytes)) as url:
        with _peaks(made) as peaks:
            began = time.monotonic()
            batches = _send(made, url, arguments)
            seconds = time.monotonic() - began
        billed = bill(url)
        kills = made.directory / KILLS
        killed = kills.read_text().splitlines() if kills.exists() else []
        longest = _longest(made)
    print(f"{arguments.rows:,} rows in {len(batches)} jobs, {seconds:,.0f} s")
    print(f"  answers of {arguments.rows * arguments.output_bytes:,} bytes")
    print(f"  executed {billed['executions']:,}; cost {billed['total_nano_usd']:,} nano-USD")
    print("| function | most memory | longest invocation |\n|---|---|---|")
    for name, peak in sorted(peaks.items(), key=lambda one: -one[1]):
        print(f"| {name} | {peak:,.0f} MB | {longest.get(name, 0):,.1f} s |")
    cost = sum(one.cost_nano_usd for one in batches)
    wrong = [
        *(f"killed for memory: {line}" for line in killed),
        *(f"{name} took {took:,.0f} s" for name, took in longest.items() if took > _LIMIT_SECONDS),
        *([f"{len(batches)} jobs"] if len(batches) != 1 else []),
        *(["not every row was executed once"] if billed["executions"] != arguments.rows else []),
        *([f"the ledger has {cost:,}"] if cost != billed["total_nano_usd"] else []),
    ]
    for one in wrong:
        print(f"  WRONG: {one}")
    return 1 if wrong else 0


def _send(made: Stand, url: str, arguments: argparse.Namespace) -> list[LlmBatch]:
    """Import the rows, and wait until the last one has come home."""
    model, base = _MODELS[arguments.provider]
    with made.client() as client:
        connection = client.llm.connections.create(
            name="fake",
            provider=arguments.provider,
            base_url=f"{url}{base}",
            api_key="fake-key",
            batches="always",
            prices={model: _PRICES},
            min_rows=arguments.rows,
            max_rows=arguments.rows,
            max_wait_seconds=_WAIT_SECONDS,
            max_bytes=200_000_000,
        )
        path = made.directory / "rows.jsonl"
        _write(path, model, arguments)
        _say(f"importing {path.stat().st_size:,} bytes")
        imported = client.llm.import_file(
            path, format="openai", connection_id=connection.id, purpose="scoring"
        )
        _say(f"imported: {imported.state}, {imported.counts}")
        return _awaited(client, connection.id, arguments.rows)


def _write(path: Path, model: str, arguments: argparse.Namespace) -> None:
    with path.open("w") as file:
        for number, prompt in enumerate(prompts(arguments.rows, text_bytes=arguments.input_bytes)):
            body = {
                "model": model,
                "messages": [{"role": "user", "content": prompt}],
                "max_tokens": arguments.output_bytes,
            }
            line = {
                "custom_id": f"row {number}",
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": body,
            }
            file.write(json.dumps(line) + "\n")


def _awaited(client: AutotuneClient, connection_id: str, rows: int) -> list[LlmBatch]:
    deadline = time.monotonic() + _WAIT_SECONDS
    said = ""
    while time.monotonic() < deadline:
        found = [one for one in client.llm.batches.list() if one.connection_id == connection_id]
        now = ", ".join(f"{one.status} {one.counts}" for one in found)
        if now != said:
            _say(said := now)
        if sum(one.counts.completed for one in found) == rows:
            return found
        time.sleep(5)
    raise RuntimeError("not all rows were answered")


@contextmanager
def _peaks(made: Stand) -> Iterator[dict[str, float]]:
    """Look at the processes of functions, and yield the most memory of each in MB."""
    peaks: defaultdict[str, float] = defaultdict(float)
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_SAMPLE_SECONDS):
            for process in psutil.process_iter(["pid", "cmdline"]):
                line = " ".join(process.info["cmdline"] or ())
                if str(made.directory) in line and "ministack-lambda-" in line:
                    name = _function(line) or "others"
                    peaks[name] = max(peaks[name], peak_mb(process.info["pid"]))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peaks
    finally:
        over.set()
        thread.join()


def _function(line: str) -> str:
    named = line.partition("ministack-lambda-")[2]
    return named.rpartition("Function")[0].rpartition("-")[2]


def _longest(made: Stand) -> dict[str, float]:
    """Return the longest invocation of each function, in seconds."""
    longest: defaultdict[str, float] = defaultdict(float)
    for line in read_logs(made.profile.aws_endpoint_url, since=0):
        if line.text.startswith("REPORT") and "Billed Duration: " in line.text:
            took = int(line.text.partition("Billed Duration: ")[2].split()[0]) / 1_000
            longest[line.source] = max(longest[line.source], took)
    return longest


def _say(what: str) -> None:
    print(f"... {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
