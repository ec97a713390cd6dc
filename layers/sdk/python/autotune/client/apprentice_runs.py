"""Runs of the apprentice: inputs of a task, and what was answered."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Unpack

from autotune.client.arguments import request_of
from autotune.client.calls import Call, CallOptions, Listing, call, listing, nothing, returning
from autotune.protocol import apprentice_runs as wire
from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_APPRENTICE_WAIT_SECONDS

_run = returning(wire.ApprenticeRunResponse, lambda answer: answer.run)
_runs = returning(wire.ApprenticeRunList, lambda page: (page.runs, page.next_token))


def run_apprentice(
    name: str,
    *,
    input: Mapping[str, Any],  # noqa: A002 - the field's name on the wire
    wait: int = 20,
    idempotency_key: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.ApprenticeRun]:
    """Have a task answer an input, and wait for it.

    A run that lasts longer comes back ``pending``, and goes on: ``get_run`` has its answer later.

    Args:
        name: of the task.
        input: an object of the task's ``inputSchema``.
        wait: seconds that the server may wait for the answer, 0 to 25.
        idempotency_key: stands for this run for good; without it, one is made, by which attempts of
            this call are the same run.

    Raises:
        NotFoundError: there is no such task in this organisation.
        InvalidRequestError: the input is not what the task takes, or the key stands for another.
        APIError: with status 402, a budget has no room, and ``budget`` says until when; with 503
            and the code ``remote_unavailable`` or ``local_unavailable``, no model answered.
    """
    return call(
        "POST",
        "apprentice",
        "tasks",
        name,
        "runs",
        read=_run,
        body=request_of(wire.StartApprenticeRun, input=input),
        wait=wait,
        most_wait=MAX_APPRENTICE_WAIT_SECONDS,
        idempotency_key=idempotency_key or new_id("req"),
        **options,
    )


def get_apprentice_run(run_id: str, **options: Unpack[CallOptions]) -> Call[wire.ApprenticeRun]:
    """Read a run with what was asked and answered.

    Raises:
        NotFoundError: there is none in this organisation.
    """
    return call("GET", "apprentice", "runs", run_id, read=_run, **options)


def delete_apprentice_run_content(run_id: str, **options: Unpack[CallOptions]) -> Call[None]:
    """Delete what a run was asked and answered, its example and its requests' texts.

    What it cost and how far answers agreed stays. Deleting again changes nothing.

    Raises:
        NotFoundError: there is none in this organisation.
        ConflictError: it has not ended, or a model is asked still.
    """
    return call("DELETE", "apprentice", "runs", run_id, "content", read=nothing, **options)


def list_apprentice_runs(
    name: str,
    *,
    day: date | None = None,
    first: date | None = None,
    last: date | None = None,
    state: wire.ApprenticeRunState | None = None,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[wire.ApprenticeRun]:
    """Walk through a task's runs of some days, newest first, without inputs and answers.

    Args:
        name: of the task.
        day: the only one, in UTC; today without any.
        first: the first of several; ``last`` alone without it.
        last: the last of several, included; today without it. At most 92 days in all.
        state: only those in it.
        page_size: runs looked at at a time, 1 to 200.

    Raises:
        NotFoundError: there is no such task in this organisation.
        InvalidRequestError: days are in no order, too many, or given in both ways.
    """
    query = {
        "day": None if day is None else day.isoformat(),
        "from": None if first is None else first.isoformat(),
        "to": None if last is None else last.isoformat(),
        "state": state,
    }
    return listing(
        "apprentice",
        "tasks",
        name,
        "runs",
        read=_runs,
        page_size=page_size,
        query=query,
        **options,
    )
