"""How models answer inputs of the hold-out: linear ones here, others from where they are hosted."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from autotune_platform.apprentice.local.contract import LocalClients, ServedModel, Unavailable
from autotune_platform.apprentice.runs.prompting import local_question
from autotune_platform.apprentice.students.linear import LinearModel
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.retry import BUSY

TOGETHER: Final = 16
"""So many inputs are asked of a hosted model at once."""
MOST_ASKED: Final = 5_000
"""So many rows of a hold-out a hosted model is asked at most."""
LEFT_SECONDS: Final = 180
"""With less left of a step's 15 minutes no further row is begun: each has some tries."""
_LONGEST_MS = 20_000
_ATTEMPTS = 5


class Answered(NamedTuple):
    """What a model answers, how long it took, in milliseconds, and how sure it is."""

    text: str
    milliseconds: int
    confidence: float | None


class Answers(NamedTuple):
    """A model that is asked.

    Attributes:
        answer: answers an input; threads may share that of a hosted model.
        candidates: thresholds that a gate may have; none where there is no confidence to gate.
    """

    answer: Callable[[Mapping[str, Any]], Answered]
    candidates: Sequence[float] = ()


def linear_answers(student: LinearModel) -> Answers:
    """Return what answers for a linear student, in this process."""

    def answer(value: Mapping[str, Any]) -> Answered:
        started = time.perf_counter()
        text, confidence = student.answer(value)
        return Answered(text, math.ceil((time.perf_counter() - started) * 1_000), confidence)

    return Answers(answer, student.candidates)


def hosted_answers(
    clients: LocalClients, document: Mapping[str, Any], served: ServedModel
) -> Answers:
    """Return what answers for a model that is hosted.

    Whatever keeps it from answering is tried again: it says nothing of the model.
    """
    client = clients.client_for(document, served)

    def answer(value: Mapping[str, Any]) -> Answered:
        question, why = local_question(document, value), ""
        for _ in BUSY.attempts(_ATTEMPTS):
            found = client.ask(question, timeout_ms=_LONGEST_MS)
            if not isinstance(found, Unavailable):
                return Answered(found.text, found.latency_ms, found.confidence)
            why = found.reason
        raise UnavailableError(f"the model does not answer: {why}", retry_after_seconds=5)

    return Answers(answer)
