"""A language model that is none: it judges sums, behind OpenAI's chat completions.

It stands in for a vLLM or an Ollama server, so that requests can be tried without a key:
``python examples/language_models/arithmetic_judge.py --port 8081``. It compares the last number of
what stands after ``Response:`` with what stands after ``Reference:``, and ends with a verdict.
"""

import argparse
import json
import re
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "arithmetic-judge"

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_CHARACTERS_PER_TOKEN = 4
_LARGEST_BODY = 1_000_000


def judge(question: str) -> str:
    """Return reasoning, and a line that begins with ``VERDICT:``."""
    asked, _, response = question.rpartition("Response:")
    reference = asked.rpartition("Reference:")[2].strip()
    numbers = _NUMBER.findall(response)
    if not numbers:
        return "The response names no number.\nVERDICT: ABSTAIN"
    is_right = numbers[-1] == reference
    compared = f"The response ends with {numbers[-1]}, and the reference is {reference}."
    return f"{compared}\nVERDICT: {'right' if is_right else 'wrong'}"


def completion(request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to one request, in the shape of OpenAI's chat completions."""
    texts = [str(message["content"]) for message in request["messages"]]
    answer = judge(texts[-1])
    used = {
        "prompt_tokens": sum(map(_tokens, texts)),
        "completion_tokens": _tokens(answer),
    }
    return {
        "id": "chatcmpl-arithmetic",
        "object": "chat.completion",
        "model": MODEL,
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": answer},
            }
        ],
        "usage": {**used, "total_tokens": sum(used.values())},
    }


class Judge(BaseHTTPRequestHandler):
    """Answers ``GET /health`` and ``POST /v1/chat/completions``."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Say that it is there."""
        self._answer(HTTPStatus.OK, {"status": "healthy"})

    def do_POST(self) -> None:
        """Judge one response."""
        size = int(self.headers.get("content-length") or 0)
        if size > _LARGEST_BODY:
            self.close_connection = True
            self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": {"message": "too large"}})
            return
        try:
            answer = completion(json.loads(self.rfile.read(size)))
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


def main() -> None:
    """Serve on loopback until it is stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8081)
    port: int = parser.parse_args().port
    ThreadingHTTPServer(("127.0.0.1", port), Judge).serve_forever()


if __name__ == "__main__":
    main()
