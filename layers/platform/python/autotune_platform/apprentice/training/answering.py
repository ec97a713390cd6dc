"""How models answer inputs of the hold-out: linear ones here, others from where they are hosted."""

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from autotune_platform.apprentice.local.contract import (
    LocalAnswer,
    LocalClient,
    LocalClients,
    LocalQuestion,
    Reason,
    ServedModel,
    Unavailable,
)
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
# What an input may be the reason of is tried less often: it is likely to come again.
_ATTEMPTS_OF: Final = {
    Reason.TIMED_OUT: 2,
    Reason.REFUSED: 2,
    Reason.FAILED: 3,
    Reason.UNREADABLE: 3,
    Reason.TOO_LARGE: 2,
}
_MOST_REFUSED = 0.01
"""So large a share of inputs may have no answer by a reason that is rather the host's."""


class Answered(NamedTuple):
    """What a model answers, how long it took, in milliseconds, and how sure it is.

    ``text`` is None where it had no answer to this input, and answered another one meanwhile.
    """

    text: str | None
    milliseconds: int
    confidence: float | None


def _nobody_is_missing() -> None:
    pass


class Answers(NamedTuple):
    """A model that is asked.

    Attributes:
        answer: answers an input; threads may share that of a hosted model.
        candidates: thresholds that a gate may have; none where there is no confidence to gate.
        settle: called once all were asked; raises ``UnavailableError`` if it answered none of them.
        is_hosted: whether it takes the time of whatever hosts it.
    """

    answer: Callable[[Mapping[str, Any]], Answered]
    candidates: Sequence[float] = ()
    settle: Callable[[], None] = _nobody_is_missing
    is_hosted: bool = False


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

    Whatever keeps it from answering is tried again. An input that gets no answer although the model
    answers another one, right after it, is the model's matter: such as one that is longer than it
    reads, or that it does not come to an end with. A host that answers neither says nothing of the
    model, so that asking it raises ``UnavailableError``.
    """
    asking = _HostedAsking(clients.client_for(document, served), document)
    return Answers(asking.answer, settle=asking.settle, is_hosted=True)


class _HostedAsking:
    """Asks a hosted model; threads share it."""

    def __init__(self, client: LocalClient, document: Mapping[str, Any]) -> None:
        self._client, self._document = client, document
        self._lock = threading.Lock()
        self._known: LocalQuestion | None = None
        self._asked = self._silent = self._refused = 0
        self._why: Reason | None = None
        self._given_up: Reason | None = None

    def answer(self, value: Mapping[str, Any]) -> Answered:
        with self._lock:
            self._asked += 1
        if self._given_up:  # whoever began meanwhile need not find it out as well
            raise _unavailable(self._given_up)
        question = local_question(self._document, value)
        found = self._tried(question)
        if isinstance(found, LocalAnswer):
            self._known = question
            return Answered(found.text, found.latency_ms, found.confidence)
        self._blame(found.reason)
        return Answered(None, found.latency_ms, None)

    def settle(self) -> None:
        if self._why is not None and self._known is None:
            raise _unavailable(self._why)

    def _tried(self, question: LocalQuestion) -> LocalAnswer | Unavailable:
        for attempt in BUSY.attempts(_ATTEMPTS):
            found = self._client.ask(question, timeout_ms=_LONGEST_MS)
            if isinstance(found, LocalAnswer):
                break
            if attempt + 1 >= _ATTEMPTS_OF.get(found.reason, _ATTEMPTS):
                break
        return found

    def _blame(self, why: Reason) -> None:
        """Return if an input has no answer; raise if nobody has one.

        Before any was answered so many may have none as are asked at once, if each of them may be
        the reason itself. From then on one that was answered is asked again.
        """
        is_of_input, known = why in _ATTEMPTS_OF, self._known
        with self._lock:
            self._why = why
            if known is None:
                self._silent += 1
                is_host = not is_of_input or self._silent >= TOGETHER
            else:
                # A copy without the model refuses some, and must not have it discarded for them.
                self._refused += not is_of_input
                is_host = self._refused > max(1, _MOST_REFUSED * self._asked)
        if known is not None and not is_host:
            again = self._tried(known)
            is_host = isinstance(again, Unavailable)
        if is_host:
            self._given_up = why
            raise _unavailable(why)


def _unavailable(why: Reason) -> UnavailableError:
    return UnavailableError(f"the model does not answer: {why}", retry_after_seconds=5)
