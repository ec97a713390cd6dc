"""The local SageMaker over HTTP, for both of its services."""

import json
import logging
import re
import socket
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

from local.endpoint import LOOPBACK
from local.sagemaker.errors import ServiceError
from local.sagemaker.service import LostAnswerError, SageMaker
from local.sagemaker.settings import Settings

PING_PATH = "/ping"
_TARGET = "SageMaker."
_INVOCATIONS = re.compile(r"/endpoints/([^/]+)/invocations")
_AMZ_JSON = "application/x-amz-json-1.1"

logger = logging.getLogger(__name__)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer is one packet
    disable_nagle_algorithm = True
    server: "_Listener"

    def do_GET(self) -> None:
        """Answer whether it is there."""
        self._answer(200 if self.path == PING_PATH else 404, b"", {})

    def do_POST(self) -> None:
        """Answer an operation of either service."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        invoked = _INVOCATIONS.fullmatch(self.path)
        try:
            if invoked is not None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                answer = self.server.sagemaker.invoke(unquote(invoked[1]), headers, body)
                self._answer(200, answer.body, answer.headers)
            else:
                operation = self.headers.get("x-amz-target", "").removeprefix(_TARGET)
                content = self.server.sagemaker.call(operation, body)
                self._answer(200, content, {"content-type": _AMZ_JSON})
        except ServiceError as error:
            self._refuse(error, is_runtime=invoked is not None)
        except LostAnswerError:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        except Exception as error:  # a fault of ours is SageMaker's to its callers
            logger.exception("%s failed", self.path)
            failure = ServiceError("InternalFailure", repr(error), status=500)
            self._refuse(failure, is_runtime=invoked is not None)

    def log_message(self, *_: object) -> None:
        """Log no requests."""

    def _refuse(self, error: ServiceError, *, is_runtime: bool) -> None:
        # rest-json has the code in a header and ``Message``; json has both in the body.
        message = "Message" if is_runtime else "message"
        said = {"__type": error.code, message: error.message, **error.members}
        kind = "application/json" if is_runtime else _AMZ_JSON
        headers = {"content-type": kind, "x-amzn-errortype": error.code}
        self._answer(error.status, json.dumps(said).encode(), headers)

    def _answer(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("x-amzn-requestid", str(uuid.uuid4()))
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    sagemaker: SageMaker


class SageMakerServer:
    """A server on loopback, as long as a block runs.

    Args:
        settings: What it is started with.
        listening: A socket that listens already, as a parent hands down; a free port if None.
    """

    def __init__(self, settings: Settings, *, listening: socket.socket | None = None) -> None:
        self._listener = _Listener((LOOPBACK, 0), _Handler, bind_and_activate=listening is None)
        if listening is not None:
            self._listener.socket.close()
            self._listener.socket = listening
            self._listener.server_address = listening.getsockname()
        self.sagemaker = self._listener.sagemaker = SageMaker(settings)
        self._thread = threading.Thread(target=self._listener.serve_forever, args=[0.05])

    @property
    def url(self) -> str:
        """Where it answers, as ``AWS_ENDPOINT_URL_SAGEMAKER`` and ``…_SAGEMAKER_RUNTIME``."""
        return f"http://{LOOPBACK}:{self._listener.socket.getsockname()[1]}"

    def __enter__(self) -> "SageMakerServer":
        """Begin to answer."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Answer no more, and end all jobs and hosts."""
        self._listener.shutdown()
        self._thread.join()
        self._listener.server_close()
        self.sagemaker.close()
