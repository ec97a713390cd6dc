"""Where a task of the apprentice stands, what became of it, and how long it takes yet."""

from typing import Unpack

from autotune.client.calls import Call, CallOptions, call, returning
from autotune.protocol import apprentice_reports as wire

_status = returning(wire.ApprenticeStatusResponse, lambda answer: answer.status)
_report = returning(wire.ApprenticeReportResponse, lambda answer: answer.report)
_estimate = returning(wire.ApprenticeEstimateResponse, lambda answer: answer.estimate)


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


def get_apprentice_estimate(
    name: str, **options: Unpack[CallOptions]
) -> Call[wire.ApprenticeEstimate]:
    """Read how long it is until a version of a task graduates, and at what price.

    Raises:
        NotFoundError: there is no such task in this organisation.
    """
    return call("GET", "apprentice", "tasks", name, "estimate", read=_estimate, **options)
