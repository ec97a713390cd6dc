"""The ledger: requests to language models, enqueued over the API, asked in batches."""

from collections.abc import Mapping

from aws_cdk import Acknowledgment, Aws, Duration, Validations
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.config import REPOSITORY_ROOT
from infra.constructs.service_function import ServiceFunction
from infra.constructs.signed_api import resource_paths
from infra.constructs.workflow import Workflow
from infra.stacks.domain_stack import WAITING_REQUESTS, DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.tables import (
    BY_COLLECTION_INDEX,
    DUE_LEDGER_INDEX,
    LEDGER_LISTING_INDEX,
    QUEUED_ROWS_INDEX,
)

# A step asks until its time is nearly over; no call may take longer than four minutes.
WORK_TIMEOUT = Duration.minutes(5)
SWEEP_TIMEOUT = Duration.seconds(60)
RESOLVE = "/api/v1/llm-batches/{llmBatchId}/resolve"
CONNECTIONS = "llc_*"
TOKENS = "llt_*"
APPRENTICE_RUNS, APPRENTICE_TASKS = "apr_*", "apt_*"
MONEY = "money#*"
# Nobody has it assume a role that is not meant for this.
BEDROCK_ROLES = "autotune-bedrock*"
BEDROCK_ROLES_FOUND = f"arn:<AWS::Partition>:iam::*:role/{BEDROCK_ROLES}"
IMPORT_DEFINITION = REPOSITORY_ROOT / "statemachines" / "import_llm_requests.asl.json"
STATE_MACHINE_DEFINITION = REPOSITORY_ROOT / "statemachines" / "submit_llm_batch.asl.json"


class LedgerStack(DomainStack):
    """Holds the workflow that asks language models, and the functions around it.

    Attributes:
        work: The function that works on batches.
        connections: The function that answers for connections, and asks through them to verify one.
        callers: Functions that ask models.
        imports: The workflow that takes files in.
        import_environment: For functions that make and start imports.
        stores_environment: For functions that read or write rows.
        call_environment: For functions that call language models.
        start_environment: For functions that begin batches; ``grant_start`` lets them.
    """

    def __init__(self, scope: Construct, *, shared: Shared, http: HttpStack) -> None:
        super().__init__(scope, domain="ledger", shared=shared, holds="calls of language models")
        data = shared.data
        self.callers: list[ServiceFunction] = []
        self.stores_environment: Mapping[str, str] = {
            "LEDGER_TABLE": data.ledger.table.table_name,
            "LEDGER_BUCKET": data.ledger_texts.bucket.bucket_name,
            "BUDGETS_TABLE": data.budgets.table.table_name,
        }
        self.call_environment: Mapping[str, str] = {
            **self.stores_environment,
            **self.grader_environment,
            "PROVIDER_KEYS_KEY": data.provider_keys.key.key_id,
        }
        functions = shared.config.model_functions
        self.work = work = self.create(
            "WorkLlmBatch",
            module="work_batch",
            description="Makes batches of requests to language models, and asks them",
            timeout=WORK_TIMEOUT,
            environment={
                **self.call_environment,
                # No organisation has more than its share of them at work.
                **({} if functions is None else {"MODEL_FUNCTIONS": str(functions)}),
            },
            most_at_once=functions,
        )
        self._workflow = Workflow(
            self,
            "SubmitLlmBatch",
            service_name=shared.service_name,
            definition=STATE_MACHINE_DEFINITION,
            functions={"WorkBatchFunctionArn": work},
        )
        self.start_environment: Mapping[str, str] = {
            "SUBMIT_LLM_BATCH_ARN": self._workflow.state_machine.state_machine_arn,
        }
        self.alarms.watch_runs(self._workflow.state_machine, name="SubmitLlmBatch")
        # A queue that fills batch after batch is worked on by as many executions.
        self._workflow.grant_continue(work)
        self._grant_work(work)
        self._importing: Mapping[str, str] = {
            **self.stores_environment,
            **self.start_environment,
            "EXPORT_BUCKET": data.exports.bucket.bucket_name,
        }
        self.imports = self._add_imports()
        self.import_environment: Mapping[str, str] = {
            **self._importing,
            "IMPORT_LLM_REQUESTS_ARN": self.imports.state_machine.state_machine_arn,
        }
        self._add_imports_api(http)
        self._add_sweep()
        self._add_api(http)
        self._add_batches_api(http)
        self._add_connections(http)

    def grant_start(self, function: ServiceFunction) -> None:
        """Lets a function begin batches."""
        self._workflow.state_machine.grant_start_execution(function.function)

    def _grant_work(self, work: ServiceFunction) -> None:
        data = self.shared.data
        data.ledger.grant_read(work.function, "BatchGetItem", "GetItem", "Query")
        data.ledger.grant_write(work.function, "BatchWriteItem", "PutItem", "UpdateItem")
        # Keys that were replaced, and that a job needs one.
        data.ledger.grant_write(work.function, "DeleteItem", keys=CONNECTIONS)
        data.ledger.grant_query_index(work.function, index_name=QUEUED_ROWS_INDEX)
        data.budgets.grant_write(work.function, "PutItem", "UpdateItem", keys=CONNECTIONS)
        data.budgets.grant_write(work.function, "PutItem", keys=WAITING_REQUESTS)
        data.ledger_texts.grant_read_write(work.function)
        data.ledger_texts.grant_delete(work.function)
        data.ledger_texts.grant_upload_in_parts(work.function)
        data.registry.grant_write(work.function, "PutItem", keys=CONNECTIONS)
        self.grant_calls(work)

    def _add_imports(self) -> Workflow:
        importing = self.create(
            "ImportRequests",
            module="import_requests",
            description="Takes in files of requests to language models, as far as there is time",
            timeout=WORK_TIMEOUT,
            environment=self._importing,
            most_at_once=self.shared.config.slow_functions or None,
        )
        data = self.shared.data
        data.registry.grant_read(importing.function, "GetItem")
        data.budgets.grant_read(importing.function, "GetItem", keys=MONEY)
        data.ledger.grant_read(importing.function, "GetItem")
        data.ledger.grant_write(importing.function, "BatchWriteItem", "PutItem", "UpdateItem")
        data.ledger_texts.grant_put(importing.function)
        data.exports.grant_read_write(importing.function)
        self.grant_start(importing)
        workflow = Workflow(
            self,
            "ImportLlmRequests",
            service_name=self.shared.service_name,
            definition=IMPORT_DEFINITION,
            functions={"ImportRequestsFunctionArn": importing},
        )
        self.alarms.watch_runs(workflow.state_machine, name="ImportLlmRequests")
        return workflow

    def _add_imports_api(self, http: HttpStack) -> None:
        data = self.shared.data
        api = self.create_api(
            "ImportsApi",
            module="imports_api",
            environment=self.import_environment,
        )
        data.ledger.grant_read(api.function, "BatchGetItem", "GetItem")
        data.ledger.grant_write(api.function, "PutItem", "UpdateItem")
        data.ledger.grant_query_index(api.function, index_name=LEDGER_LISTING_INDEX)
        # Its links can no more than it can: upload a file, and fetch a report.
        data.exports.grant_read_write(api.function)
        self.imports.state_machine.grant_start_execution(api.function)
        http.api.route(api, paths=resource_paths("llm-imports"))

    def _add_sweep(self) -> None:
        data = self.shared.data
        sweep = self.create(
            "SweepLedger",
            module="sweep_ledger",
            description="Starts batches of requests that are due, and redrives those that are lost",
            timeout=SWEEP_TIMEOUT,
            environment={
                **self.stores_environment,
                **self.start_environment,
                "APPRENTICE_TABLE": data.apprentice.table.table_name,
                "IMPORT_LLM_REQUESTS_ARN": self.imports.state_machine.state_machine_arn,
            },
        )
        # Runs of the apprentice whose calls were lost.
        data.apprentice.grant_read(sweep.function, "GetItem", keys=APPRENTICE_RUNS)
        data.apprentice.grant_write(sweep.function, "UpdateItem", keys=APPRENTICE_RUNS)
        data.apprentice.grant_read(sweep.function, "GetItem", keys=APPRENTICE_TASKS)
        data.ledger.grant_read(sweep.function, "GetItem")
        data.ledger.grant_write(sweep.function, "UpdateItem")
        data.ledger.grant_query_index(sweep.function, index_name=DUE_LEDGER_INDEX)
        data.budgets.grant_write(sweep.function, "UpdateItem", keys=MONEY)
        self.grant_start(sweep)
        self.imports.state_machine.grant_start_execution(sweep.function)
        self.run_every(Duration.minutes(1), sweep)

    def _add_api(self, http: HttpStack) -> None:
        data = self.shared.data
        api = self.create_api(
            "LedgerApi",
            environment={
                **self.stores_environment,
                **self.start_environment,
            },
        )
        data.ledger.grant_read(api.function, "BatchGetItem", "GetItem", "Query")
        data.ledger.grant_write(api.function, "BatchWriteItem", "PutItem", "UpdateItem")
        data.ledger.grant_query_index(api.function, index_name=LEDGER_LISTING_INDEX)
        data.ledger.grant_query_index(api.function, index_name=QUEUED_ROWS_INDEX)
        data.ledger_texts.grant_read_write(api.function)
        data.ledger_texts.grant_delete(api.function)
        data.budgets.grant_read(api.function, "GetItem", keys=MONEY)
        self.grant_share_waiting(api)
        self.grant_start(api)
        http.api.route(api, paths=resource_paths("llm-requests"))

    def _add_batches_api(self, http: HttpStack) -> None:
        data = self.shared.data
        api = self.create_api(
            "LlmBatchesApi", module="batches_api", environment=self.stores_environment
        )
        data.ledger.grant_read(api.function, "BatchGetItem", "GetItem", "Query")
        data.ledger.grant_write(api.function, "UpdateItem")
        data.ledger.grant_query_index(api.function, index_name=LEDGER_LISTING_INDEX)
        data.budgets.grant_read(api.function, "GetItem", keys=MONEY)
        data.budgets.grant_write(api.function, "UpdateItem", keys=MONEY)
        for resource in ("llm-batches", "llm-costs", "llm-estimates", "llm-budget"):
            http.api.route(api, paths=resource_paths(resource))

    def _add_connections(self, http: HttpStack) -> None:
        data = self.shared.data
        self.connections = connections = self.create_api(
            "ConnectionsApi",
            module="connections_api",
            environment=self.call_environment,
            most_at_once=self.shared.config.slow_functions or None,
        )
        self.grant_share_waiting(connections)
        for keys in (CONNECTIONS, TOKENS):
            data.registry.grant_write(connections.function, "PutItem", "UpdateItem", keys=keys)
        data.registry.grant_query_index(connections.function, index_name=BY_COLLECTION_INDEX)
        self.grant_count_entities(connections)
        data.ledger.grant_read(connections.function, "BatchGetItem", "GetItem")
        data.ledger.grant_read(connections.function, "Query", keys=CONNECTIONS)
        # Jobs that are to end before a key goes.
        data.ledger.grant_query_index(connections.function, index_name=LEDGER_LISTING_INDEX)
        data.ledger.grant_write(connections.function, "DeleteItem", "PutItem", "UpdateItem")
        data.ledger_texts.grant_put(connections.function)
        data.provider_keys.grant_seal(connections)
        self.grant_calls(connections)
        for resource in ("llm-connections", "llm-tokens"):
            http.api.route(connections, paths=resource_paths(resource))
        # It looks at the provider's job, with the connection's key.
        http.api.route(connections, paths=[RESOLVE], method=apigateway.HttpMethod.POST)

    def grant_calls(self, function: ServiceFunction) -> None:
        """Lets a function call language models, keep to budgets and limits, and book the cost."""
        self.callers.append(function)
        data = self.shared.data
        data.registry.grant_read(function.function, "GetItem")
        data.budgets.grant_read(function.function, "GetItem")
        data.budgets.grant_write(function.function, "UpdateItem", keys=MONEY)
        data.provider_keys.grant_open(function)
        # Roles that owners of connections to Bedrock give. A condition that demands an external id
        # here would hide that a role demands none, which is asked before each use.
        roles = f"arn:{Aws.PARTITION}:iam::*:role/{BEDROCK_ROLES}"
        iam.Grant.add_to_principal(
            grantee=function.function, actions=["sts:AssumeRole"], resource_arns=[roles]
        )
        Validations.of(function).acknowledge(
            Acknowledgment(
                id=f"AwsSolutions-IAM5[Resource::{BEDROCK_ROLES_FOUND}]",
                reason=(
                    "The roles are of accounts that are not known before: a connection names its "
                    "own, whose trust policy demands its organisation's external id."
                ),
            )
        )
