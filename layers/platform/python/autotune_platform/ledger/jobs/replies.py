"""What the providers' parts read in the same way: creations, lists, and rows within results."""

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from typing import Any, Final

from autotune_platform.ledger.calls import Outcome, ProviderFormat, Refusal
from autotune_platform.ledger.jobs.contract import Created, Creation, NotCreated, Unclear
from autotune_platform.ledger.jobs.session import FetchError, Reply, Session
from autotune_platform.ledger.providers.documents import name

_TIMED_OUT: Final = 408
_SERVERS: Final = 500


def creation(
    reply: Reply | Refusal,
    spoken: ProviderFormat,
    key: str | None,
    job_id: Callable[[Any], Any],
) -> Creation:
    """Return what came of asking for a job.

    Only a status of the 400s says that there is none: what failed on the provider's side may have
    failed after it had stored the job.

    Args:
        job_id: finds the job's name in the provider's document.
    """
    if isinstance(reply, Refusal):
        return Unclear(reply.message) if reply.may_be_paid else NotCreated(reply)
    if reply.succeeded:
        found = name(job_id(reply.document))
        return Created(found) if found else Unclear("the answer names no job")
    if reply.status >= _SERVERS or reply.status == _TIMED_OUT:
        return Unclear(f"the provider answered {reply.status}")
    return NotCreated(refusal_of(reply, spoken, key))


def refusal_of(reply: Reply, spoken: ProviderFormat, key: str | None) -> Refusal:
    """Return why a request about jobs or files was refused; nothing of that is ever paid."""
    outcome = spoken.outcome(reply.status, reply.headers, reply.body, key)
    if isinstance(outcome, Refusal):
        return replace(outcome, may_be_paid=False)
    return Refusal("provider_error", f"the provider answered {reply.status}")


def fetched(
    session: Session, url: str, headers: Mapping[str, str], spoken: ProviderFormat
) -> Generator[bytes, None, None]:
    """Yield the body of the answer to a GET, in parts.

    Raises:
        FetchError: as ``Session.fetch`` does; its refusal says what the provider's error means.
    """
    try:
        yield from session.fetch(url, headers)
    except FetchError as error:
        if error.reply is None:
            raise
        refusal = refusal_of(error.reply, spoken, session.key)
        raise FetchError(refusal, status=error.status, reply=error.reply) from error


def outcome_of(
    spoken: ProviderFormat,
    status: int,
    body: Any,
    key: str | None,
    *,
    request_id: str | None = None,
) -> Outcome:
    """Return what one row's answer within results means.

    Rows that a job lists as failed are not paid, whatever their status.

    Args:
        status: as the row would have had it by itself; 200 for an answer.
        body: the provider's document of the answer or the error.
    """
    headers = {"x-request-id": request_id} if request_id else {}
    encoded = json.dumps(body, separators=(",", ":")).encode("ascii")
    outcome = spoken.outcome(status, headers, encoded, key)
    if isinstance(outcome, Refusal) and not 200 <= status < 300:
        return replace(outcome, may_be_paid=False)
    return outcome
