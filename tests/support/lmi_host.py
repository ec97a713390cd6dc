"""A host of adapters that is as unkind as AWS's container LMI; it is run as a file.

What it requires and answers is from ``deepjavalibrary/djl-serving`` of 2026-06 (LMI 20 to 27) and
from vLLM; ADR 0098 names the places. Its one argument is a JSON file that is read anew with each
request: ``shape`` is which model an answer names, ``known`` words that it answers with, ``status``
what it answers in place of an answer, ``says`` the text that it answers, ``seconds`` how much
later.
"""

import json
import os
import sys
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

IDENTIFIER, ALIAS = "X-Amzn-SageMaker-Adapter-Identifier", "X-Amzn-SageMaker-Adapter-Alias"
_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
_FORMATS = ("text", "json_object", "json_schema", "structural_tag")
_REQUIRED = {
    "OPTION_ENABLE_LORA": "true",
    "OPTION_ASYNC_MODE": "true",
    "OPTION_ROLLING_BATCH": "disable",
    "OPTION_ENTRYPOINT": "djl_python.lmi_vllm.vllm_async_service",
}
"""Without each of these LMI serves no adapters by vLLM, or does so by what it does not support."""


def environment_fault(environment: Mapping[str, str]) -> str | None:
    """Return why LMI does not start, or has no adapters; None where it does."""
    for name, value in _REQUIRED.items():
        if environment.get(name, "").lower() != value:
            return f"{name} is {environment.get(name)}, not {value}"
    if not any(Path(environment.get("HF_MODEL_ID", "/nowhere")).glob("*")):
        return "HF_MODEL_ID: no model there"
    rank = environment.get("OPTION_MAX_LORA_RANK", "16")
    if not rank.isdecimal() or int(rank) not in _RANKS:
        return f"OPTION_MAX_LORA_RANK is {rank}"
    length = environment.get("OPTION_MAX_MODEL_LEN", "")
    if length != "auto" and not length.isdecimal():
        return f"OPTION_MAX_MODEL_LEN is {length!r}: the longest text of the model may not fit"
    if not environment.get("OPTION_MAX_LORAS", "4").isdecimal():
        return "OPTION_MAX_LORAS is no number"
    return None


class Handler(BaseHTTPRequestHandler):
    """Answers ``/ping``, ``/invocations`` and ``/adapters``."""

    settings: Path
    adapters: dict[str, str] = {}

    def do_GET(self) -> None:
        self._answer(200, {})

    def do_DELETE(self) -> None:
        self.adapters.pop(self.path.rpartition("/")[2], None)
        self._answer(200, {})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/adapters":
            self._register(asked["name"], Path(asked["src"]))
        else:
            self._complete(asked, json.loads(self.settings.read_text()))

    def log_message(self, *_: Any) -> None:
        pass

    def _register(self, name: str, folder: Path) -> None:
        """Load an adapter, whose two files are at the root of its archive."""
        config, weights = folder / "adapter_config.json", folder / "adapter_model.safetensors"
        if (folder / "model.py").exists():
            return self._refuse(424, "it has code of its own")
        if not config.exists() or not weights.exists():
            return self._refuse(424, f"{folder} doesn't contain tensors")
        rank = json.loads(config.read_text()).get("r", 8)
        if rank > int(os.environ["OPTION_MAX_LORA_RANK"]):
            return self._refuse(424, f"LoRA rank {rank} is greater than max_lora_rank")
        self.adapters[name] = name
        return self._answer(200, {"status": f"Adapter {name} registered"})

    def _complete(self, asked: dict[str, Any], settings: Mapping[str, Any]) -> None:
        served = os.environ.get("OPTION_SERVED_MODEL_NAME", "lmi")
        adapter = self.headers[IDENTIFIER]
        time.sleep(settings.get("seconds", 0))
        if status := settings.get("status"):
            return self._refuse(status, "as the settings say")
        if adapter is not None and adapter not in self.adapters:
            return self._refuse(424, f"Input parsing failed: LoRA adapter {adapter} not found")
        if asked.get("response_format", {"type": "text"}).get("type") not in _FORMATS:
            return self._refuse(424, "Input parsing failed: response_format")
        if adapter is None and asked.get("model", served) != served:
            # A refusal of vLLM's has its status inside, where LMI does not look.
            return self._refuse(500, f"The model `{asked['model']}` does not exist.")
        words = asked["messages"][-1]["content"].replace("?", " ").split()
        known = settings.get("known")
        found = "lost_card" if known is None else next(iter({*known}.intersection(words)), "none")
        said = settings.get("says", json.dumps({"intent": found}))
        message = {"role": "assistant", "content": said}
        shape = settings.get("shape", "identifier")
        # As vLLM writes it: what is not there is null.
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        answer = {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice]}
        named = {
            "identifier": adapter,
            "alias": self.headers[ALIAS],
            "extended": f"{self.headers[ALIAS]}-{adapter}",
            "null": None,
            "served": served,
        }.get(shape, shape)
        return self._answer(200, answer if shape == "unnamed" else {**answer, "model": named})

    def _refuse(self, status: int, error: str) -> None:
        self._answer(status, {"code": status, "error": error})

    def _answer(self, status: int, said: Any) -> None:
        body = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    """Serve until it is ended, or say why it does not start."""
    if (fault := environment_fault(os.environ)) is not None:
        sys.exit(fault)
    Handler.settings = Path(sys.argv[1])
    port = int(os.environ["SAGEMAKER_BIND_TO_PORT"])
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    main()
