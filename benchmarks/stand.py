"""The stands that benchmarks run on: a whole local stack, graders, and a count of every request."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from autotune import AutotuneClient
from benchmarks.boundary import CountingProxy
from benchmarks.emulator import Emulator
from local.endpoint import LOOPBACK, free_port
from local.grader_process import GraderProcess
from local.records import LocalProfile, read_stack_record
from local.stack import LocalStack

GRADERS = Path(__file__).parent / "graders"
_AUTOTUNE = Path(sys.executable).with_name("autotune")


@dataclass(frozen=True)
class Stand:
    """What a benchmark works with."""

    profile: LocalProfile
    emulator: Emulator
    directory: Path

    @property
    def base_url(self) -> str:
        """Address of the API."""
        return self.profile.base_url

    def client(self) -> AutotuneClient:
        """Return a client of the stack's organisation."""
        return AutotuneClient(base_url=self.base_url, api_key=self.profile.api_key)

    @contextmanager
    def task(self, source: str) -> Iterator[str]:
        """Serve a grader of ``benchmarks/graders`` and yield a task of it."""
        port = free_port()
        with ExitStack() as stack:
            client = stack.enter_context(self.client())
            registered = client.graders.register(
                name=source,
                endpoint=f"http://{LOOPBACK}:{port}",
                capabilities={"maxBatchSize": 100},
            )
            assert registered.credentials is not None
            stack.enter_context(
                GraderProcess(
                    command=_AUTOTUNE,
                    source=GRADERS / f"{source}.py",
                    port=port,
                    environment={
                        **os.environ,
                        "AUTOTUNE_GRADER_SECRET": registered.credentials.shared_secret,
                    },
                    log_file=self.directory / f"{source}.log",
                )
            )
            verified = client.graders.verify(registered.grader.id)
            if not verified.verified:
                message = f"the grader {source} cannot be verified: {verified.checks}"
                raise RuntimeError(message)
            yield client.tasks.create(name=source, grader_id=registered.grader.id).id


@dataclass(frozen=True)
class CountedStand(Stand):
    """A stand that counts what is asked of AWS, by clients and functions; counting takes time."""

    proxy: CountingProxy

    @property
    def base_url(self) -> str:
        """Address of the API, through the proxy."""
        return self.profile.base_url.replace(self.profile.aws_endpoint_url, self.proxy.url)


@contextmanager
def stand() -> Iterator[Stand]:
    """Bring a stack up in a folder of its own; stop it at the end."""
    with _folder() as directory, LocalStack(directory=directory) as profile:
        yield Stand(profile, Emulator(profile.aws_endpoint_url), directory)


@contextmanager
def counted_stand() -> Iterator[CountedStand]:
    """Bring a stack up whose functions reach AWS through the proxy; stop it at the end."""
    with _folder() as directory:

        def port() -> int | None:
            record = read_stack_record(directory)
            return record.port if record else None

        with CountingProxy(port) as proxy:
            # The proxy asks for what a request consumed, which its sender has not signed.
            environment = {"AWS_ENDPOINT_URL": proxy.url, "AUTH": "false"}
            with LocalStack(directory=directory, environment=environment) as profile:
                yield CountedStand(profile, Emulator(profile.aws_endpoint_url), directory, proxy)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="autotune-bench-") as folder:
        yield Path(folder)
