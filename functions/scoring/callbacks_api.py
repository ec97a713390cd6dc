"""Callbacks: no key is needed, but the grader's signature for the request that it answers."""

from functools import cache
from typing import Any

from autotune.protocol.callbacks import CallbackReceipt, HeartbeatReceipt
from autotune_platform.http.api import Api
from autotune_platform.judging.http.callbacks import ProvenCall
from autotune_platform.runtime.environment.completions import ContentEnvironment
from autotune_platform.wiring.callbacks import CallbackApiParts


@cache
def parts() -> CallbackApiParts:
    """Return what this process is put together from."""
    return CallbackApiParts(ContentEnvironment.parse())


app = Api(parts, keyless=True)


@app.post("/api/v1/callbacks/<call_id>", tags=["callbacks"])
def answer_call(call_id: str) -> CallbackReceipt:
    """Answer a request that was answered 202: with the body that a 200 would have had.

    It carries the response headers of the grader protocol; what they sign is the same, too. Sending
    the same body again changes nothing. 404 is an unknown call as well as a wrong signature, 409
    a call that was answered otherwise or that nothing waits for any more.
    """
    call = parts().callback_service.answer(_proven(call_id), app.signed_request.body)
    return CallbackReceipt(
        request_id=call.request_id, answered_at=call.answered_at or call.created_at
    )


@app.post("/api/v1/callbacks/<call_id>/heartbeat", tags=["callbacks"])
def note_heartbeat(call_id: str) -> HeartbeatReceipt:
    """Give a sign of life on a request that was answered 202, signed as its answer will be.

    The body is ``{"requestId": …}``. 404 and 409 are as for the answer.
    """
    call = parts().callback_service.heartbeat(_proven(call_id), app.signed_request.body)
    return HeartbeatReceipt(
        request_id=call.request_id, answer_by=call.due_at, heartbeat_by=call.heartbeat_by
    )


def _proven(call_id: str) -> ProvenCall:
    request = app.signed_request
    proven = parts().callback_service.prove(call_id, request.headers, request.body)
    # Whatever becomes of it, it is known now who it is about.
    asked = proven.call
    app.acts_for(asked.organization_id, principal_id=asked.grader_id, is_outsider=True)
    return proven


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
