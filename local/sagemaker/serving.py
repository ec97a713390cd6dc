"""The server of hosts whose model brings its own script, run as a file by the host's Python.

It does what ``sagemaker-inference-toolkit`` and Hugging Face's do with a script: ``code/`` of the
model is imported, and ``model_fn``, ``input_fn``, ``predict_fn`` and ``output_fn``, or
``transform_fn`` in place of the last three, are called. It imports nothing but
the standard library.
"""

import importlib
import inspect
import json
import os
import sys
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

JSON_TYPE = "application/json"


class Model:
    """A model and its script.

    Args:
        folder: Of the model, with ``code/``.
    """

    def __init__(self, folder: Path) -> None:
        code = Path(os.environ.get("SAGEMAKER_SUBMIT_DIRECTORY", folder / "code"))
        sys.path[0] = str(code)  # in place of this file's own folder
        program = os.environ.get("SAGEMAKER_PROGRAM", "inference.py")
        self._script = importlib.import_module(program.removesuffix(".py"))
        self._model = self._call("model_fn", str(folder))

    def transform(self, body: bytes, content_type: str, accept: str) -> tuple[bytes, str]:
        """Return what the script answers, and its type."""
        if hasattr(self._script, "transform_fn"):
            answer = self._call("transform_fn", self._model, body, content_type, accept)
        else:
            has_input = hasattr(self._script, "input_fn")
            data = self._call("input_fn", body, content_type) if has_input else json.loads(body)
            predicted = self._call("predict_fn", data, self._model)
            has_output = hasattr(self._script, "output_fn")
            answer = (
                self._call("output_fn", predicted, accept) if has_output else json.dumps(predicted)
            )
        content, kind = answer if isinstance(answer, tuple) else (answer, accept)
        return (content.encode() if isinstance(content, str) else content), kind

    def _call(self, name: str, *arguments: Any) -> Any:
        """Call a function of the script, without the context that newer ones take last."""
        function = getattr(self._script, name)
        takes = len(inspect.signature(function).parameters)
        return function(*arguments, *[None] * (takes - len(arguments)))


class Handler(BaseHTTPRequestHandler):
    """Answers ``/ping`` and ``/invocations``."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer is one packet
    model: Model

    def do_GET(self) -> None:
        """Answer ``/ping``: it is ready, or it would not listen."""
        self._answer(200 if self.path == "/ping" else 404, b"", "text/plain")

    def do_POST(self) -> None:
        """Answer ``/invocations`` by the script; what it raises is a 500 with its traceback."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path != "/invocations":
            self._answer(404, b"the script takes no such request", "text/plain")
            return
        content_type = self.headers.get("content-type", JSON_TYPE)
        accept = self.headers.get("accept", JSON_TYPE)
        accept = JSON_TYPE if accept == "*/*" else accept
        try:
            self._answer(200, *self.model.transform(body, content_type, accept))
        except Exception:  # noqa: BLE001 - it is the script's, whatever it is
            trace = traceback.format_exc()
            print(trace, file=sys.stderr, flush=True)
            self._answer(500, trace.splitlines()[-1].encode(), "text/plain")

    def log_message(self, *_: Any) -> None:
        """Log no requests."""

    def _answer(self, status: int, content: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()


def main() -> None:
    """Serve until it is ended."""
    Handler.model = Model(Path(os.environ["SM_MODEL_DIR"]))
    port = int(os.environ["SAGEMAKER_BIND_TO_PORT"])
    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
