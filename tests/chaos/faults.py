"""What is done to the running stack: killed workers, doubled messages, a restart."""

import json
import os
import random
import signal
import threading
from pathlib import Path
from typing import Any

import boto3

from local.endpoint import REGION
from local.stack import LocalStack


class Saboteur:
    """Kills workers of functions and delivers messages again, every second or so, seeded."""

    def __init__(self, stack: LocalStack, *, seed: int) -> None:
        self._stack = stack
        self._draw = random.Random(seed)
        self._chunks: list[dict[str, Any]] = []
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.killed = 0
        self.doubled = 0

    def remember(self, chunk: dict[str, Any]) -> None:
        """Note a chunk that may be delivered again."""
        self._chunks.append(chunk)

    def start(self) -> None:
        """Begin."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def stop(self) -> None:
        """End, and wait for the deed in progress."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._draw.uniform(0.5, 1.5)):
            if self._draw.random() < 0.5:
                self._kill_a_worker()
            else:
                self._double_a_message()

    def _kill_a_worker(self) -> None:
        workers = list(self._workers())
        if workers:
            os.kill(self._draw.choice(workers), signal.SIGKILL)
            self.killed += 1

    def _workers(self) -> list[int]:
        """Process ids of the workers that grade and dispatch; they lead no group of their own."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            ours = str(self._stack.directory) in command
            if ours and ("GradeChunk" in command or "DispatchChunks" in command):
                found.append(int(entry.name))
        return found

    def _double_a_message(self) -> None:
        profile = self._stack.profile()
        if profile is None or not self._chunks:
            return
        session = boto3.Session("test", "test", region_name=REGION)
        sqs = session.client("sqs", endpoint_url=profile.aws_endpoint_url)
        urls = sqs.list_queues().get("QueueUrls", [])
        queue = next(url for url in urls if "NormalPriorityQueue" in url)
        sqs.send_message(QueueUrl=queue, MessageBody=json.dumps(self._draw.choice(self._chunks)))
        self.doubled += 1
