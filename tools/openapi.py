"""Write ``docs/openapi.json`` from the routes of the API functions, or check that it is current.

``python -m tools.openapi`` writes it, ``python -m tools.openapi --check`` fails where it is stale.
"""

import difflib
import importlib
import inspect
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from aws_lambda_powertools.event_handler.api_gateway import Route

from autotune.protocol.problems import PROBLEM_CONTENT_TYPE, Problem
from autotune.protocol.signing import (
    KEY_HEADER,
    REQUEST_ID_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
)
from autotune_platform.access.grants import Open
from autotune_platform.access.routes import ROUTES
from autotune_platform.http.api import Api

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs" / "openapi.json"

_DESCRIPTION = (
    "Scores of model outputs for post-training, from graders that their owners keep private. "
    "Requests are signed with a key; docs/protocol.md says how. Reviews can be called with a "
    "link's token instead, and callbacks are signed by graders. What hangs below a reward URL "
    "is called by trainers, each in its own words: docs/guides/trainers. "
    "Errors are RFC 9457 problem details."
)
_SIGNED: dict[str, list[str]] = {"key": [], "signature": [], "timestamp": [], "requestId": []}
_LINK: dict[str, list[str]] = {"reviewLink": []}
# What is sent is no JSON document, but a line of JSON for each thing.
_TAKES_LINES = frozenset({"import_apprentice_examples", "upload_samples"})
_TAKES_LINKS = "reviews"
_OF_TRAINERS = "rewards"
_REWARD_SERVERS = [
    {
        "url": "{functionUrl}",
        "description": "The function URL that reward URLs begin with",
        "variables": {"functionUrl": {"default": "https://rewards.example"}},
    }
]
_REPLAYED_HEADER = {
    "Idempotent-Replayed": {
        "description": "true where the Idempotency-Key came before: this is the first answer again",
        "schema": {"type": "string", "enum": ["true"]},
    }
}


def document() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of the whole API."""
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {}
    for app in _apps():
        part = json.loads(app.get_openapi_json_schema(title="Autotune", version="1"))
        for route, operation in _operations(app, part["paths"]):
            _describe(operation, route.func)
            if ROUTES[route.method, route.path] is Open.PUBLIC:
                operation["security"] = []
        paths |= part["paths"]
        schemas |= part.get("components", {}).get("schemas", {})
    problem = Problem.model_json_schema(by_alias=True, ref_template="#/components/schemas/{model}")
    schemas |= problem.pop("$defs") | {"Problem": problem}
    for unused in ("HTTPValidationError", "ResponseValidationError", "ValidationError"):
        schemas.pop(unused, None)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Autotune", "version": "1", "description": _DESCRIPTION},
        "security": [_SIGNED],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {
                name: {"type": "apiKey", "in": "header", "name": header}
                for name, header in [
                    ("key", KEY_HEADER),
                    ("signature", SIGNATURE_HEADER),
                    ("timestamp", TIMESTAMP_HEADER),
                    ("requestId", REQUEST_ID_HEADER),
                ]
            }
            | {"reviewLink": {"type": "http", "scheme": "bearer"}},
        },
    }


def _apps() -> Iterator[Api]:
    for path in sorted((ROOT / "functions").glob("*/*api.py")):
        yield importlib.import_module(f"functions.{path.parent.name}.{path.stem}").app
    yield importlib.import_module("functions.rewards.answer_trainers").app


def _operations(app: Api, paths: dict[str, Any]) -> Iterator[tuple[Route, dict[str, Any]]]:
    for route in app.routes:
        yield route, paths[route.openapi_path][route.method.lower()]


def _describe(operation: dict[str, Any], function: Callable[..., Any]) -> None:
    """Put our words and our problem in the place of the library's."""
    operation["operationId"] = function.__name__
    operation["summary"], _, rest = (inspect.getdoc(function) or "").partition("\n\n")
    if rest:
        operation["description"] = rest
    if _TAKES_LINKS in operation["tags"] and function.__name__ != "create_review_link":
        operation["security"] = [_SIGNED, _LINK]
    if _OF_TRAINERS in operation["tags"]:
        operation["servers"] = _REWARD_SERVERS
    responses = operation["responses"]
    responses.pop("422", None)
    responses["default"] = {
        "description": "What was wrong",
        "content": {PROBLEM_CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    keyed = any(one["name"].lower() == "idempotency-key" for one in operation.get("parameters", []))
    if keyed and "202" in responses:
        responses["202"]["headers"] = _REPLAYED_HEADER
    if function.__name__ in _TAKES_LINES:
        operation["requestBody"] = {
            "content": {"application/jsonl": {"schema": {"type": "string"}}},
            "required": True,
        }
    if "204" in responses:
        responses["204"] = {"description": "Done"}


def main() -> int:
    """Write or check the document; return the exit code."""
    current = json.dumps(document(), indent=2, ensure_ascii=False) + "\n"
    if "--check" not in sys.argv[1:]:
        DOCUMENT.write_text(current)
        return 0
    stored = DOCUMENT.read_text() if DOCUMENT.exists() else ""
    difference = list(
        difflib.unified_diff(stored.splitlines(), current.splitlines(), lineterm="", n=1)
    )
    if difference:
        sys.stderr.write(
            "\n".join(["docs/openapi.json is stale: make openapi", *difference[:40], ""])
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
