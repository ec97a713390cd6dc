"""What happened over time: in an organisation, and at a task.

Its own function, because it reads a little of what many domains keep, and writes none of it.
"""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.completions import ModelId
from autotune.protocol.grading import GraderVersion
from autotune.protocol.overview import OverviewResponse
from autotune.protocol.windows import PartWindow, TaskStats, Window
from autotune_platform.http.api import Api
from autotune_platform.runtime.environment.overview import OverviewEnvironment
from autotune_platform.wiring.overview import OverviewParts


@cache
def parts() -> OverviewParts:
    """Return what this process is put together from."""
    return OverviewParts(OverviewEnvironment.parse())


app = Api(parts)


@app.get("/api/v1/overview", tags=["overview"])
def read_overview(window: Annotated[Window, Query()] = "24h") -> OverviewResponse:
    """Return what the organisation's completions came to over time, and what holds them up.

    An hour is shown in stretches of five minutes, a day and a week by the hour, thirty days by the
    day, in UTC. It follows what is decided within seconds.
    """
    return OverviewResponse(overview=parts().overview.overview(app.caller.organization_id, window))


@app.get("/api/v1/tasks/<task_id>/stats", tags=["tasks"])
def read_task_stats(
    task_id: str,
    window: Annotated[PartWindow, Query()] = "7d",
    model: Annotated[ModelId | None, Query()] = None,
    grader_version: Annotated[GraderVersion | None, Query(alias="graderVersion")] = None,
) -> TaskStats:
    """Return what a task's completions came to over time, by model and by version of the grader.

    A day is shown by the hour, more by the day, in UTC.
    """
    task = parts().tasks.get(app.caller, task_id)
    return parts().window_statistics.of_task(
        task.organization_id, task.id, window, model=model, grader_version=grader_version
    )


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
