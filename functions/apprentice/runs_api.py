"""Runs of the apprentice: inputs that are answered, and what was answered."""

from datetime import date
from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.openapi.types import (
    OpenAPIResponse,
    OpenAPIResponseContentModel,
)

from autotune.protocol.apprentice_runs import (
    ApprenticeRunList,
    ApprenticeRunResponse,
    ApprenticeRunState,
    StartApprenticeRun,
)
from autotune.protocol.limits import MAX_APPRENTICE_WAIT_SECONDS
from autotune_platform.apprentice.runs.starting import WORKER_SECONDS
from autotune_platform.apprentice.runs.wire import problem_of, run_on_wire, summary_on_wire
from autotune_platform.budgets.waiting import Work
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import IdempotencyKey, NextToken, PageSize
from autotune_platform.runtime.environment.apprentice_runs import ApprenticeRunApiEnvironment
from autotune_platform.wiring.apprentice_runs import ApprenticeRunApiParts

Wait = Annotated[int, Query(ge=0, le=MAX_APPRENTICE_WAIT_SECONDS)]


@cache
def parts() -> ApprenticeRunApiParts:
    """Return what this process is put together from."""
    return ApprenticeRunApiParts(ApprenticeRunApiEnvironment.parse())


app = Api(parts)


def _described(description: str) -> OpenAPIResponse:
    answer = OpenAPIResponseContentModel(model=ApprenticeRunResponse)
    return OpenAPIResponse(description=description, content={"application/json": answer})


@app.post(
    "/api/v1/apprentice/tasks/<task_name>/runs",
    status_code=202,
    tags=["apprentice"],
    responses={200: _described("It is answered"), 202: _described("It goes on")},
)
def start_apprentice_run(
    task_name: str,
    body: StartApprenticeRun,
    wait: Wait = 0,
    idempotency_key: IdempotencyKey = None,
) -> Response[ApprenticeRunResponse]:
    """Have a task answer an input, waiting up to ``wait`` seconds for it.

    200 has the answer. 202 means that the run is durable and goes on. A run that nobody could
    answer is 402 where a budget has no room, else 503. The same ``Idempotency-Key`` always stands
    for the same run, also for one that was refused.
    """
    app.require_known_parameters()
    work = Work(WORKER_SECONDS)
    with parts().waiting.share(app.caller, wait, work=work) as seconds:
        started = parts().run_starting.start(
            app.caller,
            task_name,
            body.input,
            idempotency_key=idempotency_key,
            wait_seconds=int(seconds),
            work=work,
        )
        work.goes_on = started.goes_on
    run = started.run
    app.made(apprentice_task_id=run.task_id, apprentice_run_id=run.id)
    problem = problem_of(run)
    if problem is not None:
        raise problem
    output = started.output if started.is_known else parts().run_answers.of(run)
    return Response(
        status_code=200 if run.has_ended else 202,
        content_type="application/json",
        body=ApprenticeRunResponse(run=run_on_wire(run, output)),
    )


@app.get("/api/v1/apprentice/runs/<apprentice_run_id>", tags=["apprentice"])
def read_apprentice_run(apprentice_run_id: str) -> ApprenticeRunResponse:
    """Return one run with what was asked and answered, and which way it went."""
    run, output = parts().run_reading.get(app.caller, apprentice_run_id)
    return ApprenticeRunResponse(run=run_on_wire(run, output))


@app.delete(
    "/api/v1/apprentice/runs/<apprentice_run_id>/content", status_code=204, tags=["apprentice"]
)
def delete_apprentice_run_content(apprentice_run_id: str) -> None:
    """Delete what a run was asked and answered, its example and its requests' texts.

    What it cost and how far answers agreed stays. 409 while a model is asked or is to be.
    """
    parts().run_erasing.erase(app.caller, apprentice_run_id)


@app.get("/api/v1/apprentice/tasks/<task_name>/runs", tags=["apprentice"])
def list_apprentice_runs(
    task_name: str,
    *,
    day: Annotated[date | None, Query()] = None,
    first: Annotated[date | None, Query(alias="from")] = None,
    last: Annotated[date | None, Query(alias="to")] = None,
    state: Annotated[ApprenticeRunState | None, Query()] = None,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> ApprenticeRunList:
    """List a task's runs, newest first, without inputs and answers; today's where no day is given.

    ``day`` is one of UTC; ``from`` and ``to`` are the first and the last of at most 92. Runs are
    listed within seconds. With ``state`` a page may be short while there are more.
    """
    app.require_known_parameters()
    runs, token = parts().run_reading.list(
        app.caller,
        task_name,
        day=day,
        first=first,
        last=last,
        state=state,
        limit=limit,
        next_token=next_token,
    )
    return ApprenticeRunList(runs=[summary_on_wire(run) for run in runs], next_token=token)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
