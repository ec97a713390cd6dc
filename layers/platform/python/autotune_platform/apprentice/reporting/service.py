"""Tells operators of a task: from its evidence, the counts of its days, and its money."""

from datetime import UTC, date, timedelta

from autotune.protocol import apprentice_reports as wire
from autotune.protocol.apprentice_estimates import ApprenticeEstimate
from autotune.protocol.llm_connections import nano_usd
from autotune_platform.access.models import Caller
from autotune_platform.apprentice.configuration.service import TaskConfigurations
from autotune_platform.apprentice.configuration.wire import spend_on_wire, use_on_wire
from autotune_platform.apprentice.folding.models import DayCounts
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.folding.settings import is_gated
from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.apprentice.phases import kept
from autotune_platform.apprentice.reporting.alerts import alerts
from autotune_platform.apprentice.reporting.history import (
    counts_on_wire,
    day_on_wire,
    fields_on_wire,
    gate_on_wire,
    lately,
    savings_on_wire,
    total,
    with_hosting,
)
from autotune_platform.apprentice.reporting.known import KnownTask, known_task
from autotune_platform.apprentice.reporting.prospects import OBSERVED_DAYS, estimate
from autotune_platform.apprentice.reporting.standing import thresholds, version_standing
from autotune_platform.apprentice.training.due import next_training
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.apprentice.training.service import objection_to
from autotune_platform.budgets.scopes import PeriodUse
from autotune_platform.budgets.uses import training_of
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part

SAVINGS_DAYS = 30


@part
class TaskReports:
    """Reports of tasks; each reads at most eight items or queries, and writes nothing."""

    tasks: TaskConfigurations
    evidence: EvidenceRepository
    trainings: TrainingRepository
    hostings: HostingRepository
    clock: Clock = SYSTEM_CLOCK

    def status(self, caller: Caller, name: str) -> wire.ApprenticeStatus:
        """Return where a task stands.

        Raises:
            NotFoundError: there is no such task.
        """
        task = self._known(caller, name)
        return self._status(task, self._days(task, SAVINGS_DAYS))

    def report(self, caller: Caller, name: str, *, days: int) -> wire.ApprenticeReport:
        """Return what became of a task over the last days, today included.

        Raises:
            NotFoundError: there is no such task.
        """
        task = self._known(caller, name)
        counted = self._days(task, max(days, SAVINGS_DAYS))
        first, last = self._today() - timedelta(days=days - 1), self._today()
        own = [one for one in counted if one.day >= first.isoformat()]
        alpha = task.document["confidence"]["alpha"]
        return wire.ApprenticeReport(
            status=self._status(task, [one for one in counted if one.day >= self._since()]),
            first_day=first,
            last_day=last,
            days=[day_on_wire(one, alpha=alpha) for one in own],
            totals=counts_on_wire(total(own)),
            fields=fields_on_wire(
                own, task.versions, task.document["evaluator"].get("matchFields") or []
            ),
            savings=savings_on_wire(own, task.paid),
            gate=gate_on_wire(own) if _has_gate(task) else None,
        )

    def estimate(self, caller: Caller, name: str) -> ApprenticeEstimate:
        """Return how long it is until a version of a task graduates, and at what price.

        Raises:
            NotFoundError: there is no such task.
        """
        task = self._known(caller, name)
        return estimate(task, self._days(task, OBSERVED_DAYS), self.clock.now())

    def _status(self, task: KnownTask, days: list[DayCounts]) -> wire.ApprenticeStatus:
        own, derived = task.configured.task, task.derived
        spend, training = task.configured.spend, self._training_use(task)
        today = next(
            (one for one in days if one.day == self._today().isoformat()), DayCounts(day="")
        )
        return wire.ApprenticeStatus(
            id=own.id,
            name=own.name,
            description=own.description,
            version=own.version,
            definition_hash=own.definition_hash,
            phase=derived.phase.value,
            serving=derived.serving,
            candidate=derived.candidate,
            is_canary=derived.is_canary,
            canary=derived.canary,
            examples=task.examples,
            examples_needed=task.examples_needed,
            next_training=self._next_training(task),
            thresholds=thresholds(task),
            versions=[version_standing(task, one) for one in task.versions.values()],
            spend=spend_on_wire(spend),
            training_spend=None if training is None else use_on_wire(training),
            today=counts_on_wire(today),
            savings=savings_on_wire(days, task.paid),
            savings_days=SAVINGS_DAYS,
            alerts=alerts(
                task,
                spend,
                today,
                lately=lately(days, self.clock.now()),
                training=training,
                unpriced_seconds=total(days).hosting_unpriced_seconds,
                hostings=self.hostings.of_task(own.id),
            ),
        )

    def _known(self, caller: Caller, name: str) -> KnownTask:
        configured = self.tasks.get(caller, name)
        about = self.evidence.about(configured.task.id)
        return known_task(configured, about, self.clock.now().timestamp())

    def _next_training(self, task: KnownTask) -> wire.ApprenticeNextTraining | None:
        own = task.configured.task
        if objection_to(task.document, own.name) is not None:
            return None
        last = self.trainings.last(own.id)
        due = next_training(
            task.document,
            last,
            definition_hash=own.definition_hash,
            examples=task.examples,
            emergency=task.latest_emergency,
        )
        held = last.held_back
        is_held = due.is_due and last.running is None
        if held is None or not is_held or held.configuration_version != own.version:
            waits = None
        else:
            waits = wire.ApprenticeTrainingWait(
                reason=held.reason, message=held.message, until=held.until
            )
        return wire.ApprenticeNextTraining(
            examples_needed=due.needed, cause=due.cause, running=last.running, waits=waits
        )

    def _training_use(self, task: KnownTask) -> PeriodUse | None:
        """Return what this month's trainings have used; None where none is ever paid for."""
        own, monthly = task.configured.task, task.document["budgets"]["trainingMonthly"]
        if monthly is None:
            return None
        spend = self.tasks.money.spend(own.organization_id, training_of(own.id))
        month = next(use for use in spend.uses if use.period == "month")
        # The scope has it once a job is planned; until then it is the configuration's.
        return month._replace(limit=nano_usd(monthly))

    def _days(self, task: KnownTask, days: int) -> list[DayCounts]:
        today = self._today()
        first = today - timedelta(days=days - 1)
        place = (task.configured.task.id, first.isoformat(), today.isoformat())
        return with_hosting(self.evidence.days(*place), self.hostings.costs(*place))

    def _today(self) -> date:
        return self.clock.now().astimezone(UTC).date()

    def _since(self) -> str:
        return (self._today() - timedelta(days=SAVINGS_DAYS - 1)).isoformat()


def _has_gate(task: KnownTask) -> bool:
    """Return whether the task has a gate, or a version that is asked keeps its own."""
    asked = kept(task.derived, (one.known.version for one in task.versions.values()))
    versions = (task.versions[number].known.known for number in asked)
    return is_gated(task.document) or any(one.needs_gate for one in versions)
