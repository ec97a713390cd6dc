"""Exports: requested over the API, written in a loop of steps, redriven if an execution is lost."""

from aws_cdk import Duration, Size
from constructs import Construct

from infra.config import REPOSITORY_ROOT
from infra.constructs.content_bucket import OF_COMPLETIONS
from infra.constructs.service_function import ServiceFunction
from infra.constructs.signed_api import resource_paths
from infra.constructs.workflow import Workflow
from infra.stacks.domain_stack import DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.tables import BY_COLLECTION_INDEX, LEDGER_LISTING_INDEX, SCORES_BY_TASK_INDEX

WRITE_TIMEOUT = Duration.minutes(15)
FAIL_TIMEOUT = Duration.seconds(60)
SWEEP_TIMEOUT = Duration.seconds(60)
# Candidates of ten million pairs, and what sorting them spills.
WRITE_DISK = Size.gibibytes(10)
EXPORTS = "exp_*"
STATE_MACHINE_DEFINITION = REPOSITORY_ROOT / "statemachines" / "export_scores.asl.json"


class ExportsStack(DomainStack):
    """Holds the workflow that writes exports, and the functions around it."""

    def __init__(self, scope: Construct, *, shared: Shared, http: HttpStack) -> None:
        super().__init__(scope, domain="exports", shared=shared, holds="scores as training data")
        self._writing_environment = {
            **self.content_environment,
            "EXPORT_BUCKET": shared.data.exports.bucket.bucket_name,
            "LEDGER_TABLE": shared.data.ledger.table.table_name,
            "LEDGER_BUCKET": shared.data.ledger_texts.bucket.bucket_name,
        }
        write = self._create_write()
        fail = self._create_fail()
        self._workflow = Workflow(
            self,
            "ExportScores",
            service_name=shared.service_name,
            definition=STATE_MACHINE_DEFINITION,
            functions={"WriteExportFunctionArn": write, "FailExportFunctionArn": fail},
        )
        self.alarms.watch_runs(self._workflow.state_machine, name="ExportScores")
        self._starting_environment = {
            **self._writing_environment,
            "EXPORT_SCORES_ARN": self._workflow.state_machine.state_machine_arn,
        }
        sweep = self._create_sweep()
        for changing in (write, fail, sweep):
            shared.data.registry.grant_read(changing.function, "GetItem")
            shared.data.registry.grant_write(
                changing.function, "DeleteItem", "PutItem", keys=EXPORTS
            )
        shared.data.registry.grant_read(write.function, "Query")
        self._add_requests(http)
        self._add_direct_exports(http)

    def _create_write(self) -> ServiceFunction:
        write = self.create(
            "WriteExport",
            module="write_export",
            description="Writes as much of an export as there is time for",
            timeout=WRITE_TIMEOUT,
            environment=self._writing_environment,
            writes_records=True,
            disk=WRITE_DISK,
            most_at_once=self.shared.config.slow_functions or None,
        )
        self._grant_read_scores(write)
        data = self.shared.data
        data.ledger.grant_read(write.function, "BatchGetItem", "GetItem", "Query")
        data.ledger.grant_query_index(write.function, index_name=LEDGER_LISTING_INDEX)
        data.ledger_texts.grant_read(write.function)
        self.shared.data.exports.grant_read_write(write.function)
        return write

    def _create_fail(self) -> ServiceFunction:
        fail = self.create(
            "FailExport",
            module="fail_export",
            description="Ends an export that could not be written",
            timeout=FAIL_TIMEOUT,
            environment=self._writing_environment,
        )
        self.shared.data.exports.grant_delete(fail.function)
        return fail

    def _create_sweep(self) -> ServiceFunction:
        sweep = self.create(
            "SweepExports",
            module="sweep_exports",
            description="Redrives exports whose execution was lost",
            timeout=SWEEP_TIMEOUT,
            environment=self._starting_environment,
        )
        registry = self.shared.data.registry
        registry.grant_query_index(sweep.function, index_name=BY_COLLECTION_INDEX)
        self.shared.data.exports.grant_delete(sweep.function)
        self._workflow.state_machine.grant_start_execution(sweep.function)
        self.run_every(Duration.minutes(1), sweep)
        return sweep

    def _add_requests(self, http: HttpStack) -> None:
        data = self.shared.data
        requests = self.create_api("ExportsApi", environment=self._starting_environment)
        data.registry.grant_read(requests.function, "BatchGetItem", "Query")
        data.registry.grant_write(requests.function, "DeleteItem", "PutItem", keys=EXPORTS)
        data.registry.grant_query_index(requests.function, index_name=BY_COLLECTION_INDEX)
        data.exports.grant_link_delete(requests.function)
        self._workflow.state_machine.grant_start_execution(requests.function)
        http.api.route(requests, paths=resource_paths("exports"))

    def _add_direct_exports(self, http: HttpStack) -> None:
        """Route requests for so few scores that the answer holds them."""
        direct = self.create_api(
            "ScoreExportApi",
            module="direct_api",
            environment=self.content_environment,
            writes_records=True,
            most_at_once=self.shared.config.slow_functions or None,
        )
        self.shared.data.registry.grant_read(direct.function, "BatchGetItem")
        self._grant_read_scores(direct)
        http.api.route(direct, paths=["/api/v1/scores/export"])

    def _grant_read_scores(self, function: ServiceFunction) -> None:
        data = self.shared.data
        data.registry.grant_query_index(function.function, index_name=BY_COLLECTION_INDEX)
        data.completions.grant_read(function.function, "BatchGetItem")
        data.completions.grant_query_index(function.function, index_name=SCORES_BY_TASK_INDEX)
        data.content.grant_read(function.function, names=OF_COMPLETIONS)
