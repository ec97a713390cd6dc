"""Providers' keys: other people's secrets, so that they are stored, encrypted.

KMS encrypts each with the context of organisation, connection and version: a ciphertext that was
moved to another connection does not open. Who may decrypt is a permission of its own; what decrypts
keeps keys for five minutes in memory.

A key that was replaced is deleted once no job is under way that was created with it, an hour later
at the earliest: steps that read the connection before are over by then. Each job is noted before it
is created, and forgotten once it is settled.
"""

import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cachetools import TTLCache

from autotune_platform.ledger.models import Connection
from autotune_platform.runtime.errors import ConflictError
from autotune_platform.storage.table import Item, Table

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient

_KEY = "key#"
_USED = f"{_KEY}used#"
_REPLACED, _EXPIRES, _NOTED = "replaced_at", "expires_at", "has_uses_noted"

REPLACED_FOR = timedelta(hours=1)
"""For how long a key is still there that was replaced: no step lasts as long."""

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
                # Of keys from before this was noted, nobody knows whether a job needs them.
                _NOTED: True,
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

    def use(self, connection: Connection, batch_id: str) -> None:
        """Note that a batch's job is created, or looked at, with a connection's key in its version.

        Call it before it is: one that is about to be deleted stays.
        """
        if connection.key_version == 0:
            return
        self._table.put(
            {
                "pk": connection.id,
                "sk": f"{_USED}{batch_id}",
                "organization_id": connection.organization_id,
                "version": connection.key_version,
            }
        )
        self._keep(connection.id, _name(connection.key_version))

    def let_go(self, connection_id: str, batch_id: str) -> None:
        """Forget that a batch needed a key; it has been settled."""
        self._table.delete(connection_id, f"{_USED}{batch_id}")

    def retire(
        self, connection: Connection, *, is_settled: Callable[[str], bool], now: datetime
    ) -> None:
        """Delete keys before the connection's own that no job needs; doing so again is fine.

        Those that were replaced just now go by themselves in an hour, unless a job is noted that
        needs one.

        Args:
            is_settled: whether a batch of that id has been settled.
        """
        used, keys = self._used(connection.id, is_settled)
        for name, item in keys.items():
            version = int(name.removeprefix(_KEY))
            if version >= connection.key_version or version in used or _NOTED not in item:
                continue
            if _REPLACED not in item:
                expires = int((now + REPLACED_FOR).timestamp())
                marks = {_REPLACED: int(now.timestamp()), _EXPIRES: expires}
                self._table.update(connection.id, name, marks)
                # A job may have been noted since, which was too early to take the marks off.
                if version in self._used(connection.id, is_settled)[0]:
                    self._keep(connection.id, name)
            elif int(item[_REPLACED]) + REPLACED_FOR.total_seconds() <= now.timestamp():
                self._table.delete(connection.id, name)

    def _keep(self, connection_id: str, name: str) -> None:
        self._table.update(connection_id, name, {}, remove=[_REPLACED, _EXPIRES])

    def _used(
        self, connection_id: str, is_settled: Callable[[str], bool]
    ) -> tuple[set[int], dict[str, Item]]:
        """Return which versions jobs need, and the items of all keys, by name."""
        used: set[int] = set()
        keys: dict[str, Item] = {}
        for item in self._table.items(connection_id, starting=_KEY):
            if not item["sk"].startswith(_USED):
                keys[item["sk"]] = item
            elif is_settled(item["sk"].removeprefix(_USED)):
                # The step that settled it was killed before it could say so.
                self._table.delete(connection_id, item["sk"])
            else:
                used.add(int(item["version"]))
        return used, keys

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
