"""A real ``llama-server`` with a tiny model, and the platform's own clients of such servers.

llama.cpp comes as source: who has built it names its server in ``AUTOTUNE_LLAMA_SERVER``.
"""

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from integrations.llama_cpp.tiny_model import CONTEXT, NAME, write_model

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "layers" / "platform" / "python"))

VARIABLE = "AUTOTUNE_LLAMA_SERVER"
START_SECONDS = 120


@pytest.fixture(scope="session")
def serving(tmp_path_factory):
    """Starts a server of a model file; returns its URL once it has loaded it."""
    program = os.environ.get(VARIABLE)
    if not program:
        pytest.skip(f"{VARIABLE} names no llama-server")

    @contextmanager
    def start(model):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        options = {"--port": port, "--host": "127.0.0.1", "-c": CONTEXT, "-np": 1, "-t": 1}
        words = [str(word) for pair in options.items() for word in pair]
        log = tmp_path_factory.mktemp("llama") / "server.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [program, "-m", str(model), "--alias", NAME, *words],
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            _wait(url, process, log)
            yield url
        finally:
            process.kill()
            process.wait()

    return start


def _wait(url, process, log):
    ends = time.monotonic() + START_SECONDS
    while time.monotonic() < ends and process.poll() is None:
        try:
            with urlopen(f"{url}/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (URLError, OSError):
            time.sleep(0.1)
    raise AssertionError(log.read_text(errors="replace")[-2_000:])


@pytest.fixture(scope="session")
def url(serving, tmp_path_factory):
    """A server of a tiny model."""
    model = tmp_path_factory.mktemp("model") / "tiny.gguf"
    write_model(model, seed=1)
    with serving(model) as made:
        yield made


@pytest.fixture
def servers():
    """What asks servers."""
    from autotune_platform.apprentice.local.exchanging import ModelServers
    from autotune_platform.outbound.connections import connection_pool

    with connection_pool(admit_private=True) as pool:
        yield ModelServers(pool)
