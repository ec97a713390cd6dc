"""One local stack and one grader, running for the tests of every environment."""

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from autotune import AutotuneClient
from integrations.environments import INTEGRATIONS, OFFLINE, Environment
from local.endpoint import LOOPBACK, free_port
from local.grader_process import GraderProcess
from local.progress import Progress
from local.sagemaker.settings import GRACE_VARIABLE, IMAGES_VARIABLE, PYTHON_VARIABLE
from local.stack import LocalStack

GRADER_SOURCE = INTEGRATIONS / "grader.py"
GRADER_BATCH_SIZE = 50
# Folders of real data, and a server that somebody has built: they are no part of the repository.
DATA_VARIABLES = frozenset(["AUTOTUNE_DATA_JUDGES", "AUTOTUNE_LLAMA_SERVER"])
# Back-offs of the platform take a fiftieth of their time.
WAIT_SCALE = "0.02"
JOB_GRACE_SECONDS = "5"

_AUTOTUNE = Path(sys.executable).with_name("autotune")


@contextmanager
def served_stack(progress: Progress) -> Iterator[Mapping[str, str]]:
    """Yields the environment variables with which tests reach a running stack and its grader.

    ``AUTOTUNE_BASE_URL`` and ``AUTOTUNE_API_KEY`` are the first organization's;
    ``INTEGRATIONS_GRADER_ID`` names a verified grader that serves ``integrations/grader.py``.
    ``INTEGRATIONS_AWS_ENDPOINT`` is where the stack's AWS is, ``INTEGRATIONS_STACK`` its folder.

    Raises:
        MiniStackError, DeploymentError, OperatorCommandError: If the stack does not come up.
        ServerProcessError: If the grader does not start.
    """
    with (
        tempfile.TemporaryDirectory(prefix="autotune-integrations-") as folder,
        LocalStack(
            directory=Path(folder),
            environment={"SFN_WAIT_SCALE": WAIT_SCALE, **sagemaker_variables()},
            progress=progress,
        ) as profile,
        AutotuneClient(base_url=profile.base_url, api_key=profile.api_key) as client,
    ):
        port = free_port()
        registered = client.graders.register(
            name="integrations",
            endpoint=f"http://{LOOPBACK}:{port}",
            capabilities={"maxBatchSize": GRADER_BATCH_SIZE},
        )
        if registered.credentials is None:
            raise AssertionError("a black-box grader was registered without a secret")
        mine = {
            name: text
            for name, text in os.environ.items()
            if not name.startswith("AUTOTUNE_") or name in DATA_VARIABLES
        }
        with GraderProcess(
            command=_AUTOTUNE,
            source=GRADER_SOURCE,
            port=port,
            environment={**mine, "AUTOTUNE_GRADER_SECRET": registered.credentials.shared_secret},
            log_file=Path(folder) / "grader.log",
        ):
            client.graders.verify(registered.grader.id)
            yield {
                **mine,
                **OFFLINE,
                "AUTOTUNE_BASE_URL": profile.base_url,
                "AUTOTUNE_API_KEY": profile.api_key,
                "INTEGRATIONS_GRADER_ID": registered.grader.id,
                "INTEGRATIONS_AWS_ENDPOINT": profile.aws_endpoint_url,
                "INTEGRATIONS_STACK": folder,
            }


def sagemaker_variables() -> Mapping[str, str]:
    """What the stack's SageMaker runs jobs and hosts of adapters with: an environment with torch.

    It is not looked for before somebody asks for a job.
    """
    lora = Environment(INTEGRATIONS / "lora")
    host = [str(lora.python), str(lora.source / "host.py")]
    return {
        PYTHON_VARIABLE: str(lora.python),
        IMAGES_VARIABLE: json.dumps({"*djl-inference*": host}),
        GRACE_VARIABLE: JOB_GRACE_SECONDS,
        # Its jobs share two cores, where threads that wait for each other take most of the time.
        "OMP_NUM_THREADS": "1",
    }
