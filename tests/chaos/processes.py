"""Functions as processes of their own, behind an API on loopback: few, and killed one by one.

They run the deployed handlers on MiniStack's tables, queues and keys. What is left out of the local
stack is MiniStack's Lambda, which starts another process wherever one is slow: under hundreds of
calls and kills two cores would do nothing else. API Gateway, the invocation of the worker and the
queue's consumer are here instead.
"""

import json
import os
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import boto3
import psutil
from botocore.exceptions import ClientError

from autotune import AutotuneClient
from local.deployment import REPOSITORY_ROOT
from local.endpoint import LOOPBACK, REGION, endpoint_url, free_port, isolated_environment
from local.ministack import MiniStack
from local.records import LocalProfile
from tests.support.aws import resources_in
from tests.support.http_events import api_event
from tests.support.lambdas import function_of

API, CHATS, WORKER, OTHERS = "runs_api", "chat_api", "work_runs", "others"
AT_ONCE = {API: 3, CHATS: 2, WORKER: 4, OTHERS: 1}
"""Processes of each function, and of all others together."""

CONSUMERS = 2
"""Threads that take runs from the queue."""

REDELIVERED_AFTER = 30
_OF = {
    "functions.apprentice.runs_api": API,
    "functions.compatible.chat_api": CHATS,
    "functions.apprentice.work_runs": WORKER,
}
_INVOKED = {"work_runs": "functions.apprentice.work_runs"}
_INVOCATIONS = "/2015-03-31/functions/"
_SECONDS = {"functions.apprentice.work_runs": 300.0}
_API_SECONDS = 29.0


class FunctionDiedError(Exception):
    """The process of a function ended before it answered."""


class FunctionProcess:
    """One process, which answers one event at a time."""

    def __init__(self, environment: Mapping[str, str], log: Path) -> None:
        with log.open("ab") as written:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.function_process"],
                cwd=REPOSITORY_ROOT,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=written,
                text=True,
            )

    @property
    def pid(self) -> int:
        """Its id."""
        return self._process.pid

    @property
    def lives(self) -> bool:
        """Whether it was not ended."""
        return self._process.poll() is None

    def invoke(self, module: str, event: Any) -> dict[str, Any]:
        """Have it handle an event; return ``answer``, or the ``error`` that was raised.

        Raises:
            FunctionDiedError: it was killed before it answered.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        seconds = _SECONDS.get(module, _API_SECONDS)
        asked = json.dumps({"module": module, "event": event, "seconds": seconds})
        try:
            print(asked, file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except OSError as error:
            raise FunctionDiedError from error
        if not line:
            raise FunctionDiedError
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> None:
        """End it, and wait for that."""
        self._process.kill()
        self._process.communicate()


class FunctionProcesses:
    """The API, its functions and its queue; use it as a context manager.

    Args:
        directory: for state and logs.
        environment: further variables of functions.
    """

    def __init__(self, directory: Path, environment: Mapping[str, str]) -> None:
        self._directory = directory
        self._ministack = MiniStack(directory=directory, environment={})
        self._given = environment
        self._free: dict[str, Queue[FunctionProcess | None]] = defaultdict(Queue)
        self._all: dict[str, list[FunctionProcess]] = defaultdict(list)
        self._over = threading.Event()
        self.port: int | None = None

    def __enter__(self) -> Self:
        self.port = free_port()
        self._pid = self._ministack.start(port=self.port)
        endpoint = endpoint_url(self.port)
        self._session = boto3.Session("test", "test", region_name=REGION)
        environment = isolated_environment({})
        with _led_to(endpoint):
            resources = resources_in(self._session)
        self._sqs = self._session.client("sqs", endpoint_url=endpoint)
        self._queue_url = resources["RUN_QUEUE_URL"]
        self._server = ThreadingHTTPServer((LOOPBACK, 0), _Handler)
        self._server.daemon_threads = True
        self._server.processes = self  # type: ignore[attr-defined]
        base_url = f"http://{LOOPBACK}:{self._server.server_port}"
        self._environment = {
            **environment,
            **resources,
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ENDPOINT_URL_LAMBDA": base_url,
            "ADMIT_PRIVATE_ADDRESSES": "true",
            "POWERTOOLS_TRACE_DISABLED": "true",
            **self._given,
        }
        for name, number in AT_ONCE.items():
            for _ in range(number):
                self._free[name].put(None)
        consumers = [threading.Thread(target=self._consume) for _ in range(CONSUMERS)]
        self._threads = [threading.Thread(target=self._server.serve_forever), *consumers]
        for thread in self._threads:
            thread.start()
        made = self.invoke("functions.operations.create_organization", {"name": "spending"})
        self.profile = LocalProfile(
            base_url=base_url,
            api_key=made["apiKey"],
            organization_id=made["organization"]["id"],
            aws_endpoint_url=endpoint,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        for processes in self._all.values():
            for process in processes:
                process.end()
        for thread in self._threads:
            thread.join()
        self._ministack.stop(self._pid)

    def invoke(self, module: str, event: Any) -> Any:
        """Have a function handle an event in a process that is free; return its answer.

        Raises:
            FunctionDiedError: it was killed, or raised.
        """
        name = _OF.get(module, OTHERS)
        process = self._free[name].get()
        try:
            if process is None or not process.lives:
                process = FunctionProcess(self._environment, self._directory / f"{name}.log")
                self._all[name].append(process)
            found = process.invoke(module, event)
        finally:
            self._free[name].put(process)
        if "error" in found:
            raise FunctionDiedError(found["error"]["errorMessage"])
        return found["answer"]

    def client(self) -> AutotuneClient:
        """Return a client of the organisation."""
        return AutotuneClient(base_url=self.profile.base_url, api_key=self.profile.api_key)

    def workers(self, name: str) -> list[psutil.Process]:
        """Return the living processes of a function."""
        found = []
        for one in self._all[name]:
            if one.lives:
                with suppress(psutil.NoSuchProcess):
                    found.append(psutil.Process(one.pid))
        return found

    def hand_over(self, run_id: str) -> None:
        """Put a run on the queue, as whoever started it did."""
        self._sqs.send_message(QueueUrl=self._queue_url, MessageBody=run_id)

    def sweep_ledger(self) -> None:
        """Have the sweeper look after calls that are due."""
        self.invoke("functions.ledger.sweep_ledger", {})

    def _consume(self) -> None:
        """Give the worker what is on the queue; what it does not do comes again."""
        while not self._over.is_set():
            answer = self._sqs.receive_message(
                QueueUrl=self._queue_url,
                MaxNumberOfMessages=1,
                WaitTimeSeconds=1,
                VisibilityTimeout=REDELIVERED_AFTER,
            )
            for one in answer.get("Messages", []):
                records = [{"messageId": one["MessageId"], "body": one["Body"]}]
                # Its time may be over meanwhile: then another thread has it.
                with suppress(FunctionDiedError, ClientError):
                    done = self.invoke(_INVOKED["work_runs"], {"Records": records})
                    if not done["batchItemFailures"]:
                        self._sqs.delete_message(
                            QueueUrl=self._queue_url, ReceiptHandle=one["ReceiptHandle"]
                        )


@contextmanager
def _led_to(endpoint: str) -> Iterator[None]:
    """Have clients that are made meanwhile lead there."""
    before = os.environ.get("AWS_ENDPOINT_URL")
    os.environ["AWS_ENDPOINT_URL"] = endpoint
    try:
        yield
    finally:
        if before is None:
            del os.environ["AWS_ENDPOINT_URL"]
        else:
            os.environ["AWS_ENDPOINT_URL"] = before


class _Handler(BaseHTTPRequestHandler):
    """Answers as API Gateway does, and as Lambda does where a function invokes another."""

    protocol_version = "HTTP/1.1"

    def handle_any(self) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # whoever asked was killed
            self._handle()

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        target = urlsplit(self.path)
        if target.path.startswith(_INVOCATIONS):
            self._invoke(target.path.removeprefix(_INVOCATIONS).partition("/")[0], body)
        else:
            self._pass_on(target.path, target.query, body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815 - http.server's

    def _pass_on(self, path: str, query: str, body: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        event = api_event(self.command, path, query, headers, body)
        try:
            answer = self._processes.invoke(function_of(self.command, path), event)
        except FunctionDiedError:
            self._send(500, {"content-type": "application/json"}, b'{"message":"Internal"}')
        else:
            self._send(answer["statusCode"], answer["headers"], answer.get("body", "").encode())

    def _invoke(self, name: str, body: bytes) -> None:
        try:
            answer = self._processes.invoke(_INVOKED[name], json.loads(body))
        except FunctionDiedError as error:
            died = json.dumps({"errorMessage": str(error)}).encode()
            self._send(200, {"x-amz-function-error": "Unhandled"}, died)
        else:
            self._send(200, {}, json.dumps(answer).encode())

    @property
    def _processes(self) -> FunctionProcesses:
        found: FunctionProcesses = self.server.processes  # type: ignore[attr-defined]
        return found

    def _send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() != "content-length":
                self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
        """Say nothing."""
