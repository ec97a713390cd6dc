"""The OpenID provider: where it answers, its keys, and exchanging a code for an ID token.

OpenID Connect Discovery 1.0 says where things are, RFC 7517 how keys are written, and RFC 6749 and
7636 how a code is exchanged by a client without a secret.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpcore
from aws_lambda_powertools import Logger
from cachetools import TTLCache

from autotune_platform.outbound.connections import (
    CONNECT_TIMEOUT_SECONDS,
    AddressRefusedError,
    time_limit,
)
from autotune_platform.outbound.http import whole_url
from autotune_platform.runtime.bounded_json import TooManyValuesError, parse_strictly
from autotune_platform.runtime.errors import UnauthenticatedError, UnavailableError
from autotune_platform.runtime.parts import part

logger = Logger()

# Three calls in all, and an HTTP API waits 30 seconds for the answer.
_CALL_SECONDS = 8
_KEPT_SECONDS = 3_600
# A token with a key that is not known has all of them read anew, and no more often than this.
_KEYS_KEPT_SECONDS = 60
# While it is down, not everybody who opens the page waits for it anew.
_FAILURE_KEPT_SECONDS = 5
_MAX_BYTES = 262_144
_MAX_VALUES = 5_000
_MAX_TOKEN_CHARACTERS = 32_768
_MAX_ERROR_CHARACTERS = 60
_UNREACHED = (
    AddressRefusedError,
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
)


@dataclass(frozen=True)
class Endpoints:
    """Where a provider answers."""

    authorization: str
    token: str
    keys: str


def _cache(seconds: int) -> "TTLCache[str, Any]":
    return TTLCache(1, seconds)


@part
class OidcProvider:
    """Asks the provider; what it publishes is kept for an hour.

    Attributes:
        issuer: its name, and what its configuration lies below.
        admit_private: whether it may answer without TLS, as on a laptop.
    """

    issuer: str
    client_id: str
    connections: httpcore.ConnectionPool
    admit_private: bool
    _found: "TTLCache[str, Endpoints]" = field(
        default_factory=lambda: _cache(_KEPT_SECONDS), init=False
    )
    _keys: "TTLCache[str, Sequence[Mapping[str, Any]]]" = field(
        default_factory=lambda: _cache(_KEPT_SECONDS), init=False
    )
    _fresh: "TTLCache[str, bool]" = field(
        default_factory=lambda: _cache(_KEYS_KEPT_SECONDS), init=False
    )

    _failed: "TTLCache[str, str]" = field(
        default_factory=lambda: _cache(_FAILURE_KEPT_SECONDS), init=False
    )

    def endpoints(self) -> Endpoints:
        """Return where it answers.

        Raises:
            UnavailableError: it does not, or not as a provider of that name.
        """
        found = self._found.get(self.issuer)
        if found is None:
            base = self.issuer.removesuffix("/")
            told = self._published(f"{base}/.well-known/openid-configuration")
            if told.get("issuer") != self.issuer:
                raise _unusable("its configuration is another issuer's")
            found = Endpoints(
                authorization=self._address(told, "authorization_endpoint"),
                token=self._address(told, "token_endpoint"),
                keys=self._address(told, "jwks_uri"),
            )
            self._found[self.issuer] = found
        return found

    def keys(self, key_id: str | None) -> Sequence[Mapping[str, Any]]:
        """Return its keys of an id, or all where a token names none.

        Providers change keys: where none has that id, they are read anew.

        Raises:
            UnavailableError: it does not answer.
        """
        known = self._keys.get(self.issuer)
        if known is not None:
            found = _of_id(known, key_id)
            if found or self.issuer in self._fresh:
                return found
        told = self._published(self.endpoints().keys).get("keys")
        if not isinstance(told, list):
            raise _unusable("its keys cannot be read")
        known = [key for key in told if isinstance(key, dict)]
        self._keys[self.issuer], self._fresh[self.issuer] = known, True
        return _of_id(known, key_id)

    def exchange(self, code: str, *, code_verifier: str, redirect_uri: str) -> str:
        """Exchange an authorization code for an ID token, whose content is not looked at.

        Raises:
            UnauthenticatedError: the provider refuses the code.
            UnavailableError: it does not answer, or with something else.
        """
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "client_id": self.client_id,
            "code_verifier": code_verifier,
        }
        status, told = self._ask("POST", self.endpoints().token, form=form)
        if status in {400, 401, 403}:
            # RFC 6749, 5.2: a word of the provider, for who reads the log and the page.
            word = str(told.get("error", ""))[:_MAX_ERROR_CHARACTERS]
            said = word if word.replace("_", "").isalnum() and word.isascii() else "no reason"
            logger.warning("the OpenID provider refused a code", error=said)
            raise UnauthenticatedError(f"the OpenID provider did not accept the sign-in: {said}")
        token = told.get("id_token")
        if status != 200 or not isinstance(token, str) or len(token) > _MAX_TOKEN_CHARACTERS:
            raise _unusable(f"it answered {status} to a code, without an ID token")
        return token

    def _published(self, url: str) -> Mapping[str, Any]:
        if (failed := self._failed.get(url)) is not None:
            raise UnavailableError(failed, retry_after_seconds=_FAILURE_KEPT_SECONDS)
        try:
            status, told = self._ask("GET", url)
            if status != 200:
                raise _unusable(f"it answered {status}")
        except UnavailableError as error:
            self._failed[url] = str(error)
            raise
        return told

    def _ask(
        self, method: str, url: str, *, form: Mapping[str, str] | None = None
    ) -> tuple[int, Mapping[str, Any]]:
        """Return status and JSON object of an answer; it is never followed elsewhere."""
        headers = {"accept": "application/json", "user-agent": "autotune"}
        if form is not None:
            headers["content-type"] = "application/x-www-form-urlencoded"
        answer = bytearray()
        try:
            with (
                time_limit(_CALL_SECONDS),
                self.connections.stream(
                    method,
                    whole_url(url),
                    headers=list(headers.items()),
                    content=None if form is None else urlencode(form).encode(),
                    extensions={"timeout": {"connect": CONNECT_TIMEOUT_SECONDS}},
                ) as response,
            ):
                for piece in response.iter_stream():
                    answer += piece
                    if len(answer) > _MAX_BYTES:
                        raise _unusable(f"its answer has more than {_MAX_BYTES} bytes")
        except _UNREACHED as error:
            raise _unusable(f"it cannot be reached: {type(error).__name__}") from error
        try:
            told = parse_strictly(bytes(answer), most_values=_MAX_VALUES)
        except (json.JSONDecodeError, TooManyValuesError) as error:
            raise _unusable(f"it answered {response.status} without JSON") from error
        if not isinstance(told, dict):
            raise _unusable(f"it answered {response.status} without a JSON object")
        return response.status, told

    def _address(self, told: Mapping[str, Any], name: str) -> str:
        address = told.get(name)
        if isinstance(address, str) and _is_address(address, admit_private=self.admit_private):
            return address
        raise _unusable(f"its {name} is no URL that begins with https://")


def _is_address(url: str, *, admit_private: bool) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    schemes = {"https", "http"} if admit_private else {"https"}
    is_plain = url.isascii() and url.isprintable() and " " not in url
    return is_plain and parts.scheme in schemes and bool(parts.hostname) and not parts.fragment


def _of_id(keys: Sequence[Mapping[str, Any]], key_id: str | None) -> Sequence[Mapping[str, Any]]:
    return [key for key in keys if key_id is None or key.get("kid") == key_id]


def _unusable(why: str) -> UnavailableError:
    logger.error("the OpenID provider cannot be used", why=why)
    return UnavailableError(f"the OpenID provider cannot be used: {why}", retry_after_seconds=10)
