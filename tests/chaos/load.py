"""What a training pipeline does all the while: submit, and submit again what got no answer."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event, Lock
from typing import Any, TypeVar

from autotune import AutotuneClient
from autotune.client.errors import APIError, ConnectionFailedError
from autotune.client.submissions import SubmittedBatch
from autotune_platform.completions.models import Chunk
from local.records import LocalProfile
from tests.chaos.diseases import Patient
from tests.chaos.texts import TEXT

THREADS = 4
HEALTHY_BATCHES_PER_ROUND = 5

T = TypeVar("T")


@dataclass(frozen=True)
class Accepted:
    """A completion whose submission was answered with 2xx."""

    id: str
    batch_id: str
    patient: str
    stage: str


@dataclass(frozen=True)
class Submission:
    """A batch to be submitted at a moment of its stage, in rounds."""

    at: float
    patient: Patient
    size: int
    key: str


class Load:
    """Submits completions in several threads, at a steady pace, and notes what was accepted.

    What got no answer is submitted again while ``may_repeat`` is set.
    """

    def __init__(
        self,
        client: Callable[[], AutotuneClient],
        profile: LocalProfile,
        *,
        on_accepted: Callable[[Chunk], None],
        is_over: Callable[[], bool],
        seed: int,
    ) -> None:
        self._client = client
        self._profile = profile
        self._on_accepted = on_accepted
        self._is_over = is_over
        self._draw = random.Random(seed)
        self._lock = Lock()
        self.may_repeat = Event()
        self.may_repeat.set()
        self._graders: dict[str, tuple[str, str]] = {}
        self.accepted: dict[str, Accepted] = {}
        self.repeated: Counter[str] = Counter()
        self.canceled_batches = 0

    def admit(self, patients: Sequence[Patient]) -> None:
        """Register and verify each grader, and make its task."""
        client = self._client()
        for patient in patients:
            registered = client.graders.register(
                name=patient.name,
                endpoint=patient.grader.url,
                capabilities={"maxBatchSize": patient.ward.grader_batch},
            )
            patient.grader.secret = registered.credentials.shared_secret
            verified = client.graders.verify(registered.grader.id)
            assert verified.verified, verified
            assert verified.grader.version is not None
            self._graders[patient.name] = (verified.grader.id, verified.grader.version)
            task = client.tasks.create(
                name=patient.name,
                grader_id=registered.grader.id,
                deadline_seconds=patient.ward.deadline_seconds,
            )
            patient.task_id = task.id

    def grader_id(self, patient: Patient) -> str:
        """Return the id under which a grader is registered."""
        return self._graders[patient.name][0]

    def submit(
        self,
        stage: str,
        patients: Sequence[Patient],
        *,
        each: int,
        rounds: int,
        round_seconds: float,
        cancels: float = 0,
    ) -> None:
        """Submit ``each`` completions for every grader; return when all of them are accepted.

        Nothing more is submitted once the run is over.

        Args:
            cancels: share of the batches that are canceled at once.

        Raises:
            APIError: one was refused until the run was over.
        """
        started = time.monotonic()
        submitted: list[Future[None]] = []
        with ThreadPoolExecutor(THREADS) as threads:
            for one in schedule(stage, patients, each=each, rounds=rounds):
                if self._is_over():
                    break
                time.sleep(max(started + one.at * round_seconds - time.monotonic(), 0))
                submitted.append(threads.submit(self._submit, stage, one, cancels=cancels))
        for future in submitted:
            future.result()

    def _submit(self, stage: str, submission: Submission, *, cancels: float) -> None:
        if self._is_over():
            return
        batch = self._accepted(submission)
        name = submission.patient.name
        with self._lock:
            self.accepted |= {
                id_: Accepted(id_, batch.batch_id, name, stage) for id_ in batch.completion_ids
            }
            # What has a deadline is to end by it.
            has_deadline = submission.patient.ward.deadline_seconds is not None
            is_canceled = not has_deadline and self._draw.random() < cancels
        grader_id, version = self._graders[name]
        self._on_accepted(
            Chunk(
                organization_id=self._profile.organization_id,
                grader_id=grader_id,
                grader_version=version,
                completion_ids=batch.completion_ids,
                text_bytes=100,
            )
        )
        if is_canceled:
            self._repeat(lambda: self._client().batches.cancel(batch.batch_id))
            with self._lock:
                self.canceled_batches += 1

    def _accepted(self, submission: Submission) -> SubmittedBatch:
        completions: list[dict[str, Any]] = [
            {
                "taskId": submission.patient.task_id,
                "modelId": "chaos",
                "prompt": f"{submission.key} {number}",
                "response": TEXT,
            }
            for number in range(submission.size)
        ]

        def submit() -> SubmittedBatch:
            # One key for all tries: what got no answer may be there all the same.
            (batch,) = self._client().completions.submit_many(
                completions, batch_size=submission.size, idempotency_key=submission.key
            )
            return batch

        return self._repeat(submit)

    def _repeat(self, call: Callable[[], T]) -> T:
        """Call until there is an answer, or the run is over: the SDK gives up before a restart."""
        while True:
            try:
                return call()
            except (APIError, ConnectionFailedError) as error:
                if self._is_over():
                    raise
                with self._lock:
                    self.repeated[_kind(error)] += 1
                # Those who wait for a stack that starts must not be what keeps it from starting.
                self.may_repeat.wait()
                time.sleep(0.5)


def schedule(
    stage: str, patients: Sequence[Patient], *, each: int, rounds: int
) -> list[Submission]:
    """Return the submissions of a stage in their order: the same for every stage of that size.

    Each round has one batch for a sick grader and several small ones, spread over the round, for a
    healthy one, whose latency is measured.
    """
    submissions: list[Submission] = []
    for place, patient in enumerate(patients):
        per_round = HEALTHY_BATCHES_PER_ROUND if patient.is_healthy else 1
        for index, size in _shares(each, rounds * per_round):
            at = (index + place / len(patients)) / per_round
            key = f"{stage}-{place}-{index}"
            submissions.append(Submission(at, patient, size, key))
    return sorted(submissions, key=lambda one: (one.at, one.key))


def _shares(whole: int, parts: int) -> Iterator[tuple[int, int]]:
    """Yield index and size of the parts of a whole, as even as can be, without empty ones."""
    for index in range(parts):
        size = whole * (index + 1) // parts - whole * index // parts
        if size:
            yield index, size


def _kind(error: APIError | ConnectionFailedError) -> str:
    return f"{error.status} {error.code}" if isinstance(error, APIError) else "no connection"
