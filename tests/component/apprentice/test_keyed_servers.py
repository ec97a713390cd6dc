"""Servers of small models that demand a key: it is a connection's, and goes to its place alone."""

from collections.abc import Iterator
from typing import Any

import pytest

from autotune_platform.apprentice.local.contract import (
    LocalAnswer,
    LocalQuestion,
    Reason,
    ServedModel,
    Unavailable,
)
from autotune_platform.ledger.bearer_keys import misplaced
from autotune_platform.ledger.models import Connection
from functions.apprentice import work_runs
from tests.support.apprentice import configuration
from tests.support.lambdas import Answer, forget_processes
from tests.support.ledger import Ledger
from tests.support.model_servers import ModelServer, Ollama, Vllm, replying, serving
from tests.support.platform import Platform

KEY = "sk-of-the-proxy-0123456789"
TASK = "/api/v1/apprentice/tasks/intents"
QUESTION = LocalQuestion("system", "user", {"type": "object"})


@pytest.fixture(params=["vllm", "ollama"])
def server(request: Any) -> Iterator[ModelServer]:
    ollama = Ollama(model="intents-1:latest", demands=KEY)
    with serving(ollama if request.param == "ollama" else Vllm(demands=KEY)) as served:
        served.backend = request.param
        yield served


@pytest.fixture
def vllm() -> Iterator[ModelServer]:
    with serving(Vllm(demands=KEY)) as served:
        served.backend = "vllm"  # type: ignore[attr-defined]
        yield served


def put(platform: Platform, ledger: Ledger, server: Any, connection_id: str | None) -> Answer:
    local = {"backend": server.backend, "url": server.url}
    if connection_id is not None:
        local["connectionId"] = connection_id
    asked = configuration(ledger.connect(), local=local, training=None)
    return platform.call("PUT", TASK, asked)


def connect(ledger: Ledger, url: str) -> str:
    return ledger.connect(name="proxy", baseUrl=f"{url}/v1", apiKey=KEY)


def register(platform: Platform, server: ModelServer) -> Answer:
    return platform.call("POST", f"{TASK}/versions", {"model": server.model})


def asked(platform: Platform) -> LocalAnswer | Unavailable:
    """Ask the first version as the worker does."""
    forget_processes()
    document = platform.call("GET", TASK).json["task"]["configuration"]
    version = platform.call("GET", f"{TASK}/versions/1").json["version"]
    served = ServedModel(version["model"], version["digest"])
    client = work_runs.parts().local_clients.client_for(document, served)
    return client.ask(QUESTION, timeout_ms=5_000)


def test_a_server_that_demands_a_key_is_asked_with_that_of_the_connection(
    platform: Platform, ledger: Ledger, server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert put(platform, ledger, server, None).status == 200
    refused = register(platform, server)
    assert refused.status == 422
    assert "it answered 401" in refused.json["detail"]

    stored = put(platform, ledger, server, connect(ledger, server.url))
    assert stored.status == 200, stored.text
    assert register(platform, server).status == 201
    answer = asked(platform)

    assert isinstance(answer, LocalAnswer)
    assert len(server.asked) == 1
    assert KEY not in stored.text + platform.call("GET", TASK).text + str(answer)
    assert KEY not in "".join(capsys.readouterr())


def test_a_key_goes_to_no_other_place_than_its_connection_says(
    platform: Platform, ledger: Ledger, vllm: ModelServer
) -> None:
    with serving(Vllm()) as other:
        answer = put(platform, ledger, vllm, connect(ledger, other.url))
        assert answer.status == 422
        assert answer.json["errors"][0]["field"] == "local.connectionId"

        mine = connect(ledger, vllm.url)
        assert put(platform, ledger, vllm, mine).status == 200
        assert register(platform, vllm).status == 201
        vllm.listing_fault = replying(status=307, headers={"Location": f"{other.url}/v1/models"})
        answer_ = asked(platform)
        assert isinstance(answer_, Unavailable)
        assert (other.asked, other.looked, other.headers) == ([], [], [])


def test_of_a_connection_that_is_revoked_no_key_is_sent(
    platform: Platform, ledger: Ledger, vllm: ModelServer
) -> None:
    mine = connect(ledger, vllm.url)
    assert put(platform, ledger, vllm, mine).status == 200
    assert register(platform, vllm).status == 201
    looked = len(vllm.looked)
    revoked = platform.call("DELETE", f"/api/v1/llm-connections/{mine}")
    assert revoked.status == 200, revoked.text

    answer = asked(platform)
    assert isinstance(answer, Unavailable)
    assert answer.reason is Reason.REFUSED
    assert "has no key" in answer.detail
    assert len(vllm.looked) == looked


def test_only_backends_with_a_url_have_a_key(platform: Platform, ledger: Ledger) -> None:
    mine = ledger.connect()
    asked_ = configuration(mine, local={"backend": "linear", "connectionId": mine})
    answer = platform.call("PUT", TASK, asked_)
    assert (answer.status, answer.json["errors"][0]["field"]) == (422, "local.connectionId")


@pytest.mark.parametrize(
    ("base_url", "url", "expected"),
    [
        ("https://a.example/v1", "https://a.example", None),
        ("https://a.example:443/v1", "https://a.example/x", None),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000", None),
        ("http://localhost:8000", "http://localhost:8000/v1", None),
        ("http://a.example/v1", "http://a.example", "https in local.url"),
        ("https://a.example/v1", "http://a.example", "scheme, host and port"),
        ("https://a.example/v1", "https://b.example", "scheme, host and port"),
        ("https://a.example/v1", "https://a.example:8443", "scheme, host and port"),
        ("https://a.example/v1", "https://a.example.evil", "scheme, host and port"),
    ],
)
def test_a_key_is_sent_to_the_same_server_and_in_the_clear_to_this_machine_alone(
    base_url: str, url: str, expected: str | None
) -> None:
    connection = Connection.model_construct(provider="simulated", base_url=base_url)
    found = misplaced(connection, url)
    assert found is None if expected is None else expected in str(found)


def test_a_providers_key_goes_to_no_server_of_a_small_model() -> None:
    connection = Connection.model_construct(provider="openai", base_url="https://api.openai.com")
    assert "simulated" in str(misplaced(connection, "https://api.openai.com"))
