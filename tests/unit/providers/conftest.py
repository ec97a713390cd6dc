"""A fake in a thread, whose clock moves only when told, and plain HTTP to it."""

import json

import httpx
import pytest

from tests.providers.server import serve
from tests.providers.state import Clock, World

START = 1_795_000_000.0


@pytest.fixture
def fake():
    with serve(World(seed=7, clock=Clock(START))) as server:
        yield server
        assert server.world.bugs == []


@pytest.fixture
def world(fake):
    return fake.world


@pytest.fixture
def http(fake):
    with httpx.Client(base_url=fake.base_url, timeout=10, verify=False) as client:
        yield client


BEARER = {"authorization": "Bearer fake-key"}
ANTHROPIC = {"x-api-key": "fake-key", "anthropic-version": "2023-06-01"}
GOOGLE = {"x-goog-api-key": "fake-key"}
AWS = {"authorization": "AWS4-HMAC-SHA256 Credential=fake-key/20261122/us-east-1/bedrock/aws4"}


def chat_body(text="Is it right?", **fields):
    return {
        "model": "gpt-5-mini",
        "messages": [{"role": "user", "content": text}],
        "max_completion_tokens": 200,
        **fields,
    }


def jsonl(count, **fields):
    """An input file of so many rows, ``row-0`` and on."""
    lines = [
        {
            "custom_id": f"row-{index}",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": chat_body(f"Question {index}", **fields),
        }
        for index in range(count)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


class OpenAi:
    """What a client of OpenAI's batches does, step by step."""

    def __init__(self, http, headers=BEARER):
        self.http = http
        self.headers = headers

    def upload(self, content):
        return self.http.post(
            "/v1/files",
            headers=self.headers,
            data={"purpose": "batch"},
            files={"file": ("in.jsonl", content)},
        )

    def create(self, file_id, **fields):
        body = {
            "input_file_id": file_id,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            **fields,
        }
        return self.http.post("/v1/batches", headers=self.headers, json=body)

    def start(self, count=10, **fields):
        """Uploads and creates; returns the batch's id."""
        file_id = self.upload(jsonl(count, **fields)).raise_for_status().json()["id"]
        return self.create(file_id).raise_for_status().json()["id"]

    def get(self, batch_id):
        return self.http.get(f"/v1/batches/{batch_id}", headers=self.headers)

    def content(self, file_id):
        return self.http.get(f"/v1/files/{file_id}/content", headers=self.headers)

    def results(self, batch_id):
        """The batch, the lines of its output, and those of its errors."""
        batch = self.get(batch_id).raise_for_status().json()
        found = []
        for name in ("output_file_id", "error_file_id"):
            text = self.content(batch[name]).raise_for_status().text if batch[name] else ""
            found.append([json.loads(line) for line in text.splitlines() if line.strip()])
        return batch, *found

    def run(self, count=10, **fields):
        batch_id = self.start(count, **fields)
        self.http.post("/_fake/clock/advance", json={"seconds": 120}).raise_for_status()
        return self.results(batch_id)


@pytest.fixture
def openai(http):
    return OpenAi(http)


@pytest.fixture
def arm(http):
    """Sets a trap over the control API."""

    def arm(name, **fields):
        http.post("/_fake/traps", json={"name": name, **fields}).raise_for_status()

    return arm


@pytest.fixture
def fired(http):
    def fired():
        return http.get("/_fake/traps").json()["fired"]

    return fired


@pytest.fixture
def advance(http):
    def advance(seconds):
        http.post("/_fake/clock/advance", json={"seconds": seconds}).raise_for_status()

    return advance
