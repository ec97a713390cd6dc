"""``client.apprentice.trainings``: how versions of a task's small model come to be."""

import math
import time
from collections.abc import Callable, Mapping
from typing import ClassVar, Unpack

from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, returning
from autotune.client.errors import WaitTimeoutError
from autotune.client.exchange import Course, Pause, Plan, Session
from autotune.client.waiting import GAP_GROWTH
from autotune.protocol import apprentice_trainings as wire

_FIRST_LOOK_AFTER_SECONDS = 1.0
_LONGEST_GAP_SECONDS = 15.0

_training = returning(wire.ApprenticeTrainingResponse, lambda answer: answer.training)
_trainings = returning(wire.ApprenticeTrainingList, lambda page: (page.trainings, page.next_token))


def start_training(name: str, **options: Unpack[CallOptions]) -> Call[wire.ApprenticeTraining]:
    """Begin a training of a task's small model from the examples that there are.

    A model that shows enough on examples it never saw becomes a version in shadow.

    Args:
        name: of the task.

    Raises:
        ConflictError: a training is under way, or the task's configuration trains nothing.
        NotFoundError: there is no such task in this organisation.
    """
    return call("POST", *_trainings_of(name), read=_training, **options)


def list_trainings(
    name: str, *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[wire.ApprenticeTraining]:
    """Walk through a task's trainings, newest first.

    Args:
        page_size: trainings fetched at a time, 1 to 200.

    Raises:
        NotFoundError: there is no such task in this organisation.
    """
    return listing(*_trainings_of(name), read=_trainings, page_size=page_size, **options)


def get_training(
    name: str, number: int, **options: Unpack[CallOptions]
) -> Call[wire.ApprenticeTraining]:
    """Read one training: its data, its test, and what came of it.

    Raises:
        NotFoundError: there is no such task, or no such training.
    """
    return call("GET", *_trainings_of(name), str(number), read=_training, **options)


def cancel_training(
    name: str, number: int, **options: Unpack[CallOptions]
) -> Call[wire.ApprenticeTraining]:
    """Have a training ended; one that has ended stays as it is.

    A job that trains is stopped, and paid for as far as it came: the training ends with it, so that
    it may still be ``running`` in the answer.

    Raises:
        NotFoundError: there is no such task, or no such training.
    """
    return call("POST", *_trainings_of(name), str(number), "cancel", read=_training, **options)


def host_training(
    name: str, number: int, **options: Unpack[CallOptions]
) -> Call[wire.ApprenticeTraining]:
    """Begin a training that has a model hosted which an earlier one made, and judges it.

    That is for one whose model nobody judged and that is kept (``model_kept_until``), once there is
    an instance for it. No job is paid for again; that instance costs by the hour.

    Args:
        number: of the training that made it; the new one has another.

    Raises:
        ConflictError: its model is not kept, the task has another definition by now, or a training
            is under way.
        NotFoundError: there is no such task, or no such training.
    """
    return call("POST", *_trainings_of(name), str(number), "host", read=_training, **options)


def wait_for_training(
    name: str,
    number: int,
    *,
    timeout: float | None = None,
    on_progress: Callable[[wire.ApprenticeTraining], None] | None = None,
    extra_headers: Mapping[str, str] | None = None,
) -> Plan[wire.ApprenticeTraining]:
    """Wait until a training has ended: hosted, discarded or failed.

    Args:
        timeout: seconds to wait in all; None waits for ever. Each attempt has the client's own.
        on_progress: gets the training each time that it was read.

    Raises:
        WaitTimeoutError: it was still running after ``timeout``.
        NotFoundError: there is no such task, or no such training.
    """

    def ask(session: Session) -> Course[wire.ApprenticeTraining]:
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        gap = _FIRST_LOOK_AFTER_SECONDS
        while True:
            found = yield from session.course(
                get_training(name, number, extra_headers=extra_headers)
            )
            if on_progress is not None:
                on_progress(found)
            if found.state != "running":
                return found
            left = deadline - time.monotonic()
            if left <= 0:
                raise WaitTimeoutError(f"training {number} still ran after {timeout:g} s")
            yield Pause(min(gap, left))
            gap = min(gap * GAP_GROWTH, _LONGEST_GAP_SECONDS)

    return ask


def _trainings_of(name: str) -> tuple[str, ...]:
    return "apprentice", "tasks", name, "trainings"


class ApprenticeTrainingMethods:
    """Methods of trainings."""

    _place: ClassVar = "apprentice.trainings"

    start = Method(start_training)
    list = ListMethod(list_trainings)
    get = Method(get_training)
    cancel = Method(cancel_training)
    host = Method(host_training)
    wait_for = Method(wait_for_training)


class ApprenticeTrainings(ApprenticeTrainingMethods, Resource):
    """Trainings of a task's small model, blocking."""


class AsyncApprenticeTrainings(ApprenticeTrainingMethods, AsyncResource):
    """Trainings of a task's small model, for an event loop."""
