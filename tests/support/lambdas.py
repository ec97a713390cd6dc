"""The deployed handlers: which serves a path, what they are given, and what they answer."""

import base64
import importlib
import json
import re
import sys
from dataclasses import dataclass
from typing import Any

from tests.support.granted import as_function

_FUNCTIONS = {
    "/api/v1/audit": "functions.audit.api",
    "/api/v1/tasks": "functions.tasks.api",
    "/api/v1/graders": "functions.graders.api",
    "/api/v1/completions": "functions.completions.api",
    "/api/v1/batches": "functions.completions.api",
    "/api/v1/runs": "functions.runs.api",
    "/api/v1/scores": "functions.completions.scores_api",
    "/api/v1/exports": "functions.exports.api",
    "/api/v1/callbacks": "functions.scoring.callbacks_api",
    "/api/v1/webhooks": "functions.webhooks.api",
    "/api/v1/reviews": "functions.reviews.api",
    "/api/v1/review-links": "functions.reviews.api",
    "/api/v1/reward-urls": "functions.rewards.api",
    "/api/v1/llm-connections": "functions.ledger.connections_api",
    "/api/v1/llm-tokens": "functions.ledger.connections_api",
    "/api/v1/llm-requests": "functions.ledger.api",
    "/api/v1/llm-imports": "functions.ledger.imports_api",
    "/api/v1/llm-batches": "functions.ledger.api",
    "/api/v1/llm-costs": "functions.ledger.api",
    "/api/v1/llm-estimates": "functions.ledger.api",
    "/api/v1/llm-budget": "functions.ledger.api",
}
_EXPLAINED = re.compile(r"/api/v1/(completions|batches)/[^/]+/explanation")
_THAT_WAIT = re.compile(r"/api/v1/(completions/[^/]+/score|batches/[^/]+)")
_OF_CONNECTIONS = re.compile(r"/api/v1/llm-batches/[^/]+/resolve")
_OF_ONE_PATH = {"/api/v1/scores/export": "functions.exports.direct_api"}
_OF_OPENAIS_CLIENTS = "functions.compatible.api"
_BEHIND_FUNCTION_URL = "functions.rewards.answer_trainers"


@dataclass
class Answer:
    """An HTTP answer."""

    status: int
    headers: dict[str, str]
    text: str
    is_base64: bool = False

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def content(self) -> bytes:
        """The body as API Gateway sends it."""
        return base64.b64decode(self.text) if self.is_base64 else self.text.encode()

    @property
    def fields(self) -> dict[str, str]:
        """The fields at fault in a problem, with what was expected."""
        return {error["field"]: error["expected"] for error in self.json["errors"]}


class LambdaContext:
    """As much of Lambda's context as handlers use."""

    def __init__(self, seconds: float = 120) -> None:
        self._seconds = seconds

    def get_remaining_time_in_millis(self) -> int:
        return int(self._seconds * 1000)


def function_of(method: str, path: str) -> str:
    """Return the module of the function behind a route, as API Gateway and the function URL do."""
    if path.startswith("/r/"):
        return _BEHIND_FUNCTION_URL
    if path.startswith("/v1/"):
        return _OF_OPENAIS_CLIENTS
    if method == "GET" and _EXPLAINED.fullmatch(path):
        return "functions.runs.api"
    if method == "GET" and _THAT_WAIT.fullmatch(path):
        return "functions.completions.waiting_api"
    if method == "POST" and _OF_CONNECTIONS.fullmatch(path):
        return "functions.ledger.connections_api"
    prefix = "/".join(path.split("/")[:4])
    return _OF_ONE_PATH.get(path) or _FUNCTIONS.get(prefix, "functions.access.api")


def handler(module: str) -> Any:
    return as_function(module, importlib.import_module(module).lambda_handler)


def forget_processes() -> None:
    """Let the next call be the first of a new process: every cached service and client goes."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("functions.", "autotune_platform")):
            for member in list(vars(module).values()):
                if callable(getattr(member, "cache_clear", None)):
                    member.cache_clear()
