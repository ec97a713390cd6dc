"""How other people's servers are measured, on servers of this machine that stand in for them."""

import asyncio
import json
import sys
import textwrap
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.peers.catalogue import ATROPOS, BARE_REWARDS, EVAL_PROTOCOL, PEERS
from benchmarks.peers.closed_loop import CONCURRENCY, Call, Load, send
from benchmarks.peers.measuring import PeerResult, measure
from benchmarks.peers.peer import Peer
from benchmarks.report import Report
from integrations import environments
from integrations.environments import Environment
from local.endpoint import is_free
from local.progress import Progress

SERVER = textwrap.dedent(
    """
    import json, sys
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.answer({})

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self.answer({"count": len(body["texts"])})

        def answer(self, document):
            body = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
    """
)


class Here(Environment):
    """The environment of these tests, whatever the lock says."""

    @property
    def python(self) -> Path:
        return Path(sys.executable)

    def make(self, progress: Progress) -> None:
        pass


class Slow(BaseHTTPRequestHandler):
    """Takes 60 ms for each tenth request and 5 ms for others, and counts who waits."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server: Any = self.server
        with server.lock:
            server.asked += 1
            server.waiting += 1
            server.most_waiting = max(server.most_waiting, server.waiting)
            is_tenth = server.asked % 10 == 0
        self.rfile.read(int(self.headers["content-length"]))
        time.sleep(0.06 if is_tenth else 0.005)
        with server.lock:
            server.waiting -= 1
        self.send_response(server.status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def _short_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.peers.closed_loop.WARM_UP_SECONDS", 0.05)


@pytest.fixture
def slow() -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        served: Any = server
        served.lock, served.status = threading.Lock(), 200
        served.asked = served.waiting = served.most_waiting = 0
        served.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield served
        server.shutdown()
        thread.join()


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a peer: a server, and a lock that cannot be installed, for it has no hash."""
    monkeypatch.setattr(environments, "VENVS", tmp_path / ".venvs")
    folder = tmp_path / "stand-in"
    folder.mkdir()
    (folder / "requirements.in").write_text("stand-in==1.2\n")
    (folder / "requirements.txt").write_text("stand-in==1.2\n")
    (folder / "serve.py").write_text(SERVER)
    return folder


def peer_of(source: Path, ports: list[int] | None = None, **changes: Any) -> Peer:
    def arguments(port: int) -> list[str]:
        (ports if ports is not None else []).append(port)
        return [str(source / "serve.py"), str(port)]

    known: dict[str, Any] = {
        "name": "stand-in",
        "package": "stand-in",
        "environment": Here(source),
        "arguments": arguments,
        "ready_path": "/",
        "calls": lambda size: [Call("/count", json.dumps({"texts": ["x"] * size}).encode())],
        "expects": lambda size: {"count": size},
        "does": ("counts",),
        "lacks": ("everything", "else"),
    }
    return Peer(**{**known, **changes})


async def sent(server: Any, seconds: float) -> Load:
    url = f"http://127.0.0.1:{server.server_port}"
    async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
        return await send(client, [Call("/one", b"1"), Call("/two", b"2")], seconds=seconds)


def test_four_are_on_their_way_and_slow_ones_show_in_the_tail(slow: Any) -> None:
    load = asyncio.run(sent(slow, 0.6))
    assert slow.most_waiting == CONCURRENCY
    assert 20 < load.requests < slow.asked  # those that warmed it up are not counted
    assert 5 <= load.p50 <= load.p95 <= load.p99
    assert load.p95 >= 60
    assert load.seconds >= 0.6
    assert load.sender_share > 0


def test_an_answer_that_is_an_error_is_not_counted_as_one(slow: Any) -> None:
    slow.status = 503
    with pytest.raises(httpx.HTTPStatusError):
        asyncio.run(sent(slow, 0.1))


def test_a_peer_is_measured_and_stopped(source: Path) -> None:
    ports: list[int] = []
    one, many = measure([peer_of(source, ports)], batch_sizes=(1, 50), seconds=0.2)
    assert len(set(ports)) == 2
    assert all(is_free(port) for port in ports)
    assert one.load is not None
    assert one.per_minute == pytest.approx(one.load.requests / one.load.seconds * 60)
    assert many.load is not None
    assert many.per_minute == pytest.approx(many.load.requests * 50 / many.load.seconds * 60)
    assert one.as_json()["version"] == "stand-in 1.2"
    assert one.as_json()["does not have"] == "everything; else"


def test_what_cannot_be_installed_is_a_row_with_its_reason(source: Path) -> None:
    broken = peer_of(source, environment=Environment(source))
    results = measure([broken, peer_of(source)], batch_sizes=(1, 100), seconds=0.1)
    assert [result.load is None for result in results] == [True, True, False, False]
    assert all(result.reason.startswith("not measured: ") for result in results[:2])
    assert "ended with" in results[0].reason


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import sys; sys.exit('no such | model')", "ended with 1: no such model"),
        (SERVER.replace("send_response(200)", "send_response(500)"), "did not answer"),
        (SERVER.replace('len(body["texts"])', "0"), "/count answered"),
        (SERVER.replace("json.dumps(document)", "'<p>'"), "did not answer with JSON"),
    ],
)
def test_what_does_not_start_or_answer_is_a_row_with_its_reason(
    source: Path, monkeypatch: pytest.MonkeyPatch, code: str, reason: str
) -> None:
    monkeypatch.setattr("local.server_process.START_SECONDS", 5.0)
    (source / "serve.py").write_text(code)
    (result,) = measure([peer_of(source)], batch_sizes=(1,), seconds=0.1)
    assert result.load is None
    assert result.reason.startswith("not measured: ")
    assert reason in result.reason


def test_an_interpreter_that_is_not_there_is_a_row_with_its_reason(source: Path) -> None:
    class Nowhere(Here):
        @property
        def python(self) -> Path:
            return source / "python"

    (result,) = measure([peer_of(source, environment=Nowhere(source))], batch_sizes=(1,))
    assert "No such file" in result.reason


def test_a_batch_that_a_peer_does_not_take_is_not_sent(source: Path) -> None:
    peer = peer_of(source, largest_batch=1)
    _, many = measure([peer], batch_sizes=(1, 100), seconds=0.1)
    assert many.as_json()["completions a minute"] == "not offered: 1 a request at most"


def test_rows_with_and_without_a_figure_make_one_table() -> None:
    load = Load(requests=10, seconds=1.0, p50=1.0, p95=2.0, p99=3.0, sender_share=0.5)
    results = [PeerResult(peer=peer, batch_size=100, load=load) for peer in PEERS]
    results.append(PeerResult(peer=ATROPOS, batch_size=1, reason="not measured: no network"))
    report = Report()
    report.add("Peers", (result.as_json() for result in results))
    lines = report.markdown().splitlines()
    rows = lines[lines.index("## Peers") + 2 :]
    assert len(rows) == 2 + len(results)
    assert len({row.count("|") for row in rows}) == 1
    assert "| 60000 |" in rows[2]
    assert "| not measured: no network |" in rows[-1]
    for peer, row in zip(PEERS, rows[2:], strict=False):
        assert "; ".join(peer.lacks) in row


def bodies(peer: Peer, size: int) -> list[Mapping[str, Any]]:
    return [json.loads(call.body) for call in peer.calls(size)]


@pytest.mark.parametrize("size", [1, 100])
def test_a_batch_has_as_many_completions_of_2_kilobytes(size: int) -> None:
    for body in bodies(BARE_REWARDS, size):
        assert [len(query) for query in body["query"]] == [2_048] * size
        assert len(body["prompts"]) == len(body["labels"]) == size
    for group in bodies(ATROPOS, size):
        assert [len(tokens) for tokens in group["tokens"]] == [512] * size
        assert [mask.count(-100) for mask in group["masks"]] == [128] * size
        assert len(group["scores"]) == size


def test_an_evaluation_has_one_completion_of_2_kilobytes() -> None:
    for body in bodies(EVAL_PROTOCOL, 1):
        assert sum(len(message["content"]) for message in body["messages"]) == 2_048


@pytest.mark.skipif(
    not BARE_REWARDS.environment.python.exists(), reason="make bench makes its environment"
)
def test_the_bare_server_rewards_whole_lists() -> None:
    results = measure([BARE_REWARDS], batch_sizes=(1, 100), seconds=0.2)
    assert [result.reason for result in results] == ["", ""]
    assert all(result.per_minute and result.per_minute > 0 for result in results)
