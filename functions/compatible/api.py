"""OpenAI's batch API, for programs that know it: a token in place of a key, an import behind each.

Answers and errors are in OpenAI's words. Its own function, because anybody may call it.
"""

from functools import cache
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.llm_tokens import LlmTokenScope
from autotune_platform.access.capabilities import bearer_of
from autotune_platform.access.models import Caller
from autotune_platform.http.api import Api
from autotune_platform.ledger.compatible.forms import form_of
from autotune_platform.ledger.compatible.shapes import (
    TOO_LARGE_FILE,
    batch_shape,
    file_shape,
    in_openai_words,
    list_shape,
)
from autotune_platform.ledger.token_proofs import Token
from autotune_platform.runtime.environment.ledger import ImportApiEnvironment
from autotune_platform.wiring.compatible import CompatibleApiParts

# The time that the function keeps for its answer, and for making files of a batch's parts.
_TO_ANSWER_SECONDS = 12

After = Annotated[str | None, Query(min_length=1, max_length=64)]
Files = Annotated[int, Query(ge=1, le=10_000)]
Batches = Annotated[int, Query(ge=1, le=100)]
Order = Annotated[Literal["asc", "desc"], Query()]
Purpose = Annotated[Literal["batch", "batch_output"] | None, Query()]


@cache
def parts() -> CompatibleApiParts:
    """Return what this process is put together from."""
    return CompatibleApiParts(ImportApiEnvironment.parse())


app = Api(parts, keyless=True)


@app.post("/v1/files", tags=["OpenAI's batch API"])
def create_file() -> Any:
    """Take a file of up to 4 MB and 5,000 lines, as multipart/form-data; it is kept for 7 days."""
    _, token = _admitted("write")
    form = form_of(app.signed_request.headers.get("content-type", ""), app.signed_request.body)
    return file_shape(parts().compatible_files.create(token, form))


@app.get("/v1/files", tags=["OpenAI's batch API"])
def list_files(
    after: After = None, limit: Files = 1_000, order: Order = "desc", purpose: Purpose = None
) -> Any:
    """List the files of the token's connection."""
    _, token = _admitted("read")
    found, has_more = parts().compatible_files.list(
        token, after=after, limit=min(limit, 1_000), order=order, purpose=purpose
    )
    return list_shape([file_shape(file) for file in found], has_more=has_more)


@app.get("/v1/files/<file_id>", tags=["OpenAI's batch API"])
def read_file(file_id: str) -> Any:
    """Return a file, without its content."""
    _, token = _admitted("read")
    return file_shape(parts().compatible_files.get(token, file_id))


@app.get("/v1/files/<file_id>/content", tags=["OpenAI's batch API"])
def read_content(file_id: str) -> Response[str]:
    """Redirect to a link of a file's content, which holds for five minutes."""
    _, token = _admitted("read")
    link = parts().compatible_files.link(token, file_id)
    return Response(status_code=302, content_type="text/plain", body="", headers={"Location": link})


@app.delete("/v1/files/<file_id>", tags=["OpenAI's batch API"])
def delete_file(file_id: str) -> Any:
    """Delete a file; a batch that was made of it goes on."""
    _, token = _admitted("write")
    parts().compatible_files.delete(token, file_id)
    return {"id": file_id, "object": "file", "deleted": True}


@app.post("/v1/batches", tags=["OpenAI's batch API"])
def create_openai_batch() -> Any:
    """Have a file's lines asked; the same file and body again are the same batch."""
    caller, token = _admitted("write")
    key = app.signed_request.headers.get("idempotency-key")
    made = parts().compatible_batches.create(
        caller, token, app.signed_request.body, idempotency_key=key
    )
    return batch_shape(made)


@app.get("/v1/batches", tags=["OpenAI's batch API"])
def list_openai_batches(after: After = None, limit: Batches = 20) -> Any:
    """List the batches of the token's connection, youngest first, as each was last looked at."""
    _, token = _admitted("read")
    found, has_more = parts().compatible_batches.list(token, after=after, limit=limit)
    return list_shape([batch_shape(one) for one in found], has_more=has_more)


@app.get("/v1/batches/<openai_batch_id>", tags=["OpenAI's batch API"])
def read_openai_batch(openai_batch_id: str) -> Any:
    """Return a batch as its requests are now; what has ended is gathered for its files."""
    caller, token = _admitted("read")
    found = parts().compatible_batches.look(caller, token, openai_batch_id, has_time=_has_time)
    return batch_shape(found)


@app.post("/v1/batches/<openai_batch_id>/cancel", tags=["OpenAI's batch API"])
def cancel_openai_batch(openai_batch_id: str) -> Any:
    """Cancel a batch; what a model was asked by then is paid, and its answers stay."""
    caller, token = _admitted("write")
    found = parts().compatible_batches.cancel(caller, token, openai_batch_id, has_time=_has_time)
    return batch_shape(found)


def _admitted(scope: LlmTokenScope) -> tuple[Caller, Token]:
    token = parts().llm_tokens.prove(app.signed_request.headers.get("authorization", ""))
    # From here on the organisation is known, and its audit log may show who uses its token.
    app.acts_for(token.organization_id, principal_id=token.id, is_outsider=False)
    parts().llm_tokens.require(token, scope)
    return parts().access.admit(bearer_of(token)), token


def _has_time() -> bool:
    left: float = app.lambda_context.get_remaining_time_in_millis() / 1000
    return left > _TO_ANSWER_SECONDS


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return in_openai_words(app.handle(event, context), too_large=TOO_LARGE_FILE)
