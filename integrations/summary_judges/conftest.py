"""The running stack, called with signed requests, and a replay of real replies beside it."""

import json
import os
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from autotune.protocol.ids import new_id
from autotune.protocol.signing import sign_api_request
from integrations.fakes import serving
from tests.judges.summaries import Summaries

VARIABLE = "AUTOTUNE_DATA_JUDGES"
SECONDS = 60


@pytest.fixture(scope="session")
def folder():
    if VARIABLE not in os.environ:
        pytest.skip(f"{VARIABLE} names no folder")
    return Path(os.environ[VARIABLE])


@pytest.fixture(scope="session")
def summaries(folder):
    return Summaries(folder)


@pytest.fixture
def replay(folder):
    with serving("replay", "--data", str(folder), module="tests.judges") as fake:
        yield fake


class SignedApi:
    """The API of the running stack, as its admin."""

    def __init__(self, http):
        self._http = http
        self._key_id, _, self._secret = os.environ["AUTOTUNE_API_KEY"].partition(".")
        self._base_path = urlsplit(os.environ["AUTOTUNE_BASE_URL"]).path

    def call(self, method, path, body=None):
        content = body if isinstance(body, bytes) else b""
        kind = "application/x-ndjson"
        if body is not None and not isinstance(body, bytes):
            content, kind = json.dumps(body).encode(), "application/json"
        plain, _, query = path.partition("?")
        signed = sign_api_request(
            key_id=self._key_id,
            secret=self._secret,
            method=method,
            path=f"/api/v1{plain}",
            query=query,
            body=content,
            request_id=new_id("req"),
        )
        headers = {**signed, "content-type": kind, "idempotency-key": new_id("req")}
        answer = self._http.request(method, f"/api/v1{path}", content=content, headers=headers)
        assert answer.is_success, (method, path, answer.status_code, answer.text[:2000])
        return answer.json()

    def let_it_work(self):
        time.sleep(2)


@pytest.fixture
def api():
    with httpx.Client(base_url=os.environ["AUTOTUNE_BASE_URL"], timeout=SECONDS) as http:
        yield SignedApi(http)
