"""Runs one client in one case against a fake of its own, and reads what came of it."""

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from benchmarks.llm_peers.cases import Case, questions, rules
from benchmarks.llm_peers.observing import (
    RAISED,
    RETURNED,
    WAITING,
    Billed,
    Handed,
    Observed,
    observe,
)
from benchmarks.llm_peers.peers import LlmPeer
from integrations.environments import OFFLINE
from local.deployment import REPOSITORY_ROOT
from local.endpoint import isolated_environment

# A client looks each second. So long it waits before hours pass at the fake, and then before it is
# stopped; retries of some clients take half a minute.
PATIENCE_SECONDS = (40, 15, 15)
HOURS_LATER = (1, 48)
KEY = "fake-key"

_TELLING = re.compile(r"^[\w.]*(Error|Exception|Timeout|Group)\b.*|^(error|cancelled): .*")
_TELLING_CHARACTERS = 120


@contextmanager
def fake(case: Case, *, seed: int) -> Iterator[httpx.Client]:
    """Serve the fake with the traps of a case set; yield a client of it."""
    command = [
        *(sys.executable, "-m", "tests.providers", "--seed", str(seed)),
        *("--validate-seconds", "0.5", "--run-seconds", "1"),
    ]
    with subprocess.Popen(  # noqa: S603 - our own
        command, cwd=REPOSITORY_ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            if process.stdout is None:
                raise AssertionError("the fake was started without a pipe for its output")
            url = process.stdout.readline().split()[-1]
            with httpx.Client(base_url=url, timeout=20, trust_env=False) as client:
                client.post("/_fake/answers", json={"rules": rules()}).raise_for_status()
                if case.beside:
                    _make_another_job(client)
                if case.traps:
                    client.post("/_fake/traps", json=list(case.traps)).raise_for_status()
                yield client
        finally:
            process.terminate()


def run(peer: LlmPeer, case: Case, *, seed: int = 1) -> Observed:
    """Run a peer in a case."""
    with (
        tempfile.TemporaryDirectory(prefix="autotune-llm-peer-") as folder,
        fake(case, seed=seed) as client,
    ):
        handed = _ask(peer, client, Path(folder))
        return observe(
            handed, _billed(client, beside=case.beside), traps=[t["name"] for t in case.traps]
        )


def _ask(peer: LlmPeer, client: httpx.Client, folder: Path) -> Handed:
    url = f"{client.base_url}/v1".replace("//v1", "/v1")
    variables = {
        **OFFLINE,
        "CURATOR_DISABLE_RICH_DISPLAY": "1",
        "HOME": str(folder),
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": url,
        "TELEMETRY_ENABLED": "false",
    }
    log = folder / "output.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - of its lock
            [
                *(str(peer.environment.python), str(peer.script)),
                *(url, json.dumps(questions()), str(folder)),
            ],
            cwd=folder,
            env=isolated_environment(variables),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    ended = _await(process, client)
    text = log.read_text(errors="replace")
    handed: Mapping[str, Any] = {"answers": {}, "errors": {}}
    if (found := folder / "answers.json").is_file():
        handed = json.loads(found.read_text())
    return Handed(ended=ended, error="" if ended != RAISED else _telling(text), **handed)


def _await(process: subprocess.Popen[bytes], client: httpx.Client) -> str:
    """Wait for the client's end, and let hours pass at the fake where it does not come."""
    for number, seconds in enumerate(PATIENCE_SECONDS):
        try:
            return RETURNED if process.wait(seconds) == 0 else RAISED
        except subprocess.TimeoutExpired:
            if number < len(HOURS_LATER):
                passed = {"seconds": HOURS_LATER[number] * 3600}
                client.post("/_fake/clock/advance", json=passed).raise_for_status()
    process.kill()
    process.wait()
    return WAITING


def _billed(client: httpx.Client, *, beside: bool) -> Billed:
    def get(path: str) -> Any:
        return client.get(f"/_fake{path}").raise_for_status().json()

    # What a client left behind runs to its end, and is paid.
    client.post("/_fake/clock/advance", json={"seconds": 3600}).raise_for_status()
    if bugs := get("/health")["bugs"]:
        raise AssertionError(f"the fake has a fault: {bugs[0]}")
    batches = [one for one in get("/batches")["batches"] if one["metadata"] != _BESIDE]
    ours = {one["id"] for one in batches}
    calls = dict(get("/requests")["requests"])
    if beside:
        for name in ("openai.upload", "openai.create"):
            calls[name] -= 1
    return Billed(
        executions=[one for one in get("/executions")["executions"] if one["batch_id"] in ours],
        jobs=len(batches),
        sprung=get("/traps")["fired"],
        calls=calls,
    )


_BESIDE = {"of": "somebody else"}


def _make_another_job(client: httpx.Client) -> None:
    """Have a job of somebody else in the workspace, which runs to its end."""
    body = {"model": "gpt-4.1-mini", "messages": [{"role": "user", "content": "Other"}]}
    line = {
        "custom_id": "other-0",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": body,
    }
    key = {"authorization": f"Bearer {KEY}"}
    uploaded = client.post(
        "/v1/files",
        headers=key,
        data={"purpose": "batch"},
        files={"file": ("other.jsonl", json.dumps(line).encode())},
    ).raise_for_status()
    client.post(
        "/v1/batches",
        headers=key,
        json={
            "input_file_id": uploaded.json()["id"],
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": _BESIDE,
        },
    ).raise_for_status()
    time.sleep(2)


def _telling(text: str) -> str:
    """Return the last line that names an error, short enough for a table."""
    lines = [line.strip(" |") for line in text.splitlines()]
    found = [line for line in lines if _TELLING.match(line)]
    told = (found or [line for line in lines if line] or ["no output"])[-1]
    return re.sub(r"\s+", " ", told)[:_TELLING_CHARACTERS]
