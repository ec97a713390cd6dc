"""Where a task of the apprentice stands, what became of it, and how long it takes yet."""

from typing import Unpack

from autotune.client.calls import Call, CallOptions, call, returning
from autotune.protocol import apprentice_reports as wire
from autotune.protocol.apprentice_estimates import ApprenticeEstimate, ApprenticeEstimateResponse
from autotune.protocol.ids import new_id

_status = returning(wire.ApprenticeStatusResponse, lambda answer: answer.status)
_report = returning(wire.ApprenticeReportResponse, lambda answer: answer.report)
_sent = returning(wire.ApprenticeReportSent, lambda answer: answer)
_estimate = returning(ApprenticeEstimateResponse, lambda answer: answer.estimate)


def get_apprentice_status(name: str, **options: Unpack[CallOptions]) -> Call[wire.ApprenticeStatus]:
    """Read where a task stands: its phase, its versions, its budget, and what needs attention.

    Raises:
        NotFoundError: there is no such task in this organisation.
    """
    return call("GET", "apprentice", "tasks", name, "status", read=_status, **options)


def get_apprentice_report(
    name: str, *, days: int | None = None, **options: Unpack[CallOptions]
) -> Call[wire.ApprenticeReport]:
    """Read what became of a task by day, in UTC, and what that saved.

    Args:
        days: how many, today included: 1 to 90; 30 unless given.

    Raises:
        NotFoundError: there is no such task in this organisation.
        InvalidRequestError: ``days`` is out of its range.
    """
    query = {"days": None if days is None else str(days)}
    return call("GET", "apprentice", "tasks", name, "report", read=_report, query=query, **options)


def send_apprentice_report(
    name: str,
    *,
    days: int | None = None,
    idempotency_key: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.ApprenticeReportSent]:
    """Send a report to the webhooks that ask for ``apprentice.report``; they have it in seconds.

    Args:
        days: as of ``report``.
        idempotency_key: sends it once with the same days; without it, one is made, by which
            attempts of this call are the same.

    Raises:
        NotFoundError: there is no such task in this organisation.
        InvalidRequestError: ``days`` is out of its range, or the report too large to be sent.
    """
    return call(
        "POST",
        "apprentice",
        "tasks",
        name,
        "report",
        read=_sent,
        query={"days": None if days is None else str(days)},
        idempotency_key=idempotency_key or new_id("req"),
        **options,
    )


def get_apprentice_estimate(name: str, **options: Unpack[CallOptions]) -> Call[ApprenticeEstimate]:
    """Read how long it is until a version of a task graduates, and at what price.

    Raises:
        NotFoundError: there is no such task in this organisation.
    """
    return call("GET", "apprentice", "tasks", name, "estimate", read=_estimate, **options)
