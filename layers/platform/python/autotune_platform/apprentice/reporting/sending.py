"""Sending reports of tasks to webhooks, when somebody asks for it."""

import json
from dataclasses import dataclass
from typing import Final

from autotune.protocol.apprentice_reports import ApprenticeReport
from autotune.protocol.ids import derived_id, new_id
from autotune.protocol.limits import MAX_SENT_REPORT_BYTES
from autotune_platform.access.models import Caller
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.reporting.service import TaskReports
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.parts import part
from autotune_platform.webhooks.models import Event

REPORT: Final = "apprentice.report"


@dataclass(frozen=True)
class Sent:
    """A report on its way: the task that it is of, and its event."""

    task_id: str
    event_id: str


@part
class ReportSending:
    """Stores reports as events, which are published as others are."""

    reports: TaskReports
    evidence: EvidenceRepository
    clock: Clock = SYSTEM_CLOCK

    def send(self, caller: Caller, name: str, *, days: int, idempotency_key: str | None) -> Sent:
        """Send a report of the last days to the webhooks that ask for ``apprentice.report``.

        Args:
            idempotency_key: stands for this report of the task: the same key and days again send
                nothing more, for a month.

        Raises:
            NotFoundError: there is no such task.
            InvalidRequestError: the report is too large for webhooks.
            ClientError: the table refused it; send it again.
        """
        report = self.reports.report(caller, name, days=days)
        event = self._event(caller, report, f"{idempotency_key or new_id('req')} {days}")
        if len(json.dumps(event.data).encode()) > MAX_SENT_REPORT_BYTES:
            raise InvalidRequestError.of_field(
                "days", f"fewer: webhooks get reports of at most {MAX_SENT_REPORT_BYTES} bytes"
            )
        self.evidence.publish(report.status.id, event)
        return Sent(report.status.id, event.id)

    def _event(self, caller: Caller, report: ApprenticeReport, key: str) -> Event:
        return Event(
            id=derived_id("evt", REPORT, report.status.id, key),
            type="apprentice.report",
            organization_id=caller.organization_id,
            occurred_at=self.clock.now(),
            data=report.model_dump(mode="json", by_alias=True),
        )
