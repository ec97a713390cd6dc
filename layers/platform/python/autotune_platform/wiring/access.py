"""Parts of every process that reads the registry, and of every API: secrets and callers."""

from functools import cached_property

from autotune_platform.access.organizations import OrganizationService
from autotune_platform.access.rates import RequestRates
from autotune_platform.access.repository import AccessRepository
from autotune_platform.access.secrets import DerivedSecrets
from autotune_platform.access.service import AccessService
from autotune_platform.access.session_repository import SessionRepository
from autotune_platform.access.sessions import SessionService
from autotune_platform.access.signers import Signers
from autotune_platform.audit.calls import CallAudit
from autotune_platform.audit.repository import AuditRepository
from autotune_platform.runtime import clients
from autotune_platform.runtime.clock import SYSTEM_CLOCK
from autotune_platform.runtime.environment.access import AccessEnvironment
from autotune_platform.runtime.environment.audit import AuditEnvironment
from autotune_platform.runtime.environment.base import Environment
from autotune_platform.storage.table import Table


class RegistryParts:
    """What every process has that reads the registry."""

    clock = SYSTEM_CLOCK

    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    @cached_property
    def registry_table(self) -> Table:
        return Table(self.environment.registry_table, clients.dynamodb())

    @cached_property
    def secrets(self) -> DerivedSecrets:
        return DerivedSecrets(keys=self.environment.secrets_keys, kms=clients.kms())


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
    def organizations(self) -> OrganizationService:
        return OrganizationService(repository=AccessRepository(self.registry_table))

    @cached_property
    def signers(self) -> Signers:
        return Signers(
            keys=AccessRepository(self.registry_table),
            sessions=SessionRepository(self.registry_table),
        )

    @cached_property
    def access(self) -> AccessService:
        brief = Table(self.environment.registry_table, clients.brief_dynamodb())
        return AccessService(
            repository=AccessRepository(self.registry_table),
            signers=self.signers,
            secrets=self.secrets,
            rates=RequestRates(table=brief),
        )

    @cached_property
    def call_audit(self) -> CallAudit:
        # At the end of a request, which a store that is down must not hold up for long.
        table = Table(self.audit_environment.audit_table, clients.brief_dynamodb())
        return CallAudit(repository=AuditRepository(table))


class AccessApiParts(ApiParts):
    """What manages keys and sessions."""

    environment: AccessEnvironment

    @cached_property
    def sessions(self) -> SessionService:
        return SessionService(
            access=self.access,
            repository=SessionRepository(self.registry_table),
            signers=self.signers,
            secrets=self.secrets,
            base_url=self.environment.api_url,
        )
