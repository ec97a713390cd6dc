"""Traces need their permissions, the tracer in the layer, and logs that are found by name."""

import json
import re
import subprocess
import sys

import pytest

from infra.config import REPOSITORY_ROOT
from infra.constructs.service_package import LAYERS
from tests.support.permissions import listed, statements_of
from tests.support.xray import Invocation, daemon

CALL_GRADERS = {
    "GradeChunk": "functions/scoring/grade_chunk.py",
    "GradersApi": "functions/graders/api.py",
    "ProbeGraders": "functions/graders/probe_graders.py",
}
LOCK = LAYERS / "dependencies" / "requirements.txt"
EXCLUDED = LAYERS / "dependencies" / "excluded.txt"


def test_functions_that_call_graders_and_those_before_them_are_traced(aws):
    functions = aws.functions()
    for name in (*CALL_GRADERS, "DispatchChunks", "CompletionsApi", "CallbacksApi"):
        assert functions[name]["TracingConfig"] == {"Mode": "Active"}


def test_nothing_but_lambda_tells_a_function_where_the_daemon_is(aws, local):
    """The local stack has none, and nothing is traced there."""
    for synthesized in (aws, local):
        for function in synthesized.functions().values():
            variables = function["Environment"]["Variables"]
            assert not [name for name in variables if "XRAY" in name or "TRACE" in name]


@pytest.mark.parametrize("workflow", ["ScoreCompletions", "ExportScores"])
def test_a_workflow_may_send_its_traces(aws, workflow):
    [machine] = [
        each
        for logical_id, each in aws.service.find_resources(
            "AWS::StepFunctions::StateMachine"
        ).items()
        if logical_id.startswith(workflow)
    ]
    role = machine["Properties"]["RoleArn"]["Fn::GetAtt"][0]
    allowed = {
        action
        for statement in statements_of(aws.service_template, role)
        for action in listed(statement["Action"])
    }
    assert {"xray:PutTraceSegments", "xray:PutTelemetryRecords"} <= allowed


@pytest.mark.parametrize("name", CALL_GRADERS)
def test_the_log_of_what_calls_graders_is_found_by_its_name(aws, name):
    """The guide asks for log groups whose name has this; CloudFormation makes it of the id."""
    group = aws.functions()[name]["LoggingConfig"]["LogGroup"]["Ref"]
    assert group.startswith(f"{name}Logs")
    groups = aws.service.find_resources("AWS::Logs::LogGroup")
    assert [each for each in groups if f"{name}Logs" in each] == [group]
    assert "LogGroupName" not in groups[group]["Properties"]


def packages(lock: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+)==", lock, re.MULTILINE))


def test_the_layer_has_the_tracer_and_not_what_lambda_has():
    locked = packages(LOCK.read_text())
    assert {"aws-xray-sdk", "wrapt"} <= locked
    excluded = set(EXCLUDED.read_text().split())
    assert excluded == {"botocore"}
    assert not locked & {"boto3", "botocore", "s3transfer", "python-dateutil", "urllib3", "six"}
    assert (
        f"--excludes {EXCLUDED.relative_to(REPOSITORY_ROOT)}"
        in (REPOSITORY_ROOT / "Makefile").read_text()
    )


def test_layer_and_tests_have_the_same_tracer():
    def pins(lock):
        return set(re.findall(r"^(?:aws-xray-sdk|wrapt)==\S+", lock, re.MULTILINE))

    assert pins(LOCK.read_text()) == pins((REPOSITORY_ROOT / "requirements-dev.txt").read_text())
    assert len(pins(LOCK.read_text())) == 2


_TRACED = """
import sys
sys.path[:0] = sys.argv[1:]
import functions.scoring.grade_chunk
from autotune_platform.gateway.traced_calls import traced_call
with traced_call("grd_1", request_id="req_1"):
    pass
"""


def test_what_is_deployed_sends_segments_in_a_process_like_a_functions(deployed_paths):
    invocation = Invocation()
    with daemon() as receiving:
        finished = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _TRACED, *map(str, deployed_paths)],
            capture_output=True,
            text=True,
            check=False,
            env={
                "LAMBDA_TASK_ROOT": "/var/task",
                "AWS_XRAY_DAEMON_ADDRESS": receiving.address,
                "_X_AMZN_TRACE_ID": invocation.header,
                "POWERTOOLS_LOG_LEVEL": "INFO",
            },
        )
        assert finished.returncode == 0, finished.stderr
        assert finished.stderr == ""
        (segment,) = receiving.documents
    assert segment["annotations"]["request_id"] == "req_1"
    (line,) = map(json.loads, finished.stdout.splitlines())
    assert (line["request_id"], line["xray_trace_id"]) == ("req_1", invocation.trace_id)
