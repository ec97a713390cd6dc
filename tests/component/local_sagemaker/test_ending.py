"""No process and no port is left behind, and what was there is there again after a restart."""

import json
import os
import signal
import subprocess
import sys

import boto3
import psutil
import pytest
from botocore.config import Config

from local.endpoint import REGION, is_free, isolated_environment
from local.sagemaker.faults import Kind
from tests.support.local_sagemaker import (
    IMAGE,
    INSTANCE,
    ROLE,
    is_alive,
    laboratory,
    serving,
    until,
    variant,
)

SERVER = """
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()
HTTPServer(("127.0.0.1", int(os.environ["SAGEMAKER_BIND_TO_PORT"])), Handler).serve_forever()
"""
# What starts a process of its own, and heeds no signal.
JOB = """
import signal, subprocess, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "100"])
time.sleep(100)
"""


@pytest.fixture
def server(tmp_path):
    """A server that is a process, with a job and a host at work."""
    (tmp_path / "job.py").write_text(JOB)
    images = {"server": [sys.executable, "-c", SERVER]}
    process = subprocess.Popen(
        [sys.executable, "-m", "local.sagemaker", "--directory", str(tmp_path)],
        env=isolated_environment(
            {
                "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
                "AUTOTUNE_SAGEMAKER_IMAGES": json.dumps(images),
            }
        ),
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            url = process.stdout.readline().strip()
            begin(url, [sys.executable, str(tmp_path / "job.py")])
            yield process, int(url.rpartition(":")[2])
        finally:
            process.kill()


def begin(url, command):
    sagemaker = boto3.client(
        "sagemaker",
        endpoint_url=url,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}),
    )
    sagemaker.create_training_job(
        TrainingJobName="lasting",
        RoleArn=ROLE,
        AlgorithmSpecification={
            "TrainingImage": IMAGE,
            "TrainingInputMode": "File",
            "ContainerEntrypoint": command,
        },
        OutputDataConfig={"S3OutputPath": "s3://models/out"},
        ResourceConfig={"InstanceType": INSTANCE, "InstanceCount": 1, "VolumeSizeInGB": 1},
        StoppingCondition={"MaxRuntimeInSeconds": 100},
    )
    sagemaker.create_model(ModelName="m", PrimaryContainer={"Image": "server"})
    sagemaker.create_endpoint_config(EndpointConfigName="m", ProductionVariants=[variant("m")])
    sagemaker.create_endpoint(EndpointName="m", EndpointConfigName="m")
    describe = sagemaker.describe_endpoint
    until(lambda: describe(EndpointName="m")["EndpointStatus"] == "InService")
    sagemaker.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_jobs_and_hosts_end_with_the_server_however_it_ends(server, number):
    process, port = server
    # Two leashes, a host, a job and what it started.
    descendants = until(lambda: len(found := children(process)) == 5 and found)
    os.kill(process.pid, number)
    process.wait(10)
    until(lambda: not any(is_alive(one) for one in descendants))
    assert is_free(port)


def children(process):
    return psutil.Process(process.pid).children(recursive=True)


@pytest.fixture
def credentials(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)


def test_what_was_there_is_there_again(tmp_path, credentials):
    with laboratory(tmp_path / "bucket") as bucket:
        with serving(tmp_path / "kept") as lab:
            lab.config("kept", variant(lab.model("kept")))
            lab.endpoint("kept", "kept")
            lab.config("shared", variant(None), ExecutionRoleArn=ROLE)
            lab.endpoint("shared", "shared")
            lab.sagemaker.create_inference_component(
                InferenceComponentName="part",
                EndpointName="shared",
                VariantName="all",
                Specification={
                    "ModelName": "kept",
                    "ComputeResourceRequirements": {"MinMemoryRequiredInMb": 128},
                },
                RuntimeConfig={"CopyCount": 1},
            )
            lab.component("part")
            lab.plant(Kind.STUCK, name="under-way")
            tags = [{"Key": "a", "Value": "b"}]
            lab.sagemaker.create_training_job(**lab.job("under-way", Tags=tags))
            lab.train(lab.job("done"))
        assert not hosted()
        with serving(tmp_path / "kept") as lab:
            assert json.loads(answer(lab, "kept", {}))["model"] == "kept"
            named = {"InferenceComponentName": "part"}
            assert json.loads(answer(lab, "shared", named))["model"] == "kept"
            assert lab.described("done")["TrainingJobStatus"] == "Completed"
            lost = lab.described("under-way")
            assert lost["TrainingJobStatus"] == "Failed"
            assert lost["FailureReason"].startswith("InternalServerError")
            assert lab.sagemaker.list_tags(ResourceArn=lost["TrainingJobArn"])["Tags"] == tags
        assert bucket.directory.exists()
    assert not hosted()


def answer(lab, endpoint, named):
    """Ask until it is served again."""

    def asked():
        try:
            return lab.ask(endpoint, "1", **named)
        except lab.runtime.exceptions.ValidationError:
            return None

    return until(asked)


def hosted():
    """Return this process's jobs and hosts."""
    return [one for one in psutil.Process().children() if "leash.py" in " ".join(one.cmdline())]
