"""Writing API calls into the audit log, each once and at its end, whatever became of it."""

import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from aws_lambda_powertools import Logger

from autotune.protocol.access import Role
from autotune.protocol.audit import AuditedCall
from autotune.protocol.ids import ID_BODY, new_id
from autotune_platform.access.models import Caller, Signer
from autotune_platform.access.signers import key_of, session_of
from autotune_platform.audit.repository import AuditRepository
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.clock import SYSTEM_CLOCK

logger = Logger()

NOT_WRITTEN = "audit entry not written"
"""The log's message for an entry that it holds instead of the table; an alarm counts these."""
UNKNOWN_ROUTE = "unknown_route"

_METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
_ID = re.compile(rf"[a-z]{{3,4}}_{ID_BODY}")


@dataclass(kw_only=True)
class CallInProgress:
    """What is known of a call so far, in the terms of ``AuditedCall``.

    Attributes:
        organization_id: the organisation that the call is about; it is not part of its entry.
        started: on the clock of ``time.perf_counter``.
    """

    request_id: str
    action: str = UNKNOWN_ROUTE
    method: str = "other"
    source_address: str = ""
    route: str | None = None
    ids: dict[str, str] = field(default_factory=dict)
    key_id: str | None = None
    session_id: str | None = None
    role: Role | None = None
    principal_id: str | None = None
    authenticated: bool = False
    organization_id: str | None = None
    started: float = field(default_factory=time.perf_counter)

    def received(self, *, method: str, source_address: str) -> None:
        """Note what came in."""
        self.method = method if method in _METHODS else "other"
        self.source_address = source_address

    def routed(self, *, action: str, route: str, ids: Mapping[str, str]) -> None:
        """Note where it leads; a path may hold any text, so only what is an id is kept."""
        self.action, self.route = action, route
        self.ids = {
            name: value if _ID.fullmatch(value) else "invalid" for name, value in ids.items()
        }

    def claimed(self, key: Signer | None) -> None:
        """Note which key or session it names."""
        if key is not None:
            self.key_id, self.session_id = key_of(key), session_of(key)
            self.role, self.principal_id = key.role, key.principal_id
            self.organization_id = key.organization_id

    def authenticated_as(self, caller: Caller) -> None:
        """Note who has proven to be calling: with a key, or with a link that was made for them."""
        is_keyless = caller.key_id == caller.session_id
        self.key_id = None if is_keyless else caller.key_id
        self.session_id, self.role = caller.session_id, caller.role
        self.acts_for(caller.organization_id, principal_id=caller.principal_id)

    def acts_for(self, organization_id: str, *, principal_id: str) -> None:
        """Note on whose behalf it is, proven by something else than a key."""
        self.organization_id, self.principal_id = organization_id, principal_id
        self.authenticated = True

    def entry(self, *, status: int, code: str | None) -> AuditedCall:
        """Return the entry of the call, which is over."""
        known = asdict(self)
        del known["organization_id"], known["started"]
        return AuditedCall(
            **known,
            id=new_id("aud"),
            time=SYSTEM_CLOCK.now(),
            status=status,
            code=code,
            duration_ms=round((time.perf_counter() - self.started) * 1000),
        )


class CallAudit:
    """Writes calls into the log of the organisation that they are about."""

    def __init__(self, *, repository: AuditRepository) -> None:
        self._repository = repository

    def write(self, call: CallInProgress, *, status: int, code: str | None) -> None:
        """Write a call's entry, or log it where it is nobody's or cannot be written.

        The call has had its effect by now: it is answered as it would be without this.
        """
        entry = call.entry(status=status, code=code)
        shown = entry.model_dump(mode="json", by_alias=True, exclude_none=True)
        if call.organization_id is None:
            logger.info("call of no organisation", entry=shown)
            return
        try:
            self._repository.add(call.organization_id, entry)
        except REFUSALS as error:
            logger.error(  # noqa: TRY400 - the entry is what matters, and a traceback may hold text
                NOT_WRITTEN,
                organization_id=call.organization_id,
                entry=shown,
                error=type(error).__name__,
            )
