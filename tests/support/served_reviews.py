"""The review API and page of component tests behind a real port.

They lie below a path prefix, as on MiniStack.
"""

import importlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from tests.support.lambdas import LambdaContext

PREFIX = "/_aws/execute-api/abc123/$default"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # As a process of Lambda does.
    one_at_a_time = threading.Lock()

    def _answer(self) -> None:
        url = urlsplit(self.path)
        path = url.path.removeprefix(PREFIX)
        sent = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        is_api = path.startswith("/api/v1/review")
        module = "reviews.api" if is_api else "console.serve_pages"
        event = {
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": path,
            "rawQueryString": url.query,
            "headers": {name.lower(): value for name, value in self.headers.items()},
            "queryStringParameters": dict(parse_qsl(url.query)),
            "requestContext": {
                "stage": "$default",
                "http": {"method": self.command, "path": path},
            },
            "body": sent,
            "isBase64Encoded": False,
        }
        handler = importlib.import_module(f"functions.{module}").lambda_handler
        with self.one_at_a_time:
            answer = handler(event, LambdaContext())
        body = (answer.get("body") or "").encode()
        self.send_response(answer["statusCode"])
        for name, value in answer["headers"].items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = _answer  # noqa: N815 - the library's names

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@contextmanager
def serve_reviews() -> Iterator[str]:
    """Serve the handlers of reviews on loopback; yield the base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{PREFIX}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
