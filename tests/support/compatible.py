"""What the openai package sends, and a component harness of OpenAI's batch API."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import boto3

from tests.support.imports import Imports, jsonl
from tests.support.lambdas import Answer
from tests.support.ledger import Ledger

BOUNDARY = "b0undary"


def form(
    content: bytes, *, name: str = "in.jsonl", purpose: str = "batch", **more: str | int
) -> bytes:
    """Return the body of a file's upload as httpx builds it.

    Args:
        more: what ``expires_after`` has, which the openai package sends as fields in brackets.
    """
    fields = {"purpose": purpose, **{f"expires_after[{key}]": one for key, one in more.items()}}
    text = "".join(
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{one}\r\n'
        for key, one in fields.items()
    )
    file = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    return text.encode() + file.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()


class Compatible:
    """A program with a token, and the ledger behind it."""

    def __init__(self, ledger: Ledger, imports: Imports) -> None:
        self.ledger = ledger
        self.imports = imports
        self.connection_id = ledger.connect()
        self.token = self.new_token()["secret"]

    def new_token(self, **fields: Any) -> Any:
        body = {"name": "t", "connectionId": self.connection_id, **fields}
        answer = self.ledger.platform.call("POST", "/api/v1/llm-tokens", body)
        assert answer.status == 201, answer.text
        return answer.json

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        query: str = "",
    ) -> Answer:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode() if body else b""
        named = {
            "authorization": f"Bearer {self.token if token is None else token}",
            "content-type": "application/json",
            **(headers or {}),
        }
        return self.ledger.platform.pass_on(method, f"/v1{path}", query, named, sent)

    def upload(self, content: bytes, *, token: str | None = None, **fields: Any) -> Answer:
        media_type = f"multipart/form-data; boundary={BOUNDARY}"
        headers = {"content-type": media_type}
        return self.ask("POST", "/files", form(content, **fields), token=token, headers=headers)

    def create(self, file_id: str, **fields: Any) -> Answer:
        headers = fields.pop("headers", {})
        body = {
            "input_file_id": file_id,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            **fields,
        }
        return self.ask("POST", "/batches", body, headers=headers)

    def begin(self, *lines: Any, **fields: Any) -> Any:
        """Upload lines and have them asked; return the batch."""
        made = self.create(self.upload(jsonl(*lines)).json["id"], **fields)
        assert made.status == 200, made.text
        return made.json

    def take_in(self) -> None:
        """Run every import that is under way to its end."""
        items = boto3.client("dynamodb").scan(TableName="ledger", ConsistentRead=True)["Items"]
        for one in items:
            if one.get("state", {}).get("S") in ("running", "waiting"):
                self.imports.run(one["pk"]["S"])

    def run(self) -> None:
        """Take everything in, and have it asked."""
        self.take_in()
        self.ledger.run()

    def batch(self, batch_id: str) -> Any:
        answer = self.ask("GET", f"/batches/{batch_id}")
        assert answer.status == 200, answer.text
        return answer.json

    def content(self, file_id: str) -> list[Any]:
        """Follow the link of a file's content; return its lines."""
        answer = self.ask("GET", f"/files/{file_id}/content")
        assert answer.status == 302, answer.text
        return [json.loads(line) for line in stored(answer.headers["location"]).splitlines()]


def stored(url: str) -> bytes:
    """Return what lies where a link leads."""
    key = unquote(urlsplit(url).path)
    key = key[key.index("exports/org_") :]
    content: bytes = boto3.client("s3").get_object(Bucket="exports", Key=key)["Body"].read()
    return content
