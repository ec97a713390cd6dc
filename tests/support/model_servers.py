"""Servers of small models on loopback: they speak as vLLM, llama.cpp, Ollama and SageMaker do.

Shapes are those of vLLM's ``entrypoints/openai`` (protocol and models), of llama.cpp's
``tools/server``, of Ollama's ``api/types.go``, and of botocore's model of SageMaker's runtime.
``integrations/llama_cpp`` asks a real llama.cpp.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from autotune_platform.apprentice.local.contract import ServedModel

JSON = dict[str, Any]
SAID = '{"intent": "card_lost"}'


@dataclass
class Reply:
    """What a server is about to send; a fault changes any part of it."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    wait_seconds: float = 0
    drip_seconds: float = 0
    hangs: bool = False
    drops: bool = False


Fault = Callable[[Reply], None]


def replying(**changes: Any) -> Fault:
    """Set parts of a reply."""

    def fault(reply: Reply) -> None:
        for name, value in changes.items():
            setattr(reply, name, value)

    return fault


@dataclass
class ModelServer:
    """A server with one model.

    Attributes:
        model: its name.
        weights: what it is made of: another number is another model under that name.
        says: the text that it answers.
        echoes: the model that its answers name; None for the right one.
        fault: of what it answers to questions.
        listing_fault: of what it says of itself.
        asked: path and body of each question.
        looked: paths of all other requests.
        extra: more fields of its answers.
        demands: the key without which it says nothing; None for none.
    """

    url: str = ""
    model: str = "intents-1"
    weights: int = 1
    says: str | None = SAID
    echoes: str | None = None
    fault: Fault | None = None
    listing_fault: Fault | None = None
    asked: list[tuple[str, JSON]] = field(default_factory=list)
    looked: list[str] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    extra: JSON = field(default_factory=dict)
    demands: str | None = None

    def respond(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Return what is to be sent."""
        given = next((headers[name] for name in headers if name.lower() == "authorization"), None)
        if self.demands is not None and given != f"Bearer {self.demands}":
            return Reply(401, b'{"error": "Unauthorized"}')
        if method == "GET":
            self.looked.append(path)
            status, said = self.about(path)
            fault = self.listing_fault
        else:
            asked = json.loads(body)
            self.asked.append((path, asked))
            self.headers.append(headers)
            status, said = self.answer(path, asked)
            fault = self.fault
        reply = Reply(status, json.dumps(said).encode())
        if fault is not None:
            fault(reply)
        return reply

    def about(self, path: str) -> tuple[int, Any]:
        """Return what the server says of itself."""
        raise NotImplementedError

    def answer(self, path: str, asked: JSON) -> tuple[int, Any]:
        """Return what it answers to a question."""
        raise NotImplementedError

    def _completion(self, asked: JSON) -> JSON:
        message = {"role": "assistant", "content": self.says}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_790_000_000,
            "model": self.echoes or asked["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 9, "total_tokens": 12, "completion_tokens": 3},
            **self.extra,
        }


class Vllm(ModelServer):
    """As ``vllm serve`` of a base model with one adapter."""

    def about(self, path: str) -> tuple[int, Any]:
        if path != "/v1/models":
            return 404, {"detail": "Not Found"}
        now = int(time.time())
        permission = {"id": "modelperm-1", "object": "model_permission", "created": now}
        card = {"object": "model", "created": now, "owned_by": "vllm", "permission": [permission]}
        base = {**card, "id": "base", "root": "org/base", "parent": None, "max_model_len": 4_096}
        root = f"/adapters/{self.weights}"
        adapter = {**card, "id": self.model, "root": root, "parent": "base", "max_model_len": None}
        return 200, {"object": "list", "data": [base, adapter]}

    def answer(self, path: str, asked: JSON) -> tuple[int, Any]:
        if path != "/v1/chat/completions":
            return 404, {"detail": "Not Found"}
        if asked["model"] not in {self.model, "base"}:
            said = f"The model `{asked['model']}` does not exist."
            error = {"message": said, "type": "NotFoundError", "param": "model", "code": 404}
            return 404, {"error": error}
        answer = self._completion(asked)
        choice = {"logprobs": None, "stop_reason": None, "token_ids": None}
        return 200, {**answer, "choices": [{**answer["choices"][0], **choice}], "metrics": None}


@dataclass
class LlamaCpp(ModelServer):
    """As ``llama-server`` of one model, which answers to any name and names itself.

    Attributes:
        adapters: what ``/lora-adapters`` lists; anybody may change their scales while it runs.
    """

    adapters: list[JSON] = field(default_factory=list)

    def about(self, path: str) -> tuple[int, Any]:
        path = path.partition("?")[0]
        meta = {
            "vocab_type": 2,
            "n_vocab": 128_256,
            "n_ctx": 4_096,
            "n_ctx_train": 131_072,
            "n_embd": 4_096,
            "n_params": 8_030_261_312,
            "size": 4_912_898_304 + self.weights,
        }
        card = {"id": self.model, "object": "model", "created": int(time.time()), "meta": meta}
        answers = {
            "/v1/models": {"object": "list", "data": [{**card, "owned_by": "llamacpp"}]},
            "/props": {
                "total_slots": 1,
                "model_path": "/models/intents.gguf",
                "chat_template": "{{ messages }}",
                "build_info": "b1-a",
            },
            "/lora-adapters": self.adapters,
        }
        return (200, answers[path]) if path in answers else (404, {"error": {"code": 404}})

    def answer(self, path: str, asked: JSON) -> tuple[int, Any]:
        if path != "/v1/chat/completions":
            return 404, {"error": {"message": "File Not Found", "code": 404}}
        return 200, {**self._completion(asked), "model": self.echoes or self.model, "timings": {}}


class Ollama(ModelServer):
    """As ``ollama serve``; names have a tag."""

    def about(self, path: str) -> tuple[int, Any]:
        if path != "/api/tags":
            return 404, "404 page not found"
        card = {
            "name": self.model,
            "model": self.model,
            "modified_at": "2026-08-21T18:48:22Z",
            "size": 1_321_098_329,
            "digest": f"{self.weights:064x}",
            "details": {"format": "gguf", "family": "llama", "quantization_level": "Q8_0"},
        }
        return 200, {"models": [{**card, **self.extra}]}

    def answer(self, path: str, asked: JSON) -> tuple[int, Any]:
        if path != "/api/chat":
            return 404, "404 page not found"
        if asked["model"] != self.model:
            return 404, {"error": f"model '{asked['model']}' not found"}
        return 200, {
            "model": self.echoes or asked["model"],
            "created_at": "2026-08-21T18:48:22Z",
            "message": {"role": "assistant", "content": self.says},
            "done": True,
            "done_reason": "stop",
            "total_duration": 5_589_157_167,
            "prompt_eval_count": 26,
            "eval_count": 7,
            **self.extra,
        }


class SageMaker(ModelServer):
    """As SageMaker's runtime with one endpoint; ``refuses`` is an error of the service.

    Attributes:
        refuses: status, code and further fields.
    """

    refuses: tuple[int, str, JSON] | None = None

    def answer(self, path: str, asked: JSON) -> tuple[int, Any]:
        return 200, self._completion(asked)

    def respond(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        reply = super().respond(method, path, headers, body)
        if self.refuses is not None:
            status, code, fields = self.refuses
            body = json.dumps({"Message": "no", **fields}).encode()
            return Reply(status, body, {"x-amzn-errortype": code})
        return reply


@dataclass
class Lambda(ModelServer):
    """As Lambda, whose functions are handlers that run here.

    Attributes:
        handler: of the function that is asked, whatever its name.
        refuses: status, and code of Lambda's error.
    """

    handler: Callable[[JSON, Any], Any] = lambda event, context: None
    refuses: tuple[int, str] | None = None

    def respond(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        self.asked.append((path, json.loads(body)))
        self.headers.append(headers)
        if self.refuses is not None:
            status, code = self.refuses
            return Reply(status, b'{"Message": "no"}', {"x-amzn-errortype": code})
        try:
            reply = Reply(200, json.dumps(self.handler(json.loads(body), None)).encode())
        except Exception as error:  # noqa: BLE001 - as Lambda does
            said = json.dumps({"errorMessage": str(error)}).encode()
            reply = Reply(200, said, {"x-amz-function-error": "Unhandled"})
        if self.fault is not None:
            self.fault(reply)
        return reply


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        self._respond()

    def log_message(self, *_: object) -> None:
        pass

    def _respond(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        server: _Server = self.server  # type: ignore[assignment]
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = server.model_server.respond(self.command, self.path, headers, body)
        # Whoever asked may have given up.
        with suppress(ConnectionError):
            if reply.hangs:
                server.ended.wait()
            server.ended.wait(reply.wait_seconds)
            if reply.drops or server.ended.is_set():
                self.close_connection = True
                return
            self._send(server, reply)

    def _send(self, server: "_Server", reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in {"content-type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(reply.body)))
        self.end_headers()
        if not reply.drip_seconds:
            self.wfile.write(reply.body)
            return
        for byte in reply.body:
            self.wfile.write(bytes([byte]))
            if server.ended.wait(reply.drip_seconds):
                return


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model_server: ModelServer, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.model_server = model_server
        self.ended = threading.Event()


@contextmanager
def serving(server: ModelServer, *, port: int = 0) -> Iterator[ModelServer]:
    """Serve for as long as the context lasts, on any free port unless one is named.

    Whoever hangs then ends.
    """
    http = _Server(server, port)
    server.url = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server
    finally:
        http.ended.set()
        http.shutdown()
        thread.join()
        http.server_close()


class NoNotes:
    """Notes nothing of calls."""

    def note(self, served: ServedModel, *, idle_minutes: int, is_awake: bool) -> None:
        """Forget it."""
