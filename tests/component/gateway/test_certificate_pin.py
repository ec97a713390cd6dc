"""A grader that is pinned to its certificate is sent nothing under another one."""

import socket
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from autotune.protocol.grading import GraderCapabilities
from autotune.protocol.ids import new_id
from autotune_platform.gateway.calls import GraderCallError
from autotune_platform.gateway.gateway import GraderGateway
from autotune_platform.gateway.models import Grader, UsableGrader
from autotune_platform.outbound import connections
from tests.support.certificates import Certificate, make_certificate
from tests.support.graders import LoopbackGrader, loopback_grader
from tests.support.platform import Platform

OTHER = "0" * 64


@pytest.fixture
def present(tmp_path: Path) -> Certificate:
    return make_certificate(tmp_path, "present")


@pytest.fixture
def following(tmp_path: Path) -> Certificate:
    return make_certificate(tmp_path, "following")


@pytest.fixture
def server_side(present: Certificate) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    present.serve_from(context)
    return context


@pytest.fixture
def grader(server_side: ssl.SSLContext) -> Iterator[LoopbackGrader]:
    with loopback_grader(tls=server_side, secret="shared secret") as made:
        yield made


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch, present: Certificate, following: Certificate) -> None:
    """Have gateways trust both certificates, as they trust public authorities."""
    context = ssl.create_default_context()
    for certificate in (present, following):
        context.load_verify_locations(certificate.pem)
    monkeypatch.setattr(connections, "_trusting_public_authorities", lambda: context)


@pytest.fixture
def gateway(trusting: None) -> Iterator[GraderGateway]:
    with connections.connection_pool(admit_private=True) as pool:
        yield GraderGateway(pool)


def pinned(url: str, *fingerprints: str) -> UsableGrader:
    now = datetime.now(UTC)
    grader = Grader(
        id=new_id("grd"),
        organization_id=new_id("org"),
        principal_id="p",
        name="g",
        description="",
        endpoint=url,
        certificate_sha256=list(fingerprints),
        capabilities=GraderCapabilities(),
        visibility="private",
        share_reasoning=False,
        status="active",
        created_at=now,
        updated_at=now,
    )
    return UsableGrader(grader=grader, secrets=("shared secret",))


def ask(gateway: GraderGateway, usable: UsableGrader) -> int:
    return len(gateway.ask(usable, "/health", request_id=new_id("req"), timeout_seconds=5).body)


def refusal(gateway: GraderGateway, usable: UsableGrader) -> GraderCallError:
    with pytest.raises(GraderCallError) as refused:
        ask(gateway, usable)
    return refused.value


def test_the_holder_of_the_pinned_certificate_is_asked(
    gateway: GraderGateway, grader: LoopbackGrader, present: Certificate
) -> None:
    assert ask(gateway, pinned(grader.url, present.fingerprint))


def test_another_certificate_that_is_valid_too_is_refused_and_may_be_tried_later(
    gateway: GraderGateway, grader: LoopbackGrader, following: Certificate
) -> None:
    error = refusal(gateway, pinned(grader.url, following.fingerprint))
    assert error.reason_code == "certificate_mismatch"
    assert error.retryable
    assert error.grader_is_down


def test_not_a_byte_of_the_request_is_sent_to_the_holder_of_another(
    gateway: GraderGateway, server_side: ssl.SSLContext
) -> None:
    received: list[bytes] = []

    def receive(listener: socket.socket) -> None:
        connected, _ = listener.accept()
        with server_side.wrap_socket(connected, server_side=True) as secured:
            try:
                received.append(secured.recv(1))
            except ConnectionResetError:  # it went before it read all that TLS itself sends
                received.append(b"")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listening = threading.Thread(target=receive, args=[listener])
        listening.start()
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        assert refusal(gateway, pinned(url, OTHER)).reason_code == "certificate_mismatch"
        listening.join(10)
    assert received == [b""]


def test_a_pin_does_not_replace_the_ordinary_checks(
    monkeypatch: pytest.MonkeyPatch, grader: LoopbackGrader, present: Certificate
) -> None:
    monkeypatch.setattr(connections, "_trusting_public_authorities", ssl.create_default_context)
    usable = pinned(grader.url, present.fingerprint)
    with connections.connection_pool(admit_private=True) as pool:
        assert refusal(GraderGateway(pool), usable).reason_code == "grader_unreachable"


def test_a_renewal_between_two_pins_is_not_noticed(
    trusting: None,
    grader: LoopbackGrader,
    server_side: ssl.SSLContext,
    present: Certificate,
    following: Certificate,
) -> None:
    both = pinned(grader.url, present.fingerprint, following.fingerprint)
    first = pinned(grader.url, present.fingerprint)
    for certificate, passes in ((present, True), (following, False)):
        certificate.serve_from(server_side)
        with connections.connection_pool(admit_private=True) as pool:
            gateway = GraderGateway(pool)
            assert ask(gateway, both)
            if passes:
                assert ask(gateway, first)
            else:
                assert refusal(gateway, first).reason_code == "certificate_mismatch"


def test_a_pooled_connection_is_looked_at_by_each_call_that_it_serves(
    gateway: GraderGateway, grader: LoopbackGrader, present: Certificate
) -> None:
    assert ask(gateway, pinned(grader.url))
    assert ask(gateway, pinned(grader.url, present.fingerprint))
    assert grader.connections == 1
    assert refusal(gateway, pinned(grader.url, OTHER)).reason_code == "certificate_mismatch"
    assert grader.connections == 1
    assert ask(gateway, pinned(grader.url))
    assert grader.connections == 2


def test_a_connection_without_tls_has_no_certificate_to_match(gateway: GraderGateway) -> None:
    with loopback_grader(secret="shared secret") as plain:
        assert ask(gateway, pinned(plain.url))
        error = refusal(gateway, pinned(plain.url, OTHER))
    assert error.reason_code == "certificate_mismatch"


@pytest.mark.usefixtures("trusting")
def test_an_owner_sets_and_lifts_the_pin_and_nobody_else_sees_it(
    platform: Platform, grader: LoopbackGrader, present: Certificate
) -> None:
    grader_id = platform.new_grader(
        grader, certificateSha256=[present.fingerprint], visibility="public"
    )
    path = f"/api/v1/graders/{grader_id}"

    def update(pins: list[str] | None) -> tuple[list[str], str]:
        changed = platform.call("PATCH", path, {"certificateSha256": pins}).json["grader"]
        verified = platform.call("POST", f"{path}/verify").json
        return changed["certificateSha256"], verified["checks"][0]["reasonCode"]

    other = platform.new_organization("second")
    seen = platform.call("GET", path, api_key=other).json["grader"]
    assert seen["certificateSha256"] is None
    assert update([OTHER]) == ([OTHER], "certificate_mismatch")
    assert update([OTHER, present.fingerprint]) == ([OTHER, present.fingerprint], None)
    platform.call("PATCH", path, {"name": "renamed"})
    shown = platform.call("GET", path).json["grader"]
    assert shown["certificateSha256"] == [OTHER, present.fingerprint]
    assert update(None) == ([], None)
    assert update([OTHER])[1] == "certificate_mismatch"
    assert update([]) == ([], None)


@pytest.mark.parametrize(
    ("pins", "field"),
    [
        (["A" * 64], "certificateSha256[0]"),
        (["0" * 63], "certificateSha256[0]"),
        ([OTHER + "\n"], "certificateSha256[0]"),
        (OTHER, "certificateSha256"),
        ([OTHER] * 3, "certificateSha256"),
    ],
)
def test_what_is_no_fingerprint_is_named(platform: Platform, pins: object, field: str) -> None:
    body = {"name": "g", "endpoint": "http://127.0.0.1:1", "certificateSha256": pins}
    answer = platform.call("POST", "/api/v1/graders", body)
    assert answer.status == 422
    assert list(answer.fields) == [field]
