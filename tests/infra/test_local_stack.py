"""The local stack's own parts, without a deployment: that is what the end-to-end tests do."""

import fcntl
import io
import os
import signal
import socket
import stat
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import boto3
import psutil
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from local import endpoint
from local.__main__ import EXIT_NOT_RUNNING, main
from local.endpoint import LOOPBACK, endpoint_url, free_port, isolated_environment
from local.ministack import STREAM_POSITIONS, MiniStack, MiniStackError
from local.records import (
    LocalProfile,
    StackRecord,
    read_profile,
    read_stack_record,
    write_profile,
    write_stack_record,
)
from local.stack import LocalStack, StackBusyError

PROFILE = LocalProfile(
    base_url="http://127.0.0.1:1/x",
    api_key="key_1.abc",
    organization_id="org_1",
    aws_endpoint_url="http://127.0.0.1:1",
)


def test_a_profile_is_kept_in_camel_case_and_for_its_owner_alone(tmp_path):
    write_profile(tmp_path, PROFILE)
    file = tmp_path / "local.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert '"organizationId": "org_1"' in file.read_text()
    assert read_profile(tmp_path) == PROFILE


def test_a_file_that_cannot_be_read_counts_as_none(tmp_path):
    assert read_profile(tmp_path) is None
    (tmp_path / "local.json").write_text("{")
    assert read_profile(tmp_path) is None


def test_the_preferred_port_is_taken_if_it_is_free():
    port = free_port()
    assert free_port(port) == port
    with socket.socket() as occupant:
        occupant.bind((LOOPBACK, 0))
        occupant.listen()
        occupied = occupant.getsockname()[1]
        assert free_port(occupied) != occupied


def test_no_two_processes_are_given_one_port_before_their_servers_listen(monkeypatch):
    """Each of two servers would be asked what is meant for the other."""
    first = free_port()
    few = range(first, first + 40)
    monkeypatch.setattr(endpoint, "_SERVERS_PORTS", few)
    program = (
        "import sys; from local import endpoint; "
        f"endpoint._SERVERS_PORTS = range({few.start}, {few.stop}); "
        "print(*(endpoint.free_port() for _ in range(9)), flush=True); sys.stdin.read()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", program], **pipes) as other:
        theirs = [int(port) for port in other.stdout.readline().split()]
        ours = [free_port() for _ in range(9)]
        other.stdin.close()
    assert len({first, *theirs, *ours}) == 19


def test_ports_are_given_again_once_many_others_were():
    held = psutil.Process().num_fds()
    for _ in range(200):
        free_port()
    assert psutil.Process().num_fds() <= held + 64


def test_no_child_sees_the_users_aws_account(monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "https://example.com")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
    monkeypatch.setenv("GATEWAY_PORT", "4566")
    monkeypatch.setenv("NO_PROXY", "intranet")
    environment = isolated_environment({"EXTRA": "1"})
    assert "AWS_PROFILE" not in environment
    assert "AWS_ENDPOINT_URL_S3" not in environment
    assert "AWS_SESSION_TOKEN" not in environment
    assert "GATEWAY_PORT" not in environment
    assert environment["AWS_ACCESS_KEY_ID"] == "test"
    assert environment["NO_PROXY"] == "intranet,127.0.0.1,localhost"
    assert environment["EXTRA"] == "1"


def test_a_stack_that_was_never_up_is_not_running(tmp_path, capsys):
    assert LocalStack(directory=tmp_path).down() is False
    assert main(["--directory", str(tmp_path), "status"]) == EXIT_NOT_RUNNING
    assert capsys.readouterr().out == "not running\n"


def test_two_commands_do_not_work_on_one_stack(tmp_path):
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(StackBusyError, match=str(tmp_path)):
            LocalStack(directory=tmp_path).down()


def test_a_process_that_took_over_an_old_id_is_left_alone(tmp_path):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stranger:
        write_stack_record(tmp_path, StackRecord(port=1, pid=stranger.pid))
        assert LocalStack(directory=tmp_path).down() is False
        assert stranger.poll() is None
        stranger.communicate(b"\n")
    record = read_stack_record(tmp_path)
    assert record is not None
    assert record.pid is None


def test_the_ministack_of_another_folder_is_left_alone(tmp_path):
    mine, other = tmp_path / "mine", tmp_path / "other"
    running = MiniStack(directory=other, environment={})
    pid = running.start(port=free_port())
    try:
        MiniStack(directory=mine, environment={}).stop(pid)
        assert running.runs_as(pid)
    finally:
        running.stop(pid)


def client_of(service, port):
    return boto3.client(
        service,
        config=Config(retries={"total_max_attempts": 1}),
        endpoint_url=endpoint_url(port),
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


def test_state_is_there_again_after_a_restart_on_another_port(tmp_path):
    first = MiniStack(directory=tmp_path, environment={})
    first_port = free_port()
    pid = first.start(port=first_port)
    created = client_of("sqs", first_port).create_queue(QueueName="kept")["QueueUrl"]
    # Another command stops it, as `make down` does.
    MiniStack(directory=tmp_path, environment={}).stop(pid)
    assert not first.runs_as(pid)
    assert not (tmp_path / "tmp").exists()

    second = MiniStack(directory=tmp_path, environment={})
    second_port = free_port()
    pid = second.start(port=second_port)
    try:
        sqs = client_of("sqs", second_port)
        # The URL of the first start still holds, as functions have it in their environment, and
        # event sources find the queue by its name.
        sqs.send_message(QueueUrl=created, MessageBody="{}")
        by_name = sqs.get_queue_url(QueueName="kept")["QueueUrl"]
        assert len(sqs.receive_message(QueueUrl=by_name)["Messages"]) == 1
        [saved] = (tmp_path / "state").glob("sqs.json")
        assert str(first_port) not in saved.read_text()
    finally:
        second.stop(pid)


CONSUMER = """
import boto3

def lambda_handler(event, context):
    table = boto3.resource("dynamodb").Table("seen")
    for record in event["Records"]:
        table.put_item(Item={"pk": record["dynamodb"]["Keys"]["pk"]["S"]})
"""


SLEEPER = """
import time

def lambda_handler(event, context):
    time.sleep(300)
"""


def create_function(port, name, code):
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr(f"{name}.py", code)
    client_of("lambda", port).create_function(
        FunctionName=name,
        Runtime="python3.13",
        Role="arn:aws:iam::000000000000:role/any",
        Handler=f"{name}.lambda_handler",
        Code={"ZipFile": zipped.getvalue()},
        Timeout=600,
    )


def test_a_function_at_work_holds_up_no_stop_and_no_state(tmp_path):
    ministack, port = MiniStack(directory=tmp_path, environment={}), free_port()
    pid = ministack.start(port=port)
    try:
        create_function(port, "sleeper", SLEEPER)
        with ThreadPoolExecutor(1) as threads:
            called = threads.submit(client_of("lambda", port).invoke, FunctionName="sleeper")
            while not psutil.Process(pid).children() and not called.done():
                time.sleep(0.1)
            client_of("sqs", port).create_queue(QueueName="kept")
            ministack.stop(pid)  # which fails after a minute; the function sleeps for longer
            with pytest.raises((BotoCoreError, ClientError)):
                called.result()
    finally:
        ministack.stop(pid)
    assert "kept" in (tmp_path / "state" / "sqs.json").read_text()


def table_with_stream_and_consumer(port):
    dynamodb = client_of("dynamodb", port)
    keys = {
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    dynamodb.create_table(TableName="seen", **keys)
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    created = dynamodb.create_table(TableName="followed", StreamSpecification=stream, **keys)
    create_function(port, "consumer", CONSUMER)
    client_of("lambda", port).create_event_source_mapping(
        FunctionName="consumer",
        EventSourceArn=created["TableDescription"]["LatestStreamArn"],
        StartingPosition="TRIM_HORIZON",
    )


def write_and_await_consumer(port, name):
    dynamodb = client_of("dynamodb", port)
    dynamodb.put_item(TableName="followed", Item={"pk": {"S": name}})
    deadline = time.monotonic() + 30
    while "Item" not in dynamodb.get_item(TableName="seen", Key={"pk": {"S": name}}):
        assert time.monotonic() < deadline, f"{name} never came to the stream's consumer"
        time.sleep(0.1)


def test_what_is_written_after_a_restart_comes_to_the_streams_consumers(tmp_path):
    first = MiniStack(directory=tmp_path, environment={})
    port = free_port()
    pid = first.start(port=port)
    try:
        table_with_stream_and_consumer(port)
        for name in ("one", "two", "three"):
            write_and_await_consumer(port, name)
    finally:
        first.stop(pid)
    assert STREAM_POSITIONS in (tmp_path / "state" / "lambda.json").read_text()

    second = MiniStack(directory=tmp_path, environment={})
    pid = second.start(port=port)
    try:
        write_and_await_consumer(port, "four")
    finally:
        second.stop(pid)


def test_nothing_survives_a_ministack_that_must_be_killed(tmp_path, monkeypatch):
    monkeypatch.setattr("local.ministack.SAVE_SECONDS", 0.1)
    monkeypatch.setattr("local.ministack.STOP_SECONDS", 0.5)
    ministack = MiniStack(directory=tmp_path, environment={})
    pid = ministack.start(port=free_port())
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(MiniStackError, match="was killed"):
        ministack.stop(pid)
    with pytest.raises(ProcessLookupError):
        os.killpg(pid, 0)


def test_a_start_that_fails_says_where_to_look(tmp_path):
    with socket.socket() as occupant:
        occupant.bind((LOOPBACK, 0))
        occupant.listen()
        ministack = MiniStack(directory=tmp_path, environment={})
        with pytest.raises(MiniStackError, match=r"ministack\.log"):
            ministack.start(port=occupant.getsockname()[1])
    assert "already in use" in (tmp_path / "ministack.log").read_text()
