"""Which batch creates a job at present, how many were created lately, and which batch has which."""

import hashlib
from datetime import datetime
from urllib.parse import urlsplit

from autotune_platform.ledger.models import Batch, Connection
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.table import Item, Table

_LEASE, _OWNER, _HOUR = "lease", "owner", "hour"
_SLOT_SECONDS, _SLOTS = 300, 13
_ATTEMPTS = 8


class CreationRepository:
    """Leases and counts of creations, and owners of jobs, in the ``ledger`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def take(self, batch: Batch, now: datetime, *, until: datetime) -> bool:
        """Have the connection's creations for oneself; False while another batch has them."""
        item = self._lease(batch, until)
        if self._table.put_new(item, or_expired_at=int(now.timestamp())):
            return True
        held = self._table.get(item["pk"], _LEASE)
        return held is not None and held["batch_id"] == batch.id

    def spend(self, batch: Batch, now: datetime, *, at_most: int) -> float:
        """Count a creation, unless there were as many within the hour before.

        Creations are counted by five minutes, and those of thirteen such times are added up: that
        is never less than an hour's. One that is killed before it creates anything stays counted.

        Returns:
            0 where it is counted, else after how many seconds there may be room.

        Raises:
            UnavailableError: others kept counting creations of the same connection.
        """
        pk, slot = f"created#{batch.connection_id}", int(now.timestamp()) // _SLOT_SECONDS
        for _ in BUSY.attempts(_ATTEMPTS):
            item = self._table.get(pk, _HOUR)
            known = item["slots"] if item else {}
            slots = {int(one): count for one, count in known.items() if int(one) > slot - _SLOTS}
            if sum(slots.values()) >= at_most:
                return (min(slots) + _SLOTS) * _SLOT_SECONDS - now.timestamp()
            slots[slot] = slots.get(slot, 0) + 1
            written = {
                "organization_id": batch.organization_id,
                "slots": {str(one): count for one, count in slots.items()},
                "number": (item["number"] if item else 0) + 1,
                "expires_at": int(now.timestamp()) + 2 * _SLOTS * _SLOT_SECONDS,
            }
            if item is None:
                is_written = self._table.put_new({"pk": pk, "sk": _HOUR, **written})
            else:
                was = {"number": item["number"]}
                is_written = self._table.update(pk, _HOUR, written, only_if=was) is not None
            if is_written:
                return 0
        raise UnavailableError("the table is busy", retry_after_seconds=1)

    def hold(self, batch: Batch, *, until: datetime) -> None:
        """Keep the connection's creations for a while longer, if this batch has them or nobody."""
        item = self._lease(batch, until)
        if not self._table.put_new(item):
            changes = {"expires_at": item["expires_at"]}
            self._table.update(item["pk"], _LEASE, changes, only_if={"batch_id": batch.id})

    def release(self, batch: Batch) -> None:
        """Let others create; what another batch holds stays."""
        self._table.update(
            _creating(batch), _LEASE, {"expires_at": 0}, only_if={"batch_id": batch.id}
        )

    def own(self, batch: Batch, connection: Connection, job_id: str) -> bool:
        """Note that a job is a batch's; False where it is another's."""
        pk = _job(connection, job_id)
        owner = {"pk": pk, "sk": _OWNER, "batch_id": batch.id}
        return self._table.put_new(
            {**owner, "organization_id": batch.organization_id}
        ) or self.may_own(batch, connection, job_id)

    def may_own(self, batch: Batch, connection: Connection, job_id: str) -> bool:
        """Return whether a job is nobody's yet, or this batch's."""
        item = self._table.get(_job(connection, job_id), _OWNER)
        return item is None or item["batch_id"] == batch.id

    @staticmethod
    def _lease(batch: Batch, until: datetime) -> Item:
        return {
            "pk": _creating(batch),
            "sk": _LEASE,
            "organization_id": batch.organization_id,
            "batch_id": batch.id,
            "until": moment(until),
            "expires_at": int(until.timestamp()),
        }


def _creating(batch: Batch) -> str:
    return f"creating#{batch.connection_id}"


def _job(connection: Connection, job_id: str) -> str:
    # A server names its jobs as it likes: of another server, or seen by another organisation, a job
    # of the same name is another one.
    named = f"{_server(connection.base_url)}\n{job_id}"
    digest = hashlib.sha256(named.encode(errors="backslashreplace")).hexdigest()
    return f"job#{connection.organization_id}#{connection.provider}#{digest}"


def _server(base_url: str) -> str:
    """Return one way to write a base URL."""
    url = urlsplit(base_url)
    port = url.port or (80 if url.scheme == "http" else 443)
    return f"{url.scheme}://{url.hostname}:{port}{url.path.rstrip('/')}"
