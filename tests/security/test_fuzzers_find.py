"""Each fuzzer finds the fault that it is for, planted in place of the defence."""

import base64
import ipaddress
from collections import Counter
from random import Random
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from autotune_platform.access import service as access
from autotune_platform.apprentice.chats import service as chats_service
from autotune_platform.checks import compiling
from autotune_platform.http import api, problems
from autotune_platform.judging.http import answers
from autotune_platform.outbound import addresses, connections
from autotune_platform.reviews import links, rendering
from autotune_platform.rewards import service as rewards
from autotune_platform.storage import cursors
from tests.security import fuzz as command
from tests.security.fuzz import TARGETS
from tests.security.fuzzing import parsers
from tests.security.fuzzing import routes as routes_fuzzing
from tests.security.fuzzing.cases import Found, fuzz

SEED = 1


def finds(name: str, promise: str, *, cases: int | None = None) -> None:
    """Require that the short run of a target, or a part of it, finds a broken promise."""
    with pytest.raises(Found, match=promise) as raised:
        fuzz(TARGETS[name], seed=SEED, cases=cases or TARGETS[name].short)
    assert f"--only {name} --seed {SEED} --first " in raised.value.__notes__[0]


def finds_in(parser: str, promise: str) -> None:
    """Require that a thousand cases of a parser find a broken promise."""
    read = parsers.PARSERS[parser]
    with pytest.raises(Found, match=promise):
        Counter(read(Random(number)) for number in range(1_000))


@pytest.mark.parametrize("left_out", ["body", "path", "query", "method"])
def test_a_signature_over_less(monkeypatch: pytest.MonkeyPatch, left_out: str) -> None:
    # Signer and verifier leave it out alike, so that what is untouched gets in.
    from autotune.protocol import signing

    payload = signing._api_request_payload

    def weak(key_id: str, method: str, path: str, query: str, body: bytes, *rest: str) -> bytes:
        given: dict[str, Any] = {"method": method, "path": path, "query": query, "body": body}
        given[left_out] = b"" if left_out == "body" else ""
        return payload(key_id, *given.values(), *rest)

    monkeypatch.setattr(signing, "_api_request_payload", weak)
    finds("signatures", "a changed request is refused")


def test_a_signature_that_nobody_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        access,
        "verify_api_request",
        lambda headers, **_: headers.get("x-autotune-request-id", "req_none"),
    )
    finds("signatures", "a changed request is refused|what was sent before|nothing unforeseen")


def test_a_request_that_is_taken_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    from autotune_platform.access.repository import AccessRepository

    monkeypatch.setattr(AccessRepository, "use_request_id", lambda *_, **__: True)
    finds("signatures", "a changed request is refused")


def _without(network: str) -> tuple[ipaddress.IPv6Network, ...]:
    return tuple(one for one in addresses._REFUSED if str(one) != network)


@pytest.mark.parametrize("network", ["64:ff9b::/96", "::/96"])
def test_an_address_check_without_one_network(
    monkeypatch: pytest.MonkeyPatch, network: str
) -> None:
    assert len(_without(network)) < len(addresses._REFUSED)
    monkeypatch.setattr(addresses, "_REFUSED", _without(network))
    finds("addresses", "public")


def test_an_address_check_without_mapped_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    def weak(address: str) -> bool:
        ip = ipaddress.ip_address(address.split("%", maxsplit=1)[0])
        if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
            return True
        return genuine(address)

    genuine = addresses.is_public
    monkeypatch.setattr(addresses, "is_public", weak)
    monkeypatch.setattr(connections, "is_public", weak)
    finds("addresses", "only public addresses are connected to")


def test_an_address_check_when_it_is_stored_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "is_public", lambda _: True)
    finds("addresses", "only public addresses are connected to")


def test_an_address_check_when_it_is_called_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "is_public", lambda _: True)
    finds("addresses", "what is let through is public")


def test_an_address_check_of_written_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compares texts: knows 127.0.0.1, and neither 0177.0.0.1 nor a name that leads there."""

    def weak(host: str, port: int) -> list[str]:
        written = genuine(host, port)
        return written if host in written else ["8.8.8.8"]

    genuine = addresses.resolve
    monkeypatch.setattr(addresses, "resolve", weak)
    finds("addresses", "what is let through is public")


def test_a_port_of_a_system_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "is_callable_port", lambda _: True)
    finds("addresses", "only public addresses are connected to")


def only_routes_below(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """Have the routes' fuzzer draw some of them alone: of all it draws each once in minutes."""
    known = [one for one in routes_fuzzing.operations() if one[1].startswith(path)]
    assert known
    monkeypatch.setattr(routes_fuzzing, "operations", lambda: known)


def test_a_handler_that_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise KeyError("name")

    monkeypatch.setattr(access.AccessService, "list_keys", broken)
    only_routes_below(monkeypatch, "/api/v1/keys")
    finds("routes", "no request breaks the API", cases=40)


def test_a_handler_that_logs_what_came(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = api.parse_strictly

    def talkative(document: bytes, *, most_values: int) -> Any:
        Logger().info("a body", text=document.decode())
        return genuine(document, most_values=most_values)

    monkeypatch.setattr(api, "parse_strictly", talkative)
    finds("routes", "no text is logged")


def test_a_handler_that_prints_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = rewards.RewardUrlService.prove

    def talkative(self: Any, token: str) -> Any:
        print("asked with", token)
        return genuine(self, token)

    monkeypatch.setattr(rewards.RewardUrlService, "prove", talkative)
    only_routes_below(monkeypatch, "/r/")
    finds("routes", "no secret is logged", cases=40)


def test_a_chat_that_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = chats_service.task_chat_of

    def talkative(content: bytes) -> Any:
        Logger().info("a chat", text=content.decode(errors="replace"))
        return genuine(content)

    monkeypatch.setattr(chats_service, "task_chat_of", talkative)
    finds("chats", "no text is logged", cases=60)


def test_a_chat_that_breaks_its_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise KeyError("content")

    monkeypatch.setattr(chats_service, "input_of", broken)
    finds("chats", "no request breaks the API", cases=60)


def test_an_answer_that_tells_who_gave_it(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = chats_service.completion_of

    def talkative(run: Any, *rest: Any) -> Any:
        return {**genuine(run, *rest), "system_fingerprint": run.remote_row_id}

    monkeypatch.setattr(chats_service, "completion_of", talkative)
    finds("chats", "an answer of a task tells not who gave it", cases=60)


def test_errors_without_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problems, "_listed", lambda _: [])
    finds("routes", "no request breaks the API|an error names a field", cases=60)


def test_errors_that_repeat_all_that_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problems, "excerpt", lambda text, _: text[:99_000].ljust(99_000, "x"))
    finds("routes", "an error is small", cases=100)


@pytest.mark.skipif(not routes_fuzzing.measures_memory(), reason="only Linux has a process's peak")
def test_a_request_that_takes_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(document: bytes, *, most_values: int) -> Any:
        _ = b"x" * 300_000_000
        return genuine(document, most_values=most_values)

    genuine = api.parse_strictly
    monkeypatch.setattr(api, "parse_strictly", greedy)
    monkeypatch.setattr(routes_fuzzing, "LARGE_BODY", 100)
    finds("routes", "a request takes at most", cases=100)


@pytest.mark.parametrize(
    "weakened",
    [
        {"html": True},
        {"links": True},
        {"image": True},
    ],
    ids=["HTML in texts", "any address", "images without escapes"],
)
def test_markdown_that_lets_something_through(
    monkeypatch: pytest.MonkeyPatch, weakened: dict[str, bool]
) -> None:
    rendering._markdown.cache_clear()
    if "image" in weakened:
        monkeypatch.setattr(rendering, "escape", lambda text: text)
    if "links" in weakened:
        monkeypatch.setattr(rendering, "_is_followed", lambda _: True)
    markdown = rendering._markdown()
    if "html" in weakened:
        markdown.options["html"] = True
    try:
        finds("markdown", "only what is allowed is rendered|no other tag begins")
    finally:
        rendering._markdown.cache_clear()


def test_markdown_of_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        rendering, "rendered", lambda text: f"<p>{'x' * (1_000_001 if len(text) > 9 else 1)}</p>"
    )
    finds("markdown", "HTML is bounded")


def test_a_parser_that_raises_whatever_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(token: str, *, parts: int) -> tuple[str, ...]:
        padded = token + "=" * (-len(token) % 4)
        return tuple(cursors.json.loads(base64.urlsafe_b64decode(padded)))[:parts]

    monkeypatch.setattr(cursors, "decode_cursor", careless)
    finds("parsers", "nothing unforeseen is raised")


def test_parsers_that_compare_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links.hmac, "compare_digest", lambda *_: True)
    finds_in("link", "no link can be made or changed")
    finds_in("reward_token", "no capability can be made or changed")
    finds_in("signed_answer", "an answer is bound to its request")


def test_answers_of_other_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_item_judgement", lambda *_: answers.Judgement(score=_Far()))
    finds_in("grader_answer", "a score is from 0 to 1")


class _Far:
    value = 7.0


def test_a_formula_whose_value_is_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    class Large:
        def __init__(self, *_: Any, **__: Any) -> None: ...
        def value(self, _: Any) -> float:
            return 2.0

    monkeypatch.setattr(compiling, "Expression", Large)
    monkeypatch.setattr(compiling, "_ROUNDING", 5.0)
    monkeypatch.setattr(compiling, "min", lambda _, value: value, raising=False)
    finds("parsers", "nothing unforeseen is raised")


def test_what_is_found_ends_the_command_with_1_and_is_found_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rendering, "rendered", lambda text: f"<p>{text}</p>")
    assert command.main(["--seed", "5", "--only", "markdown", "--cases", "90"]) == 1
    told = capsys.readouterr().out
    assert "markdown: FOUND" in told
    again = told.rpartition("python -m tests.security.fuzz ")[2].split()
    assert command.main(again) == 1
    assert capsys.readouterr().out == told
