"""Exports: asked for over the API, written by a loop of steps, driven again where that is lost."""

from collections.abc import Mapping

from aws_cdk import Duration, Size
from constructs import Construct

from infra.config import REPOSITORY_ROOT
from infra.constructs.schedule import Schedule
from infra.constructs.service_function import ServiceFunction
from infra.constructs.signed_api import SignedApi, resource_paths
from infra.constructs.workflow import Workflow
from infra.indexes import BY_COLLECTION_INDEX, SCORES_BY_TASK_INDEX
from infra.stacks.data_stack import DataStack
from infra.stacks.service_functions import ServiceFunctions

WRITE_TIMEOUT = Duration.minutes(15)
FAIL_TIMEOUT = Duration.seconds(60)
SWEEP_TIMEOUT = Duration.seconds(60)
# Candidates of ten million pairs, and what sorting them spills.
WRITE_DISK = Size.gibibytes(10)
EXPORTS = "exp_*"
STATE_MACHINE_DEFINITION = REPOSITORY_ROOT / "statemachines" / "export_scores.asl.json"


def add_exports(
    stack: Construct, api: SignedApi, *, functions: ServiceFunctions, data: DataStack
) -> Workflow:
    """Route requests for exports; return the workflow that writes them, for watching."""
    environment = {
        **functions.content_environment,
        "EXPORT_BUCKET": data.exports.bucket.bucket_name,
    }
    write = functions.create(
        "WriteExport",
        handler="functions.exports.write_export.lambda_handler",
        description="Writes as much of an export as there is time for",
        timeout=WRITE_TIMEOUT,
        environment=environment,
        writes_records=True,
        disk=WRITE_DISK,
    )
    data.registry.grant_query_index(write.function, index_name=BY_COLLECTION_INDEX)
    data.completions.grant_read(write.function)
    data.completions.grant_query_index(write.function, index_name=SCORES_BY_TASK_INDEX)
    data.content.grant_read(write.function)
    data.exports.grant_read_write(write.function)
    fail = functions.create(
        "FailExport",
        handler="functions.exports.fail_export.lambda_handler",
        description="Ends an export that could not be written",
        timeout=FAIL_TIMEOUT,
        environment=environment,
    )
    data.exports.grant_delete(fail.function)
    workflow = Workflow(
        stack,
        "ExportScores",
        definition=STATE_MACHINE_DEFINITION,
        functions={"WriteExportFunctionArn": write, "FailExportFunctionArn": fail},
    )
    driving = {**environment, "EXPORT_SCORES_ARN": workflow.state_machine.state_machine_arn}
    sweep = _add_sweeper(stack, functions=functions, data=data, environment=driving)
    requests = functions.create_api("ExportsApi", domain="exports", environment=driving)
    data.registry.grant_query_index(requests.function, index_name=BY_COLLECTION_INDEX)
    data.completions.grant_query_index(requests.function, index_name=SCORES_BY_TASK_INDEX)
    data.exports.grant_link_delete(requests.function)
    for changing in (write, fail, sweep):
        data.registry.grant_read(changing.function)
        data.registry.grant_put(changing.function, keys=EXPORTS)
        data.registry.grant_delete(changing.function, keys=EXPORTS)
    for starting in (requests, sweep):
        workflow.state_machine.grant_start_execution(starting.function)
    api.route(requests, paths=resource_paths("exports"))

    direct = functions.create_api(
        "ScoreExportApi",
        domain="scoring",
        module="export_api",
        environment=functions.content_environment,
        writes_records=True,
    )
    data.registry.grant_query_index(direct.function, index_name=BY_COLLECTION_INDEX)
    data.completions.grant_read(direct.function)
    data.completions.grant_query_index(direct.function, index_name=SCORES_BY_TASK_INDEX)
    data.content.grant_read(direct.function)
    api.route(direct, paths=["/api/v1/scores/export"])
    return workflow


def _add_sweeper(
    stack: Construct,
    *,
    functions: ServiceFunctions,
    data: DataStack,
    environment: Mapping[str, str],
) -> ServiceFunction:
    sweep = functions.create(
        "SweepExports",
        handler="functions.exports.sweep_exports.lambda_handler",
        description="Drives exports again whose execution was lost",
        timeout=SWEEP_TIMEOUT,
        environment=environment,
    )
    data.registry.grant_query_index(sweep.function, index_name=BY_COLLECTION_INDEX)
    data.exports.grant_delete(sweep.function)
    Schedule(stack, "SweepExportsEveryMinute", function=sweep, every=Duration.minutes(1))
    return sweep
