"""What is done to the running stack: killed workers, doubled messages, a restart."""

import random
import threading
from collections import Counter
from contextlib import suppress
from itertools import count, cycle
from pathlib import Path

import boto3
import psutil
from botocore.exceptions import BotoCoreError, ClientError

from autotune_platform.completions.models import Chunk
from local.endpoint import REGION
from local.stack import LocalStack
from tests.chaos.beside import Beside

_AT_ONCE = 0.15


class Saboteur:
    """Kills workers of functions and delivers messages again, seeded, while it is started.

    A doubled message starts no second run, because a run is named for what it serves; with a raised
    ``redrive``, as the sweeper sends it, it does, beside the first.
    """

    def __init__(self, stack: LocalStack, *, seed: int) -> None:
        self._stack = stack
        self._draw = random.Random(seed)
        self._chunks: list[Chunk] = []
        # Beyond what the sweeper counts up to: its own runs keep their names.
        self._redrives = count(1_000)
        self._lock = threading.Lock()
        self._beside = Beside()
        self.killed: Counter[str] = Counter()
        self.doubled: Counter[str] = Counter()

    def remember(self, chunk: Chunk) -> None:
        """Note a chunk that was just queued; while at work, double some of them at once."""
        with self._lock:
            self._chunks.append(chunk)
            at_once = self._beside.is_on and self._draw.random() < _AT_ONCE
        if at_once:
            self._double(chunk, other_run=True)

    def start(self) -> None:
        """Begin."""
        self._beside.start(self._run)

    def stop(self) -> None:
        """End, and wait for the deed in progress."""
        self._beside.stop()

    def _run(self) -> None:
        # In turn, so that each is done even in a short run; what it hits is drawn.
        for deed in cycle((self._kill_a_worker, self._double_as_another, self._double_as_it_was)):
            if self._beside.is_over(after=self._draw.uniform(1, 3)):
                return
            deed()

    def _double_as_another(self) -> None:
        self._double_a_recent(other_run=True)

    def _double_as_it_was(self) -> None:
        self._double_a_recent(other_run=False)

    def _double_a_recent(self, *, other_run: bool) -> None:
        if self._chunks:
            self._double(self._draw.choice(self._chunks[-50:]), other_run=other_run)

    def _kill_a_worker(self) -> None:
        workers = workers_below(self._stack.directory)
        if workers:
            kill(*self._draw.choice(workers), killed=self.killed)

    def _double(self, chunk: Chunk, *, other_run: bool) -> None:
        message = chunk
        if other_run:
            message = chunk.model_copy(update={"redrive": next(self._redrives)})
        with suppress(BotoCoreError, ClientError):  # the stack may just be stopping
            send(self._stack, "NormalPriorityQueue", message.model_dump_json())
            self.doubled["as another run" if other_run else "as it was"] += 1


def send(stack: LocalStack, queue: str, body: str) -> None:
    """Put a message on the queue whose name has a certain part.

    Raises:
        BotoCoreError, ClientError: the stack is not there.
    """
    profile = stack.profile()
    assert profile is not None
    session = boto3.Session("test", "test", region_name=REGION)
    sqs = session.client("sqs", endpoint_url=profile.aws_endpoint_url)
    url = next(url for url in sqs.list_queues()["QueueUrls"] if queue in url)
    sqs.send_message(QueueUrl=url, MessageBody=body)


def kill(name: str, worker: psutil.Process, *, killed: Counter[str]) -> None:
    """Kill a function's worker, and count it unless it had ended by itself."""
    with suppress(psutil.NoSuchProcess):
        worker.kill()
        killed[name] += 1


def workers_below(directory: Path) -> list[tuple[str, psutil.Process]]:
    """Return the functions' living workers and the function of each, whatever it does."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if any(str(directory) in part for part in process.cmdline()[1:2]):
                name = process.environ().get("POWERTOOLS_SERVICE_NAME")
                if name is not None:
                    found.append((name, process))
    return sorted(found, key=lambda worker: worker[1].pid)
