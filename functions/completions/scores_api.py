"""Scores, by every filter."""

from functools import cache
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.completions import ScoreList as WireScoreList
from autotune.protocol.completions import VerdictState
from autotune.protocol.scores import ScoreFilters as WireScoreFilters
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize, with_score_filters
from autotune_platform.runtime.environment import ContentEnvironment
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
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> WireScoreList:
    """List verdicts of a task, or of all of the organisation's; every filter narrows the list.

    Scores from ``minScore`` to ``maxScore``, both included, and decisions from ``startDate`` until
    before ``endDate``. A page may be short, even empty, while ``nextToken`` says that there is
    more: it ends when it has read 2,000 verdicts, whatever they matched. The token goes with the
    same filters. What was there when a walk began is listed once, whatever is scored meanwhile.

    With ``include=completion`` each verdict comes with its prompt and response, and with dimensions
    and reasoning. A grader's owner reads what their own graders gave in their organisation.
    Verdicts of a panel are nobody's own.
    """
    scores, token = parts().score_listing.page(
        app.caller,
        app.scope,
        ScoreFilters.of(filters, state=state),
        with_completions=include == "completion",
        limit=limit,
        next_token=next_token,
    )
    return WireScoreList(scores=scores, next_token=token)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
