"""Which call an idempotency key stands for, so that a call that is sent again is paid once.

A claim is stored by the transaction that stores the call's row: whoever is killed leaves both, or
neither.
"""

import hashlib
from datetime import timedelta

from autotune_platform.runtime.errors import ConflictError
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.table import Table

_CLAIM = "claim"
_KEPT_FOR = timedelta(days=1)
_RETRY_AFTER_SECONDS = 2


class CallUnderWayError(ConflictError):
    """The same call is being asked, or may be: it is answered once it has ended."""

    code = "request_under_way"
    title = "The same request is under way"

    def __init__(self) -> None:
        super().__init__(
            "a request with this Idempotency-Key is under way",
            retry_after_seconds=_RETRY_AFTER_SECONDS,
        )


class CallClaim(FrozenModel):
    """What a key stands for.

    Attributes:
        fingerprint: digest of all that was asked.
        request_id: of the row.
        expires_at: Unix second after which the key is free again; the table deletes it later.
    """

    fingerprint: str
    request_id: str
    expires_at: int


class CallClaimRepository:
    """Claims in the ``ledger`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, organization_id: str, key: str) -> CallClaim | None:
        """Return what a key stands for, or stood for; None where it never came."""
        item = self._table.get(_place(organization_id, key), _CLAIM)
        return CallClaim.model_validate(item) if item else None

    def taking(
        self,
        organization_id: str,
        key: str,
        *,
        fingerprint: str,
        request_id: str,
        before: CallClaim | None,
        now: float,
    ) -> Addition:
        """Return what has a key stand for a row, unless another took it in the meantime.

        Args:
            before: what it stood for; None for nothing.
            now: Unix seconds.
        """
        claim = CallClaim(
            fingerprint=fingerprint,
            request_id=request_id,
            expires_at=int(now + _KEPT_FOR.total_seconds()),
        )
        return Addition(
            table=self._table.name,
            pk=_place(organization_id, key),
            sk=_CLAIM,
            changes=claim.model_dump(mode="json"),
            only_if={"request_id": None if before is None else before.request_id},
        )


def _place(organization_id: str, key: str) -> str:
    return f"call#{organization_id}#{hashlib.sha256(key.encode()).hexdigest()}"
