"""Jobs are processes that run a script, and what becomes of them is what SageMaker says."""

import json
import math
import re

import psutil
import pytest
from botocore.exceptions import ClientError

from local.endpoint import ACCOUNT
from local.sagemaker import job
from local.sagemaker.faults import Kind
from tests.support.local_sagemaker import (
    BUCKET,
    INSTANCE,
    an_hour_later,
    channel,
    entered,
    is_alive,
    until,
)


def test_a_job_trains_with_its_data_and_its_model_is_in_s3(lab):
    ended = lab.train(lab.job("whole", Environment={"SHARDS": "2", "CACHE": "/opt/ml/input/cache"}))
    assert ended["TrainingJobStatus"] == ended["SecondaryStatus"] == "Completed"
    assert ended["TrainingJobArn"] == f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:training-job/whole"
    assert entered(ended) == ["Starting", "Downloading", "Training", "Uploading", "Completed"]
    assert ended["CreationTime"] <= ended["TrainingStartTime"] <= ended["TrainingEndTime"]
    most = math.ceil((ended["TrainingEndTime"] - ended["TrainingStartTime"]).total_seconds())
    assert 1 <= ended["TrainingTimeInSeconds"] == ended["BillableTimeInSeconds"] <= most

    given = json.loads(lab.artifact(ended)["given.json"])
    assert given["arguments"] == ["--epochs", "3"]
    assert given["data"] == {
        "SM_CHANNEL_CODE": ["sourcedir.tar.gz"],
        "SM_CHANNEL_TRAIN": ["rows.jsonl"],
    }
    environment = given["environment"]
    assert json.loads(environment["SM_HPS"]) == {"epochs": 3}
    assert environment["SM_HP_EPOCHS"] == "3"
    assert environment["SM_CURRENT_HOST"] == "algo-1"
    assert environment["TRAINING_JOB_NAME"] == "whole"
    assert environment["SHARDS"] == "2"
    # /opt/ml is a scratch folder, which is gone.
    assert environment["CACHE"].endswith("/whole/input/cache")
    assert not list((lab.directory / "scratch" / "jobs").glob("*"))
    assert "trained" in (lab.directory / "logs" / "whole.log").read_text()


def test_an_isolated_job_has_no_way_to_aws_and_another_has(lab):
    for name, is_isolated in (("isolated", True), ("open", False)):
        ended = lab.train(lab.job(name, EnableNetworkIsolation=is_isolated))
        environment = json.loads(lab.artifact(ended)["given.json"])["environment"]
        assert ("AWS_ACCESS_KEY_ID" in environment) is not is_isolated


def test_code_may_come_from_s3_and_be_a_shell_script(lab):
    code = lab.archive(
        "shell/code.tar.gz", {"run.sh": 'echo "$@" > $SM_MODEL_DIR/said\n', "lib.py": ""}
    )
    request = lab.job("shell", InputDataConfig=[channel("train", f"s3://{BUCKET}/shell/train")])
    # As SageMaker's own SDK sends them, hyperparameters are JSON.
    request["HyperParameters"] = {
        "sagemaker_program": '"run.sh"',
        "sagemaker_submit_directory": json.dumps(code),
        "rate": "0.5",
        "name": '"a b"',
    }
    assert lab.artifact(lab.train(request)) == {"said": b"--name a b --rate 0.5\n"}


def test_a_container_may_have_a_command_of_its_own(lab):
    request = lab.job("entry")
    request["AlgorithmSpecification"] |= {
        "ContainerEntrypoint": ["/bin/sh", "-c"],
        "ContainerArguments": ["cat $SM_CHANNEL_TRAIN/rows.jsonl > $SM_MODEL_DIR/m"],
    }
    assert lab.artifact(lab.train(request))["m"] == b"{}\n"


def test_output_beside_the_model_and_models_as_they_are(lab):
    script = """
import os, pathlib
pathlib.Path(os.environ["SM_MODEL_DIR"], "weights").write_text("1")
pathlib.Path(os.environ["SM_OUTPUT_DATA_DIR"], "curve").write_text("2")
"""
    request = lab.job("plain", script)
    request["OutputDataConfig"]["CompressionType"] = "NONE"
    ended = lab.train(request)
    assert ended["ModelArtifacts"]["S3ModelArtifacts"] == f"s3://{BUCKET}/out/plain/output/model"
    assert lab.object_at(f"s3://{BUCKET}/out/plain/output/model/weights") == b"1"
    assert lab.object_at(f"s3://{BUCKET}/out/plain/output/output.tar.gz")


@pytest.mark.parametrize("compression", ["GZIP", "NONE"])
def test_what_a_job_leaves_is_encrypted_with_the_key_that_it_names(lab, compression):
    script = """
import os, pathlib
pathlib.Path(os.environ["SM_MODEL_DIR"], "weights").write_text("1")
pathlib.Path(os.environ["SM_OUTPUT_DATA_DIR"], "curve").write_text("2")
"""
    key = "arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    request = lab.job(f"keyed-{compression.lower()}", script)
    request["OutputDataConfig"] |= {"KmsKeyId": key, "CompressionType": compression}
    ended = lab.train(request)
    assert ended["OutputDataConfig"]["KmsKeyId"] == key
    below = f"out/{request['TrainingJobName']}/output/"
    listed = lab.s3.list_objects_v2(Bucket=BUCKET, Prefix=below)["Contents"]
    heads = [lab.s3.head_object(Bucket=BUCKET, Key=one["Key"]) for one in listed]
    assert len(heads) == 2
    assert {one["SSEKMSKeyId"] for one in heads} == {key}


@pytest.mark.parametrize(
    ("name", "script", "reason"),
    [
        (
            "raises",
            "raise ValueError('too few rows')",
            "AlgorithmError.*too few rows.*exit code: 1",
        ),
        ("exits", "import os; os._exit(7)", "AlgorithmError.*exit code: 7"),
        (
            "says-why",
            "import os; open(os.environ['SM_OUTPUT_DIR'] + '/failure', 'w').write('none'); 1 / 0",
            "AlgorithmError: none, exit code: 1",
        ),
    ],
)
def test_a_script_that_fails_fails_the_job_and_leaves_no_model(lab, name, script, reason):
    ended = lab.train(lab.job(name, script))
    assert ended["TrainingJobStatus"] == ended["SecondaryStatus"] == "Failed"
    assert re.search(reason, ended["FailureReason"], re.DOTALL)
    assert "/tmp" not in ended["FailureReason"]
    with pytest.raises(ClientError, match="NoSuchKey"):
        lab.artifact(ended)


def test_what_a_script_started_ends_with_it(lab):
    script = """
import os, pathlib, subprocess
child = subprocess.Popen(["sleep", "100"])
pathlib.Path(os.environ["SM_MODEL_DIR"], "child").write_text(str(child.pid))
"""
    child = int(lab.artifact(lab.train(lab.job("parent", script)))["child"])
    until(lambda: not psutil.pid_exists(child) or not is_alive(psutil.Process(child)))


def test_data_that_are_not_there_fail_the_job(lab):
    missing = [channel("train", f"s3://{BUCKET}/nowhere/")]
    ended = lab.train(lab.job("no-data", InputDataConfig=missing))
    assert ended["FailureReason"].startswith("ClientError: Data download failed")
    assert "TrainingTimeInSeconds" not in ended

    request = lab.job("no-program")
    request["HyperParameters"]["sagemaker_program"] = "other.py"
    assert "other.py is not in" in lab.train(request)["FailureReason"]


def test_code_that_leads_out_of_its_folder_is_not_unpacked(lab):
    request = lab.job("climbing")
    lab.archive("climbing/code/sourcedir.tar.gz", {"train.py": "", "../../climbed": "x"})
    assert "cannot be unpacked" in lab.train(request)["FailureReason"]


LASTING = """
import os, pathlib, time
pathlib.Path(os.environ["SM_MODEL_DIR"], "half").write_text("1")
print("begun", flush=True)
time.sleep(100)
"""
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n{LASTING}"


def begun(lab, name):
    log = lab.directory / "logs" / f"{name}.log"
    until(lambda: log.exists() and "begun" in log.read_text())


@pytest.mark.parametrize(("name", "script"), [("stopped", LASTING), ("stubborn", STUBBORN)])
def test_a_stopped_job_has_what_it_had_of_a_model(lab, name, script):
    lab.sagemaker.create_training_job(**lab.job(name, script))
    begun(lab, name)
    lab.sagemaker.stop_training_job(TrainingJobName=name)
    assert lab.described(name)["TrainingJobStatus"] in {"Stopping", "Stopped"}
    ended = lab.ended(name)
    assert ended["TrainingJobStatus"] == ended["SecondaryStatus"] == "Stopped"
    assert lab.artifact(ended) == {"half": b"1"}
    with pytest.raises(ClientError, match="in status Stopped") as refused:
        lab.sagemaker.stop_training_job(TrainingJobName=name)
    assert refused.value.response["Error"]["Code"] == "ValidationException"


def test_a_job_that_takes_too_long_is_stopped_and_not_completed(lab, monkeypatch):
    condition = {"MaxRuntimeInSeconds": 600}
    lab.sagemaker.create_training_job(**lab.job("long", LASTING, StoppingCondition=condition))
    begun(lab, "long")
    an_hour_later(monkeypatch, job)
    ended = lab.ended("long")
    assert ended["TrainingJobStatus"] == "Stopped"
    assert ended["SecondaryStatus"] == "MaxRuntimeExceeded"
    assert lab.artifact(ended) == {"half": b"1"}


COUNTING = """
import os, pathlib, sys, time
folder = pathlib.Path(sys.argv[sys.argv.index("--checkpoints") + 1])
done = len(list(folder.iterdir()))
for step in range(done, 4):
    (folder / f"step-{step}").write_text(str(step))
    print("begun", flush=True)
    if step == 1:
        time.sleep(100 if done == 0 else 0)
pathlib.Path(os.environ["SM_MODEL_DIR"], "resumed-at").write_text(str(done))
"""


def counting_job(lab, name, **changes):
    request = lab.spot_job(name, COUNTING, **changes)
    request["HyperParameters"]["checkpoints"] = "/opt/ml/checkpoints"
    return request


def test_an_interrupted_spot_job_goes_on_where_it_was(lab):
    lab.sagemaker.create_training_job(**counting_job(lab, "spot"))
    until(lambda: len(keys(lab, "checkpoints/spot/")) == 2)
    lab.plant(Kind.INTERRUPTION, name="spot")
    ended = lab.ended("spot")
    assert ended["TrainingJobStatus"] == "Completed"
    assert entered(ended) == [
        *["Starting", "Downloading", "Training", "Interrupted"],
        *["Starting", "Downloading", "Training", "Uploading", "Completed"],
    ]
    assert lab.artifact(ended) == {"resumed-at": b"2"}
    assert len(keys(lab, "checkpoints/spot/")) == 4
    assert ended["BillableTimeInSeconds"] <= ended["TrainingTimeInSeconds"]


def test_an_interruption_may_wait_for_a_checkpoint(lab):
    lab.plant(Kind.INTERRUPTION, name="patient", is_after_checkpoint=True)
    ended = lab.train(counting_job(lab, "patient"))
    assert entered(ended).count("Interrupted") == 1
    assert int(lab.artifact(ended)["resumed-at"]) >= 1


def test_an_interruption_without_spot_is_an_error_of_sagemaker(lab):
    lab.plant(Kind.INTERRUPTION, name="on-demand")
    ended = lab.train(lab.job("on-demand", LASTING))
    assert ended["TrainingJobStatus"] == "Failed"
    assert ended["FailureReason"].startswith("InternalServerError")


def keys(lab, prefix):
    return [
        one["Key"]
        for one in lab.s3.list_objects_v2(Bucket=BUCKET, Prefix=prefix).get("Contents", [])
    ]


def test_there_is_no_capacity_on_command(lab):
    lab.plant(Kind.CAPACITY, name="crowded")
    ended = lab.train(lab.job("crowded"))
    assert ended["FailureReason"].startswith("CapacityError")
    assert entered(ended) == ["Starting", "Failed"]
    # The next name has it.
    assert lab.train(lab.job("crowded-2"))["TrainingJobStatus"] == "Completed"


def test_a_limit_refuses_the_creation(lab):
    lab.plant(Kind.RESOURCE_LIMIT, operation="CreateTrainingJob")
    with pytest.raises(lab.sagemaker.exceptions.ResourceLimitExceeded, match=INSTANCE):
        lab.sagemaker.create_training_job(**lab.job("limited"))
    with pytest.raises(ClientError, match="Requested resource not found"):
        lab.described("limited")


def test_a_job_that_is_stuck_is_stopped_or_waits_too_long(lab):
    lab.plant(Kind.STUCK, name="stuck*", times=2)
    lab.sagemaker.create_training_job(**lab.job("stuck"))
    assert lab.described("stuck")["SecondaryStatus"] == "Starting"
    lab.sagemaker.stop_training_job(TrainingJobName="stuck")
    assert lab.ended("stuck")["TrainingJobStatus"] == "Stopped"

    brief = {"MaxRuntimeInSeconds": 1, "MaxWaitTimeInSeconds": 1}
    ended = lab.train(counting_job(lab, "stuck-on-spot", StoppingCondition=brief))
    assert ended["TrainingJobStatus"] == "Stopped"
    assert ended["SecondaryStatus"] == "MaxWaitTimeExceeded"


def test_algorithms_and_sagemaker_fail_on_command(lab):
    lab.plant(Kind.ALGORITHM_ERROR, name="sick")
    ended = lab.train(lab.job("sick", LASTING))
    assert ended["FailureReason"].startswith("AlgorithmError")
    lab.plant(Kind.INTERNAL_ERROR, name="unlucky")
    assert lab.train(lab.job("unlucky"))["FailureReason"].startswith("InternalServerError")


def test_a_name_is_used_once_and_a_lost_answer_has_done_its_work(lab):
    lab.plant(Kind.LOST_ANSWER, operation="CreateTrainingJob", name="once")
    request = lab.job("once")
    with pytest.raises(Exception, match="Connection"):
        lab.sagemaker.create_training_job(**request)
    with pytest.raises(lab.sagemaker.exceptions.ResourceInUse, match="training-job/once"):
        lab.sagemaker.create_training_job(**request)
    assert lab.ended("once")["TrainingJobStatus"] == "Completed"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"TrainingJobName": "a_b"}, "regular expression"),
        ({"RoleArn": "arn:aws:iam::1:role/x" + "y" * 10}, "roleArn"),
        ({"HyperParameters": {"epochs": "3"}}, "sagemaker_program"),
        ({"StoppingCondition": {"MaxRuntimeInSeconds": 1, "MaxWaitTimeInSeconds": 2}}, "Spot"),
        ({"EnableManagedSpotTraining": True}, "MaxWaitTimeInSeconds"),
        ({"RetryStrategy": {"MaximumRetryAttempts": 2}}, "no RetryStrategy"),
        ({"ResourceConfig": {"InstanceType": INSTANCE, "InstanceCount": 2}}, "one instance"),
        ({"ResourceConfig": {"InstanceType": "ml.g99.large", "InstanceCount": 1}}, "enum"),
        ({"InputDataConfig": [channel("a b", f"s3://{BUCKET}/x")]}, "channelName"),
        ({"InputDataConfig": [channel("a", f"s3://{BUCKET}/x")] * 2}, "twice"),
        ({"InputDataConfig": [{**channel("a", "s3://b/x"), "InputMode": "Pipe"}]}, "Pipe"),
        ({"InputDataConfig": [{**channel("a", "s3://b/x"), "CompressionType": "Gzip"}]}, "Compres"),
    ],
)
def test_what_sagemaker_or_this_one_has_not_is_refused(lab, changes, said):
    with pytest.raises(ClientError, match=said) as refused:
        lab.sagemaker.create_training_job(**lab.job("refused", **changes))
    assert refused.value.response["Error"]["Code"] == "ValidationException"


def test_jobs_are_listed_in_pages_by_what_is_asked(lab):
    for name in ("list-a", "list-b", "list-c"):
        lab.train(lab.job(name))
    asked = {"NameContains": "list-", "SortBy": "Name", "SortOrder": "Ascending", "MaxResults": 2}
    pages = list(lab.sagemaker.get_paginator("list_training_jobs").paginate(**asked))
    names = [[one["TrainingJobName"] for one in page["TrainingJobSummaries"]] for page in pages]
    assert names == [["list-a", "list-b"], ["list-c"]]
    newest = lab.sagemaker.list_training_jobs(NameContains="list-", StatusEquals="Completed")
    assert newest["TrainingJobSummaries"][0]["TrainingJobName"] == "list-c"
    failed = lab.sagemaker.list_training_jobs(NameContains="list-", StatusEquals="Failed")
    assert failed["TrainingJobSummaries"] == []
    with pytest.raises(ClientError, match="NextToken"):
        lab.sagemaker.list_training_jobs(NextToken="bogus")
