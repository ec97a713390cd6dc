"""What befalls the apprentice: killed functions, doubled messages, a small model that dies."""

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import cycle

import psutil
from botocore.exceptions import BotoCoreError, ClientError

from local.stack import LocalStack
from tests.chaos.beside import Beside
from tests.chaos.faults import kill, send, workers_below
from tests.chaos.student import FAULTS, STRIKES, MortalStudent

WORKER, COUNTER, API = "WorkRuns", "FollowRuns", "ApprenticeRunsApi"
KILLED = (WORKER, WORKER, COUNTER, WORKER, API)
"""In turn. One of their processes dies at a time: with each that is new, seconds go by."""

KILLED_EVERY = (2.0, 4.0)
LOOKS_EVERY_SECONDS = 0.5


class Mishaps:
    """Two threads, seeded: one hurts functions, the other the small model.

    Args:
        progress: returns what has come about so far. Before the next function is killed there is
            to be more: on a slow machine all would die as they start, and nothing ever be done.
    """

    def __init__(
        self,
        stack: LocalStack,
        student: MortalStudent,
        run_ids: Callable[[], list[str]],
        *,
        progress: Callable[[], object],
        seed: int,
    ) -> None:
        self._stack = stack
        self._student = student
        self._run_ids = run_ids
        self._progress = progress
        self._draw = random.Random(seed)
        self._of_student = random.Random(seed + 1)
        self._beside = Beside()
        self.killed: Counter[str] = Counter()
        self.doubled = 0

    @property
    def all_struck(self) -> bool:
        """Whether a function was killed, and the small model hurt in each way."""
        return bool(self.killed) and self._student.struck.keys() >= STRIKES

    def start(self) -> None:
        """Begin."""
        self._beside.start(self._hurt_functions, self._hurt_student)

    def stop(self) -> None:
        """End, and have the small model live."""
        self._beside.stop()
        self._student.recover()

    def forget(self) -> None:
        """Kill everybody who has models answer, so that none knows what it read before."""
        for process in self._workers(WORKER):
            kill(WORKER, process, killed=self.killed)

    def hand_over(self, run_id: str) -> None:
        """Put a run on the queue, as whoever started it did."""
        send(self._stack, "RunsQueue", run_id)

    def _hurt_functions(self) -> None:
        for name in cycle(KILLED):
            before = self._progress()
            if self._beside.is_over(after=self._draw.uniform(*KILLED_EVERY)):
                return
            while self._progress() == before:
                if self._beside.is_over(after=LOOKS_EVERY_SECONDS):
                    return
            self._kill_one(name)
            self._double()

    def _hurt_student(self) -> None:
        for fault in cycle(("dies", *FAULTS)):
            if self._beside.is_over(after=self._of_student.uniform(2, 4)):
                return
            if fault == "dies":
                self._student.die()
            else:
                self._student.fall_ill(fault)
            if self._beside.is_over(after=self._of_student.uniform(1, 2)):
                return
            self._student.recover()

    def _kill_one(self, name: str) -> None:
        if workers := self._workers(name):
            kill(name, self._draw.choice(workers), killed=self.killed)

    def _double(self) -> None:
        if run_ids := self._run_ids():
            with suppress(BotoCoreError, ClientError):
                self.hand_over(self._draw.choice(run_ids[-20:]))
                self.doubled += 1

    def _workers(self, wanted: str) -> list[psutil.Process]:
        found = workers_below(self._stack.directory)
        return [process for name, process in found if name == wanted]
