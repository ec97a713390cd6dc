"""``python host.py``: a base model and its adapters, as SageMaker's containers for them answer.

It stands in for vLLM behind DJL Serving, which needs a GPU, and is asked in the same words:
``GET /ping``, ``POST /adapters`` with ``name`` and ``src``, ``DELETE /adapters/NAME``, and at
``POST /invocations`` OpenAI's chat completions, with the adapter that is meant in a header. Of
``response_format`` it heeds nothing: that an answer has its form is what an adapter has learned.
"""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

ADAPTER = "X-Amzn-SageMaker-Adapter-Identifier"
MOST_TOKENS = 64


class UnknownAdapterError(Exception):
    """There is no such adapter."""


class Served:
    """A base model and what it has of adapters; one input is answered at a time.

    Args:
        folder: of the base, in safetensors, with its tokenizer.
    """

    def __init__(self, folder: Path) -> None:
        self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        base = AutoModelForCausalLM.from_pretrained(
            folder, local_files_only=True, use_safetensors=True
        )
        self._base = base.eval()
        self._adapted: PeftModel | None = None
        self._names: set[str] = set()
        self._lock = threading.Lock()

    def add(self, name: str, folder: str) -> None:
        """Load an adapter; one of that name that is there stays."""
        with self._lock:
            if name in self._names:
                return
            if self._adapted is None:
                self._adapted = PeftModel.from_pretrained(self._base, folder, adapter_name=name)
            else:
                self._adapted.load_adapter(folder, adapter_name=name)
            self._adapted.eval()
            self._names.add(name)

    def remove(self, name: str) -> None:
        """Forget an adapter.

        Raises:
            UnknownAdapterError: there is none of that name.
        """
        with self._lock:
            if name not in self._names or self._adapted is None:
                raise UnknownAdapterError(name)
            self._names.remove(name)
            self._adapted.delete_adapter(name)

    def answer(self, asked: dict[str, Any], adapter: str) -> dict[str, Any]:
        """Return a chat completion, always of the likeliest tokens.

        Raises:
            UnknownAdapterError: there is none of that name.
        """
        text = self._tokenizer.apply_chat_template(
            asked["messages"], tokenize=False, add_generation_prompt=True
        )
        tokens = self._tokenizer(text, add_special_tokens=False, return_tensors="pt")
        length = tokens["input_ids"].shape[1]
        most = min(asked.get("max_tokens") or MOST_TOKENS, MOST_TOKENS)
        with self._lock, torch.inference_mode():
            if adapter not in self._names or self._adapted is None:
                raise UnknownAdapterError(adapter)
            self._adapted.set_adapter(adapter)
            found = self._adapted.generate(**tokens, max_new_tokens=most, do_sample=False)
        said = found[0][length:]
        content = self._tokenizer.decode(said, skip_special_tokens=True)
        is_whole = bool(said[-1] == self._tokenizer.eos_token_id)
        return {
            "object": "chat.completion",
            "model": adapter,
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": content},
                    "finish_reason": "stop" if is_whole else "length",
                }
            ],
            "usage": {
                "prompt_tokens": length,
                "completion_tokens": len(said),
                "total_tokens": length + len(said),
            },
        }


class Handler(BaseHTTPRequestHandler):
    """What SageMaker asks of a container."""

    served: Served

    def do_GET(self) -> None:
        """Say that it is ready: it listens once the base is loaded."""
        self._answer(200, {})

    def do_DELETE(self) -> None:
        """Forget an adapter."""
        try:
            self.served.remove(self.path.rpartition("/")[2])
        except UnknownAdapterError as error:
            self._answer(424, {"error": f"no adapter {error}"})
        else:
            self._answer(200, {})

    def do_POST(self) -> None:
        """Load an adapter, or answer as one."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/adapters":
            self.served.add(asked["name"], asked["src"])
            self._answer(200, {})
            return
        try:
            answer = self.served.answer(asked, self.headers.get(ADAPTER, ""))
        except UnknownAdapterError as error:
            self._answer(424, {"error": f"no adapter {error}"})
        else:
            self._answer(200, answer)

    def log_message(self, *_: Any) -> None:
        """Log no requests."""

    def _answer(self, status: int, said: Any) -> None:
        content = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def main() -> None:
    """Serve until it is ended."""
    torch.set_num_threads(1)
    Handler.served = Served(Path(os.environ["HF_MODEL_ID"]))
    port = int(os.environ["SAGEMAKER_BIND_TO_PORT"])
    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
