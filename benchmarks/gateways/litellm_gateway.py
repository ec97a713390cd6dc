"""LiteLLM's proxy, as its package comes, in an environment of its own."""

import json
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import count
from pathlib import Path

import httpx
import psutil

from benchmarks.gateways.gateway import MODEL, PRICES, ChatDoor
from integrations.environments import OFFLINE, Environment
from local.endpoint import LOOPBACK, free_port, isolated_environment
from local.progress import SilentProgress

ENVIRONMENT = Environment(Path(__file__).resolve().parent / "litellm_proxy")
PACKAGE = "litellm"
# It imports for half a minute where others use the machine, too.
START_SECONDS = 180
AMPLE_USD = Decimal(1_000)


@dataclass(frozen=True)
class LitellmGateway:
    """One running proxy."""

    name: str
    url: str
    process: psutil.Process
    numbers: "count[int]"

    def door(self, *, max_tokens: int, limit_usd: Decimal | None = None) -> ChatDoor:
        """Return a door whose key has the limit as its ``max_budget``."""
        budget = AMPLE_USD if limit_usd is None else limit_usd
        return ChatDoor(
            f"{self.url}/v1/chat/completions",
            f"sk-bench{next(self.numbers)}-{budget:f}",
            MODEL,
            max_tokens,
        )

    def cpu_seconds(self) -> Mapping[int, float]:
        """Return user and system time of the proxy and of what it started."""
        processes = [self.process, *self.process.children(recursive=True)]
        return {one.pid: sum(one.cpu_times()[:2]) for one in processes}


@contextmanager
def litellm_gateway(provider_url: str, *, is_strict: bool = False) -> Iterator[LitellmGateway]:
    """Serve the proxy before a provider, with its defaults.

    Args:
        is_strict: with ``fail_closed_budget_enforcement``, which its documentation has for budgets
            that must hold.

    Raises:
        InstallationError: its packages cannot be installed.
        RuntimeError: it does not come up.
    """
    ENVIRONMENT.make(SilentProgress())
    with tempfile.TemporaryDirectory(prefix="autotune-litellm-") as folder:
        there, port = Path(folder), free_port()
        (there / "config.yaml").write_text(json.dumps(_config(provider_url, is_strict)))
        shutil.copy(ENVIRONMENT.source / "keys.py", there)
        variables = {
            **OFFLINE,
            "HOME": folder,
            "LITELLM_MASTER_KEY": f"sk-{secrets.token_hex(24)}",
        }
        command = [
            *(str(ENVIRONMENT.python.with_name("litellm")), "--config", "config.yaml"),
            *("--host", LOOPBACK, "--port", str(port)),
        ]
        log = there / "output.txt"
        with (
            log.open("wb") as output,
            subprocess.Popen(  # noqa: S603 - of its lock
                command,
                cwd=folder,
                env=isolated_environment(variables),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            ) as process,
        ):
            try:
                url = f"http://{LOOPBACK}:{port}"
                _await(process, url, log)
                version = ENVIRONMENT.version_of(PACKAGE)
                name = f"LiteLLM's proxy {version}{', strict' if is_strict else ''}"
                yield LitellmGateway(name, url, psutil.Process(process.pid), count())
            finally:
                process.terminate()


def _config(provider_url: str, is_strict: bool) -> dict[str, object]:
    per_token = {
        f"{name}_cost_per_token": float(PRICES[name] / 1_000_000) for name in ("input", "output")
    }
    model = {
        "model": f"openai/{MODEL}",
        "api_base": f"{provider_url}/v1",
        "api_key": "fake-key",
        **per_token,
    }
    general = {"custom_auth": "keys.authenticate", "custom_auth_run_common_checks": True}
    if is_strict:
        general["fail_closed_budget_enforcement"] = True
    return {
        "model_list": [{"model_name": MODEL, "litellm_params": model}],
        "general_settings": general,
    }


def _await(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            if httpx.get(f"{url}/health/liveliness", trust_env=False).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.5)
    raise RuntimeError(f"LiteLLM's proxy did not start: {log.read_text()[-1_000:]}")
