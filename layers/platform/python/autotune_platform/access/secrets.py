"""Secrets that are derived, not stored.

A secret is ``KMS GenerateMac(kind, id, version)`` under the HMAC key of its kind, which never
leaves KMS: nothing to leak at rest, rotation is a version number, and CloudTrail sees each
derivation.
"""

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from cachetools import TTLCache

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient

SecretKind = Literal["api-key", "grader", "webhook", "review-link", "reward-url"]

_CACHED_SECRETS = 4_096
_CACHED_SECONDS = 300


class DerivedSecrets:
    """Derives secrets and keeps them in memory for five minutes."""

    def __init__(self, *, keys: Mapping[str, str], kms: "KMSClient") -> None:
        """Derive with those keys alone that this function was given, by the kind of secret."""
        self._keys = keys
        self._kms = kms
        self._cache: TTLCache[tuple[SecretKind, str, int], str] = TTLCache(
            _CACHED_SECRETS, _CACHED_SECONDS
        )
        self._lock = threading.Lock()

    def derive(self, kind: SecretKind, identifier: str, version: int) -> str:
        """Return the secret of ``identifier`` in ``version``: 64 hexadecimal digits.

        Raises:
            LookupError: this function was given no key for that kind.
        """
        name = (kind, identifier, version)
        with self._lock:
            secret = self._cache.get(name)
        if secret is None:
            message = f"autotune:{kind}:{identifier}:{version}".encode()
            key_id = self._keys.get(kind)
            if key_id is None:
                raise LookupError(f"this function derives no secret of the kind {kind}")
            answer = self._kms.generate_mac(
                KeyId=key_id, MacAlgorithm="HMAC_SHA_256", Message=message
            )
            secret = answer["Mac"].hex()
            with self._lock:
                self._cache[name] = secret
        return secret
