"""``client.scores``: every verdict of a task."""

from autotune.client.binding import (
    AsyncListMethod,
    AsyncResource,
    ListMethod,
    Resource,
)
from autotune.client.calls import Listing, page_parameters, path_to, returning
from autotune.protocol.completions import ScoredCompletion, ScoreList, VerdictState


def list_scores(
    *,
    task_id: str,
    state: VerdictState | None = None,
    include_completion: bool = False,
    page_size: int | None = None,
) -> Listing[ScoredCompletion]:
    """Walk through a task's verdicts; what is pending has none yet.

    Args:
        state: only those in this state.
        include_completion: fetch what was judged, dimensions and reasoning with each verdict.
        page_size: verdicts fetched at a time, 1 to 200.

    Raises:
        NotFoundError: there is no such task in this organisation.
    """
    return Listing(
        path=path_to("scores"),
        parameters=page_parameters(
            page_size,
            taskId=task_id,
            state=state,
            include="completion" if include_completion else None,
        ),
        read=returning(ScoreList, lambda page: (page.scores, page.next_token)),
    )


class Scores(Resource):
    """Verdicts, blocking."""

    list = ListMethod(list_scores)


class AsyncScores(AsyncResource):
    """Verdicts, for an event loop."""

    list = AsyncListMethod(list_scores)
