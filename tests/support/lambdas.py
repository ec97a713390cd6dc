"""The deployed handlers: which serves a path, what they are given, and what they answer."""

import base64
import importlib
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from tests.support.granted import as_function

_FUNCTIONS = {
    "/api/v1/sessions": "functions.access.api",
    "/api/v1/overview": "functions.overview.api",
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
    "/api/v1/llm-batches": "functions.ledger.batches_api",
    "/api/v1/llm-costs": "functions.ledger.batches_api",
    "/api/v1/llm-estimates": "functions.ledger.batches_api",
    "/api/v1/llm-budget": "functions.ledger.batches_api",
    "/api/v1/decks": "functions.decks.api",
    "/api/v1/apprentice": "functions.apprentice.api",
    "/api/v1/deck-capture": "functions.decks.api",
    "/api/v1/deck-inbox": "functions.decks.feedback_api",
    "/api/v1/samples": "functions.decks.telemetry_api",
    "/api/v1/ingest-urls": "functions.decks.ingest_urls_api",
    "/api/v1/unmatched-prompts": "functions.decks.telemetry_api",
}
_BY_PATTERN = [
    (
        "(DELETE|GET|POST)",
        r"/api/v1/apprentice/(tasks/[^/]+/runs|runs/[^/]+|runs/[^/]+/content)",
        "functions.apprentice.runs_api",
    ),
    (
        "(GET|POST)",
        r"/api/v1/apprentice/tasks/[^/]+/trainings(/.*)?",
        "functions.apprentice.trainings_api",
    ),
    (
        "(GET|POST|DELETE)",
        r"/api/v1/apprentice/tasks/[^/]+/examples(/.*)?",
        "functions.apprentice.examples_api",
    ),
    ("POST", r"/api/v1/decks", "functions.decks.runs_api"),
    (
        "POST",
        r"/api/v1/decks/[^/]+/(estimate|runs|runs/[^/]+/cancel|graders/propose(/estimate)?)",
        "functions.decks.runs_api",
    ),
    (
        "GET",
        r"/api/v1/decks/[^/]+/(runs|runs/[^/]+|(graders|samples)/[^/]+/results)",
        "functions.decks.runs_api",
    ),
    (
        "GET",
        r"/api/v1/((completions|batches)/[^/]+/explanation|completions/[^/]+/timeline)",
        "functions.runs.api",
    ),
    (
        "GET",
        r"/api/v1/(completions/[^/]+/score|batches/[^/]+)",
        "functions.completions.waiting_api",
    ),
    ("POST", r"/api/v1/decks/[^/]+/samples(/.*)?", "functions.decks.samples_api"),
    ("GET", r"/api/v1/decks/[^/]+/samples(/.*)?", "functions.decks.samples_api"),
    ("DELETE", r"/api/v1/decks/[^/]+/samples(/.*)?", "functions.decks.samples_api"),
    ("GET", r"/api/v1/decks/[^/]+/prompt-edits(/.*)?", "functions.decks.edits_api"),
    ("POST", r"/api/v1/decks/[^/]+/prompt-edits(/.*)?", "functions.decks.edits_api"),
    ("GET", r"/api/v1/decks/[^/]+/labels", "functions.decks.feedback_api"),
    ("GET", r"/api/v1/tasks/[^/]+/stats", "functions.overview.api"),
    (
        "GET",
        r"/api/v1/apprentice/tasks/[^/]+/(status|report|estimate)",
        "functions.apprentice.reports_api",
    ),
    ("POST", r"/api/v1/apprentice/tasks/[^/]+/report", "functions.apprentice.reports_api"),
    ("GET", r"/api/v1/tasks/[^/]+/comparison", "functions.completions.scores_api"),
    ("POST", r"/api/v1/sessions/oidc", "functions.access.oidc_api"),
    ("POST", r"/api/v1/llm-batches/[^/]+/resolve", "functions.ledger.connections_api"),
]
_OF_DECK_GRADERS = {
    "feedback": "functions.decks.feedback_api",
    "truth": "functions.decks.feedback_api",
    "agreement": "functions.decks.measures_api",
    "disagreements": "functions.decks.measures_api",
    "means": "functions.decks.measures_api",
    "publish": "functions.decks.measures_api",
    "patterns": "functions.decks.measures_api",
    "edits": "functions.decks.edits_api",
}
_OF_ONE_PATH = {
    "/api/v1/scores/export": "functions.exports.direct_api",
    "/v1/chat/completions": "functions.compatible.chat_api",
    "/v1/models": "functions.compatible.chat_api",
}
_OF_FIRST_PART = {
    "r": "functions.rewards.answer_trainers",  # behind a function URL
    "i": "functions.decks.ingest_api",
    "v1": "functions.compatible.api",
    "console": "functions.console.serve_pages",
    "review": "functions.console.serve_pages",
}


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
    first = path.split("/")[1] if path.startswith("/") else ""
    if path in _OF_ONE_PATH:
        return _OF_ONE_PATH[path]
    if first in _OF_FIRST_PART:
        return _OF_FIRST_PART[first]
    for of_method, pattern, module in _BY_PATTERN:
        if re.fullmatch(of_method, method) and re.fullmatch(pattern, path):
            return module
    if path == "/api/v1/sessions/oidc" and "OIDC_ISSUER" in os.environ:
        return "functions.access.oidc_api"  # which is there where there is a provider
    parts = path.split("/")
    if parts[3:4] == ["decks"] and "".join(parts[7:8]) in _OF_DECK_GRADERS:
        return _OF_DECK_GRADERS[parts[7]]
    prefix = "/".join(parts[:4])
    return _FUNCTIONS.get(prefix, "functions.access.api")


def handler(module: str) -> Any:
    return as_function(module, importlib.import_module(module).lambda_handler)


def forget_processes() -> None:
    """Let the next call be the first of a new process: every cached service and client goes."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("functions.", "autotune_platform")):
            for forget in _caches_of(module):
                forget()


@cache
def _caches_of(module: ModuleType) -> list[Callable[[], None]]:
    """What empties each cache of a module; a module has all of them once it is imported."""
    known = vars(module)
    # What is cached is so where it is made; to look everywhere takes milliseconds.
    if "cache" not in known and "lru_cache" not in known:
        return []
    return [
        member.cache_clear
        for member in list(known.values())
        if hasattr(type(member), "cache_clear")
    ]
