"""What operators invoke, with AWS credentials: none of it has a route."""

from collections.abc import Sequence

from aws_cdk import Duration
from constructs import Construct

from infra.constructs.content_bucket import OF_ALL
from infra.constructs.service_function import WHOLE_PROCESSOR_MB, ServiceFunction
from infra.constructs.work_queue import WorkQueue
from infra.stacks.completions import CompletionsStack
from infra.stacks.domain_stack import DomainStack, Shared
from infra.tables import BY_COLLECTION_INDEX, OPEN_BATCHES_INDEX

OPERATOR_TIMEOUT = Duration.seconds(30)
REDRIVE_TIMEOUT = Duration.seconds(60)
# Who invokes it waits for each step.
DELETION_TIMEOUT = Duration.seconds(45)


class OperationsStack(DomainStack):
    """Holds the functions of operators.

    Attributes:
        create_organization: Creates an organisation and its first key.
        manage_organizations: Lists, limits, suspends and resumes organisations.
        delete_organization: Deletes an organisation with all that is its own.
        list_stuck: Lists which batches are overdue.
        redrive: Moves dead letters back to their queues.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        shared: Shared,
        completions: CompletionsStack,
    ) -> None:
        super().__init__(scope, domain="operations", shared=shared, holds="operators' functions")
        self.create_organization = self._create_organizations()
        self.manage_organizations = self._create_management()
        self.delete_organization = self._create_deletion()
        self.list_stuck = self._create_list_stuck(completions)
        self.redrive = self._create_redrive(WorkQueue.all_in(self.node.root))

    def _create_organizations(self) -> ServiceFunction:
        function = self.create(
            "CreateOrganization",
            module="create_organization",
            description="Creates an organization and its first admin key",
            timeout=OPERATOR_TIMEOUT,
        )
        self.grant_count_entities(function)
        for keys in ("org_*", "key_*"):
            self.shared.data.registry.grant_write(function.function, "PutItem", keys=keys)
        self.shared.data.secrets_keys.grant_derive(function, "api-key")
        return function

    def _create_management(self) -> ServiceFunction:
        function = self.create(
            "ManageOrganizations",
            module="manage_organizations",
            description="Lists, limits, suspends and resumes organizations",
            timeout=OPERATOR_TIMEOUT,
        )
        registry = self.shared.data.registry
        registry.grant_read(function.function, "GetItem", keys="org_*")
        registry.grant_write(function.function, "UpdateItem", keys="org_*")
        registry.grant_query_index(function.function, index_name=BY_COLLECTION_INDEX)
        return function

    def _create_deletion(self) -> ServiceFunction:
        data = self.shared.data
        function = self.create(
            "DeleteOrganization",
            module="delete_organization",
            description="Deletes an organization with all that is its own",
            timeout=DELETION_TIMEOUT,
            # Several partitions at once.
            memory_mb=WHOLE_PROCESSOR_MB,
            environment={
                **self.content_environment,
                "DELIVERIES_TABLE": data.deliveries.table.table_name,
                "EXPORT_BUCKET": data.exports.bucket.bucket_name,
                "LEDGER_TABLE": data.ledger.table.table_name,
                "LEDGER_BUCKET": data.ledger_texts.bucket.bucket_name,
                "BUDGETS_TABLE": data.budgets.table.table_name,
                "DECKS_TABLE": data.decks.table.table_name,
                "APPRENTICE_TABLE": data.apprentice.table.table_name,
                "APPRENTICE_BUCKET": data.apprentice_files.bucket.bucket_name,
            },
        )
        for table in (
            data.completions,
            data.registry,
            data.deliveries,
            data.ledger,
            data.budgets,
            data.decks,
            data.apprentice,
        ):
            table.grant_empty(function.function)
        data.registry.grant_read(function.function, "GetItem", keys="org_*")
        data.registry.grant_write(function.function, "UpdateItem", keys="org_*")
        # What hosts its versions at SageMaker is marked, and taken down by another.
        data.apprentice.grant_write(function.function, "UpdateItem", keys="apt_*#hosting")
        data.completions.grant_read(function.function, "BatchGetItem", "GetItem")
        data.completions.grant_write(function.function, "PutItem", "UpdateItem")
        data.completions.grant_query_index(function.function, index_name=OPEN_BATCHES_INDEX)
        data.content.grant_delete(function.function, names=OF_ALL, finds=True)
        data.exports.grant_delete(function.function)
        data.ledger_texts.grant_delete(function.function)
        data.apprentice_files.grant_delete(function.function)
        return function

    def _create_list_stuck(self, completions: CompletionsStack) -> ServiceFunction:
        data = self.shared.data
        function = self.create(
            "ListStuck",
            module="list_stuck",
            description="Lists batches that are overdue",
            timeout=OPERATOR_TIMEOUT,
            environment={**self.content_environment, **completions.queue_environment},
        )
        data.completions.grant_read(function.function, "BatchGetItem", "GetItem")
        data.completions.grant_query_index(function.function, index_name=OPEN_BATCHES_INDEX)
        return function

    def _create_redrive(self, queues: Sequence[WorkQueue]) -> ServiceFunction:
        """Moves dead letters of all queues, which are made before this stack."""
        urls = {
            queue.name: [queue.dead_letters.queue_url, queue.queue.queue_url] for queue in queues
        }
        function = self.create(
            "RedriveDeadLetters",
            module="redrive_dead_letters",
            description="Moves dead letters back to their queues",
            timeout=REDRIVE_TIMEOUT,
            environment={"DEAD_LETTERS": self.to_json_string(urls)},
        )
        for queue in queues:
            queue.grant_redrive(function)
        return function
