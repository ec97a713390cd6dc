"""The two reads that may wait: the score of a completion, and a batch."""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.completions import BatchResponse, VerdictResponse
from autotune.protocol.limits import MAX_GENERATIONS, MAX_WAIT_SECONDS
from autotune_platform.completions.wire import batch_on_wire, status_on_wire
from autotune_platform.http.api import Api
from autotune_platform.runtime.environment.completions import WaitingEnvironment
from autotune_platform.wiring.completions import WaitingReadParts

Generation = Annotated[int | None, Query(ge=0, le=MAX_GENERATIONS)]
Wait = Annotated[int, Query(ge=0, le=MAX_WAIT_SECONDS)]


@cache
def parts() -> WaitingReadParts:
    """Return what this process is put together from."""
    return WaitingReadParts(WaitingEnvironment.parse())


app = Api(parts)


@app.get("/api/v1/completions/<completion_id>/score", tags=["scores"])
def read_score(
    completion_id: str, wait: Wait = 0, generation: Generation = None
) -> VerdictResponse:
    """Return where a completion stands, waiting up to ``wait`` seconds for its verdict.

    ``generation`` asks for the verdict of an earlier one, 0 for the first; without it, the answer
    is about the latest.

    It answers as before when the text is deleted or has expired. A grader's owner reads the scores
    of their own graders, in their organisation. Verdicts of a panel are nobody's own.
    """
    with parts().waiting.share(app.caller, wait) as seconds:
        status = parts().completions.status(
            app.caller, app.scope, completion_id, wait_seconds=seconds, generation=generation
        )
    return VerdictResponse(verdict=status_on_wire(status, app.scope))


@app.get("/api/v1/batches/<batch_id>", tags=["completions"])
def read_batch(batch_id: str, wait: Wait = 0) -> BatchResponse:
    """Return a batch with its verdicts, waiting up to ``wait`` seconds until none is pending."""
    with parts().waiting.share(app.caller, wait) as seconds:
        status = parts().completions.batch_status(app.caller, batch_id, wait_seconds=seconds)
    return batch_on_wire(status)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
