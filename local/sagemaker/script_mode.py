"""A job's files and environment, as the containers for scripts of the job's owner have them.

They are those of ``sagemaker-training-toolkit`` (``environment.py``, ``params.py``), which the
prebuilt images run. ``/opt/ml`` is a scratch folder here: scripts find it by the ``SM_*``
variables, and what a hyperparameter or a variable has of ``/opt/ml`` is that folder, too.
"""

import json
import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from local.endpoint import REGION
from local.sagemaker.objects import ObjectsError, unpack
from local.sagemaker.records import Record

ROOT = "/opt/ml"
HOST = "algo-1"
PROGRAM = "sagemaker_program"
SUBMITTED = "sagemaker_submit_directory"
_OF_TOOLKIT = "sagemaker_"


class ScriptMode:
    """One job's folder.

    Args:
        root: What ``/opt/ml`` is.
        job: The job's record.
        python: What runs the script.
    """

    def __init__(self, root: Path, job: Record, *, python: str) -> None:
        self.root = root
        self._job = job
        self._python = python
        self._hyperparameters = {
            name: _decoded(self.here(value))
            for name, value in job.get("HyperParameters", {}).items()
        }
        self._variables = {
            name: self.here(value) for name, value in job.get("Environment", {}).items()
        }

    @property
    def model(self) -> Path:
        """What the script writes its model to."""
        return self.root / "model"

    @property
    def output(self) -> Path:
        """Where its further output and its ``failure`` are."""
        return self.root / "output"

    @property
    def checkpoints(self) -> Path | None:
        """What is copied to S3 while it runs; None if nothing is."""
        config = self._job.get("CheckpointConfig")
        if config is None:
            return None
        return Path(self.here(config.get("LocalPath", f"{ROOT}/checkpoints")))

    def channel(self, name: str) -> Path:
        """Where a channel's data go."""
        return self.root / "input" / "data" / name

    def here(self, text: str) -> str:
        """Return a text with what it has of ``/opt/ml`` as the job finds it."""
        below = text == ROOT or text.startswith(f"{ROOT}/")
        return f"{self.root}{text.removeprefix(ROOT)}" if below else text

    def prepare(self) -> None:
        """Make the folders and the files of configuration that containers are given."""
        for folder in (
            self.model,
            self.output / "data",
            self.output / "intermediate",
            self._config,
        ):
            folder.mkdir(parents=True, exist_ok=True)
        if self.checkpoints is not None:
            self.checkpoints.mkdir(parents=True, exist_ok=True)
        files = {
            "hyperparameters.json": self._job.get("HyperParameters", {}),
            "inputdataconfig.json": self._channels(),
            "resourceconfig.json": _RESOURCES,
        }
        for name, content in files.items():
            (self._config / name).write_text(json.dumps(content))

    def command(self, download: Callable[[str, Path], None]) -> list[str]:
        """Return what is run; its code is unpacked first.

        Args:
            download: Copies an object to a file.

        Raises:
            ObjectsError: The code is not there, or is no archive.
        """
        algorithm = self._job["AlgorithmSpecification"]
        if entry := algorithm.get("ContainerEntrypoint"):
            return [self.here(part) for part in [*entry, *algorithm.get("ContainerArguments", [])]]
        self._unpack_code(download)
        program = self._of_toolkit(PROGRAM)
        file = self._code / program
        if not file.is_file():
            raise ObjectsError(f"{program} is not in {self._of_toolkit(SUBMITTED)}")
        if program.endswith(".sh"):
            file.chmod(0o700)
            return ["/bin/sh", "-c", shlex.join([f"./{program}", *self._arguments()])]
        return [self._python, program, *self._arguments()]

    @property
    def folder(self) -> Path:
        """Where the command runs."""
        return self._code if self._code.exists() else self.root

    def environment(self) -> dict[str, str]:
        """Return the script's variables, without those of the process that it is started by."""
        own = {
            name: value for name, value in self._hyperparameters.items() if not _is_toolkit(name)
        }
        channels = sorted(self._channels())
        about = {
            "MODEL_DIR": str(self.model),
            "OUTPUT_DIR": str(self.output),
            "OUTPUT_DATA_DIR": str(self.output / "data"),
            "OUTPUT_INTERMEDIATE_DIR": str(self.output / "intermediate"),
            "INPUT_DIR": str(self.root / "input"),
            "INPUT_CONFIG_DIR": str(self._config),
            "CHANNELS": json.dumps(channels),
            "HPS": json.dumps(own),
            "USER_ARGS": json.dumps(self._arguments()),
            "CURRENT_HOST": HOST,
            "HOSTS": json.dumps([HOST]),
            "RESOURCE_CONFIG": json.dumps(_RESOURCES),
            "INPUT_DATA_CONFIG": json.dumps(self._channels()),
            "NETWORK_INTERFACE_NAME": "lo",
            "NUM_CPUS": str(os.cpu_count() or 1),
            "NUM_GPUS": str(len(list(Path("/dev").glob("nvidia[0-9]*")))),
            "LOG_LEVEL": str(self._hyperparameters.get("sagemaker_container_log_level", 20)),
            "MODULE_DIR": self._of_toolkit(SUBMITTED),
            "MODULE_NAME": self._of_toolkit(PROGRAM).removesuffix(".py"),
            "USER_ENTRY_POINT": self._of_toolkit(PROGRAM),
            **{f"CHANNEL_{name.upper()}": str(self.channel(name)) for name in channels},
            **{f"HP_{_variable(name)}": _as_variable(value) for name, value in own.items()},
        }
        return {
            **{f"SM_{name}": value for name, value in about.items()},
            "TRAINING_JOB_NAME": self._job["TrainingJobName"],
            "TRAINING_JOB_ARN": self._job["TrainingJobArn"],
            "AWS_REGION": REGION,
            "PYTHONPATH": str(self._code),
            **self._variables,
        }

    @property
    def _config(self) -> Path:
        return self.root / "input" / "config"

    @property
    def _code(self) -> Path:
        return self.root / "code"

    def _unpack_code(self, download: Callable[[str, Path], None]) -> None:
        source = self._of_toolkit(SUBMITTED)
        archive = Path(source)
        if source.startswith("s3://"):
            archive = self.root / "sourcedir.tar.gz"
            download(source, archive)
        if archive.is_dir():
            self._code.symlink_to(archive, target_is_directory=True)
            return
        unpack(archive, self._code)

    def _of_toolkit(self, name: str) -> str:
        by_variable = self._variables.get(name.upper(), "")
        return str(self._hyperparameters.get(name, by_variable))

    def _arguments(self) -> list[str]:
        arguments: list[str] = []
        for name, value in sorted(self._hyperparameters.items()):
            if not _is_toolkit(name):
                arguments += [f"-{name}" if len(name) == 1 else f"--{name}", _as_text(value)]
        return arguments

    def _channels(self) -> dict[str, dict[str, str]]:
        return {
            channel["ChannelName"]: {
                "TrainingInputMode": channel.get("InputMode", "File"),
                "S3DistributionType": "FullyReplicated",
                "RecordWrapperType": "None",
            }
            for channel in self._job.get("InputDataConfig", [])
        }


def names_a_program(asked: Mapping[str, Any]) -> bool:
    """Whether a request says what is run."""
    given = {*asked.get("HyperParameters", {}), *map(str.lower, asked.get("Environment", {}))}
    return "ContainerEntrypoint" in asked["AlgorithmSpecification"] or given >= {PROGRAM, SUBMITTED}


_RESOURCES = {"current_host": HOST, "hosts": [HOST], "network_interface_name": "lo"}


def _is_toolkit(name: str) -> bool:
    return name.startswith(_OF_TOOLKIT)


def _decoded(text: str) -> Any:
    """Return what a hyperparameter means: SageMaker's own SDK sends JSON in each, others texts."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def _as_variable(value: Any) -> str:
    return json.dumps(value) if isinstance(value, list | dict) else _as_text(value)


def _variable(name: str) -> str:
    return name.upper().replace("-", "_")
