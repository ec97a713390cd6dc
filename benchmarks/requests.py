"""CPU time of one request of the busiest routes: real handlers in this process, MiniStack below.

What is timed is the handler alone, from Lambda's event to its answer: signature, validation, calls
of AWS, serialisation. CPU time, unlike wall time, is no different on a busy machine.
"""

import importlib
import os
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl

import httpx

from autotune import AutotuneClient
from benchmarks.stand import Stand
from benchmarks.texts import completions
from local.endpoint import isolated_environment, lambda_client

_REPETITIONS = 40
_TEXT_BYTES = 2_048
_WAITING_READ = re.compile(r"/api/v1/(completions/[^/]+/score|batches/[^/]+)")
_HANDLERS = {
    "batches": "functions.completions.api",
    "completions": "functions.completions.api",
    "graders": "functions.graders.api",
    "keys": "functions.access.api",
    "runs": "functions.runs.api",
    "scores": "functions.completions.scores_api",
    "tasks": "functions.tasks.api",
}


@dataclass(frozen=True)
class RequestCost:
    """CPU time of one request, in milliseconds."""

    route: str
    requests: int
    median: float
    longest: float

    def as_json(self) -> dict[str, Any]:
        """Return it for the report."""
        return {
            "route": self.route,
            "requests": self.requests,
            "cpuMilliseconds": round(self.median, 2),
            "longest": round(self.longest, 2),
        }


class HandlerTransport(httpx.BaseTransport):
    """Takes a client's requests to the handlers, as API Gateway does, and times those."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Call the function that the path belongs to."""
        path, query = request.url.path, request.url.query.decode()
        event = {
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": path,
            "rawQueryString": query,
            "headers": dict(request.headers),
            "queryStringParameters": dict(parse_qsl(query)),
            "requestContext": {
                "stage": "$default",
                "http": {"method": request.method, "path": path, "sourceIp": "192.0.2.7"},
            },
            "body": request.read().decode(),
            "isBase64Encoded": False,
        }
        is_waiting_read = request.method == "GET" and _WAITING_READ.fullmatch(path)
        name = "functions.completions.waiting_api" if is_waiting_read else None
        module = importlib.import_module(name or _HANDLERS[path.split("/")[3]])
        started = time.process_time()
        answer = module.lambda_handler(event, None)
        self.seconds.append(time.process_time() - started)
        return httpx.Response(
            answer["statusCode"], headers=answer["headers"], content=answer["body"].encode()
        )


def measure(stand: Stand, task_id: str) -> list[RequestCost]:
    """Time ten routes, each after a few requests that warm it up."""
    with (
        as_deployed(stand),
        AutotuneClient(
            base_url="http://handlers.invalid",
            api_key=stand.profile.api_key,
            http_client=httpx.Client(transport=(transport := HandlerTransport())),
        ) as client,
    ):
        texts = list(completions(task_id, 100, text_bytes=_TEXT_BYTES))
        first = next(iter(client.completions.submit_many(texts)))
        client.batches.wait(first.batch_id, timeout=120)
        one = {
            "task_id": task_id,
            "model_id": "m",
            "prompt": texts[0]["prompt"],
            "response": texts[0]["response"],
        }
        grader_id = client.tasks.get(task_id).graders[0].grader_id
        routes: dict[str, Callable[[], Any]] = {
            "POST /completions": lambda: client.completions.submit(**one),
            "POST /completions/batch (100)": lambda: list(client.completions.submit_many(texts)),
            "GET /batches/{id} (100)": lambda: client.batches.get(first.batch_id),
            "GET /completions/{id}": lambda: client.completions.get(first.completion_ids[0]),
            "GET /completions/{id}/score": lambda: client.completions.verdict(
                first.completion_ids[0]
            ),
            "GET /scores (50)": lambda: list(
                islice(client.scores.list(task_id=task_id, page_size=50), 50)
            ),
            "GET /scores?include=completion (50)": lambda: list(
                islice(
                    client.scores.list(task_id=task_id, include_completion=True, page_size=50), 50
                )
            ),
            "GET /tasks/{id}": lambda: client.tasks.get(task_id),
            "GET /graders/{id}/stats": lambda: client.graders.stats(grader_id),
            "GET /keys/me": client.keys.me,
        }
        return [_time(route, ask, transport) for route, ask in routes.items()]


def _time(route: str, ask: Callable[[], Any], transport: HandlerTransport) -> RequestCost:
    for _ in range(3):
        ask()
    transport.seconds.clear()
    for _ in range(_REPETITIONS):
        ask()
    milliseconds = [seconds * 1000 for seconds in transport.seconds]
    return RequestCost(route, len(milliseconds), statistics.median(milliseconds), max(milliseconds))


@contextmanager
def as_deployed(stand: Stand) -> Iterator[None]:
    """Give this process the environment of the deployed functions."""
    before = dict(os.environ)
    variables: dict[str, str] = defaultdict(str)
    client = lambda_client(stand.profile.aws_endpoint_url)
    for page in client.get_paginator("list_functions").paginate():
        for function in page["Functions"]:
            variables.update(function["Environment"]["Variables"])
    variables["AWS_ENDPOINT_URL"] = stand.profile.aws_endpoint_url
    variables["POWERTOOLS_TRACE_DISABLED"] = "true"
    variables["POWERTOOLS_LOG_LEVEL"] = "WARNING"
    os.environ.clear()
    os.environ.update(isolated_environment(variables))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
