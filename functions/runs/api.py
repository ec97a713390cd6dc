"""Runs: what has completions graded, and why it takes as long as it does."""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.explanations import BatchExplanation, CompletionExplanation
from autotune.protocol.runs import RunList, RunResponse, RunState
from autotune.protocol.timelines import CompletionTimeline
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.runs.service import run_on_wire, summary_on_wire
from autotune_platform.runtime.environment.runs import RunApiEnvironment
from autotune_platform.wiring.run_api import RunApiParts


@cache
def parts() -> RunApiParts:
    """Return what this process is put together from."""
    return RunApiParts(RunApiEnvironment.parse())


app = Api(parts)


@app.get("/api/v1/runs", tags=["runs"])
def list_runs(
    state: Annotated[RunState | None, Query()] = None,
    grader_id: Annotated[str | None, Query(alias="graderId")] = None,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> RunList:
    """List runs in one state, or in each state after the other, the youngest first.

    With ``graderId`` only those that ask this grader, for itself or as a member of a panel; a page
    may be short then, even empty, while ``nextToken`` says that there is more.
    Runs are listed for 30 days. One that goes from state to state while pages are read may be
    listed twice, or not at all.
    """
    found, token = parts().runs.list(
        app.caller, state=state, grader_id=grader_id, limit=limit, next_token=next_token
    )
    return RunList(runs=[summary_on_wire(run) for run in found], next_token=token)


@app.get("/api/v1/runs/<run_id>", tags=["runs"])
def read_run(run_id: str) -> RunResponse:
    """Return a run with its completions and the counts of their verdicts."""
    return RunResponse(run=run_on_wire(parts().runs.get(app.caller, run_id)))


@app.post("/api/v1/runs/<run_id>/cancel", tags=["runs"])
def cancel_run(run_id: str) -> RunResponse:
    """Cancel what is pending in a run; one that has ended stays as it is."""
    return RunResponse(run=run_on_wire(parts().runs.cancel(app.caller, run_id)))


@app.get("/api/v1/completions/<completion_id>/explanation", tags=["completions"])
def explain_completion(completion_id: str) -> CompletionExplanation:
    """Say why a completion stands where it does: who is asked, what failed, what comes next.

    A grader's owner reads those of their own graders, in their organisation. What a panel judges is
    nobody's own.
    """
    return parts().explanations.of_completion(app.caller, app.scope, completion_id)


@app.get("/api/v1/completions/<completion_id>/timeline", tags=["completions"])
def read_timeline(completion_id: str) -> CompletionTimeline:
    """Return what happened to a completion, oldest first, and what it waits for.

    It is read from what is stored of it; ``forgotten`` says what is not any more. A grader's owner
    reads those of their own graders, as explanations.
    """
    return parts().timelines.of_completion(app.caller, app.scope, completion_id)


@app.get("/api/v1/batches/<batch_id>/explanation", tags=["completions"])
def explain_batch(batch_id: str) -> BatchExplanation:
    """Say what is pending in a batch, and which graders and runs it waits for."""
    return parts().explanations.of_batch(app.caller, batch_id)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
