"""OpenAI's chat completions, for programs that know them: of a token's connection, or its task.

Its own function, because it asks providers with the keys of connections, and waits for them. A run
of a task is worked on by the task's own function, which this one waits for.
"""

from functools import cache
from typing import Any

from aws_lambda_powertools.event_handler import Response

from autotune.protocol.llm_tokens import LlmTokenScope
from autotune_platform.access.capabilities import bearer_of
from autotune_platform.access.models import Caller
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import IdempotencyKey
from autotune_platform.ledger.compatible.chat_bodies import chat_body_of
from autotune_platform.ledger.compatible.chat_headers import deck_named_in, labels_named_in
from autotune_platform.ledger.compatible.shapes import in_openai_words, list_shape
from autotune_platform.ledger.token_proofs import Token
from autotune_platform.runtime.environment.compatible import ChatEnvironment
from autotune_platform.wiring.chats import ChatApiParts

# The time that the function keeps for storing and booking an answer, and for its own.
_TO_BOOK_SECONDS = 4


@cache
def parts() -> ChatApiParts:
    """Return what this process is put together from."""
    return ChatApiParts(ChatEnvironment.parse())


app = Api(parts, keyless=True)


@app.post("/v1/chat/completions", tags=["OpenAI's chat completions"])
def complete_chat(idempotency_key: IdempotencyKey = None) -> Response[str]:
    """Have a chat completion answered by ``CONNECTION/MODEL``; it is paid like any other request.

    With ``stream`` the whole answer comes at once, as events. A provider has 25 seconds. The same
    key and body within a day have the same answer, and nothing is asked; while the first is under
    way they answer 409.

    The token of a task has ``apprentice/TASK`` answer: the last message is the input of a run. What
    takes longer goes on, and the same key has its answer later.
    """
    caller, token = _admitted("write")
    headers = app.signed_request.headers
    if token.apprentice_task is not None:
        passed = parts().task_chats.complete(
            caller,
            token,
            app.signed_request.body,
            headers=headers,
            idempotency_key=idempotency_key,
            seconds_left=_seconds_left,
        )
        app.made(apprentice_run_id=passed.stored_as)
    else:
        passed = parts().compatible_chats.complete(
            caller,
            token,
            chat_body_of(app.signed_request.body),
            deck_id=deck_named_in(headers),
            labels=labels_named_in(headers),
            idempotency_key=idempotency_key,
            seconds_left=_seconds_left,
        )
    told: dict[str, str | list[str]] = {passed.named_by: passed.stored_as}
    if passed.is_replayed:
        told["Idempotent-Replayed"] = "true"
    return Response(
        status_code=200, content_type=passed.media_type, body=passed.content, headers=told
    )


@app.get("/v1/models", tags=["OpenAI's chat completions"])
def list_models() -> Any:
    """List the models of the token's connection whose price is known, or the token's task."""
    _, token = _admitted("read")
    if token.apprentice_task is not None:
        return list_shape(parts().task_chats.models(token), has_more=False)
    return list_shape(parts().compatible_chats.models(token), has_more=False)


def _admitted(scope: LlmTokenScope) -> tuple[Caller, Token]:
    token = parts().llm_tokens.prove(app.signed_request.headers.get("authorization", ""))
    # From here on the organisation is known, and its audit log may show who uses its token.
    app.acts_for(token.organization_id, principal_id=token.id, is_outsider=False)
    parts().llm_tokens.require(token, scope)
    return parts().access.admit(bearer_of(token)), token


def _seconds_left() -> float:
    left: float = app.lambda_context.get_remaining_time_in_millis() / 1000
    return left - _TO_BOOK_SECONDS


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return in_openai_words(app.handle(event, context))
