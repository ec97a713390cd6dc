"""What befalls the apprentice: killed functions, doubled messages, a small model that dies."""

import random
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import cycle

import boto3
import psutil
from botocore.exceptions import BotoCoreError, ClientError

from local.endpoint import REGION, lambda_client
from local.stack import LocalStack
from tests.chaos.faults import workers_below
from tests.chaos.student import FAULTS, MortalStudent

WORKER, COUNTER, API = "WorkRuns", "FollowRuns", "ApprenticeRunsApi"
KILLED = (WORKER, WORKER, COUNTER, WORKER, API)
"""In turn. One of their processes dies at a time: with each that is new, seconds go by."""

KILLED_EVERY = (2.0, 4.0)

_QUEUE = "RUN_QUEUE_URL"


class Mishaps:
    """Two threads, seeded: one hurts functions, the other the small model."""

    def __init__(
        self,
        stack: LocalStack,
        student: MortalStudent,
        run_ids: Callable[[], list[str]],
        *,
        seed: int,
    ) -> None:
        self._stack = stack
        self._student = student
        self._run_ids = run_ids
        self._draw = random.Random(seed)
        self._of_student = random.Random(seed + 1)
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self.killed: Counter[str] = Counter()
        self.doubled = 0
        self._queue_url: str | None = None

    def start(self) -> None:
        """Begin."""
        self._stop.clear()
        self._threads = [
            threading.Thread(target=self._hurt_functions),
            threading.Thread(target=self._hurt_student),
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End, and have the small model live."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._threads = []
        self._student.recover()

    def forget(self) -> None:
        """Kill everybody who has models answer, so that none knows what it read before."""
        for process in self._workers(WORKER):
            self._kill(WORKER, process)

    def hand_over(self, run_id: str) -> None:
        """Put a run on the queue, as whoever started it did."""
        profile = self._stack.profile()
        assert profile is not None
        session = boto3.Session("test", "test", region_name=REGION)
        sqs = session.client("sqs", endpoint_url=profile.aws_endpoint_url)
        if self._queue_url is None:
            self._queue_url = _queue_url(profile.aws_endpoint_url)
        sqs.send_message(QueueUrl=self._queue_url, MessageBody=run_id)

    def _hurt_functions(self) -> None:
        for name in cycle(KILLED):
            if self._stop.wait(self._draw.uniform(*KILLED_EVERY)):
                return
            self._kill_one(name)
            self._double()

    def _hurt_student(self) -> None:
        for fault in cycle(("dies", *FAULTS)):
            if self._stop.wait(self._of_student.uniform(2, 4)):
                return
            if fault == "dies":
                self._student.die()
            else:
                self._student.fall_ill(fault)
            if self._stop.wait(self._of_student.uniform(1, 2)):
                return
            self._student.recover()

    def _kill_one(self, name: str) -> None:
        if workers := self._workers(name):
            self._kill(name, self._draw.choice(workers))

    def _kill(self, name: str, process: psutil.Process) -> None:
        with suppress(psutil.NoSuchProcess):
            process.kill()
            self.killed[name] += 1

    def _double(self) -> None:
        if run_ids := self._run_ids():
            with suppress(BotoCoreError, ClientError):
                self.hand_over(self._draw.choice(run_ids[-20:]))
                self.doubled += 1

    def _workers(self, wanted: str) -> list[psutil.Process]:
        found = workers_below(self._stack.directory)
        return [process for name, process in found if name == wanted]


def _queue_url(endpoint: str) -> str:
    """Return where runs wait, as the worker knows it."""
    for page in lambda_client(endpoint).get_paginator("list_functions").paginate():
        for function in page["Functions"]:
            variables = function.get("Environment", {}).get("Variables", {})
            if _QUEUE in variables:
                return variables[_QUEUE]
    raise AssertionError("no function knows where runs wait")
