"""``client.runs``: how far the grading of submitted completions has come."""

from typing import Unpack

from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, returning
from autotune.protocol.runs import Run, RunList, RunResponse, RunState, RunSummary

_run = returning(RunResponse, lambda answer: answer.run)
_runs = returning(RunList, lambda page: (page.runs, page.next_token))


def get_run(run_id: str, **options: Unpack[CallOptions]) -> Call[Run]:
    """Read a run: its state, its completions, and the counts of their verdicts.

    Raises:
        NotFoundError: there is no such run in this organisation, or it began over 30 days ago.
    """
    return call("GET", "runs", run_id, read=_run, **options)


def list_runs(
    *,
    state: RunState | None = None,
    grader_id: str | None = None,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[RunSummary]:
    """Walk through the runs of 30 days, the youngest first within each state.

    A run that goes from state to state meanwhile may come twice, or not at all.

    Args:
        state: only those in this state.
        grader_id: only those that ask this grader.
        page_size: runs fetched at a time, 1 to 200.
    """
    query = {"state": state, "graderId": grader_id}
    return listing("runs", read=_runs, page_size=page_size, query=query, **options)


def cancel_run(run_id: str, **options: Unpack[CallOptions]) -> Call[Run]:
    """Cancel what is pending in a run; return where it stands, which a run that ended keeps.

    Raises:
        NotFoundError: there is no such run in this organisation, or it began over 30 days ago.
    """
    return call("POST", "runs", run_id, "cancel", read=_run, is_idempotent=True, **options)


class RunMethods:
    """Methods of runs."""

    get = Method(get_run)
    list = ListMethod(list_runs)
    cancel = Method(cancel_run)


class Runs(RunMethods, Resource):
    """Runs, blocking."""


class AsyncRuns(RunMethods, AsyncResource):
    """Runs, for an event loop."""
