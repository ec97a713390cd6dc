"""Which calls of an organisation are captured; none at first."""

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime

from autotune.protocol import deck_capture as wire
from autotune_platform.access.models import Caller
from autotune_platform.decks.items import item_of, model_from
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.runtime.parts import part
from autotune_platform.storage.table import Table

_SETTINGS = "settings"
_OUT_OF = 2**64


class CaptureSettings(FrozenModel):
    """Settings as they are stored; ``draw_key`` is what calls are drawn with, and never shown."""

    organization_id: str
    enabled: bool = False
    sampling_rate: float = 1
    retention_days: int | None = None
    redactions: Sequence[str] = ()
    metadata_names: Sequence[str] = ()
    group_by: str | None = None
    draw_key: str
    updated_at: datetime

    def draws(self, row_id: str) -> bool:
        """Return whether a call is captured; the same each time that it is asked of one."""
        digest = hmac.digest(bytes.fromhex(self.draw_key), row_id.encode(), hashlib.sha256)
        return self.enabled and int.from_bytes(digest[:8]) < self.sampling_rate * _OUT_OF

    def group_of(self, value: str) -> str:
        """Return what groups calls by a value that is not kept as it is: nobody can guess it."""
        return hmac.digest(bytes.fromhex(self.draw_key), value.encode(), hashlib.sha256).hex()


class CaptureRepository:
    """Settings of capture in the ``decks`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, organization_id: str) -> CaptureSettings | None:
        """Return an organisation's settings; None where it never had any."""
        item = self._table.get(_partition(organization_id), _SETTINGS)
        return None if item is None else model_from(item, CaptureSettings)

    def put(self, settings: CaptureSettings) -> None:
        """Store settings in place of what is there."""
        pk = _partition(settings.organization_id)
        self._table.put(item_of(settings, pk=pk, sk=_SETTINGS))


@part
class CaptureService:
    """Shows and sets an organisation's capture."""

    repository: CaptureRepository
    clock: Clock = SYSTEM_CLOCK

    def get(self, caller: Caller) -> wire.DeckCapture:
        """Return the settings of the caller's organisation."""
        found = self.repository.get(caller.organization_id)
        return wire.DeckCapture() if found is None else _on_wire(found)

    def set(self, caller: Caller, request: wire.SetDeckCaptureRequest) -> wire.DeckCapture:
        """Replace the settings; doing it again changes nothing.

        Raises:
            InvalidRequestError: a pattern is none of RE2, is too large, or finds empty texts; or
                calls are grouped by what is not kept.
        """
        # RE2 is loaded by those who set patterns, and not by each function of decks.
        from autotune_platform.decks.capture.redacting import require_patterns  # noqa: PLC0415

        require_patterns(request.redactions)
        if request.group_by is not None and request.group_by not in request.metadata_names:
            raise InvalidRequestError.of_field("groupBy", "one of metadataNames")
        before = self.repository.get(caller.organization_id)
        settings = CaptureSettings(
            organization_id=caller.organization_id,
            # Kept, so that another rate draws those calls among others that it drew before.
            draw_key=before.draw_key if before else secrets.token_hex(32),
            updated_at=self.clock.now(),
            **request.model_dump(),
        )
        self.repository.put(settings)
        return _on_wire(settings)


def _on_wire(settings: CaptureSettings) -> wire.DeckCapture:
    shown = settings.model_dump(exclude={"organization_id", "draw_key"})
    return wire.DeckCapture.model_validate(shown)


def _partition(organization_id: str) -> str:
    return f"{organization_id}#capture"
