"""Providers' keys: other people's secrets, so that they are stored, encrypted.

KMS encrypts each with the context of organisation, connection and version: a ciphertext that was
moved to another connection does not open. Who may decrypt is a permission of its own; what decrypts
keeps keys for five minutes in memory.
"""

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cachetools import TTLCache

from autotune_platform.ledger.models import Connection
from autotune_platform.runtime.errors import ConflictError
from autotune_platform.storage.table import Table

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient

_KEY = "key#"
# Versions that may be left of changes that were killed or lost to others.
_SPARE = 4
_CACHED_KEYS = 1_024
_CACHED_SECONDS = 300


class ProviderKeys:
    """Keys of connections in the ``ledger`` table."""

    def __init__(self, *, table: Table, key_id: str, kms: "KMSClient") -> None:
        """Encrypt with the KMS key of that id."""
        self._table = table
        self._key_id = key_id
        self._kms = kms
        self._cache: TTLCache[tuple[str, int], str] = TTLCache(_CACHED_KEYS, _CACHED_SECONDS)
        self._lock = threading.Lock()

    def store(self, connection: Connection, key: str) -> Connection:
        """Encrypt and store a key of a connection; return it with the key's version, a new one.

        Raises:
            ConflictError: others store keys of it.
        """
        for version in range(connection.key_version + 1, connection.key_version + 1 + _SPARE):
            versioned = connection.model_copy(update={"key_version": version})
            answer = self._kms.encrypt(
                KeyId=self._key_id,
                Plaintext=key.encode(),
                EncryptionContext=_context(versioned),
            )
            item = {
                "pk": connection.id,
                "sk": _name(version),
                "organization_id": connection.organization_id,
                "sealed": answer["CiphertextBlob"],
            }
            # One that another stores at the same time stays its own.
            if self._table.put_new(item):
                return versioned
        raise ConflictError("others are changing the connection's key; read it again")

    def of(self, connection: Connection) -> str | None:
        """Return the key of a connection in its version; None where it has none."""
        if connection.key_version == 0:
            return None
        name = (connection.id, connection.key_version)
        with self._lock:
            key = self._cache.get(name)
        if key is None:
            item = self._table.get(connection.id, _name(connection.key_version))
            if item is None:
                return None
            answer = self._kms.decrypt(
                KeyId=self._key_id,
                CiphertextBlob=item["sealed"],
                EncryptionContext=_context(connection),
            )
            key = answer["Plaintext"].decode()
            with self._lock:
                self._cache[name] = key
        return key

    def forget(self, connection: Connection) -> None:
        """Delete every version of a connection's key; deleting again changes nothing."""
        for version in range(1, connection.key_version + 1 + _SPARE):
            self._table.delete(connection.id, _name(version))

    def drop(self, connection: Connection) -> None:
        """Delete the key of a connection in its version, which did not become its own."""
        self._table.delete(connection.id, _name(connection.key_version))


def _name(version: int) -> str:
    return f"{_KEY}{version:06}"


def _context(connection: Connection) -> Mapping[str, str]:
    return {
        "autotune:organization": connection.organization_id,
        "autotune:connection": connection.id,
        "autotune:version": str(connection.key_version),
    }
