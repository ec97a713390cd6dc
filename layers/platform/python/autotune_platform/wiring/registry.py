"""Parts on the ``registry`` table: secrets, access, graders, tasks."""

from functools import cached_property

from autotune_platform.access.repository import AccessRepository
from autotune_platform.access.secrets import DerivedSecrets
from autotune_platform.access.service import AccessService
from autotune_platform.audit.calls import CallAudit
from autotune_platform.audit.listing import AuditListing
from autotune_platform.audit.repository import AuditRepository
from autotune_platform.graders.directory import GraderDirectory
from autotune_platform.graders.service import GraderService
from autotune_platform.projections.counters import CounterRepository
from autotune_platform.projections.statistics import GraderStatistics
from autotune_platform.rewards.repository import RewardUrlRepository
from autotune_platform.rewards.service import RewardUrlService
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import (
    AuditEnvironment,
    Environment,
    RewardUrlEnvironment,
)
from autotune_platform.storage.table import Table
from autotune_platform.tasks.repository import TaskRepository
from autotune_platform.tasks.service import TaskService


class RegistryParts:
    """What every process has that reads the registry."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    @cached_property
    def registry_table(self) -> Table:
        return Table(self.environment.registry_table, clients.dynamodb())

    @cached_property
    def secrets(self) -> DerivedSecrets:
        return DerivedSecrets(key_id=self.environment.secrets_key_id, kms=clients.kms())


class AuditParts(RegistryParts):
    """The audit log."""

    @cached_property
    def audit_environment(self) -> AuditEnvironment:
        return AuditEnvironment.parse()

    @cached_property
    def audit_repository(self) -> AuditRepository:
        return AuditRepository(Table(self.audit_environment.audit_table, clients.dynamodb()))


class ApiParts(AuditParts):
    """What a function needs that serves an API: who calls, and the audit of calls."""

    @cached_property
    def access(self) -> AccessService:
        return AccessService(repository=AccessRepository(self.registry_table), secrets=self.secrets)

    @cached_property
    def call_audit(self) -> CallAudit:
        # At the end of a request, which a store that is down must not hold up for long.
        table = Table(self.audit_environment.audit_table, clients.brief_dynamodb())
        return CallAudit(repository=AuditRepository(table))


class AuditListingParts(ApiParts):
    """What lists the audit log."""

    @cached_property
    def audit_listing(self) -> AuditListing:
        return AuditListing(repository=self.audit_repository)


class StatisticsParts(RegistryParts):
    """What graders' verdicts add up to."""

    @cached_property
    def counters(self) -> CounterRepository:
        return CounterRepository(self.registry_table)

    @cached_property
    def statistics(self) -> GraderStatistics:
        return GraderStatistics(counters=self.counters)


class GraderParts(RegistryParts):
    """Registered graders, for reading."""

    @cached_property
    def graders(self) -> GraderDirectory:
        return GraderDirectory(table=self.registry_table, secrets=self.secrets)


class GraderAdminParts(RegistryParts):
    """Registered graders, for changing."""

    @cached_property
    def grader_service(self) -> GraderService:
        return GraderService(table=self.registry_table, secrets=self.secrets)


class TaskParts(GraderParts):
    """Tasks."""

    @cached_property
    def tasks(self) -> TaskService:
        return TaskService(repository=TaskRepository(self.registry_table), graders=self.graders)


class TaskApiParts(ApiParts, TaskParts):
    """What manages tasks."""


class RewardUrlParts(TaskParts):
    """What knows reward URLs."""

    @cached_property
    def reward_urls(self) -> RewardUrlService:
        return RewardUrlService(
            repository=RewardUrlRepository(self.registry_table),
            tasks=self.tasks,
            secrets=self.secrets,
        )


class RewardUrlApiParts(ApiParts, RewardUrlParts):
    """What makes reward URLs."""

    environment: RewardUrlEnvironment
