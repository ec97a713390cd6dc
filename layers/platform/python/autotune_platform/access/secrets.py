"""Secrets that are derived, not stored.

A secret is ``KMS GenerateMac(kind, id, version)`` under an HMAC key that never leaves KMS: nothing
to leak at rest, rotation is a version number, and CloudTrail sees each derivation.
"""

import threading
from typing import TYPE_CHECKING, Literal

from cachetools import TTLCache

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient

SecretKind = Literal["api-key", "grader", "webhook", "review-link", "reward-url"]

_CACHED_SECRETS = 4_096
_CACHED_SECONDS = 300


class DerivedSecrets:
    """Derives secrets and keeps them in memory for five minutes."""

    def __init__(self, *, key_id: str, kms: "KMSClient") -> None:
        self._key_id = key_id
        self._kms = kms
        self._cache: TTLCache[tuple[SecretKind, str, int], str] = TTLCache(
            _CACHED_SECRETS, _CACHED_SECONDS
        )
        self._lock = threading.Lock()

    def derive(self, kind: SecretKind, identifier: str, version: int) -> str:
        """Return the secret of ``identifier`` in ``version``: 64 hexadecimal digits."""
        name = (kind, identifier, version)
        with self._lock:
            secret = self._cache.get(name)
        if secret is None:
            message = f"autotune:{kind}:{identifier}:{version}".encode()
            answer = self._kms.generate_mac(
                KeyId=self._key_id, MacAlgorithm="HMAC_SHA_256", Message=message
            )
            secret = answer["Mac"].hex()
            with self._lock:
                self._cache[name] = secret
        return secret
