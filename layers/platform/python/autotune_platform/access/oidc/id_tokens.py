"""Checking an ID token, as OpenID Connect Core 1.0, 3.1.3.7 asks for.

The signature is checked even though the token came from the provider itself: what it says decides
what somebody may do here.
"""

import hmac
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from autotune_platform.access.oidc.provider import OidcProvider
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnauthenticatedError
from autotune_platform.runtime.parts import part

if TYPE_CHECKING:
    import jwt

logger = Logger()

# What signs with a shared secret, and what does not sign at all, are not among them. By algorithm:
# the type and curve that its keys have.
_KEYS = {"RS256": ("RSA", None), "ES256": ("EC", "P-256")}
_MIN_RSA_BITS = 2_048
_LEEWAY_SECONDS = 60
# It was made for this sign-in, a moment ago.
_OLDEST_SECONDS = 600
_MAX_SUBJECT_CHARACTERS = 255
_REQUIRED = ["iss", "sub", "aud", "exp", "iat", "nonce"]


@part
class IdTokens:
    """Checks ID tokens of one provider, for one client."""

    provider: OidcProvider
    clock: Clock = SYSTEM_CLOCK

    def claims_of(self, token: str, *, nonce: str) -> Mapping[str, Any]:
        """Return what a token says.

        Args:
            nonce: what the sign-in began with.

        Raises:
            UnauthenticatedError: it is not signed by the provider, or not for this client, this
                sign-in and this moment.
            UnavailableError: the provider's keys cannot be read.
        """
        # 15 MB, of the one function that has them.
        import jwt  # noqa: PLC0415

        try:
            header = jwt.get_unverified_header(token)
        except jwt.InvalidTokenError as error:
            raise _refused("it cannot be read") from error
        algorithm, key_id = header.get("alg"), header.get("kid")
        if algorithm not in _KEYS:
            raise _refused(f"it is not signed with {' or '.join(_KEYS)}")
        key = self._key(algorithm, key_id if isinstance(key_id, str) else None)
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=self.provider.client_id,
                issuer=self.provider.issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": _REQUIRED},
            )
        except jwt.InvalidTokenError as error:
            raise _refused(_WHY.get(type(error).__name__, "it cannot be read")) from error
        self._require_ours(claims, nonce)
        return claims

    def _key(self, algorithm: str, key_id: str | None) -> "jwt.PyJWK":
        """Return the provider's one key for a token.

        Raises:
            UnauthenticatedError: it has none, or several between which nothing decides.
        """
        import jwt  # noqa: PLC0415

        fitting = _fitting(self.provider.keys(key_id), algorithm)
        if len(fitting) != 1:
            raise _refused("the provider has no such key")
        try:
            key = jwt.PyJWK(dict(fitting[0]), algorithm)
        except (jwt.PyJWTError, ValueError, KeyError, TypeError) as error:
            raise _refused("its key cannot be read") from error
        if algorithm == "RS256" and key.key.key_size < _MIN_RSA_BITS:
            raise _refused(f"its key has less than {_MIN_RSA_BITS} bits")
        return key

    def _require_ours(self, claims: Mapping[str, Any], nonce: str) -> None:
        """Require what the library does not look at."""
        audience, authorized = claims["aud"], claims.get("azp")
        is_shared = isinstance(audience, list) and len(audience) > 1
        if (authorized is not None or is_shared) and authorized != self.provider.client_id:
            raise _refused("it was made for another client (azp)")
        given = claims["nonce"]
        if not isinstance(given, str) or not hmac.compare_digest(given.encode(), nonce.encode()):
            raise _refused("it was made for another sign-in (nonce)")
        made = claims["iat"]
        if not isinstance(made, int | float):
            raise _refused(_WHY["InvalidIssuedAtError"])
        if self.clock.now().timestamp() - made > _OLDEST_SECONDS:
            raise _refused("it was made too long ago (iat)")
        if not 0 < len(claims["sub"]) <= _MAX_SUBJECT_CHARACTERS:
            raise _refused("it names nobody (sub)")


_WHY = {
    "ExpiredSignatureError": "it has expired (exp)",
    "ImmatureSignatureError": "it is not valid yet (iat, nbf)",
    "InvalidAudienceError": "it is for another client (aud)",
    "InvalidIssuedAtError": "it says no moment (iat)",
    "InvalidIssuerError": "it is another issuer's (iss)",
    "InvalidSignatureError": "its signature is wrong",
    "InvalidSubjectError": "it names nobody (sub)",
    "MissingRequiredClaimError": f"it lacks one of {', '.join(_REQUIRED)}",
}


def _fitting(keys: Sequence[Mapping[str, Any]], algorithm: str) -> list[Mapping[str, Any]]:
    """Return the keys that an algorithm signs with; what one is meant for it may leave out."""
    type_, curve = _KEYS[algorithm]
    return [
        key
        for key in keys
        if key.get("kty") == type_
        and (curve is None or key.get("crv") == curve)
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
    ]


def _refused(why: str) -> UnauthenticatedError:
    logger.warning("ID token refused", why=why)
    return UnauthenticatedError(f"the ID token of the OpenID provider is not accepted: {why}")
