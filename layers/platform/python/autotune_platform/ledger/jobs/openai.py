"""Batch jobs of OpenAI and Azure OpenAI: a file of rows, a job, and files of results.

As in https://developers.openai.com/api/docs/guides/batch and
https://learn.microsoft.com/azure/ai-foundry/openai/how-to/batch, read in November 2026.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

from autotune_platform.ledger.calls import Question, Refusal
from autotune_platform.ledger.jobs.contract import (
    MOST_FOUND,
    Body,
    Creation,
    Ended,
    Framing,
    Job,
    Line,
    Look,
    Missing,
    NotCreated,
    Results,
    Running,
)
from autotune_platform.ledger.jobs.openai_documents import (
    ENDS,
    counts_of,
    failure,
    line_of,
    number,
    progress_of,
    usage_of,
)
from autotune_platform.ledger.jobs.replies import creation, fetched, refusal_of
from autotune_platform.ledger.jobs.session import Reply, Session
from autotune_platform.ledger.providers.azure import api_version, key_header
from autotune_platform.ledger.providers.documents import inside, items, name
from autotune_platform.ledger.providers.json_format import present
from autotune_platform.ledger.providers.openai import OpenAiFormat

_UPLOAD_SECONDS: Final = 240
_PAGES: Final = 50
_BEFORE, _AFTER = timedelta(minutes=5), timedelta(minutes=15)
# What we leave behind, because we lost sight of it, goes by itself. Azure counts files to a limit
# that is higher where they all expire after fourteen days or more.
_KEPT_SECONDS: Final = 14 * 86_400
_INPUT_FIELDS = frozenset({"file_id", "input_file_id"})


@dataclass(frozen=True)
class _Place:
    """Where files and jobs are."""

    url: str
    query: str
    headers: Mapping[str, str]

    def at(self, path: str, query: str = "") -> str:
        """Return the address of a path, with a query of its own."""
        joined = "&".join(filter(None, (self.query, query)))
        return f"{self.url}{path}" + (f"?{joined}" if joined else "")


class OpenAiJobs:
    """Jobs at ``base_url``/batches, with files at ``base_url``/files.

    A creation is named by its metadata, which lists show.
    """

    framing = Framing()
    is_named = True
    expires_by_itself = True
    endpoint = "/v1/chat/completions"
    _names_models = True

    def __init__(self, spoken: OpenAiFormat) -> None:
        """Take the format that single calls have."""
        self._spoken = spoken

    def row(self, custom_id: str, asked: Question) -> bytes:
        """Return a line of the input file."""
        members = {"model": asked.model, **self._spoken.members(asked)}
        line = {
            "custom_id": custom_id,
            "method": "POST",
            "url": self.endpoint,
            "body": {**(asked.params.extra or {}), **present(members)},
        }
        return json.dumps(line, separators=(",", ":")).encode("ascii")

    def upload(self, session: Session, job: Job, body: Body) -> str | Refusal:
        """Send the input as a file that goes by itself after fourteen days."""
        place = self._place(session)
        boundary = f"autotune-{job.nonce}"
        fields = {
            "purpose": "batch",
            "expires_after[anchor]": "created_at",
            "expires_after[seconds]": str(_KEPT_SECONDS),
        }
        before = "".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
            for field, value in fields.items()
        )
        before += (
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; '
            f'filename="{job.batch_id}.jsonl"\r\nContent-Type: application/jsonl\r\n\r\n'
        )
        after = f"\r\n--{boundary}--\r\n"

        def parts() -> Iterator[bytes]:
            yield before.encode()
            yield from body.parts()
            yield after.encode()

        reply = session.ask(
            "POST",
            place.at("/files"),
            {**place.headers, "Content-Type": f"multipart/form-data; boundary={boundary}"},
            parts(),
            length=len(before) + body.length + len(after),
            seconds=_UPLOAD_SECONDS,
        )
        if isinstance(reply, Refusal):
            return reply
        if not reply.succeeded:
            return refusal_of(reply, self._spoken, session.key)
        file_id = name(inside(reply.document, "id"))
        return file_id or Refusal("provider_error", "the answer names no file")

    def create(self, session: Session, job: Job, body: Body) -> Creation:  # noqa: ARG002 - uploaded before
        """Ask for the job of an uploaded file."""
        reply = self._send(
            session,
            "POST",
            "/batches",
            {
                "input_file_id": job.input_file,
                "endpoint": self.endpoint,
                "completion_window": "24h",
                "metadata": {"nonce": job.nonce, "batch": job.batch_id},
                "output_expires_after": {"anchor": "created_at", "seconds": _KEPT_SECONDS},
            },
        )
        made = creation(reply, self._spoken, session.key, lambda found: inside(found, "id"))
        if isinstance(reply, Reply) and isinstance(made, NotCreated):
            param = inside(reply.document, "error", "param")
            if isinstance(param, str) and param in _INPUT_FIELDS:
                # It was uploaded: some are seen later than that.
                return NotCreated(Refusal("rate_limited", made.refusal.message, 30))
        return made

    def search(self, session: Session, job: Job) -> Sequence[str] | Refusal:
        """Return the jobs whose metadata has the nonce."""
        found: list[str] = []
        cursor = ""
        first = (job.begun_at - _BEFORE).timestamp()
        last = (job.begun_at + _AFTER).timestamp()
        place = self._place(session)
        for _ in range(_PAGES):
            query = f"limit=100&after={_in_url(cursor)}" if cursor else "limit=100"
            reply = session.ask("GET", place.at("/batches", query), place.headers)
            if isinstance(reply, Refusal):
                return reply
            if not reply.succeeded:
                return refusal_of(reply, self._spoken, session.key)
            document = reply.document
            listed = items(inside(document, "data"))
            for one in listed:
                job_id = name(inside(one, "id"))
                if job_id and inside(one, "metadata", "nonce") == job.nonce:
                    found.append(job_id)
            if len(found) > MOST_FOUND:
                break
            times = [moment for one in listed if (moment := number(inside(one, "created_at")))]
            cursor = name(inside(document, "last_id")) or ""
            more = inside(document, "has_more") is True and cursor
            if not more or (times and max(times) < first):
                return list(dict.fromkeys(found))
        return list(dict.fromkeys(found)) or Refusal(
            "provider_error", f"the list of jobs until {last:.0f} has too many pages"
        )

    def look(self, session: Session, job: Job) -> Look | Refusal:
        """Return how far the job is."""
        reply = self._send(session, "GET", _path_of(job))
        if isinstance(reply, Refusal):
            return reply
        if reply.status == HTTPStatus.NOT_FOUND:
            return Missing()
        if not reply.succeeded:
            return refusal_of(reply, self._spoken, session.key)
        document = reply.document
        status = inside(document, "status")
        if not isinstance(status, str):
            return Refusal("provider_error", "the answer tells no status")
        if status not in ENDS:
            return Running(progress_of(document, names_models=self._names_models))
        files = (name(inside(document, f"{kind}_file_id")) for kind in ("output", "error"))
        succeeded, total = counts_of(inside(document, "request_counts"))
        refusal, lines = failure(document) if status == "failed" else (None, {})
        return Ended(
            how=ENDS[status],
            results=[Results(file) for file in files if file],
            succeeded=succeeded,
            total=total,
            refusal=refusal,
            lines=lines,
            usage=usage_of(inside(document, "usage")),
            reported=progress_of(document, names_models=self._names_models),
        )

    def cancel(self, session: Session, job: Job) -> Refusal | None:
        """Ask for the job to end."""
        reply = self._send(session, "POST", f"{_path_of(job)}/cancel", {})
        if isinstance(reply, Refusal):
            return reply
        if reply.succeeded or reply.status in {HTTPStatus.CONFLICT, HTTPStatus.BAD_REQUEST}:
            return None
        return refusal_of(reply, self._spoken, session.key)

    def fetch(self, session: Session, job: Job, results: Results) -> Iterator[bytes]:  # noqa: ARG002 - the contract's
        """Yield a file of results."""
        place = self._place(session)
        path = f"/files/{_in_url(results.place)}/content"
        yield from fetched(session, place.at(path), place.headers, self._spoken)

    def line(self, line: bytes, key: str | None) -> Line | None:
        """Return what a line of an output or error file means."""
        return line_of(line, self._spoken, key)

    def clean(self, session: Session, job: Job, ended: Sequence[Results]) -> Refusal | None:
        """Delete the input file and the files of results."""
        for file in filter(None, [job.input_file, *(one.place for one in ended)]):
            reply = self._send(session, "DELETE", f"/files/{_in_url(file)}")
            if isinstance(reply, Refusal):
                return reply
            if not reply.succeeded and reply.status != HTTPStatus.NOT_FOUND:
                return refusal_of(reply, self._spoken, session.key)
        return None

    def _send(
        self, session: Session, method: str, path: str, document: Any = None
    ) -> Reply | Refusal:
        place = self._place(session)
        if document is None:
            return session.ask(method, place.at(path), place.headers)
        headers = {**place.headers, "Content-Type": "application/json"}
        return session.ask(method, place.at(path), headers, json.dumps(document).encode())

    def _place(self, session: Session) -> _Place:
        headers = {"Authorization": f"Bearer {session.key}"} if session.key else {}
        return _Place(session.base_url, "", headers)


class AzureJobs(OpenAiJobs):
    """The same below ``base_url``/openai, with a header and a version of Azure's own.

    The model is the deployment. Jobs do not expire, and files count to a limit of the resource.
    """

    endpoint = "/chat/completions"
    expires_by_itself = False
    # It may show the model behind the deployment.
    _names_models = False

    def _place(self, session: Session) -> _Place:
        version = api_version(session.connection)
        return _Place(f"{session.base_url}/openai", version, key_header(session.key))


def _path_of(job: Job) -> str:
    return f"/batches/{_in_url(job.job_id or '')}"


def _in_url(named: str) -> str:
    """Return a name that the provider gave as one part of a path or a query, whatever it holds."""
    return quote(named, safe="")
