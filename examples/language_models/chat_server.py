"""A server of OpenAI's chat completions whose answers are a function of the messages."""

import argparse
import json
from collections.abc import Callable, Sequence
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

Answering = Callable[[Sequence[str]], str]
"""Returns the answer to the texts of all messages."""

_CHARACTERS_PER_TOKEN = 4
_LARGEST_BODY = 1_000_000


def completion(request: dict[str, Any], *, model: str, answering: Answering) -> dict[str, Any]:
    """Return the answer to one request, in the shape of OpenAI's chat completions."""
    texts = [str(message["content"]) for message in request["messages"]]
    answer = answering(texts)
    used = {
        "prompt_tokens": sum(map(_tokens, texts)),
        "completion_tokens": _tokens(answer),
    }
    return {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion",
        "model": model,
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": answer},
            }
        ],
        "usage": {**used, "total_tokens": sum(used.values())},
    }


def serve(*, model: str, answering: Answering, description: str | None) -> None:
    """Serve on loopback, at ``--port``, until it is stopped."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--port", type=int, default=8081)
    port: int = parser.parse_args().port

    completed = partial(completion, model=model, answering=answering)
    ThreadingHTTPServer(("127.0.0.1", port), partial(_Chat, completed)).serve_forever()


class _Chat(BaseHTTPRequestHandler):
    """Answers ``GET /health`` and ``POST /v1/chat/completions``."""

    protocol_version = "HTTP/1.1"

    def __init__(self, completed: Callable[[dict[str, Any]], dict[str, Any]], *of: Any) -> None:
        self._completed = completed
        super().__init__(*of)  # which answers the request

    def do_GET(self) -> None:
        """Say that it is there."""
        self._answer(HTTPStatus.OK, {"status": "healthy"})

    def do_POST(self) -> None:
        """Answer one request."""
        size = int(self.headers.get("content-length") or 0)
        if size > _LARGEST_BODY:
            self.close_connection = True
            self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": {"message": "too large"}})
            return
        try:
            answer = self._completed(json.loads(self.rfile.read(size)))
        except (ValueError, KeyError, IndexError, TypeError):
            self._answer(HTTPStatus.BAD_REQUEST, {"error": {"message": "expected messages"}})
        else:
            self._answer(HTTPStatus.OK, answer)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's
        """Print nothing: what is asked is nobody's business."""

    def _answer(self, status: HTTPStatus, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS_PER_TOKEN)
