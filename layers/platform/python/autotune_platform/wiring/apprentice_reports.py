"""Parts that report on a task of the apprentice."""

from functools import cached_property

from autotune_platform.apprentice.reporting.sending import ReportSending
from autotune_platform.apprentice.reporting.service import TaskReports
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.apprentice import ApprenticeParts


class ApprenticeReportParts(ApiParts, ApprenticeParts):
    """What reads a task's evidence, counts and money."""

    @cached_property
    def apprentice_reports(self) -> TaskReports:
        return TaskReports(
            tasks=self.apprentice_tasks,
            evidence=self.apprentice_evidence,
            trainings=self.training_repository,
            hostings=self.hosting_repository,
        )

    @cached_property
    def report_sending(self) -> ReportSending:
        return ReportSending(reports=self.apprentice_reports, evidence=self.apprentice_evidence)
