"""The platform's API on loopback, whose requests and connections fail as they are told to.

It lies below a path prefix, as on MiniStack. Nothing else answers in the platform's place, but for
an answer that a test gives as a ``Fault``.
"""

import re
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from email.utils import formatdate
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest

from autotune_platform.completions.models import Completion
from autotune_platform.runtime.environment.completions import ContentEnvironment
from autotune_platform.wiring.completions import CompletionParts
from tests.support.graders import LoopbackGrader, loopback_grader
from tests.support.http_faults import Answer, Fault, Received, canned
from tests.support.obedient_grader import ObedientGrader
from tests.support.served_storage import ServedStorage, serve_storage
from tests.support.shared_platform import SharedPlatform, load_functions, shared_platform

BASE_PATH = "/_aws/execute-api/abc12345/$default"

load_functions()


class ServedPlatform:
    """Notes what it receives.

    Attributes:
        grading_seconds: how long after its submission a completion is graded; None is not before
            the platform is told to.
        grading_rounds: how many rounds of each run there are; None is until nothing is left.
        export_seconds: how long an export takes; None is for ever.
        before_answer: is called with each request that reaches the platform.
    """

    def __init__(
        self, port: int, platform: SharedPlatform, storage: ServedStorage, opened: ExitStack
    ) -> None:
        self.base_url = f"http://127.0.0.1:{port}{BASE_PATH}"
        self.platform = platform
        self.storage = storage
        self.received: list[Received] = []
        self.faults: deque[Fault] = deque()
        self.clock_ahead_seconds = 0
        self.grading_seconds: float | None = 0
        self.grading_rounds: int | None = None
        self.export_seconds: float | None = 0
        self.before_answer: Callable[[Received], None] = lambda _: None
        self.errors: list[BaseException] = []
        self._opened = opened
        self._timers: list[threading.Timer] = []
        self._answering = 0
        self._changed = threading.Condition()

    @property
    def api_key(self) -> str:
        return self.platform.api_key

    @cached_property
    def grader(self) -> ObedientGrader:
        """A grader that judges as it is told, not yet registered."""
        return self._open_grader()

    @cached_property
    def grader_id(self) -> str:
        """The grader of tasks that name none."""
        return self.new_grader(self.grader)

    def new_grader(self, grader: LoopbackGrader | None = None) -> str:
        """Register and verify a grader, by default one more that judges as it is told."""
        batch = {"maxBatchSize": 500}
        return self.platform.new_grader(grader or self._open_grader(), capabilities=batch)

    def new_task(self, name: str = "arithmetic", **fields: Any) -> str:
        grader_id = fields.pop("grader_id", None) or self.grader_id
        return self.platform.new_task(grader_id, name=name, **fields)

    def stored(self) -> list[Completion]:
        """Every completion that there is, in no order but that within a batch."""
        repository = CompletionParts(ContentEnvironment.parse()).completion_repository
        pages = boto3.client("dynamodb").get_paginator("scan").paginate(TableName="completions")
        batch_ids = [
            item["pk"]["S"]
            for page in pages
            for item in page["Items"]
            if item["pk"]["S"].startswith("bat_") and item["sk"]["S"] == "batch"
        ]
        batches = sorted(
            repository.get_batches(batch_ids).values(), key=lambda batch: batch.created_at
        )
        found = repository.get_many(id_ for batch in batches for id_ in batch.completion_ids)
        return [found[id_] for batch in batches for id_ in batch.completion_ids if id_ in found]

    def misbehave(self, *faults: Fault) -> None:
        self.faults.extend(faults)

    def count(self, where: str) -> int:
        return sum(1 for one in self.received if re.search(where, f"{one.method} {one.path}"))

    def take_fault(self, request: Received) -> Fault:
        with self._changed:
            self.received.append(request)
            for fault in self.faults:
                if re.search(fault.where, f"{request.method} {request.path}"):
                    self.faults.remove(fault)
                    return fault
        return Fault()

    def answer(self, request: Received) -> Answer:
        self.before_answer(request)
        answer = self.platform.pass_on(
            request.method, request.path, request.query, request.headers, request.body
        )
        content = answer.content
        if request.method == "POST" and request.path == "/api/v1/graders":
            self._hand_over(answer.json)
        if request.path.startswith("/api/v1/exports"):
            content = self.storage.lead_here(content)
        if request.method == "POST" and answer.status == 202:
            self._work(request.path)
        return Answer(answer.status, content, answer.headers)

    @contextmanager
    def holding(self, where: str) -> Iterator[None]:
        """Answer requests that match a pattern only once the block is left."""
        is_over = threading.Event()
        before = self.before_answer

        def hold(request: Received) -> None:
            before(request)
            if re.search(where, f"{request.method} {request.path}"):
                is_over.wait()

        self.before_answer = hold
        try:
            yield
        finally:
            is_over.set()
            self.before_answer = before

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Be known to answer until the block is left."""
        with self._changed:
            self._answering += 1
        try:
            yield
        finally:
            with self._changed:
                self._answering -= 1
                self._changed.notify_all()

    def wait_until_idle(self) -> None:
        """Wait until all is answered that has come."""
        with self._changed:
            self._changed.wait_for(lambda: not self._answering)

    def stop(self) -> None:
        """Let nothing begin any more, and what has begun end."""
        self.wait_until_idle()
        for timer in self._timers:
            timer.cancel()
            timer.join()

    def _open_grader(self) -> ObedientGrader:
        grader = self._opened.enter_context(loopback_grader(kind=ObedientGrader))
        assert isinstance(grader, ObedientGrader)
        grader.cancel = lambda id_: self.platform.call("POST", f"/api/v1/completions/{id_}/cancel")
        return grader

    def _hand_over(self, registered: Any) -> None:
        """Let the grader know its secret, where it is the one that was registered."""
        if registered.get("grader", {}).get("endpoint") == self.grader.url:
            self.grader.secret = registered["credentials"]["sharedSecret"]

    def _work(self, path: str) -> None:
        """Do what was asked for, now or later."""
        if path.startswith("/api/v1/completions"):
            self.platform.start_runs()
            self._after(self.grading_seconds, lambda: self.platform.score(self.grading_rounds))
        for started in self.platform.new_exports() if path == "/api/v1/exports" else []:
            # A step without time begins an export, and ends.
            self.platform.write_export(started, seconds=0)
            self._after(self.export_seconds, lambda started=started: self._export(started))

    def _after(self, seconds: float | None, do: Callable[[], Any]) -> None:
        if seconds == 0:
            do()
        elif seconds is not None:
            self._timers.append(threading.Timer(seconds, do))
            self._timers[-1].start()

    def _export(self, started: dict[str, Any]) -> None:
        while not self.platform.write_export(started)["done"]:
            pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    api: ServedPlatform

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep what went wrong, but for clients that hang up: they are part of the tests."""
        error = sys.exception()
        if error is not None and not isinstance(error, ConnectionError):
            self.api.errors.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    # Headers and body would otherwise wait for each other's acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *args: Any) -> None:
        """Quiet."""

    def handle_any(self) -> None:
        api = self.server.api
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        target = urlsplit(self.path)
        assert target.path.startswith(BASE_PATH), target.path
        request = Received(
            method=self.command,
            path=target.path.removeprefix(BASE_PATH),
            query=target.query,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
        )
        with api.answering():
            self._answer(request)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

    def _answer(self, request: Received) -> None:
        api = self.server.api
        fault = api.take_fault(request)
        time.sleep(fault.delay_seconds)
        if fault.drop_before:
            self.close_connection = True
            return
        answer = api.answer(request) if fault.status is None else canned(fault, request)
        if fault.drop_after:
            self.close_connection = True
            return
        self._send(answer, request)

    def _send(self, answer: Answer, request: Received) -> None:
        self.send_response_only(answer.status)
        now = time.time() + self.server.api.clock_ahead_seconds
        headers = {
            "date": formatdate(now, usegmt=True),
            "x-autotune-request-id": request.headers.get("x-autotune-request-id", "req_none"),
            **answer.headers,
        }
        for name, value in headers.items():
            self.send_header(name, value)
        if answer.status != 204:
            self.send_header("content-length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)


@contextmanager
def serve_platform(monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedPlatform]:
    """Serve an empty platform until the block is left."""
    with ExitStack() as stack:
        platform = stack.enter_context(shared_platform(monkeypatch))
        storage = stack.enter_context(serve_storage())
        server = _Server(("127.0.0.1", 0), _Handler)
        server.api = ServedPlatform(server.server_address[1], platform, storage, stack)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server.api
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
            server.api.stop()
        if server.api.errors:
            raise server.api.errors[0]
