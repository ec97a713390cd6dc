"""The local stack as one object: brought up, taken down, and back up with its data."""

import fcntl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from local.deployment import Deployment
from local.endpoint import endpoint_url, free_port
from local.first_organization import create_organization, is_key_valid
from local.ministack import MiniStack, answers
from local.progress import Progress, SilentProgress
from local.records import (
    LocalProfile,
    StackRecord,
    read_profile,
    read_stack_record,
    write_profile,
    write_stack_record,
)

FIRST_ORGANIZATION_NAME = "Local"


class StackBusyError(RuntimeError):
    """Another command is bringing the same stack up or down."""


@dataclass(frozen=True, kw_only=True)
class StackStatus:
    """What runs now.

    Attributes:
        is_running: Whether MiniStack answers.
        port: Port of MiniStack, or None if the stack was never up.
        pid: Process id of MiniStack, or None if it does not run.
    """

    is_running: bool
    port: int | None
    pid: int | None


class LocalStack:
    """MiniStack with the CDK app deployed to it and a first organization.

    As a context manager it is up inside the block and always stopped at its end::

        with LocalStack(directory=Path(folder)) as profile:
            print(profile.base_url)

    Args:
        directory: Folder for everything that is kept: state, logs, profile. A second stack needs
            a folder of its own.
        environment: Further variables for MiniStack, such as ``SFN_WAIT_SCALE``; they count when
            it is started, not while it runs.
        progress: Where steps are reported; nowhere unless given.
    """

    def __init__(
        self,
        *,
        directory: Path,
        environment: Mapping[str, str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._directory = directory.absolute()
        self._progress = progress or SilentProgress()
        self._ministack = MiniStack(
            directory=self._directory, environment={"AUTH": "true", **(environment or {})}
        )

    @property
    def directory(self) -> Path:
        """Folder of the stack."""
        return self._directory

    def up(self) -> LocalProfile:
        """Starts what does not run, deploys what changed, and makes sure that there is a key.

        State of earlier runs is there again: organizations, keys, tasks and scores.

        Raises:
            StackBusyError: If another command works on the same folder.
            MiniStackError: If MiniStack does not start.
            DeploymentError: If the CDK app cannot be deployed.
            OperatorCommandError: If no organization can be created.
        """
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._exclusive():
            was_running = self.status().is_running
            port = self._start()
            try:
                return self._deploy(port)
            except BaseException:
                if not was_running:
                    self._stop()
                raise

    def down(self) -> bool:
        """Stops the stack in order, so that its state is saved.

        Returns:
            Whether it was running.

        Raises:
            StackBusyError: If another command works on the same folder.
            MiniStackError: If it had to be killed.
        """
        if not self._directory.exists():
            return False
        with self._exclusive():
            return self._stop()

    def status(self) -> StackStatus:
        """What runs now."""
        record = read_stack_record(self._directory)
        if record is None:
            return StackStatus(is_running=False, port=None, pid=None)
        if record.pid is None or not self._ministack.runs_as(record.pid):
            return StackStatus(is_running=False, port=record.port, pid=None)
        return StackStatus(is_running=answers(record.port), port=record.port, pid=record.pid)

    def profile(self) -> LocalProfile | None:
        """How clients reach the stack; None if it was never up."""
        return read_profile(self._directory)

    def __enter__(self) -> LocalProfile:
        return self.up()

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.down()

    def _start(self) -> int:
        status = self.status()
        if status.is_running and status.port is not None:
            return status.port
        if status.pid is not None:
            # It lives but does not answer: what it can still save, it saves.
            self._ministack.stop(status.pid)
        # The port of last time if possible: clients elsewhere may have noted it.
        port = free_port(status.port)
        with self._progress.step(f"Starting MiniStack on port {port}"):
            pid = self._ministack.start(port=port)
        record = read_stack_record(self._directory) or StackRecord(port=port)
        write_stack_record(self._directory, record.model_copy(update={"port": port, "pid": pid}))
        return port

    def _stop(self) -> bool:
        record = read_stack_record(self._directory)
        if record is None or record.pid is None:
            return False
        was_running = self._ministack.runs_as(record.pid)
        try:
            if was_running:
                with self._progress.step("Stopping MiniStack"):
                    self._ministack.stop(record.pid)
        finally:
            write_stack_record(self._directory, record.model_copy(update={"pid": None}))
        return was_running

    def _deploy(self, port: int) -> LocalProfile:
        endpoint = endpoint_url(port)
        record = read_stack_record(self._directory) or StackRecord(port=port)
        deployment = Deployment(
            directory=self._directory, endpoint=endpoint, progress=self._progress
        )
        fingerprint = deployment.bring_up_to_date(deployed_fingerprint=record.deployed_fingerprint)
        write_stack_record(
            self._directory, record.model_copy(update={"deployed_fingerprint": fingerprint})
        )
        outputs = deployment.outputs()
        # MiniStack's host name of an API resolves only on some machines, this path everywhere.
        base_url = f"{endpoint}/_aws/execute-api/{outputs['ApiId']}/$default"
        with self._progress.step("Checking the admin key"):
            profile = self._known_profile(endpoint=endpoint, base_url=base_url)
        if profile is None:
            with self._progress.step("Creating the first organization"):
                created = create_organization(
                    endpoint=endpoint,
                    function_name=outputs["CreateOrganizationFunctionName"],
                    name=FIRST_ORGANIZATION_NAME,
                )
            profile = LocalProfile(
                base_url=base_url,
                api_key=created.api_key,
                organization_id=created.organization.id,
                aws_endpoint_url=endpoint,
            )
        write_profile(self._directory, profile)
        return profile

    def _known_profile(self, *, endpoint: str, base_url: str) -> LocalProfile | None:
        """The profile of last time at today's address; None if its key is no longer known.

        State is lost when MiniStack is killed, and then the key is, too.
        """
        known = read_profile(self._directory)
        if known is None:
            return None
        profile = known.model_copy(update={"base_url": base_url, "aws_endpoint_url": endpoint})
        return profile if is_key_valid(profile) else None

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        with (self._directory / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                message = f"another command works on the stack in {self._directory}"
                raise StackBusyError(message) from error
            yield
