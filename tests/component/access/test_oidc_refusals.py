"""ID tokens that are not accepted, and providers that cannot be used."""

import base64
import hmac
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from functions.access import oidc_api
from tests.support.aws import API_URL
from tests.support.lambdas import Answer
from tests.support.oidc import (
    CLIENT_ID,
    Provider,
    ec_key,
    published,
    rsa_key,
    serve_provider,
    sign_in_at,
    signing,
)
from tests.support.platform import Platform
from tests.support.platform import platform as make_platform

PATH = "/api/v1/sessions/oidc"
PEM = Encoding.PEM


@pytest.fixture
def provider(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with serve_provider(f"{API_URL}/console") as running:
        sign_in_at(monkeypatch, running.url, platform.me()["organizationId"])
        yield running


def sent(platform: Platform, provider: Provider, **claims: Any) -> Answer:
    return platform.call("POST", PATH, provider.authorize(**claims).body(), signed={})


def require_refused(platform: Platform, answer: Answer, why: str) -> None:
    assert (answer.status, answer.json["code"]) == (401, "unauthenticated"), answer.text
    assert answer.json["detail"] == (f"the ID token of the OpenID provider is not accepted: {why}")
    assert platform.call("GET", "/api/v1/sessions").json["sessions"] == []


LACKS = "it lacks one of iss, sub, aud, exp, iat, nonce"


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"aud": "another"}, "it is for another client (aud)"),
        ({"aud": ["another"]}, "it is for another client (aud)"),
        ({"aud": [CLIENT_ID, "another"]}, "it was made for another client (azp)"),
        ({"azp": "another"}, "it was made for another client (azp)"),
        ({"nonce": "0" * 32}, "it was made for another sign-in (nonce)"),
        ({"nonce": 1}, "it was made for another sign-in (nonce)"),
        ({"iss": "https://evil.example"}, "it is another issuer's (iss)"),
        ({"iat": "now"}, "it says no moment (iat)"),
        ({"sub": ""}, "it names nobody (sub)"),
        ({"sub": "x" * 256}, "it names nobody (sub)"),
        *(({name: None}, LACKS) for name in ("iss", "sub", "aud", "exp", "iat", "nonce")),
    ],
)
def test_a_token_that_is_not_for_this_sign_in_is_refused(
    platform: Platform, provider: Provider, claims: dict[str, Any], why: str
) -> None:
    require_refused(platform, sent(platform, provider, **claims), why)


@pytest.mark.parametrize(
    ("claim", "seconds", "why"),
    [
        ("exp", -120, "it has expired (exp)"),
        ("iat", 3_600, "it is not valid yet (iat, nbf)"),
        ("iat", -3_600, "it was made too long ago (iat)"),
        ("nbf", 3_600, "it is not valid yet (iat, nbf)"),
    ],
)
def test_a_token_of_another_time_is_refused(
    platform: Platform, provider: Provider, claim: str, seconds: int, why: str
) -> None:
    # Counted from now: tests are found long before the last of them runs.
    claims = {claim: int(time.time()) + seconds}
    require_refused(platform, sent(platform, provider, **claims), why)


def test_a_token_for_several_audiences_is_ours_where_we_asked_for_it(
    platform: Platform, provider: Provider
) -> None:
    answer = sent(platform, provider, aud=[CLIENT_ID, "another"], azp=CLIENT_ID)
    assert answer.status == 200, answer.text


def part(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def unsigned(claims: dict[str, Any]) -> str:
    header = {"alg": "none", "kid": "first"}
    return f"{part(json.dumps(header).encode())}.{part(json.dumps(claims).encode())}."


def signed_with_what_is_public(claims: dict[str, Any]) -> str:
    """The old confusion: a public key taken for the shared secret of an HMAC."""
    public = rsa_key("first").public_key().public_bytes(PEM, PublicFormat.SubjectPublicKeyInfo)
    header = {"alg": "HS256", "kid": "first"}
    signed = f"{part(json.dumps(header).encode())}.{part(json.dumps(claims).encode())}"
    return f"{signed}.{part(hmac.digest(public, signed.encode(), 'sha256'))}"


def tampered(claims: dict[str, Any]) -> str:
    header, _, signature = signing(rsa_key("first"), "RS256", kid="first")(claims).split(".")
    changed = json.dumps({**claims, "sub": "somebody else"}).encode()
    return f"{header}.{part(changed)}.{signature}"


ALGORITHM = "it is not signed with RS256 or ES256"


@pytest.mark.parametrize(
    ("sign", "why"),
    [
        (unsigned, ALGORITHM),
        (signed_with_what_is_public, ALGORITHM),
        (signing(rsa_key("first"), "RS512", kid="first"), ALGORITHM),
        (signing(rsa_key("first"), "RS256", kid="first", crit=["exp"], exp=1), "it cannot be read"),
        (signing(rsa_key("strange"), "RS256", kid="strange"), "the provider has no such key"),
        (signing(rsa_key("strange"), "RS256", kid="first"), "its signature is wrong"),
        (signing(ec_key("other"), "ES256", kid="first"), "the provider has no such key"),
        (tampered, "its signature is wrong"),
        (lambda _: "no.token", "it cannot be read"),
        (lambda _: "e30.e30.e30", ALGORITHM),
    ],
)
def test_a_token_that_the_provider_did_not_sign_is_refused(
    platform: Platform, provider: Provider, sign: Callable[[dict[str, Any]], str], why: str
) -> None:
    provider.sign = sign
    require_refused(platform, sent(platform, provider), why)


def test_keys_change_and_are_read_anew_where_a_token_names_a_new_one(
    platform: Platform, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sent(platform, provider).status == 200
    provider.use_key("second", others=("first",))
    # Just read: a token with a made-up key does not have them read again.
    why = "the provider has no such key"
    answer = sent(platform, provider)
    assert answer.json["detail"].endswith(why)
    assert provider.asked.count("GET /keys") == 1
    oidc_api.parts().oidc.provider._fresh.clear()  # a minute later
    assert sent(platform, provider).status == 200
    assert provider.asked.count("GET /keys") == 2


def test_a_provider_that_is_down_is_asked_once_in_some_seconds(
    platform: Platform, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = Provider.answer

    def down(self: Provider, *given: Any) -> tuple[int, bytes]:
        answer(self, *given)
        return 503, b"{}"

    monkeypatch.setattr(Provider, "answer", down)
    details = {platform.call("GET", PATH, signed={}).json["detail"] for _ in range(4)}
    assert details == {"the OpenID provider cannot be used: it answered 503"}
    assert provider.asked.count("GET /.well-known/openid-configuration") == 1
    monkeypatch.setattr(Provider, "answer", answer)
    oidc_api.parts().oidc.provider._failed.clear()  # five seconds later
    assert platform.call("GET", PATH, signed={}).status == 200


def test_elliptic_curves_sign_too_and_a_token_names_no_key_where_there_is_one(
    platform: Platform, provider: Provider
) -> None:
    provider.keys = [published(ec_key("curve"), "curve"), published(rsa_key("first"), None)]
    provider.sign = signing(ec_key("curve"), "ES256", kid="curve")
    assert sent(platform, provider).status == 200
    provider.sign = signing(ec_key("curve"), "ES256")
    assert sent(platform, provider).status == 200


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ([published(rsa_key("first"), None)] * 2, "the provider has no such key"),
        ([published(rsa_key("first"), "first", use="enc")], "the provider has no such key"),
        ([published(rsa_key("first"), "first", alg="RS512")], "the provider has no such key"),
        ([{"kty": "RSA", "kid": "first", "n": "!", "e": "AQAB"}], "its key cannot be read"),
        ([{"kty": "oct", "kid": "first", "k": "AAAA"}], "the provider has no such key"),
        ([published(rsa_key("weak", 1_024), "first")], "its key has less than 2048 bits"),
    ],
)
def test_a_key_that_does_not_decide_signs_nothing(
    platform: Platform, provider: Provider, keys: list[dict[str, Any]], why: str
) -> None:
    provider.keys = keys
    if "kid" not in keys[0]:
        provider.sign = signing(rsa_key("first"), "RS256")
    require_refused(platform, sent(platform, provider), why)


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        ((400, b'{"error": "invalid_grant"}'), 401, "did not accept the sign-in: invalid_grant"),
        ((400, b'{"error": "<b>no</b>"}'), 401, "did not accept the sign-in: no reason"),
        ((400, b"{}"), 401, "did not accept the sign-in: no reason"),
        ((500, b"{}"), 503, "it answered 500 to a code, without an ID token"),
        ((200, b"{}"), 503, "it answered 200 to a code, without an ID token"),
        ((200, b'{"id_token": 1}'), 503, "it answered 200 to a code, without an ID token"),
        ((200, b"[]"), 503, "it answered 200 without a JSON object"),
        ((200, b"<html>"), 503, "it answered 200 without JSON"),
        ((200, b"[" + b"0," * 6_000 + b"0]"), 503, "it answered 200 without JSON"),
        ((200, b" " * 300_000), 503, "its answer has more than 262144 bytes"),
        ((302, b"{}"), 503, "it answered 302 to a code, without an ID token"),
    ],
)
def test_what_the_provider_answers_is_bounded_and_never_followed(
    platform: Platform, provider: Provider, answer: tuple[int, bytes], status: int, said: str
) -> None:
    provider.token_answer, provider.headers = answer, {"location": f"{provider.url}/elsewhere"}
    got = sent(platform, provider)
    assert got.status == status, got.text
    assert got.json["detail"].endswith(said)
    assert not [asked for asked in provider.asked if "elsewhere" in asked]


@pytest.mark.parametrize(
    ("configuration", "said"),
    [
        ({"issuer": "https://another.example"}, "its configuration is another issuer's"),
        ({"token_endpoint": "ftp://x"}, "its token_endpoint is no URL that begins with https://"),
        (
            {"authorization_endpoint": "javascript:alert(1)"},
            "its authorization_endpoint is no URL that begins with https://",
        ),
        ({"jwks_uri": None}, "its jwks_uri is no URL that begins with https://"),
    ],
)
def test_a_provider_that_says_something_else_than_it_should_is_not_used(
    platform: Platform, provider: Provider, configuration: dict[str, Any], said: str
) -> None:
    provider.configuration = configuration
    for answer in (platform.call("GET", PATH, signed={}), sent(platform, provider)):
        assert (answer.status, answer.json["code"]) == (503, "unavailable")
        assert answer.json["detail"].endswith(said)


def test_a_code_of_another_browser_is_refused(platform: Platform, provider: Provider) -> None:
    """Who steals a code from an address lacks the verifier, which never left the browser."""
    mine, stolen = provider.authorize(), provider.authorize(sub="victim")
    body = stolen.body(codeVerifier=mine.code_verifier)
    answer = platform.call("POST", PATH, body, signed={})
    assert answer.json["detail"].endswith("did not accept the sign-in: invalid_grant")


def test_a_provider_on_a_private_address_is_not_called_where_those_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with (
        make_platform(monkeypatch, admit_private=False) as platform,
        serve_provider(f"{API_URL}/console") as provider,
    ):
        sign_in_at(monkeypatch, provider.url, platform.me()["organizationId"])
        answer = platform.call("GET", PATH, signed={})
        assert answer.status == 503
        assert answer.json["detail"].endswith("it cannot be reached: AddressRefusedError")
        assert provider.asked == []
