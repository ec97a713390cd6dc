"""OpenRouter's batches: rows sent with the creation, results within the job's own document.

As in https://openrouter.ai/docs/batch-quickstart, read in November 2026.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote, urlencode

from autotune_platform.ledger.calls import Question, Refusal
from autotune_platform.ledger.jobs.contract import (
    Body,
    Creation,
    Ended,
    Framing,
    Job,
    Line,
    Look,
    Missing,
    Results,
    Running,
)
from autotune_platform.ledger.jobs.inline_results import InlineResults, TooLargeError
from autotune_platform.ledger.jobs.openrouter_documents import (
    ENDS,
    base_model,
    counts_of,
    encoded,
    failure,
    line_of,
    malformed,
    nano_usd,
    progress_of,
    usage_of,
)
from autotune_platform.ledger.jobs.replies import creation, fetched, refusal_of
from autotune_platform.ledger.jobs.session import MAX_TOLD_BYTES, FetchError, Reply, Session
from autotune_platform.ledger.jobs.unnamed import AFTER, BEFORE, jobs_like
from autotune_platform.ledger.providers.documents import (
    inside,
    name,
)
from autotune_platform.ledger.providers.json_format import present
from autotune_platform.ledger.providers.openai import OpenAiFormat

_SEND_SECONDS: Final = 240
_LOOK_SECONDS: Final = 60
_ENDPOINT: Final = "/v1/chat/completions"
_INLINE = Results("results")


class OpenRouterJobs:
    """Jobs at ``base_url``/batches.

    A creation has no name: its job is found again by time, model and number of rows.
    """

    # It is read as it comes: the rows are understood only behind what they need.
    framing = Framing(
        before=lambda model: (
            b'{"endpoint":%b,"model":%b,"requests":[' % (encoded(_ENDPOINT), encoded(model))
        ),
        between=b",",
        after=b"]}",
    )
    is_named = False
    expires_by_itself = True

    def __init__(self, spoken: OpenAiFormat) -> None:
        """Take the format that single calls have."""
        self._spoken = spoken

    def row(self, custom_id: str, asked: Question) -> bytes:
        """Return one of the requests."""
        own = {"model": asked.model, **self._spoken.members(asked)}
        body = {**(asked.params.extra or {}), **present(own)}
        return encoded({"custom_id": custom_id, "body": body})

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
            is_other = model is not None and base_model(model) != base_model(job.model)
            return not is_other and counts_of(document)[1] in {None, job.rows}

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
            raise FetchError(malformed()) from None
        if not found.is_whole or not isinstance(found.document(), dict):
            raise FetchError(malformed())

    def line(self, line: bytes, key: str | None) -> Line | None:
        """Return what one of the results means."""
        return line_of(line, self._spoken, key)

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
        if status not in ENDS:
            return Running(progress_of(document))
        succeeded, total = counts_of(document)
        used = inside(document, "usage")
        refusal = failure(inside(document, "error"), self._spoken, key)
        return Ended(
            how=ENDS[status],
            results=[_INLINE] if found.has_items else [],
            succeeded=succeeded,
            total=total,
            refusal=refusal if status == "failed" else None,
            usage=usage_of(used),
            cost_nano_usd=nano_usd(inside(used, "cost")),
            reported=progress_of(document),
        )


def _headers(session: Session) -> dict[str, str]:
    return {"Authorization": f"Bearer {session.key}"} if session.key else {}


def _url(session: Session, job_id: str | None = None) -> str:
    one = "" if job_id is None else f"/{quote(job_id, safe='')}"
    return f"{session.base_url}/batches{one}"
