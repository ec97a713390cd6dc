"""Where a task of the apprentice stands, what became of it, and how long it takes yet.

Its own function, because it reads what others count and fold, and writes none of it. A report that
is sent to webhooks is an event, stored for who publishes them.
"""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.apprentice_estimates import ApprenticeEstimateResponse
from autotune.protocol.apprentice_reports import (
    ApprenticeReportResponse,
    ApprenticeReportSent,
    ApprenticeStatusResponse,
)
from autotune.protocol.limits import MAX_APPRENTICE_REPORT_DAYS
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import IdempotencyKey
from autotune_platform.runtime.environment.apprentice import ApprenticeEnvironment
from autotune_platform.wiring.apprentice_reports import ApprenticeReportParts

Days = Annotated[int, Query(ge=1, le=MAX_APPRENTICE_REPORT_DAYS)]


@cache
def parts() -> ApprenticeReportParts:
    """Return what this process is put together from."""
    return ApprenticeReportParts(ApprenticeEnvironment.parse())


app = Api(parts)


@app.get("/api/v1/apprentice/tasks/<task_name>/status", tags=["apprentice"])
def read_apprentice_status(task_name: str) -> ApprenticeStatusResponse:
    """Return where a task stands: its phase, its versions, its budget, and what needs attention."""
    app.require_known_parameters()
    return ApprenticeStatusResponse(status=parts().apprentice_reports.status(app.caller, task_name))


@app.get("/api/v1/apprentice/tasks/<task_name>/report", tags=["apprentice"])
def read_apprentice_report(task_name: str, days: Days = 30) -> ApprenticeReportResponse:
    """Return what became of a task by day, in UTC, and what that saved."""
    app.require_known_parameters()
    return ApprenticeReportResponse(
        report=parts().apprentice_reports.report(app.caller, task_name, days=days)
    )


@app.post("/api/v1/apprentice/tasks/<task_name>/report", status_code=202, tags=["apprentice"])
def send_apprentice_report(
    task_name: str, days: Days = 30, idempotency_key: IdempotencyKey = None
) -> ApprenticeReportSent:
    """Send what became of a task to the webhooks that ask for ``apprentice.report``.

    The same ``Idempotency-Key`` with the same ``days`` sends it once.
    """
    app.require_known_parameters()
    sent = parts().report_sending.send(
        app.caller, task_name, days=days, idempotency_key=idempotency_key
    )
    app.made(apprentice_task_id=sent.task_id, event_id=sent.event_id)
    return ApprenticeReportSent(event_id=sent.event_id)


@app.get("/api/v1/apprentice/tasks/<task_name>/estimate", tags=["apprentice"])
def read_apprentice_estimate(task_name: str) -> ApprenticeEstimateResponse:
    """Return how long it is until a version of a task graduates, and at what price."""
    app.require_known_parameters()
    return ApprenticeEstimateResponse(
        estimate=parts().apprentice_reports.estimate(app.caller, task_name)
    )


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
