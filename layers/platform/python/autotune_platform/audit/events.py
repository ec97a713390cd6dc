"""Writing what happens without a call into the audit log."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from aws_lambda_powertools import Logger

from autotune.protocol.audit import AuditedEvent
from autotune.protocol.ids import derived_id
from autotune_platform.audit.repository import AuditRepository

logger = Logger()

AUDITED_MESSAGE: Final = "event audited"
"""What metrics of trainings count; see ``infra.stacks.observability``."""
AUDITED: Final = frozenset(
    {
        "apprentice.alarm",
        "apprentice.canary",
        "apprentice.training",
        "budget.exhausted",
        "budget.warning",
        "model.promoted",
    }
)
"""Types of events that say who may answer, what was trained, or that money is short."""

_NAMES: Final = frozenset({"taskName"})
"""Of an organisation's own choice: no entry has such."""


class EventAudit:
    """Writes events into the log of their organisation.

    An entry follows from its event alone, so that one that is written again is the same. Its time
    is that of the event: where events wait for over an hour, it may miss the export of its day.
    """

    def __init__(self, *, repository: AuditRepository) -> None:
        self._repository = repository

    def write(
        self,
        organization_id: str,
        *,
        event_id: str,
        event_type: str,
        occurred_at: datetime,
        data: Mapping[str, Any],
    ) -> None:
        """Write the entry of an event; of other types than ``AUDITED`` nothing is written.

        Raises:
            ClientError: the table refused it; write it again.
        """
        if event_type not in AUDITED:
            return
        entry = AuditedEvent(
            id=derived_id("aud", event_id),
            time=occurred_at,
            action=event_type.replace(".", "_"),
            event_id=event_id,
            data={name: value for name, value in data.items() if name not in _NAMES},
        )
        is_first = self._repository.add(organization_id, entry)
        # Metrics are made of it. What is counted, and what it cost, is of the first delivery alone:
        # a count is lost where a process is killed between entry and line. An alarm is not: it is
        # of each.
        logger.info(
            AUDITED_MESSAGE,
            action=entry.action,
            event_id=event_id,
            delivery="first" if is_first else "again",
            data=entry.data,
        )
