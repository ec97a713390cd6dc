"""What the stack of every domain is made of: its functions, their variables, its alarms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import Duration, NestedStack, Size
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.config import DeploymentConfig
from infra.constructs.alarms import Alarms
from infra.constructs.schedule import Schedule
from infra.constructs.service_function import MEMORY_MB, ServiceFunction
from infra.constructs.service_package import ServicePackage
from infra.stacks.data_stack import DataStack

# An HTTP API gives up on a function after 30 seconds.
API_TIMEOUT = Duration.seconds(29)
AUDIT_OF_ANY_ORGANIZATION = "org_*"
CALLS = "call_*"
GRADERS = "grd_*"
HEALTH = "health#*"
USED_REQUEST_IDS = "nonce#*"
USES_OF_KEYS = "use#key_*"
COUNTED_REQUESTS = "rate#*"
COUNTED_ENTITIES = "entities#*"
WAITING_REQUESTS = "waiting#*"
REQUESTS = "llm_*"
MONEY = "money#*"
WINDOWS = "window#*"


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What the stacks of all domains share.

    Attributes:
        service_name: What names start with that must be known before deployment.
        config: The deployment.
        data: Tables, buckets and keys.
        package: Code and layers.
        alarm_topic: What alarms publish to.
    """

    service_name: str
    config: DeploymentConfig
    data: DataStack
    package: ServicePackage
    alarm_topic: sns.ITopic


class DomainStack(NestedStack):
    """Holds one domain's functions, from ``functions/<domain>``, and what belongs to them alone.

    Attributes:
        shared: What the stacks of all domains share.
        alarms: Alarms of this domain.
        content_environment: For functions that read or write completions.
        grader_environment: For functions that call addresses from outside.
        audit_environment: For functions that write to the audit log, or that read it.
    """

    def __init__(self, scope: Construct, *, domain: str, shared: Shared, holds: str) -> None:
        """Makes the stack without a function.

        Args:
            scope: The service's stack.
            domain: Name of the domain, as its folders have it.
            shared: What the stacks of all domains share.
            holds: What is in the stack, for its description.
        """
        construct_id = domain.capitalize()
        super().__init__(scope, construct_id, description=f"Autotune {domain}: {holds}")
        if self.nested_stack_resource is not None:
            # Names of functions and queues start with it and are cut at 64 characters.
            self.nested_stack_resource.override_logical_id(construct_id)
        self.shared = shared
        self.alarms = Alarms(self, "Alarms", topic=shared.alarm_topic)
        self._domain = domain
        data = shared.data
        self.content_environment: Mapping[str, str] = {
            "COMPLETIONS_TABLE": data.completions.table.table_name,
            "CONTENT_BUCKET": data.content.bucket.bucket_name,
        }
        self.grader_environment: Mapping[str, str] = {
            "ADMIT_PRIVATE_ADDRESSES": str(shared.config.admits_private_addresses).lower(),
        }
        self.audit_environment: Mapping[str, str] = {"AUDIT_TABLE": data.audit.table.table_name}

    def create_api(
        self,
        construct_id: str,
        *,
        module: str = "api",
        environment: Mapping[str, str] | None = None,
        writes_records: bool = False,
        computes: bool = False,
        most_at_once: int | None = None,
    ) -> ServiceFunction:
        """Makes a function of routes: it reads keys, uses request ids up, and audits calls."""
        function = self.create_keyless_api(
            construct_id,
            module=module,
            environment=environment,
            writes_records=writes_records,
            computes=computes,
            most_at_once=most_at_once,
        )
        self.shared.data.registry.grant_read(function.function, "GetItem")
        for keys in (USED_REQUEST_IDS, USES_OF_KEYS):
            self.shared.data.registry.grant_write(function.function, "PutItem", keys=keys)
        self.grant_count_requests(function)
        self.shared.data.secrets_keys.grant_derive(function, "api-key")
        return function

    def grant_count_requests(self, function: ServiceFunction) -> None:
        """Lets a function keep callers to their rates."""
        self.shared.data.registry.grant_write(
            function.function, "UpdateItem", keys=COUNTED_REQUESTS
        )

    def grant_orders(self, function: ServiceFunction) -> None:
        """Lets a function have models asked by the ledger, whose sweeper starts it."""
        data = self.shared.data
        data.ledger.grant_read(function.function, "BatchGetItem", "GetItem")
        data.ledger.grant_write(function.function, "BatchWriteItem", "PutItem", "UpdateItem")
        data.budgets.grant_read(function.function, "GetItem", keys=MONEY)
        # Its questions go by themselves, so that none of them is an object; erasing asks for both.
        data.ledger_texts.grant_delete(function.function)

    def grant_count_entities(self, function: ServiceFunction) -> None:
        """Lets a function keep organisations to as many entities as they may have."""
        self.shared.data.registry.grant_write(
            function.function, "UpdateItem", keys=COUNTED_ENTITIES
        )

    def grant_share_waiting(self, function: ServiceFunction) -> None:
        """Lets a function keep organisations to as many waiting requests as they may have."""
        budgets = self.shared.data.budgets
        budgets.grant_read(function.function, "GetItem", keys=WAITING_REQUESTS)
        budgets.grant_write(function.function, "PutItem", keys=WAITING_REQUESTS)

    def create_keyless_api(
        self,
        construct_id: str,
        *,
        module: str = "api",
        timeout: Duration = API_TIMEOUT,
        environment: Mapping[str, str] | None = None,
        writes_records: bool = False,
        computes: bool = False,
        checks_id_tokens: bool = False,
        most_at_once: int | None = None,
    ) -> ServiceFunction:
        """Makes a function of routes that are called without a key; it audits calls as well."""
        function = self.create(
            construct_id,
            module=module,
            description=f"Answers requests about {self._domain}",
            timeout=timeout,
            environment={**self.audit_environment, **(environment or {})},
            writes_records=writes_records,
            computes=computes,
            checks_id_tokens=checks_id_tokens,
            most_at_once=most_at_once,
        )
        self.shared.data.audit.grant_write(
            function.function, "PutItem", keys=AUDIT_OF_ANY_ORGANIZATION
        )
        self.alarms.count_unwritten_audit(function)
        return function

    def run_every(
        self,
        every: Duration,
        function: ServiceFunction,
        *,
        inputs: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Runs a function at a fixed rate, and alarms when it fails or is not run.

        Args:
            every: From one run to the next.
            function: What runs.
            inputs: Events of runs that start together; one run with EventBridge's own if empty.
        """
        name = function.node.id
        Schedule(self, f"{name}Schedule", function=function, every=every, inputs=inputs)
        self.alarms.watch_schedule(function, name=name)

    def create(
        self,
        construct_id: str,
        *,
        module: str,
        description: str,
        timeout: Duration,
        folder: str | None = None,
        environment: Mapping[str, str] | None = None,
        reads_environment: bool = True,
        writes_records: bool = False,
        computes: bool = False,
        embeds: bool = False,
        checks_id_tokens: bool = False,
        disk: Size | None = None,
        most_at_once: int | None = None,
        memory_mb: int = MEMORY_MB,
        sends_to_itself: bool = False,
    ) -> ServiceFunction:
        """Makes a function that may do nothing yet.

        Args:
            construct_id: What the function is called.
            module: Module of its handler in the domain's folder.
            description: What it does.
            timeout: How long it may take.
            folder: The folder of functions that the module is in; the domain's without it.
            environment: What it reads besides what every function reads.
            reads_environment: Whether it reads anything; one that serves files does not.
            writes_records: It needs what writes Parquet and TFRecord.
            computes: It needs numpy.
            embeds: It needs what embeds texts, numpy among it.
            checks_id_tokens: It needs what checks signatures of an OpenID provider.
            disk: Room below /tmp; 512 MB without it.
            most_at_once: Invocations at the same time; as many as the account has without it.
            memory_mb: Its memory; 1,769 MB come with a whole processor, and less with less.
            sends_to_itself: It sends messages to the queue that it gets them from.
        """
        package = self.shared.package
        data = self.shared.data
        read_by_all = {"REGISTRY_TABLE": data.registry.table.table_name}
        used = package.shared
        if writes_records:
            used = package.for_exports
        elif computes:
            used = package.for_numbers
        elif embeds:
            used = package.for_similarity
        elif checks_id_tokens:
            used = package.for_oidc
        return ServiceFunction(
            self,
            construct_id,
            package=used,
            handler=f"functions.{folder or self._domain}.{module}.lambda_handler",
            description=description,
            timeout=timeout,
            environment={**read_by_all, **(environment or {})} if reads_environment else None,
            disk=disk,
            most_at_once=most_at_once,
            memory_mb=memory_mb,
            sends_to_itself=sends_to_itself,
        )
