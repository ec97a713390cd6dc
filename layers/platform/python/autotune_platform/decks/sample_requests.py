"""Requests for new samples that may come twice: the same key makes the same samples."""

import hashlib
import secrets
from datetime import datetime, timedelta

from autotune_platform.decks.items import REQUEST, item_of, model_from
from autotune_platform.runtime.errors import IdempotencyKeyReusedError
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.table import Table

REMEMBERED = timedelta(days=7)
"""For how long a key makes what it made before."""


class SampleRequest(FrozenModel):
    """What the ids of a request's samples follow from.

    Attributes:
        fingerprint: digest of the body.
        seed: what nobody else has.
    """

    organization_id: str
    fingerprint: str
    seed: str
    received_at: datetime


class SampleRequests:
    """Requests for samples in the ``decks`` table, each with its deck, or by itself."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def begin(
        self, organization_id: str, pk: str, body: bytes, *, key: str | None, now: datetime
    ) -> SampleRequest:
        """Return a request; one that came before with this key as it was then.

        Args:
            pk: the partition in which keys are distinct, such as a deck's.

        Raises:
            IdempotencyKeyReusedError: the key came before with another body.
        """
        made = SampleRequest(
            organization_id=organization_id,
            fingerprint=hashlib.sha256(body).hexdigest(),
            seed=secrets.token_hex(16),
            received_at=now,
        )
        if key is None:
            return made
        sort_key = REQUEST + hashlib.sha256(key.encode()).hexdigest()
        item = item_of(made, pk=pk, sk=sort_key)
        item["expires_at"] = int((now + REMEMBERED).timestamp())
        if self._table.put_new(item, or_expired_at=int(now.timestamp())):
            return made
        stored = self._table.get(pk, sort_key)
        before = made if stored is None else model_from(stored, SampleRequest)
        if before.fingerprint != made.fingerprint:
            raise IdempotencyKeyReusedError("this Idempotency-Key came before with another body")
        return before
