"""The functions' logs as ``make logs`` shows them, on an emulated CloudWatch Logs."""

import time
from types import SimpleNamespace

import boto3
import pytest
from moto import mock_aws

from local import logs
from local.__main__ import main
from local.logs import source_of
from local.stack import LocalStack, StackStatus

GROUP = "/aws/cloudformation/autotune/GradeChunkLogs76C41590"
RUNTIME_LINES = (
    "START RequestId: 1f Version: $LATEST",
    "END RequestId: 1f",
    "REPORT RequestId: 1f\tDuration: 12 ms",
)


@pytest.fixture
def cloudwatch(monkeypatch):
    """A log group of one function, where ``python -m local logs`` reads it."""
    running = StackStatus(is_running=True, port=1, pid=1)
    monkeypatch.setattr(LocalStack, "status", lambda _: running)
    with mock_aws():
        client = boto3.client("logs", region_name="us-east-1")
        monkeypatch.setattr(logs, "logs_client", lambda _: client)
        client.create_log_group(logGroupName=GROUP)
        client.create_log_stream(logGroupName=GROUP, logStreamName="s")

        def write(*lines):
            now = int(time.time() * 1000)
            events = [{"timestamp": now, "message": line} for line in lines]
            client.put_log_events(logGroupName=GROUP, logStreamName="s", logEvents=events)

        yield SimpleNamespace(write=write)


def printed(capsys, *arguments):
    assert main(["--directory", "/nowhere", "logs", *arguments]) == 0
    return capsys.readouterr()


def test_what_a_function_wrote_is_shown_with_its_name_and_without_lambdas_lines(cloudwatch, capsys):
    cloudwatch.write(RUNTIME_LINES[0], '{"message": "unreadable chunk"}', *RUNTIME_LINES[1:])
    (line,) = printed(capsys).out.splitlines()
    assert line.split(maxsplit=2)[1:] == ["GradeChunk", '{"message": "unreadable chunk"}']
    assert len(printed(capsys, "--all").out.splitlines()) == 4


def test_silence_is_told(cloudwatch, capsys):
    assert printed(capsys).err == "no function wrote in 10 minutes\n"
    cloudwatch.write(*RUNTIME_LINES)
    told = printed(capsys)
    assert told.out == ""
    assert told.err.endswith("; ALL=1 shows 3 lines of Lambda itself\n")


@pytest.mark.parametrize(
    ("log_group", "source"),
    [
        (GROUP, "GradeChunk"),
        ("/aws/cloudformation/autotune-Scoring-1f2e/FailRunLogs0A1B2C3D", "FailRun"),
        ("/aws/vendedlogs/states/autotune-ScoreCompletions", "autotune-ScoreCompletions"),
        ("/aws/lambda/CatalogsApi", "CatalogsApi"),
    ],
)
def test_a_log_group_is_named_for_its_construct(log_group, source):
    assert source_of(log_group) == source
