"""An OpenID provider on loopback that says what a test has it say, true or not.

It exchanges codes as a provider does: once, for the client that they were made for, and for who
knows the verifier. What signs in at a real provider is in ``openid_provider.mjs``.
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

CLIENT_ID = "autotune-console"
Claims = dict[str, Any]


@cache
def rsa_key(name: str, bits: int = 2_048) -> rsa.RSAPrivateKey:
    """Return a key that is the same for a name in one process."""
    return rsa.generate_private_key(public_exponent=65_537, key_size=bits)


@cache
def ec_key(name: str) -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def published(key: Any, key_id: str | None, **more: Any) -> dict[str, Any]:
    """Return the JWK of a key's public part."""
    is_rsa = isinstance(key, rsa.RSAPrivateKey)
    algorithm = jwt.get_algorithm_by_name("RS256" if is_rsa else "ES256")
    found: dict[str, Any] = algorithm.to_jwk(key.public_key(), as_dict=True)  # type: ignore[attr-defined]
    found.pop("key_ops", None)
    return {**found, **({"kid": key_id} if key_id else {}), "use": "sig", **more}


@dataclass
class Person:
    """Who signs in: what a browser brings back, and what it keeps to itself."""

    code: str
    code_verifier: str
    nonce: str

    def body(self, **changes: Any) -> dict[str, Any]:
        """What the console sends."""
        return {
            "code": self.code,
            "codeVerifier": self.code_verifier,
            "nonce": self.nonce,
            **changes,
        }


@dataclass
class Provider:
    """What the provider answers; a test changes any of it.

    Attributes:
        keys: what it publishes.
        sign: makes an ID token of claims.
        configuration: changes of its configuration.
        token_answer: what it answers to every code instead, if anything: status and body.
        asked: method and path of what came.
    """

    url: str
    redirect_uri: str
    keys: list[dict[str, Any]] = field(default_factory=list)
    sign: Callable[[Claims], str] = lambda _: ""
    configuration: dict[str, Any] = field(default_factory=dict)
    token_answer: tuple[int, bytes] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    codes: dict[str, tuple[str, Claims]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.use_key("first")

    def use_key(self, name: str, *, others: tuple[str, ...] = ()) -> None:
        """Sign with an RSA key, and publish it with others."""
        self.keys = [published(rsa_key(one), one) for one in (name, *others)]
        self.sign = signing(rsa_key(name), "RS256", kid=name)

    def authorize(self, **claims: Any) -> Person:
        """Let somebody sign in; return what their browser has then.

        Args:
            claims: of the ID token; None leaves one out.
        """
        verifier, nonce = secrets.token_urlsafe(48), secrets.token_urlsafe(24)
        now = int(time.time())
        usual: Claims = {
            "iss": self.url,
            "sub": "248289761001",
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            "email": "anna@example.com",
            "roles": ["admin"],
        }
        code = secrets.token_urlsafe(24)
        told = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest())
        self.codes[code] = (challenge.decode().rstrip("="), told)
        return Person(code, verifier, nonce)

    def answer(self, method: str, path: str, form: dict[str, list[str]]) -> tuple[int, bytes]:
        self.asked.append(f"{method} {path}")
        match method, path:
            case "GET", "/.well-known/openid-configuration":
                return 200, json.dumps(self._told()).encode()
            case "GET", "/keys":
                return 200, json.dumps({"keys": self.keys}).encode()
            case "POST", "/token":
                return self.token_answer or self._exchanged(form)
        return 404, b"{}"

    def _told(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            **self.configuration,
        }

    def _exchanged(self, form: dict[str, list[str]]) -> tuple[int, bytes]:
        sent = {name: value for name, (value,) in form.items()}
        challenge, claims = self.codes.pop(sent["code"], ("", {}))
        hashed = hashlib.sha256(sent["code_verifier"].encode()).digest()
        fits = base64.urlsafe_b64encode(hashed).decode().rstrip("=") == challenge
        is_ours = (sent["client_id"], sent["redirect_uri"]) == (CLIENT_ID, self.redirect_uri)
        if not fits or not is_ours or sent["grant_type"] != "authorization_code":
            return 400, b'{"error": "invalid_grant", "error_description": "no"}'
        told = {"access_token": "a", "token_type": "Bearer", "id_token": self.sign(claims)}
        return 200, json.dumps(told).encode()


def signing(key: Any, algorithm: str, **header: Any) -> Callable[[Claims], str]:
    """Return what signs claims."""
    return lambda claims: jwt.encode(claims, key, algorithm=algorithm, headers=header)


class _Handler(BaseHTTPRequestHandler):
    server: Any

    def log_message(self, *args: Any) -> None:
        """Quiet."""

    def handle_any(self) -> None:
        form = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        provider: Provider = self.server.provider
        status, body = provider.answer(self.command, self.path, parse_qs(form))
        self.send_response(status)
        for name, value in {"content-type": "application/json", **provider.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = handle_any  # noqa: N815


@contextmanager
def serve_provider(redirect_uri: str) -> Iterator[Provider]:
    """Serve a provider until the block is left."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.provider = Provider(f"http://127.0.0.1:{server.server_address[1]}", redirect_uri)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def sign_in_at(
    monkeypatch: pytest.MonkeyPatch, issuer: str, organization_id: str, **changes: str
) -> None:
    """Give functions the settings of a deployment with a provider."""
    settings = {
        "ISSUER": issuer,
        "CLIENT_ID": CLIENT_ID,
        "ORGANIZATION": organization_id,
        "ROLE_CLAIM": "roles",
        "ROLES": "{}",
        "SCOPE": "openid email",
        "SESSION_MINUTES": "60",
        **changes,
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"OIDC_{name}", value)
