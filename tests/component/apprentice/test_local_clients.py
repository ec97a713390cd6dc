"""Small models are asked as their servers want it, for a bounded time, and nothing raises."""

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from autotune_platform.apprentice.local.clients import BackendClients
from autotune_platform.apprentice.local.contract import (
    LocalAnswer,
    Reason,
    ServedModel,
    Unavailable,
)
from autotune_platform.apprentice.local.exchanging import MOST_BYTES, ModelServers, NoAnswerError
from autotune_platform.apprentice.local.listing import look
from autotune_platform.apprentice.local.sagemaker import EndpointInvocations
from autotune_platform.outbound.connections import connection_pool
from tests.support.apprentice import OUTPUT_SCHEMA
from tests.support.local_clients import AMPLE_MS, BRIEF_MS, QUESTION, configured, no_students
from tests.support.model_servers import (
    SAID,
    LlamaCpp,
    ModelServer,
    NoNotes,
    Ollama,
    Vllm,
    replying,
    serving,
)

BACKENDS = {"vllm": Vllm, "llama_cpp": LlamaCpp, "ollama": Ollama}


@pytest.fixture(params=list(BACKENDS))
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server(backend: str) -> Iterator[ModelServer]:
    named = "intents:1" if backend == "ollama" else "intents-1"
    with serving(BACKENDS[backend](model=named)) as made:
        yield made


class Asking:
    """A version as it was registered, and what asks it."""

    def __init__(self, clients: BackendClients, backend: str, server: ModelServer) -> None:
        self.listed = look(clients.servers, backend, server.url, server.model)  # type: ignore[arg-type]
        served = ServedModel(self.listed.model, self.listed.digest)
        self._client = clients.client_for(configured(backend, server.url), served)
        server.looked.clear()

    def ask(self, *, timeout_ms: int = AMPLE_MS) -> LocalAnswer | Unavailable:
        return self._client.ask(QUESTION, timeout_ms=timeout_ms)

    def reason(self, *, timeout_ms: int = AMPLE_MS) -> Reason:
        found = self.ask(timeout_ms=timeout_ms)
        assert isinstance(found, Unavailable), found
        assert found.detail
        return found.reason


@pytest.fixture
def asking(clients: BackendClients, backend: str, server: ModelServer) -> Asking:
    return Asking(clients, backend, server)


def test_a_model_is_asked_and_answers(asking: Asking, server: ModelServer) -> None:
    answer = asking.ask()

    assert isinstance(answer, LocalAnswer), answer
    assert (answer.text, answer.served_model, answer.confidence) == (SAID, server.model, None)
    assert 0 <= answer.latency_ms < AMPLE_MS


def test_servers_with_openais_api_are_held_to_the_schema(clients: BackendClients) -> None:
    for backend in ("vllm", "llama_cpp"):
        with serving(BACKENDS[backend]()) as server:
            Asking(clients, backend, server).ask()

            ((path, asked),) = server.asked
            assert path == "/v1/chat/completions"
            assert asked == {
                "model": "intents-1",
                "messages": [
                    {"role": "system", "content": QUESTION.system},
                    {"role": "user", "content": QUESTION.user},
                ],
                "temperature": 0,
                "stream": False,
                "max_tokens": 50,
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "output", "schema": OUTPUT_SCHEMA, "strict": True},
                },
            }


def test_ollama_is_held_to_the_schema_and_cuts_no_prompt(clients: BackendClients) -> None:
    with serving(Ollama(model="intents:1")) as server:
        Asking(clients, "ollama", server).ask()

        ((path, asked),) = server.asked
    assert path == "/api/chat"
    assert asked.pop("messages")[1] == {"role": "user", "content": QUESTION.user}
    assert asked == {
        "model": "intents:1",
        "format": OUTPUT_SCHEMA,
        "options": {"temperature": 0, "num_predict": 50},
        "stream": False,
        "think": False,
        "truncate": False,
        "shift": False,
        "keep_alive": "30m",
    }


def test_a_url_may_end_as_openais_does(clients: BackendClients) -> None:
    with serving(Vllm()) as server:
        server.url += "/v1/"

        assert isinstance(Asking(clients, "vllm", server).ask(), LocalAnswer)


@pytest.mark.parametrize("text", ["not JSON", '{"intent": NaN}', ""])
def test_what_a_model_says_is_handed_on_as_it_is(
    asking: Asking, server: ModelServer, text: str
) -> None:
    server.says = text
    answer = asking.ask()

    assert isinstance(answer, LocalAnswer)
    assert answer.text == text


def test_half_a_character_is_replaced(asking: Asking, server: ModelServer) -> None:
    server.says = "a\ud800\U0001f600"
    answer = asking.ask()

    assert isinstance(answer, LocalAnswer)
    assert answer.text == "a?\U0001f600"


def test_a_message_without_content_is_an_empty_answer(clients: BackendClients) -> None:
    with serving(Vllm(says=None)) as server:
        answer = Asking(clients, "vllm", server).ask()

    assert isinstance(answer, LocalAnswer)
    assert answer.text == ""


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"hangs": True}, Reason.TIMED_OUT),
        ({"drip_seconds": 0.1}, Reason.TIMED_OUT),
        ({"wait_seconds": 60}, Reason.TIMED_OUT),
    ],
)
def test_time_is_that_of_the_whole_call(
    asking: Asking, server: ModelServer, fault: dict[str, Any], reason: Reason
) -> None:
    server.fault = replying(**fault)
    started = time.monotonic()

    assert asking.reason(timeout_ms=BRIEF_MS) == reason
    # What drips takes twenty seconds, each of its reads no time at all.
    assert time.monotonic() - started < 10


def test_looking_what_is_served_has_the_same_time(asking: Asking, server: ModelServer) -> None:
    server.listing_fault = replying(hangs=True)

    assert asking.reason(timeout_ms=BRIEF_MS) == Reason.TIMED_OUT
    assert server.asked == []


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"drops": True}, Reason.UNREACHABLE),
        ({"body": b"{"}, Reason.UNREADABLE),
        ({"body": b"[]"}, Reason.UNREADABLE),
        ({"body": b"NaN"}, Reason.UNREADABLE),
        ({"body": b"{}"}, Reason.UNREADABLE),
        ({"body": b"[" * 100_000}, Reason.UNREADABLE),
        ({"body": b"\xff\xfe"}, Reason.UNREADABLE),
        ({"body": b"[" + b"0," * 60_000 + b"0]"}, Reason.UNREADABLE),
        ({"body": b'"' + b"x" * MOST_BYTES + b'"'}, Reason.TOO_LARGE),
        ({"status": 404}, Reason.NO_MODEL),
        ({"status": 400}, Reason.REFUSED),
        ({"status": 401}, Reason.REFUSED),
        ({"status": 429}, Reason.BUSY),
        ({"status": 500}, Reason.FAILED),
        ({"status": 204, "body": b""}, Reason.FAILED),
        ({"status": 307, "headers": {"location": "http://127.0.0.1:1/"}}, Reason.FAILED),
    ],
)
def test_no_answer_is_a_reason(
    asking: Asking, server: ModelServer, fault: dict[str, Any], reason: Reason
) -> None:
    server.fault = replying(**fault)

    assert asking.reason() == reason
    assert len(server.asked) == 1


def test_a_redirect_is_not_followed(asking: Asking, server: ModelServer) -> None:
    server.fault = replying(status=308, headers={"location": f"{server.url}/elsewhere"})

    assert asking.reason() == Reason.FAILED
    assert len(server.asked) == 1


def test_a_model_that_is_loading_is_not_ready(clients: BackendClients) -> None:
    with serving(LlamaCpp()) as server:
        asking = Asking(clients, "llama_cpp", server)
        server.fault = replying(status=503, body=b'{"error":{"message":"Loading model"}}')

        assert asking.reason() == Reason.NOT_READY


def test_a_full_queue_of_ollama_is_busy(clients: BackendClients) -> None:
    with serving(Ollama(model="intents:1")) as server:
        asking = Asking(clients, "ollama", server)
        server.fault = replying(status=503)

        assert asking.reason() == Reason.BUSY


def test_an_answer_of_another_model_is_none(asking: Asking, server: ModelServer) -> None:
    server.echoes = "intents-2"

    assert asking.reason() == Reason.ANOTHER_VERSION


def test_a_model_that_was_replaced_under_its_name_is_not_asked(
    asking: Asking, server: ModelServer
) -> None:
    server.weights += 1

    assert asking.reason() == Reason.ANOTHER_VERSION
    assert server.asked == []


def test_a_model_that_is_gone_is_not_asked(asking: Asking, server: ModelServer) -> None:
    server.model = "another:1"

    assert asking.reason() == Reason.NO_MODEL
    assert server.asked == []


def test_what_is_served_is_looked_up_once_in_a_while(asking: Asking, server: ModelServer) -> None:
    asking.ask()
    looks = len(server.looked)
    asking.ask()

    assert looks > 0
    assert len(server.looked) == looks
    assert len(server.asked) == 2


def test_what_vllm_says_anew_each_time_is_no_other_model(clients: BackendClients) -> None:
    with serving(Vllm()) as server:
        first = look(clients.servers, "vllm", server.url, "intents-1")
        time.sleep(1.1)  # vLLM names the present second as the model's age

        assert look(clients.servers, "vllm", server.url, "intents-1") == first


def test_nobody_listens(clients: BackendClients, server: ModelServer, asking: Asking) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        client = clients.client_for(configured("vllm", url), ServedModel("m", "sha256:0"))
        found = client.ask(QUESTION, timeout_ms=AMPLE_MS)

    assert isinstance(found, Unavailable)
    assert found.reason == Reason.UNREACHABLE


def _no_endpoints() -> EndpointInvocations:
    pytest.fail("nobody asks SageMaker")


def test_addresses_inside_are_refused_where_they_are_not_admitted(backend: str) -> None:
    with connection_pool(admit_private=False) as pool, serving(BACKENDS[backend]()) as server:
        clients = BackendClients(
            servers=ModelServers(pool),
            endpoints=_no_endpoints,
            students=no_students,
            notes=NoNotes(),
        )
        client = clients.client_for(
            configured(backend, server.url), ServedModel("intents-1", "sha256:0")
        )
        found = client.ask(QUESTION, timeout_ms=AMPLE_MS)

    assert isinstance(found, Unavailable)
    assert found.reason == Reason.ADDRESS_REFUSED
    assert (server.asked, server.looked) == ([], [])


def test_a_name_that_resolves_slowly_takes_no_more_than_the_time(
    clients: BackendClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()

    def slow(*_: Any, **__: Any) -> Any:
        over.wait(60)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    client = clients.client_for(configured("vllm", "http://slow.example"), ServedModel("m", "d"))
    started = time.monotonic()
    found = client.ask(QUESTION, timeout_ms=BRIEF_MS)
    took = time.monotonic() - started
    over.set()

    assert isinstance(found, Unavailable)
    assert found.reason == Reason.TIMED_OUT
    assert took < 10


def test_a_model_of_ollama_that_runs_at_the_vendors_is_none_of_ours(
    clients: BackendClients,
) -> None:
    vendors = Ollama(model="big:cloud", extra={"remote_host": "https://ollama.com"})
    with serving(vendors) as server, pytest.raises(NoAnswerError, match="elsewhere"):
        look(clients.servers, "ollama", server.url, "big:cloud")


@pytest.mark.parametrize(
    ("extra", "reason"),
    [
        ({"done": False}, Reason.UNREADABLE),
        ({"message": {"role": "assistant"}}, Reason.UNREADABLE),
        ({"remote_host": "https://ollama.com"}, Reason.ANOTHER_VERSION),
    ],
)
def test_an_answer_of_ollama_that_is_none(
    clients: BackendClients, extra: dict[str, Any], reason: Reason
) -> None:
    with serving(Ollama(model="intents:1")) as server:
        asking = Asking(clients, "ollama", server)
        asking.ask()  # what it lists is known by now
        server.extra = extra

        assert asking.reason() == reason
        assert len(server.asked) == 2


def test_an_adapter_whose_scale_changed_is_another_model(clients: BackendClients) -> None:
    adapter = {"id": 0, "path": "a.gguf", "scale": 1.0}
    with serving(LlamaCpp(adapters=[adapter])) as server:
        asking = Asking(clients, "llama_cpp", server)
        adapter["scale"] = 0.5

        assert asking.reason() == Reason.ANOTHER_VERSION


def test_a_model_without_a_tag_is_ollamas_latest(clients: BackendClients) -> None:
    with serving(Ollama(model="hub.example:5000/intents:latest")) as server:
        found = look(clients.servers, "ollama", server.url, "hub.example:5000/intents")

    assert found.model == "hub.example:5000/intents:latest"
    assert found.digest == f"sha256:{1:064x}"
