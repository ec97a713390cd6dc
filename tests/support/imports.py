"""Files of requests, imported step by step as an execution would."""

import json
from typing import Any
from urllib.parse import unquote, urlsplit

import boto3

from autotune.protocol.ids import new_id
from tests.support.lambdas import Answer, LambdaContext, handler
from tests.support.ledger import MODEL, Ledger

# A step that never ends by itself would hide what waits.
_MOST_STEPS = 50


def openai_line(custom_id: str = "a", user: Any = "q", **body: Any) -> dict[str, Any]:
    """A line of OpenAI's batch format."""
    return {
        "custom_id": custom_id,
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {
            "model": MODEL,
            "messages": [{"role": "user", "content": user}],
            "max_tokens": 50,
            **body,
        },
    }


def jsonl(*lines: Any) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


class Imports:
    """What a caller does with imports, and what their executions do."""

    def __init__(self, ledger: Ledger) -> None:
        self.platform = ledger.platform

    def create(
        self, connection_id: str, content: bytes, *, key: str | None = None, **fields: Any
    ) -> Answer:
        body = {
            "format": "openai",
            "bytes": len(content),
            "connectionId": connection_id,
            "purpose": "scoring",
            **fields,
        }
        headers = {"idempotency-key": key or new_id("req")}
        return self.platform.call("POST", "/api/v1/llm-imports", body, headers=headers)

    def start(self, connection_id: str, content: bytes, **fields: Any) -> str:
        """Make an import, upload its file and start it; return its id."""
        answer = self.create(connection_id, content, **fields)
        assert answer.status == 202, answer.text
        made = answer.json["import"]
        self.upload(made, content)
        started = self.call("POST", made["id"], "/start")
        assert started.status == 202, started.text
        return str(made["id"])

    def upload(self, made: dict[str, Any], content: bytes) -> None:
        """Put a file where the link leads."""
        boto3.client("s3").put_object(
            Bucket="exports", Key=_key_in(made["upload"]["url"]), Body=content
        )

    def call(self, method: str, import_id: str, below: str = "") -> Answer:
        return self.platform.call(method, f"/api/v1/llm-imports/{import_id}{below}")

    def read(self, import_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", import_id).json["import"]
        return found

    def step(self, import_id: str, *, redrive: int = 0, seconds: float = 300) -> dict[str, Any]:
        """Do one step of an execution."""
        event = {"import_id": import_id, "redrive": redrive}
        left: dict[str, Any] = handler("functions.ledger.import_requests")(
            event, LambdaContext(seconds)
        )
        return left

    def run(self, import_id: str) -> dict[str, Any]:
        """Run an execution to its end; return the import as it is then."""
        for _ in range(_MOST_STEPS):
            if self.step(import_id)["done"]:
                break
        return self.read(import_id)

    def report(self, found: dict[str, Any]) -> list[dict[str, Any]]:
        """Return all rejected lines, from where the report's link leads."""
        key = _key_in(found["report"]["url"])
        body = boto3.client("s3").get_object(Bucket="exports", Key=key)["Body"].read()
        return [json.loads(line) for line in body.splitlines()]

    def rows(self, import_id: str) -> list[dict[str, Any]]:
        """Return the requests that came with an import."""
        found: list[dict[str, Any]] = []
        token = None
        while True:
            query = {"importId": import_id, "limit": "200"}
            query |= {"nextToken": token} if token else {}
            page = self.platform.call("GET", "/api/v1/llm-requests", query=query).json
            found += page["requests"]
            token = page.get("nextToken")
            if token is None:
                return found


def _key_in(url: str) -> str:
    path = unquote(urlsplit(url).path)
    return path[path.index("exports/org_") :]
