"""Scores, by every filter, and two models compared by them."""

from functools import cache
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.comparison import ModelComparison
from autotune.protocol.completions import ModelId, VerdictState
from autotune.protocol.completions import ScoreList as WireScoreList
from autotune.protocol.scores import ScoreFilters as WireScoreFilters
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize, with_score_filters
from autotune_platform.runtime.environment.completions import ContentEnvironment
from autotune_platform.verdicts.filters import ScoreFilters
from autotune_platform.wiring.scores import ScoreApiParts


@cache
def parts() -> ScoreApiParts:
    """Return what this process is put together from."""
    return ScoreApiParts(ContentEnvironment.parse())


app = Api(parts)


@app.get("/api/v1/scores", tags=["scores"])
@with_score_filters
def list_scores(
    *,
    filters: WireScoreFilters,
    state: Annotated[VerdictState | None, Query()] = None,
    include: Annotated[Literal["completion"] | None, Query()] = None,
    order: Annotated[Literal["newest"] | None, Query()] = None,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> WireScoreList:
    """List verdicts of a task, or of all of the organisation's; every filter narrows the list.

    Scores from ``minScore`` to ``maxScore``, both included, and decisions from ``startDate`` until
    before ``endDate``. A page may be short, even empty, while ``nextToken`` says that there is
    more: it ends when it has read 2,000 verdicts, whatever they matched. The token goes with the
    same filters. What was there when a walk began is listed once, whatever is scored meanwhile.

    With ``order=newest`` what was decided last comes first; it needs ``taskId``.

    With ``include=completion`` each verdict comes with its prompt and response, and with dimensions
    and reasoning. A grader's owner reads what their own graders gave in their organisation.
    Verdicts of a panel are nobody's own.
    """
    scores, token = parts().score_listing.page(
        app.caller,
        app.scope,
        ScoreFilters.of(filters, state=state),
        with_completions=include == "completion",
        newest_first=order == "newest",
        limit=limit,
        next_token=next_token,
    )
    return WireScoreList(scores=scores, next_token=token)


@app.get("/api/v1/tasks/<task_id>/comparison", tags=["tasks"])
def compare_models(
    task_id: str,
    a: Annotated[ModelId, Query()],
    b: Annotated[ModelId, Query()],
    tolerance: Annotated[float, Query(ge=0, le=1, allow_inf_nan=False)] = 0.0,
) -> ModelComparison:
    """Compare two models, or two checkpoints, on the prompts that both answered at a task.

    It looks at the latest 8,000 verdicts of the task at most, and at the latest 500 scores of each
    model among them, for five seconds; ``isComplete`` says whether that is all. Prompts are the
    same if their texts are, and scores are compared that the same version of the same grader gave.
    """
    return parts().comparison.compare(app.caller, task_id, a=a, b=b, tolerance=tolerance)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
