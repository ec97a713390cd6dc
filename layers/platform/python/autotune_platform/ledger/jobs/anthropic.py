"""Anthropic's message batches: rows sent with the creation, results as lines at an address.

As in https://platform.claude.com/docs/en/api/messages/batches, read in November 2026.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Final, Literal
from urllib.parse import quote

from autotune_platform.ledger.calls import Outcome, Question, Refusal
from autotune_platform.ledger.jobs.contract import (
    Body,
    Creation,
    Ended,
    Framing,
    Job,
    Line,
    Look,
    Missing,
    NotCreated,
    Reported,
    Results,
    Running,
    reported,
)
from autotune_platform.ledger.jobs.replies import creation, fetched, outcome_of, refusal_of
from autotune_platform.ledger.jobs.session import Reply, Session
from autotune_platform.ledger.jobs.unnamed import jobs_like
from autotune_platform.ledger.providers import refusals
from autotune_platform.ledger.providers.anthropic import AnthropicFormat, headers, status_of
from autotune_platform.ledger.providers.documents import (
    all_of,
    document_of,
    inside,
    name,
    text,
    tokens,
)

_SEND_SECONDS: Final = 240
_COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")
_NOT_COME_TO: Mapping[str, Refusal] = {
    "canceled": Refusal("canceled", "the provider's job was canceled before this row"),
    "expired": Refusal("batch_expired", "the provider's job expired before this row"),
}
# Only at the beginning of a line: elsewhere it may be a row's own text that is quoted.
_NAMED_ROW = re.compile(r"^requests\.(\d{1,6})(?=[.:])", re.ASCII | re.MULTILINE)


class AnthropicJobs:
    """Jobs at ``base_url``/v1/messages/batches.

    A creation has no name: its job is found again by time and number of rows.
    """

    framing = Framing(before=lambda _: b'{"requests":[', between=b",", after=b"]}")
    is_named = False
    expires_by_itself = True

    def __init__(self, spoken: AnthropicFormat) -> None:
        """Take the format that single calls have."""
        self._spoken = spoken

    def row(self, custom_id: str, asked: Question) -> bytes:
        """Return one of the requests."""
        request = {"custom_id": custom_id, "params": self._spoken.body(asked)}
        return json.dumps(request, separators=(",", ":")).encode("ascii")

    def upload(self, session: Session, job: Job, body: Body) -> str | Refusal:  # noqa: ARG002 - the contract's
        """Send nothing: the rows go with the creation."""
        return ""

    def create(self, session: Session, job: Job, body: Body) -> Creation:
        """Ask for the job, with all rows."""
        reply = session.ask(
            "POST",
            _url(session),
            {**headers(session.key), "Content-Type": "application/json"},
            body.parts(),
            length=body.length,
            seconds=_SEND_SECONDS,
        )
        made = creation(reply, self._spoken, session.key, lambda found: inside(found, "id"))
        if isinstance(made, NotCreated) and isinstance(reply, Reply):
            return replace(made, lines=_refused_rows(reply, made.refusal, job))
        return made

    def search(self, session: Session, job: Job) -> Sequence[str] | Refusal:
        """Return the jobs of that time that have as many rows."""

        def page(cursor: str) -> Reply | Refusal:
            after = f"&after_id={quote(cursor, safe='')}" if cursor else ""
            return session.ask("GET", f"{_url(session)}?limit=100{after}", headers(session.key))

        def is_like(document: Any) -> bool:
            return _counts(document)[1] in {None, job.rows}

        return jobs_like(
            job,
            page=page,
            refusal=lambda reply: refusal_of(reply, self._spoken, session.key),
            is_like=is_like,
        )

    def look(self, session: Session, job: Job) -> Look | Refusal:
        """Return how far the job is."""
        reply = session.ask("GET", _url(session, job.job_id), headers(session.key))
        if isinstance(reply, Refusal):
            return reply
        if reply.status == HTTPStatus.NOT_FOUND:
            return Missing()
        if not reply.succeeded:
            return refusal_of(reply, self._spoken, session.key)
        document = reply.document
        status = inside(document, "processing_status")
        if not isinstance(status, str):
            return Refusal("provider_error", "the answer tells no status")
        if status != "ended":
            return Running(_reported(document))
        succeeded, total = _counts(document)
        # Its address only says that there are results: a key goes to no host that an answer names.
        has_results = text(inside(document, "results_url")) is not None
        return Ended(
            how=_how(document),
            results=[Results(job.job_id)] if has_results and job.job_id else [],
            succeeded=succeeded,
            total=total,
            reported=_reported(document),
        )

    def cancel(self, session: Session, job: Job) -> Refusal | None:
        """Ask for the job to end; what has ended is refused as invalid."""
        url = f"{_url(session, job.job_id)}/cancel"
        reply = session.ask("POST", url, headers(session.key))
        if isinstance(reply, Refusal):
            return reply
        if reply.succeeded:
            return None
        refusal = refusal_of(reply, self._spoken, session.key)
        has_ended = reply.status in {HTTPStatus.BAD_REQUEST, HTTPStatus.CONFLICT}
        return None if has_ended and refusal.code != "account" else refusal

    def fetch(self, session: Session, job: Job, results: Results) -> Iterator[bytes]:  # noqa: ARG002 - the contract's
        """Yield the results, which are JSON Lines."""
        url = f"{_url(session, results.place)}/results"
        yield from fetched(session, url, headers(session.key), self._spoken)

    def line(self, line: bytes, key: str | None) -> Line | None:
        """Return what a line of the results means."""
        document = document_of(line)
        custom_id = name(inside(document, "custom_id"))
        if custom_id is None:
            return None
        return Line(custom_id, self._outcome(inside(document, "result"), key))

    def clean(self, session: Session, job: Job, ended: Sequence[Results]) -> Refusal | None:  # noqa: ARG002 - the contract's
        """Delete the job, and with it rows and results."""
        if job.job_id is None:
            return None
        reply = session.ask("DELETE", _url(session, job.job_id), headers(session.key))
        if isinstance(reply, Refusal):
            return reply
        if reply.succeeded or reply.status == HTTPStatus.NOT_FOUND:
            return None
        return refusal_of(reply, self._spoken, session.key)

    def _outcome(self, result: Any, key: str | None) -> Outcome:
        kind = inside(result, "type")
        if kind == "succeeded":
            return outcome_of(self._spoken, 200, inside(result, "message"), key)
        if kind == "errored":
            shown = inside(result, "error")
            error = inside(shown, "error")
            body = shown if isinstance(error, dict) else {"error": shown}
            status = status_of(inside(body, "error", "type"))
            return outcome_of(self._spoken, status, body, key)
        known = _NOT_COME_TO.get(kind) if isinstance(kind, str) else None
        return known or refusals.malformed("the result is of no known type")


def _url(session: Session, job_id: str | None = None) -> str:
    one = "" if job_id is None else f"/{quote(job_id, safe='')}"
    return f"{session.base_url}/v1/messages/batches{one}"


def _refused_rows(reply: Reply, refusal: Refusal, job: Job) -> Mapping[int, str]:
    """Return the rows that a message names, such as ``requests.3.params: …``."""
    message = text(inside(reply.document, "error", "message"))
    if message is None or refusal.code != "rejected":
        return {}
    found = map(int, _NAMED_ROW.findall(message))
    return {row: refusal.message for row in found if row < job.rows}


def _counts(document: Any) -> tuple[int | None, int | None]:
    """Return how many rows were answered, and how many there are, as far as that can be."""
    shown = inside(document, "request_counts")
    found = all_of(*(tokens(inside(shown, count)) for count in _COUNTS))
    if found is None or sum(found) == 0:
        return None, None
    return found[_COUNTS.index("succeeded")], sum(found)


def _reported(document: Any) -> Reported:
    succeeded, total = _counts(document)
    shown = inside(document, "request_counts")
    lost = all_of(*(tokens(inside(shown, count)) for count in ("errored", "canceled", "expired")))
    failed = None if lost is None else sum(lost)
    return reported(None, completed=succeeded, failed=failed, total=total)


def _how(document: Any) -> Literal["completed", "expired", "canceled"]:
    """Return how a job ended, which shows in what became of its rows."""
    counts = inside(document, "request_counts")
    if tokens(inside(counts, "canceled")):
        return "canceled"
    if tokens(inside(counts, "expired")):
        return "expired"
    is_unclear = _counts(document)[1] is None and inside(document, "cancel_initiated_at")
    return "canceled" if is_unclear else "completed"
