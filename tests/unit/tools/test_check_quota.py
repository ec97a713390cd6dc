"""A deployment that an account has too few functions for is refused before it begins."""

import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from infra.config import DeploymentConfig
from tools import check_quota


def config(**given: object) -> DeploymentConfig:
    return DeploymentConfig.create(target="aws", environment={}, **given)


@pytest.mark.parametrize(
    ("limit", "taken", "fits"),
    [(1_000, 0, True), (940, 0, True), (939, 0, False), (1_000, 81, False)],
)
def test_what_is_reserved_has_to_fit(limit: int, taken: int, fits: bool) -> None:
    assert (check_quota.shortage(config(), limit=limit, taken=taken) is None) == fits


def test_a_new_account_is_told_what_to_raise_and_what_to_reserve() -> None:
    fault = check_quota.shortage(config(), limit=10, taken=0)
    assert fault is not None
    for part in (
        "10 functions",
        "needs 940",
        "320  grading",
        "40  language models",
        '"grading-functions": "none"',
    ):
        assert part in fault
    nothing = config(waiting_functions="none", grading_functions="none")
    assert check_quota.shortage(nothing, limit=10, taken=0) is None


class Account(BaseHTTPRequestHandler):
    """Lambda's API, of an account with functions that have reserved something."""

    limit = 1_000
    status = 200
    reserved: Mapping[str, int] = {}

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        answer: dict[str, Any] = {}
        if path.startswith("/2016-08-19/account-settings"):
            left = self.limit - sum(self.reserved.values())
            answer = {
                "AccountLimit": {
                    "ConcurrentExecutions": self.limit,
                    "UnreservedConcurrentExecutions": left,
                }
            }
        elif path.startswith("/2015-03-31/functions"):
            answer = {"Functions": [{"FunctionName": name} for name in self.reserved]}
        else:
            (name,) = [name for name in self.reserved if f"/{name}/" in path]
            answer = {"ReservedConcurrentExecutions": self.reserved[name]}
        body = json.dumps(answer).encode()
        self.send_response(self.status)
        if self.status != 200:
            self.send_header("x-amzn-errortype", "AccessDeniedException")
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("limit", "reserved", "status"),
    [
        (10, {}, 1),
        (1_000, {}, 0),
        (1_000, {"autotune-Scoring-GradeChunkFunction-1": 400}, 0),
        (1_000, {"another-service": 300}, 1),
    ],
)
def test_the_account_is_asked(
    limit: int,
    reserved: dict[str, int],
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    account = type("OfThisTest", (Account,), {"limit": limit, "reserved": reserved})
    server = HTTPServer(("127.0.0.1", 0), account)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    try:
        assert check_quota.main() == status
    finally:
        server.shutdown()
        server.server_close()
    assert ("Service Quotas" in capsys.readouterr().err) == bool(status)


def test_who_may_not_look_deploys_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    account = type("OfThisTest", (Account,), {"status": 403})
    server = HTTPServer(("127.0.0.1", 0), account)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    try:
        assert check_quota.main() == 0
    finally:
        server.shutdown()
        server.server_close()
    assert "not checked" in capsys.readouterr().err


def test_without_credentials_it_says_so_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    assert check_quota.main() == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("AWS cannot be asked: ")
    assert "credentials" in line
