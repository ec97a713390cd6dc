"""Deploys the CDK app to MiniStack with the ordinary CDK command line."""

import hashlib
import shlex
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from botocore.exceptions import ClientError

from local.endpoint import ACCOUNT, REGION, cloudformation_client, isolated_environment
from local.progress import Progress

REPOSITORY_ROOT = Path(__file__).resolve().parent.parent
CDK = REPOSITORY_ROOT / "node_modules" / ".bin" / "cdk"
SERVICE_STACK_NAME = "autotune"
DATA_STACK_NAME = "autotune-data"
BOOTSTRAP_STACK_NAME = "CDKToolkit"
COMMAND_SECONDS = 300
SHOWN_LOG_LINES = 40


class DeploymentError(RuntimeError):
    """The app could not be deployed; the message ends with what the failing command printed."""


class Deployment:
    """The CDK app on one MiniStack.

    Args:
        directory: Folder for the cloud assembly and the log.
        endpoint: Where MiniStack answers.
        progress: Where steps are reported.
    """

    def __init__(self, *, directory: Path, endpoint: str, progress: Progress) -> None:
        self._directory = directory
        self._endpoint = endpoint
        self._progress = progress

    @property
    def log_file(self) -> Path:
        """What the CDK command line printed."""
        return self._directory / "deploy.log"

    @property
    def _assembly(self) -> Path:
        return self._directory / "cdk.out"

    def bring_up_to_date(self, *, deployed_fingerprint: str | None) -> str:
        """Deploys the app unless it is deployed already as it is now.

        Args:
            deployed_fingerprint: What an earlier call returned, or None.

        Returns:
            Fingerprint of what is deployed now.

        Raises:
            DeploymentError: If a CDK command fails or takes over five minutes.
        """
        self.log_file.write_bytes(b"")
        # Synthesis and bootstrap need nothing of each other, and Node starts slowly.
        with (
            self._progress.step("Synthesizing the CDK app, bootstrapping MiniStack"),
            ThreadPoolExecutor(max_workers=1) as beside,
        ):
            bootstrap = beside.submit(self._bootstrap)
            self._synthesize()
            bootstrap.result()
        fingerprint = self._fingerprint()
        stacks = (DATA_STACK_NAME, SERVICE_STACK_NAME)
        if fingerprint == deployed_fingerprint and all(map(self._has_stack, stacks)):
            return fingerprint
        with self._progress.step(f"Deploying {' and '.join(stacks)}"):
            self._deploy()
        return fingerprint

    def outputs(self) -> dict[str, str]:
        """Outputs of the service stack, by name.

        Raises:
            DeploymentError: If the stack is not deployed.
        """
        if not self._has_stack(SERVICE_STACK_NAME):
            message = f"MiniStack has no stack {SERVICE_STACK_NAME}"
            raise DeploymentError(message)
        client = cloudformation_client(self._endpoint)
        stack = client.describe_stacks(StackName=SERVICE_STACK_NAME)["Stacks"][0]
        return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}

    def _synthesize(self) -> None:
        app = shlex.join([sys.executable, str(REPOSITORY_ROOT / "app.py")])
        arguments = ["synth", "--quiet", "--app", app, "--output", str(self._assembly)]
        # The fingerprint tells of a new port, so that what names the origin is deployed again.
        context = ["--context", "target=local", "--context", f"api-origin={self._endpoint}"]
        self._run_cdk([*arguments, *context], folder=REPOSITORY_ROOT)

    def _bootstrap(self) -> None:
        if self._has_stack(BOOTSTRAP_STACK_NAME):
            return
        # Run from a folder without cdk.json, so that it does not synthesize the app first.
        self._run_cdk(["bootstrap", f"aws://{ACCOUNT}/{REGION}"], folder=self._directory)

    def _deploy(self) -> None:
        arguments = ["deploy", "--all", "--app", str(self._assembly)]
        # Direct deployment spares the change sets that nobody looks at here.
        arguments += ["--require-approval", "never", "--method", "direct"]
        self._run_cdk(arguments, folder=self._directory)

    def _run_cdk(self, arguments: Sequence[str], *, folder: Path) -> None:
        if not CDK.exists():
            message = f"{CDK} is missing: run `make up`, which installs it"
            raise DeploymentError(message)
        command = [str(CDK), *arguments, "--no-notices", "--no-version-reporting"]
        environment = isolated_environment(
            {
                "AWS_ENDPOINT_URL": self._endpoint,
                "AWS_ENDPOINT_URL_S3": self._endpoint,
                "CDK_DISABLE_CLI_TELEMETRY": "true",
                "CDK_VALIDATION": "false",
                "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20",
            }
        )
        try:
            finished = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=COMMAND_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            message = f"cdk {arguments[0]} took over {COMMAND_SECONDS} s; see {self.log_file}"
            raise DeploymentError(message) from error
        with self.log_file.open("ab") as log:
            log.write(f"$ {shlex.join(command)}\n".encode() + finished.stdout)
        if finished.returncode != 0:
            output = finished.stdout.decode(errors="replace").splitlines()
            tail = "\n".join(output[-SHOWN_LOG_LINES:])
            message = f"cdk {arguments[0]} ended with {finished.returncode}:\n{tail}"
            raise DeploymentError(message)

    def _has_stack(self, name: str) -> bool:
        """Whether a stack is there and its last deployment succeeded."""
        try:
            found = cloudformation_client(self._endpoint).describe_stacks(StackName=name)
        except ClientError as error:
            # CloudFormation answers ValidationError for a stack that does not exist.
            if error.response["Error"]["Code"] == "ValidationError":
                return False
            raise
        return found["Stacks"][0]["StackStatus"] in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}

    def _fingerprint(self) -> str:
        """Digest of the templates, which name each asset by its content."""
        digest = hashlib.sha256()
        for template in sorted(self._assembly.glob("*.template.json")):
            digest.update(template.name.encode() + b"\0" + template.read_bytes())
        return digest.hexdigest()
