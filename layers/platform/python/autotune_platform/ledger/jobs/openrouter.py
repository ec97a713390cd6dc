"""OpenRouter's batches: rows sent with the creation, results within the job's own document.

As in https://openrouter.ai/docs/batch-quickstart, read in November 2026.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from decimal import Decimal
from http import HTTPStatus
from typing import Any, Final, Literal
from urllib.parse import quote, urlencode

from autotune_platform.ledger.calls import Outcome, Question, Refusal
from autotune_platform.ledger.jobs.contract import (
    Body,
    Creation,
    Ended,
    Framing,
    Job,
    JobLimits,
    Line,
    Look,
    Missing,
    Reported,
    Results,
    Running,
    reported,
)
from autotune_platform.ledger.jobs.inline_results import InlineResults, TooLargeError
from autotune_platform.ledger.jobs.replies import creation, fetched, outcome_of, refusal_of
from autotune_platform.ledger.jobs.session import MAX_TOLD_BYTES, FetchError, Reply, Session
from autotune_platform.ledger.jobs.unnamed import AFTER, BEFORE, jobs_like
from autotune_platform.ledger.providers import refusals
from autotune_platform.ledger.providers.documents import (
    all_of,
    document_of,
    inside,
    name,
    text,
    tokens,
)
from autotune_platform.ledger.providers.json_format import present
from autotune_platform.ledger.providers.openai import OpenAiFormat, usage_of
from autotune_platform.ledger.usage import JobUsage

_SEND_SECONDS: Final = 240
_LOOK_SECONDS: Final = 60
_ENDPOINT: Final = "/v1/chat/completions"
_INLINE = Results("results")
_ENDS: Mapping[str, Literal["completed", "failed", "expired", "canceled"]] = {
    "completed": "completed",
    "failed": "failed",
    "expired": "expired",
    "cancelled": "canceled",
}
_NOT_COME_TO: Mapping[str, Refusal] = {
    "canceled": Refusal("canceled", "the provider's job was canceled before this row"),
    "cancelled": Refusal("canceled", "the provider's job was canceled before this row"),
    "expired": Refusal("batch_expired", "the provider's job expired before this row"),
}
_STATUS_OF_TYPE: Mapping[str, int] = {
    "authentication_error": 401,
    "content_policy_violation": 400,
    "insufficient_credits": 402,
    "invalid_request_error": 400,
    "not_found_error": 404,
    "permission_error": 403,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "request_too_large": 413,
    "timeout_error": 504,
    "token_limit_exceeded": 429,
}
# A failed job has a message and nothing else: what its provider said, of which this one passes.
_TOKEN_LIMIT: Final = "enqueued token limit reached"  # noqa: S105 - OpenAI's words, no secret
_NANO: Final = 9
_DEAREST: Final = Decimal(10**6)


class OpenRouterJobs:
    """Jobs at ``base_url``/batches.

    A creation has no name: its job is found again by time, model and number of rows.
    """

    limits = JobLimits(rows=5_000, bytes=200_000_000)
    # It is read as it comes: the rows are understood only behind what they need.
    framing = Framing(
        before=lambda model: (
            b'{"endpoint":%b,"model":%b,"requests":[' % (_encoded(_ENDPOINT), _encoded(model))
        ),
        between=b",",
        after=b"]}",
    )
    is_named = False
    is_cancelable = False

    def __init__(self, spoken: OpenAiFormat) -> None:
        """Take the format that single calls have."""
        self._spoken = spoken

    def row(self, custom_id: str, asked: Question) -> bytes:
        """Return one of the requests."""
        own = {"model": asked.model, **self._spoken.members(asked)}
        body = {**(asked.params.extra or {}), **present(own)}
        return _encoded({"custom_id": custom_id, "body": body})

    def upload(self, session: Session, job: Job, body: Body) -> str | Refusal:  # noqa: ARG002 - the contract's
        """Send nothing: the rows go with the creation."""
        return ""

    def create(self, session: Session, job: Job, body: Body) -> Creation:  # noqa: ARG002 - the contract's
        """Ask for the job, with all rows."""
        reply = session.ask(
            "POST",
            _url(session),
            {**_headers(session), "Content-Type": "application/json"},
            body.parts(),
            length=body.length,
            seconds=_SEND_SECONDS,
        )
        return creation(reply, self._spoken, session.key, lambda found: inside(found, "id"))

    def search(self, session: Session, job: Job) -> Sequence[str] | Refusal:
        """Return the jobs of that time and model that have as many rows."""
        # What was created at the limit itself is left out.
        after = int((job.begun_at - BEFORE).timestamp()) - 1
        before = int((job.begun_at + AFTER).timestamp()) + 2

        def page(cursor: str) -> Reply | Refusal:
            query = {"limit": 100, "created_after": after, "created_before": before}
            asked = urlencode({**query, "after": cursor} if cursor else query)
            return session.ask("GET", f"{_url(session)}?{asked}", _headers(session))

        def is_like(document: Any) -> bool:
            model = name(inside(document, "model"))
            is_other = model is not None and _base(model) != _base(job.model)
            return not is_other and _counts(document)[1] in {None, job.rows}

        return jobs_like(
            job,
            page=page,
            refusal=lambda reply: refusal_of(reply, self._spoken, session.key),
            is_like=is_like,
        )

    def look(self, session: Session, job: Job) -> Look | Refusal:
        """Return how far the job is.

        Results come with it. Where they take too long or break off, what came before them is
        enough: they are fetched by themselves.
        """
        found = InlineResults("results", most_bytes=MAX_TOLD_BYTES)
        parts = session.fetch(_url(session, job.job_id), _headers(session), seconds=_LOOK_SECONDS)
        try:
            with closing(parts):
                for part in parts:
                    found.split(part)
        except TooLargeError:
            return Refusal("result_malformed", f"the job has more than {MAX_TOLD_BYTES} bytes")
        except FetchError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return Missing()
            if error.reply is not None:
                return refusal_of(error.reply, self._spoken, session.key)
            if not found.has_items:
                return error.refusal
        return self._look(found, session.key)

    def cancel(self, session: Session, job: Job) -> Refusal | None:  # noqa: ARG002 - the contract's
        """Do nothing: jobs cannot be canceled there."""
        return None

    def fetch(self, session: Session, job: Job, results: Results) -> Iterator[bytes]:  # noqa: ARG002 - the contract's
        """Yield the items of the job's results, each on a line."""
        found = InlineResults("results", most_bytes=MAX_TOLD_BYTES)
        parts = fetched(session, _url(session, job.job_id), _headers(session), self._spoken)
        try:
            with closing(parts):
                for part in parts:
                    if lines := found.split(part):
                        yield lines
        except TooLargeError:
            raise FetchError(_malformed()) from None
        if not found.is_whole or not isinstance(found.document(), dict):
            raise FetchError(_malformed())

    def line(self, line: bytes, key: str | None) -> Line | None:
        """Return what one of the results means."""
        document = document_of(line)
        custom_id = name(inside(document, "custom_id"))
        return None if custom_id is None else Line(custom_id, self._outcome(document, key))

    def clean(self, session: Session, job: Job, ended: Sequence[Results]) -> Refusal | None:  # noqa: ARG002 - the contract's
        """Delete the job, and with it rows and results."""
        if job.job_id is None:
            return None
        reply = session.ask("DELETE", _url(session, job.job_id), _headers(session))
        if isinstance(reply, Refusal):
            return reply
        if reply.succeeded or reply.status == HTTPStatus.NOT_FOUND:
            return None
        return refusal_of(reply, self._spoken, session.key)

    def _look(self, found: InlineResults, key: str | None) -> Look | Refusal:
        document = found.document()
        status = inside(document, "status")
        if not isinstance(status, str):
            return Refusal("provider_error", "the answer tells no status")
        if status not in _ENDS:
            return Running(_reported(document))
        succeeded, total = _counts(document)
        used = inside(document, "usage")
        return Ended(
            how=_ENDS[status],
            results=[_INLINE] if found.has_items else [],
            succeeded=succeeded,
            total=total,
            refusal=self._failure(inside(document, "error"), key) if status == "failed" else None,
            usage=_usage(used),
            cost_nano_usd=_nano_usd(inside(used, "cost")),
            reported=_reported(document),
        )

    def _failure(self, error: Any, key: str | None) -> Refusal:
        """Return why a job failed as a whole; no row is ever named."""
        said = (text(inside(error, "message")) or "").lower()
        status = 429 if said.startswith(_TOKEN_LIMIT) else _status(error, 400)
        answer = {"error": error} if said else {"error": {"message": "the job failed"}}
        return refusal_of(Reply(status, {}, _encoded(answer)), self._spoken, key)

    def _outcome(self, document: Any, key: str | None) -> Outcome:
        error, response = inside(document, "error"), inside(document, "response")
        if error is None and isinstance(response, dict):
            status = tokens(inside(response, "status_code"))
            request_id = name(inside(response, "request_id"))
            body = inside(response, "body")
            return outcome_of(self._spoken, status or 0, body, key, request_id=request_id)
        if error is None:
            return refusals.malformed("the result holds nothing")
        kind = inside(error, "type")
        known = _NOT_COME_TO.get(kind) if isinstance(kind, str) else None
        return known or outcome_of(self._spoken, _status(error, 500), {"error": error}, key)


def _encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _headers(session: Session) -> dict[str, str]:
    return {"Authorization": f"Bearer {session.key}"} if session.key else {}


def _url(session: Session, job_id: str | None = None) -> str:
    one = "" if job_id is None else f"/{quote(job_id, safe='')}"
    return f"{session.base_url}/batches{one}"


def _base(model: str) -> str:
    """Return a model without its variant, such as ``:batch``, which may be there or not."""
    return model.partition(":")[0]


def _malformed() -> Refusal:
    return refusals.malformed("the job's document is not whole, or it is no JSON")


def _status(error: Any, otherwise: int) -> int:
    """Return the status that an error would have had by itself."""
    code = tokens(inside(error, "code"))
    if code is not None and 400 <= code < 600:
        return code
    kinds = (inside(error, "type"), inside(error, "code"))
    known = (_STATUS_OF_TYPE.get(kind) for kind in kinds if isinstance(kind, str))
    return next(filter(None, known), otherwise)


def _counts(document: Any) -> tuple[int | None, int | None]:
    """Return how many rows were answered, and how many there are, as far as that can be."""
    counts = inside(document, "request_counts")
    found = all_of(tokens(inside(counts, "completed")), tokens(inside(counts, "total")))
    return (None, None) if found is None or not found[1] else (found[0], found[1])


def _usage(shown: Any) -> JobUsage | None:
    """Return what all rows used, counted as that of each is."""
    used = usage_of(shown)
    if used is None:
        return None
    return JobUsage(
        input_tokens=used.input_tokens,
        cached_input_tokens=tokens(inside(shown, "prompt_tokens_details", "cached_tokens")),
        output_tokens=used.output_tokens,
    )


def _reported(document: Any) -> Reported:
    model, counts = inside(document, "model"), inside(document, "request_counts")
    shown = {one: tokens(inside(counts, one)) for one in ("completed", "failed", "total")}
    return reported(_base(name(model) or "") or None, **shown)


def _nano_usd(cost: Any) -> int | None:
    """Return a cost in nano-USD.

    Its shortest text has the digits that were sent: binary fractions have no part in it.
    """
    if isinstance(cost, bool) or not isinstance(cost, int | float):
        return None
    usd = Decimal(str(cost))
    is_cost = usd.is_finite() and 0 <= usd <= _DEAREST
    return int(usd.scaleb(_NANO).to_integral_value()) if is_cost else None
