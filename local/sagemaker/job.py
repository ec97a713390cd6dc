"""One training job: instances, data, a process, its model.

What becomes of it is what SageMaker does: a script that fails fails the job; one that is stopped,
or takes too long, is asked to end, and what it has of a model by then is stored; one that is
interrupted on spot instances begins again with the checkpoints that were stored.
"""

import logging
import math
import shutil
import threading
import time
from enum import Enum, auto
from typing import Any

from local.sagemaker.faults import Fault, Faults, Kind
from local.sagemaker.hosts import MOST_CHARACTERS
from local.sagemaker.job_logs import LogStream
from local.sagemaker.metrics import final_metrics
from local.sagemaker.objects import Objects, ObjectsError, pack
from local.sagemaker.processes import LeashedProcess, base_environment
from local.sagemaker.records import Record, Records, now
from local.sagemaker.script_mode import ROOT, ScriptMode
from local.sagemaker.settings import Settings

LOG_GROUP = "/aws/sagemaker/TrainingJobs"
INTERNAL = "InternalServerError: We encountered an internal error. Please try again."
CAPACITY = (
    "CapacityError: Unable to provision requested ML compute capacity."
    " Please retry using a different ML instance type."
)
_KIND = "training-job"
_OPERATION = "CreateTrainingJob"
_TICK_SECONDS = 0.05
_LAST_LINES = 10
SPOT_SHARE = 0.3
"""What of the time on spot instances is billed; AWS says that it is 10 % at least."""
_MESSAGES = {
    "Starting": "Preparing the instances for training",
    "Downloading": "Downloading input data",
    "Training": "Training image download completed. Training in progress.",
    "Uploading": "Uploading generated training model",
    "Stopping": "Stopping the training job",
    "Interrupted": "Training job interrupted: spot capacity was reclaimed",
    "Completed": "Training job completed",
    "Failed": "Training job failed",
    "Stopped": "Training job stopped",
    "MaxRuntimeExceeded": "Training job runtime exceeded MaxRuntimeInSeconds",
    "MaxWaitTimeExceeded": "Training job exceeded MaxWaitTimeInSeconds",
}

logger = logging.getLogger(__name__)


class _JobError(Exception):
    """The job fails, for the reason that the message says."""


class _AbandonedError(Exception):
    """The server ends."""


class _Why(Enum):
    """Why a process is no longer there."""

    ENDED = auto()
    STOPPED = auto()
    MAX_RUNTIME = auto()
    MAX_WAIT = auto()
    INTERRUPTED = auto()


_ENDS = {
    _Why.ENDED: ("Completed", "Completed"),
    _Why.STOPPED: ("Stopped", "Stopped"),
    _Why.MAX_RUNTIME: ("Stopped", "MaxRuntimeExceeded"),
    _Why.MAX_WAIT: ("Stopped", "MaxWaitTimeExceeded"),
}


class Job:
    """A job at work, on a thread of its own."""

    def __init__(
        self,
        name: str,
        *,
        records: Records,
        faults: Faults,
        objects: Objects,
        settings: Settings,
    ) -> None:
        self._name = name
        self._records = records
        self._faults = faults
        self._objects = objects
        self._settings = settings
        self._log_file = settings.logs / f"{name}.log"
        self._log = LogStream(
            self._log_file, group=LOG_GROUP, stream=f"{name}/algo-1-{int(time.time())}"
        )
        self._deciding = threading.Lock()
        self._is_over = False
        self._stop = threading.Event()
        self._abandon = threading.Event()
        self._trained_seconds = 0.0
        self._stored: dict[str, tuple[int, int]] = {}
        self._thread = threading.Thread(target=self._work, name=f"job-{name}", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> bool:
        """Have it stopped; return whether it was at work and not stopping yet."""
        with self._deciding:
            if self._is_over or self._stop.is_set():
                return False
            self._enter("Stopping", status="Stopping")
            self._stop.set()
            return True

    def abandon(self) -> None:
        """Have it end at once, as it is."""
        self._abandon.set()

    def join(self) -> None:
        """Wait for the end of its thread."""
        self._thread.join()

    def _work(self) -> None:
        root = self._settings.scratch / "jobs" / self._name
        reason: str | None = None
        status = secondary = "Failed"
        try:
            status, secondary = self._run(
                ScriptMode(root, self._job(), python=self._settings.python)
            )
        except _AbandonedError:
            logger.info("job %s is left as it is", self._name)
            return
        except _JobError as failed:
            reason = str(failed)
        except Exception:  # whatever it is, the job must not stay as it is
            logger.exception("job %s failed by a fault of the local SageMaker", self._name)
            reason = INTERNAL
        finally:
            shutil.rmtree(root, ignore_errors=True)
        self._finish(status, secondary, reason=reason)

    def _run(self, script: ScriptMode) -> tuple[str, str]:
        """Do all of it, and return the status and the secondary one that it ends with."""
        while True:
            self._await_instances()
            why = self._attempt(script)
            if why is not _Why.INTERRUPTED:
                break
            self._enter("Interrupted")
            shutil.rmtree(script.root, ignore_errors=True)
            self._enter("Starting")
        return _ENDS[why]

    def _await_instances(self) -> None:
        take = self._faults.take
        if take(_OPERATION, self._name, Kind.CAPACITY):
            raise _JobError(CAPACITY)
        if take(_OPERATION, self._name, Kind.INTERNAL_ERROR):
            raise _JobError(INTERNAL)
        if stuck := take(_OPERATION, self._name, Kind.STUCK):
            until = time.monotonic() + (stuck.seconds or math.inf)
            while (
                time.monotonic() < until and not self._stop.is_set() and not self._waited_enough()
            ):
                self._tick()
            if stuck.seconds and time.monotonic() >= until:
                raise _JobError(CAPACITY)

    def _attempt(self, script: ScriptMode) -> _Why:
        """Download, train and upload once; return why that is over."""
        if over := self._over_by_now():
            return over
        self._enter("Downloading")
        script.prepare()
        command = self._downloaded(script)
        if over := self._over_by_now():
            return over
        self._enter("Training")
        process = LeashedProcess(
            command,
            environment={**self._environment(), **script.environment()},
            folder=script.folder,
            log_file=self._log_file,
            grace_seconds=self._settings.grace_seconds,
        )
        began = time.monotonic()
        try:
            why, fault = self._watch(process, script, began)
            process.ask_to_end()
            self._await_end(process)
        finally:
            code = process.let_go()
            self._trained_seconds += time.monotonic() - began
        self._store_checkpoints(script)
        if why is _Why.INTERRUPTED:
            if not self._job()["EnableManagedSpotTraining"]:
                raise _JobError(INTERNAL)
            return why
        failed = fault is not None or (why is _Why.ENDED and code != 0)
        self._upload(script, with_model=not failed)
        if failed:
            raise _JobError(self._reason(script, command, code or 1))
        return why

    def _downloaded(self, script: ScriptMode) -> list[str]:
        """Download what the job reads, and return its command."""
        job = self._job()
        try:
            for channel in job.get("InputDataConfig", []):
                uri = channel["DataSource"]["S3DataSource"]["S3Uri"]
                self._objects.download(uri, script.channel(channel["ChannelName"]))
                self._tick()
        except ObjectsError as error:
            raise _JobError(f"ClientError: Data download failed:{error}") from error
        if script.checkpoints is not None:
            try:
                self._objects.download(job["CheckpointConfig"]["S3Uri"], script.checkpoints)
            except ObjectsError as error:
                if not str(error).startswith("NoSuchKey"):  # the first attempt finds none
                    raise _JobError(f"ClientError: Checkpoint download failed:{error}") from error
        try:
            return script.command(self._objects.download_file)
        except ObjectsError as error:
            raise _JobError(f"AlgorithmError: framework error: {error}") from error

    def _watch(
        self, process: LeashedProcess, script: ScriptMode, began: float
    ) -> tuple[_Why, Fault | None]:
        """Wait until a process ends, or has to; return why, and the fault that kills it."""
        due: Fault | None = None
        looked = time.monotonic()
        kinds = (Kind.INTERRUPTION, Kind.ALGORITHM_ERROR)
        while process.wait(_TICK_SECONDS) is None:
            if over := self._over_by_now(running=time.monotonic() - began):
                return over, None
            due = due or self._faults.take(_OPERATION, self._name, *kinds)
            if due is not None and self._happens(due, time.monotonic() - began):
                if due.kind is Kind.ALGORITHM_ERROR:
                    return _Why.ENDED, due
                return _Why.INTERRUPTED, None
            if time.monotonic() - looked >= self._settings.look_seconds:
                self._store_checkpoints(script)
                self._log.send()
                looked = time.monotonic()
        return _Why.ENDED, None

    def _happens(self, due: Fault, running: float) -> bool:
        return running >= due.seconds and (bool(self._stored) or not due.is_after_checkpoint)

    def _await_end(self, process: LeashedProcess) -> None:
        while process.wait(_TICK_SECONDS) is None:
            if self._abandon.is_set():
                raise _AbandonedError

    def _over_by_now(self, running: float = 0.0) -> _Why | None:
        if self._abandon.is_set():
            raise _AbandonedError
        if self._stop.is_set():
            return _Why.STOPPED
        if self._trained_seconds + running >= self._limit("MaxRuntimeInSeconds"):
            return _Why.MAX_RUNTIME
        if self._waited_enough():
            return _Why.MAX_WAIT
        return None

    def _waited_enough(self) -> bool:
        return now() - float(self._job()["CreationTime"]) >= self._limit("MaxWaitTimeInSeconds")

    def _limit(self, name: str) -> float:
        return float(self._job()["StoppingCondition"].get(name, math.inf))

    def _tick(self) -> None:
        if self._abandon.wait(_TICK_SECONDS):
            raise _AbandonedError

    def _store_checkpoints(self, script: ScriptMode) -> None:
        if script.checkpoints is None or not script.checkpoints.exists():
            return
        uri = self._job()["CheckpointConfig"]["S3Uri"]
        try:
            self._objects.upload(script.checkpoints, uri, unless=self._stored)
        except (ObjectsError, OSError) as error:  # a file that is being replaced: next time
            logger.warning("checkpoints of %s are not stored yet: %s", self._name, error)

    def _upload(self, script: ScriptMode, *, with_model: bool) -> None:
        if not self._stop.is_set():
            self._enter("Uploading")
        job = self._job()
        kms_key = job["OutputDataConfig"].get("KmsKeyId")
        try:
            data = script.output / "data"
            if data.is_dir() and any(data.iterdir()):
                pack(data, script.root / "output.tar.gz")
                packed = script.root / "output.tar.gz"
                self._objects.upload_file(
                    packed, f"{job['_output']}/output.tar.gz", kms_key=kms_key
                )
            if not with_model:
                return
            uri = job["ModelArtifacts"]["S3ModelArtifacts"]
            if uri.endswith(".tar.gz"):
                pack(script.model, script.root / "model.tar.gz")
                self._objects.upload_file(script.root / "model.tar.gz", uri, kms_key=kms_key)
            else:
                self._objects.upload(script.model, uri, unless={}, kms_key=kms_key)
        except ObjectsError as error:
            raise _JobError(f"ClientError: Artifact upload failed:{error}") from error

    def _reason(self, script: ScriptMode, command: list[str], code: int) -> str:
        said = script.output / "failure"
        if said.is_file():
            return f"AlgorithmError: {said.read_text(errors='replace')}, exit code: {code}"
        lines = self._log_file.read_text(errors="replace").splitlines()[-_LAST_LINES:]
        reason = f'ErrorMessage "{" ".join(lines)[-500:]}"\nCommand "{" ".join(command)}"'
        for here, there in ((str(script.root), ROOT), (self._settings.python, "python")):
            reason = reason.replace(here, there)
        return (
            f"AlgorithmError: ExecuteUserScriptError:\nExitCode {code}\n{reason[:800]}"
            f", exit code: {code}"
        )

    def _environment(self) -> dict[str, str]:
        """Return what is not the script's own; an isolated one has no way to AWS."""
        if self._job()["EnableNetworkIsolation"]:
            return base_environment()
        role = self._job()["RoleArn"]
        return {**base_environment(), **self._objects.roles.environment(role)}

    def _job(self) -> Record:
        record = self._records.get(_KIND, self._name)
        assert record is not None, "jobs are not deleted"
        return record

    def _enter(self, secondary: str, *, status: str | None = None) -> None:
        """Note what the job does now, unless it is being stopped."""

        def change(record: Record) -> None:
            if record["TrainingJobStatus"] == "Stopping" and status is None:
                return
            _add_transition(record, secondary)
            if status is not None:
                record["TrainingJobStatus"] = status
            if secondary == "Training":
                record.setdefault("TrainingStartTime", now())

        self._records.change(_KIND, self._name, change)

    def _finish(self, status: str, secondary: str, *, reason: str | None = None) -> None:
        self._log.send(all_of_it=True)
        seconds = math.ceil(self._trained_seconds)

        def change(record: Record) -> None:
            _add_transition(record, secondary)
            record["SecondaryStatusTransitions"][-1]["EndTime"] = now()
            record["TrainingJobStatus"] = status
            record["TrainingEndTime"] = now()
            record |= _times(seconds, on_spot=record["EnableManagedSpotTraining"])
            if metrics := final_metrics(self._log_file, record["AlgorithmSpecification"]):
                record["FinalMetricDataList"] = metrics
            if reason is not None:
                record["FailureReason"] = reason[:MOST_CHARACTERS]

        with self._deciding:
            self._is_over = True
            self._records.change(_KIND, self._name, change)


def _add_transition(record: Record, secondary: str) -> None:
    moment = now()
    record["SecondaryStatus"] = secondary
    record["SecondaryStatusTransitions"][-1].setdefault("EndTime", moment)
    record["SecondaryStatusTransitions"].append(
        {"Status": secondary, "StartTime": moment, "StatusMessage": _MESSAGES[secondary]}
    )


def _times(seconds: int, *, on_spot: bool) -> dict[str, Any]:
    if not seconds:  # nothing ran
        return {}
    billable = math.ceil(seconds * SPOT_SHARE) if on_spot else seconds
    return {"TrainingTimeInSeconds": seconds, "BillableTimeInSeconds": billable}
