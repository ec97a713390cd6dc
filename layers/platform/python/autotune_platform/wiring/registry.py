"""Parts on the ``registry`` table, which every process has."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import (
    AuditEnvironment,
    Environment,
    RewardUrlEnvironment,
)
from autotune_platform.storage.table import Table

if TYPE_CHECKING:
    from autotune_platform.access.secrets import DerivedSecrets
    from autotune_platform.access.service import AccessService
    from autotune_platform.audit.calls import CallAudit
    from autotune_platform.audit.listing import AuditListing
    from autotune_platform.audit.repository import AuditRepository
    from autotune_platform.graders.directory import GraderDirectory
    from autotune_platform.graders.service import GraderService
    from autotune_platform.projections.counters import CounterRepository
    from autotune_platform.projections.statistics import GraderStatistics
    from autotune_platform.rewards.service import RewardUrlService
    from autotune_platform.tasks.service import TaskService


class RegistryParts:
    """Access, graders, tasks; and the audit of calls, for functions that serve an API."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    @cached_property
    def registry_table(self) -> Table:
        return Table(self.environment.registry_table, clients.dynamodb())

    @cached_property
    def secrets(self) -> DerivedSecrets:
        from autotune_platform.access.repository import KmsMacs
        from autotune_platform.access.secrets import DerivedSecrets

        return DerivedSecrets(KmsMacs(self.environment.secrets_key_id, clients.kms()))

    @cached_property
    def access(self) -> AccessService:
        from autotune_platform.access.repository import AccessRepository
        from autotune_platform.access.service import AccessService

        return AccessService(repository=AccessRepository(self.registry_table), secrets=self.secrets)

    @cached_property
    def audit_environment(self) -> AuditEnvironment:
        return AuditEnvironment.parse()

    @cached_property
    def audit_repository(self) -> AuditRepository:
        from autotune_platform.audit.repository import AuditRepository

        return AuditRepository(Table(self.audit_environment.audit_table, clients.dynamodb()))

    @cached_property
    def call_audit(self) -> CallAudit:
        from autotune_platform.audit.calls import CallAudit
        from autotune_platform.audit.repository import AuditRepository

        # At the end of a request, which a store that is down must not hold up for long.
        table = Table(self.audit_environment.audit_table, clients.brief_dynamodb())
        return CallAudit(repository=AuditRepository(table))

    @cached_property
    def audit_listing(self) -> AuditListing:
        from autotune_platform.audit.listing import AuditListing

        return AuditListing(repository=self.audit_repository)

    @cached_property
    def graders(self) -> GraderDirectory:
        from autotune_platform.graders.directory import GraderDirectory

        return GraderDirectory(table=self.registry_table, secrets=self.secrets)

    @cached_property
    def grader_service(self) -> GraderService:
        from autotune_platform.graders.service import GraderService

        return GraderService(table=self.registry_table, secrets=self.secrets)

    @cached_property
    def counters(self) -> CounterRepository:
        from autotune_platform.projections.counters import CounterRepository

        return CounterRepository(self.registry_table)

    @cached_property
    def statistics(self) -> GraderStatistics:
        from autotune_platform.projections.statistics import GraderStatistics

        return GraderStatistics(counters=self.counters)

    @cached_property
    def tasks(self) -> TaskService:
        from autotune_platform.tasks.repository import TaskRepository
        from autotune_platform.tasks.service import TaskService

        return TaskService(repository=TaskRepository(self.registry_table), graders=self.graders)

    @cached_property
    def reward_urls(self) -> RewardUrlService:
        from autotune_platform.rewards.repository import RewardUrlRepository
        from autotune_platform.rewards.service import RewardUrlService
        from autotune_platform.rewards.tokens import RewardTokens

        return RewardUrlService(
            repository=RewardUrlRepository(self.registry_table),
            tasks=self.tasks,
            tokens=RewardTokens(self.secrets),
        )


class RewardUrlParts(RegistryParts):
    """What makes reward URLs."""

    environment: RewardUrlEnvironment
