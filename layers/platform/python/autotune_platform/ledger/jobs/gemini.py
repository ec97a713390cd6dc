"""Batch jobs of Gemini: a file of rows, a long-running operation, and a file of results.

As in https://ai.google.dev/gemini-api/docs/batch-api and https://ai.google.dev/api/files, read in
November 2026. Rows always go as a file: only these come back with their keys.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
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
from autotune_platform.ledger.jobs.gemini_documents import (
    ENDS,
    as_http,
    counts,
    is_on_host_of,
    named,
    reported_of,
    results_of,
)
from autotune_platform.ledger.jobs.replies import creation, fetched, outcome_of, refusal_of
from autotune_platform.ledger.jobs.session import FetchError, Reply, Session
from autotune_platform.ledger.providers.documents import (
    document_of,
    inside,
    items,
    text,
)
from autotune_platform.ledger.providers.gemini import GeminiFormat, model_in_path

_UPLOAD_SECONDS: Final = 240
_PAGES: Final = 100
_LONGEST_TOKEN: Final = 4_000
_JSON_LINES: Final = "application/jsonl"
_NOT_SEEN_SECONDS: Final = 30
# A list shows what jobs of others answered inline, too.
_MOST_LISTED_BYTES: Final = 16_000_000
# Who may not see a file gets the answer of where there is none.
_NO_FILE: Final = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})


class GeminiJobs:
    """Jobs at ``base_url``/v1beta/batches, with files that go by themselves after 48 hours.

    A creation is named by its display name, which lists show. A job expires after 48 hours, and
    has no results then.
    """

    framing = Framing()
    is_named = True
    expires_by_itself = True

    def __init__(self, spoken: GeminiFormat) -> None:
        """Take the format that single calls have."""
        self._spoken = spoken

    def row(self, custom_id: str, asked: Question) -> bytes:
        """Return a line of the input file."""
        line = {"key": custom_id, "request": self._spoken.body(asked)}
        return json.dumps(line, separators=(",", ":")).encode("ascii")

    def upload(self, session: Session, job: Job, body: Body) -> str | Refusal:
        """Send the input as a file, in two requests: one asks where it goes, one sends it there."""
        asked = {
            "X-Goog-Upload-Protocol": "resumable",
            "X-Goog-Upload-Command": "start",
            "X-Goog-Upload-Header-Content-Length": str(body.length),
            "X-Goog-Upload-Header-Content-Type": _JSON_LINES,
        }
        described = {"file": {"displayName": job.nonce, "mimeType": _JSON_LINES}}
        begun = self._succeeded(
            self._ask(session, "POST", "/upload/v1beta/files", described, asked), session
        )
        if isinstance(begun, Refusal):
            return begun
        url = begun.headers.get("x-goog-upload-url", "")
        if not is_on_host_of(url, session.base_url):
            return Refusal("provider_error", "the answer names no place for a file on its own host")
        # The place is a key to itself: ours is not sent there.
        headers = {"X-Goog-Upload-Offset": "0", "X-Goog-Upload-Command": "upload, finalize"}
        sent = self._succeeded(
            session.ask(
                "POST", url, headers, body.parts(), length=body.length, seconds=_UPLOAD_SECONDS
            ),
            session,
        )
        if isinstance(sent, Refusal):
            return sent
        file = named("files", inside(sent.document, "file", "name"))
        return file or Refusal("provider_error", "the answer names no file")

    def create(self, session: Session, job: Job, body: Body) -> Creation:  # noqa: ARG002 - uploaded before
        """Ask for the job of an uploaded file, once it is looked up that the file can be seen.

        A creation is refused in the same words where a file cannot be seen and where a key has no
        rights, and only the former passes.
        """
        file = self._ask(session, "GET", f"/v1beta/{job.input_file}")
        if isinstance(file, Refusal):
            return NotCreated(file)
        state = inside(file.document, "state")
        if file.status in _NO_FILE or (file.succeeded and state not in (None, "ACTIVE")):
            unseen = "the uploaded file cannot be seen yet"
            return NotCreated(Refusal("rate_limited", unseen, _NOT_SEEN_SECONDS))
        if not file.succeeded:
            return NotCreated(refusal_of(file, self._spoken, session.key))
        reply = self._ask(
            session,
            "POST",
            f"/v1beta/models/{model_in_path(job.model)}:batchGenerateContent",
            {"batch": {"displayName": job.nonce, "inputConfig": {"fileName": job.input_file}}},
        )
        return creation(
            reply,
            self._spoken,
            session.key,
            lambda found: named("batches", inside(found, "name")),
        )

    def search(self, session: Session, job: Job) -> Sequence[str] | Refusal:
        """Return the jobs whose display name is the nonce; the order of the list is not known."""
        found: dict[str, None] = {}
        page = ""
        for _ in range(_PAGES):
            reply = self._succeeded(
                session.ask(
                    "GET",
                    f"{session.base_url}/v1beta/batches?pageSize=50{page}",
                    _authorisation(session),
                    most_bytes=_MOST_LISTED_BYTES,
                ),
                session,
            )
            if isinstance(reply, Refusal):
                return reply
            document = reply.document
            if not isinstance(document, dict):
                return Refusal("provider_error", "the answer is no list of jobs")
            for one in items(document.get("operations")):
                job_id = named("batches", inside(one, "name"))
                if job_id and inside(one, "metadata", "displayName") == job.nonce:
                    found[job_id] = None
            token = text(document.get("nextPageToken"))
            if token is None or len(found) > MOST_FOUND:
                return list(found)
            if len(token) > _LONGEST_TOKEN:
                break
            page = f"&pageToken={quote(token, safe='')}"
        return list(found) or Refusal("provider_error", "the list of jobs has no end")

    def look(self, session: Session, job: Job) -> Look | Refusal:
        """Return how far the job is."""
        job_id = named("batches", job.job_id)
        reply = None if job_id is None else self._ask(session, "GET", f"/v1beta/{job_id}")
        if reply is None or (isinstance(reply, Reply) and reply.status == HTTPStatus.NOT_FOUND):
            return Missing()
        reply = self._succeeded(reply, session)
        if isinstance(reply, Refusal):
            return reply
        document = reply.document
        metadata = inside(document, "metadata")
        state = inside(metadata, "state")
        if not isinstance(state, str):
            return Refusal("provider_error", "the answer tells no state")
        # BATCH_STATE_…, and JOB_STATE_… in examples of the guide.
        how = ENDS.get(state.rpartition("_STATE_")[2])
        if how is None:
            return Running(reported_of(metadata))
        results = results_of(document)
        succeeded, total = counts(inside(metadata, "batchStats"))
        if how != "failed" or results or succeeded:
            # What has results ran rows, whatever it is called.
            how = "completed" if how == "failed" else how
            return Ended(
                how,
                results=results,
                succeeded=succeeded,
                total=total,
                reported=reported_of(metadata),
            )
        refusal = self._failure(inside(document, "error"), session.key)
        return Ended(how, succeeded=succeeded, total=total, refusal=refusal)

    def cancel(self, session: Session, job: Job) -> Refusal | None:
        """Ask for the job to end; what it ran is lost."""
        reply = self._ask(session, "POST", f"/v1beta/{job.job_id}:cancel", {})
        if isinstance(reply, Reply) and (
            reply.status == HTTPStatus.CONFLICT
            or inside(reply.document, "error", "status") == "FAILED_PRECONDITION"
        ):
            return None
        reply = self._succeeded(reply, session)
        return reply if isinstance(reply, Refusal) else None

    def fetch(self, session: Session, job: Job, results: Results) -> Iterator[bytes]:  # noqa: ARG002 - the contract's
        """Yield a file of results."""
        url = f"{session.base_url}/download/v1beta/{results.place}:download?alt=media"
        try:
            yield from fetched(session, url, _authorisation(session), self._spoken)
        except FetchError as error:
            if error.status not in _NO_FILE:
                raise
            unseen = Refusal("provider_error", "the file of results cannot be seen")
            raise FetchError(unseen, status=error.status, reply=error.reply) from error

    def line(self, line: bytes, key: str | None) -> Line | None:
        """Return what a line of a results file means."""
        document = document_of(line)
        custom_id = inside(document, "key")
        if not isinstance(custom_id, str):
            return None
        response, error = inside(document, "response"), inside(document, "error")
        if isinstance(response, dict) and response:
            return Line(custom_id, outcome_of(self._spoken, HTTPStatus.OK, response, key))
        if isinstance(error, dict) and error:
            status, body = as_http(error)
            return Line(custom_id, outcome_of(self._spoken, status, body, key))
        return Line(custom_id, Refusal("result_malformed", "the result holds nothing"))

    def clean(self, session: Session, job: Job, ended: Sequence[Results]) -> Refusal | None:
        """Delete the input file, the files of results, and the job."""
        gone = {name: _NO_FILE for name in [job.input_file] if name}
        # Google refuses to delete its own files, whose names are longer than it admits
        # (googleapis/python-genai#1759); they go by themselves.
        gone |= {one.place: _NO_FILE | {HTTPStatus.BAD_REQUEST} for one in ended}
        gone |= {name: frozenset({HTTPStatus.NOT_FOUND}) for name in [job.job_id] if name}
        for name, statuses in gone.items():
            reply = self._ask(session, "DELETE", f"/v1beta/{name}")
            if isinstance(reply, Reply) and reply.status in statuses:
                continue
            deleted = self._succeeded(reply, session)
            if isinstance(deleted, Refusal):
                return deleted
        return None

    def _failure(self, error: Any, key: str | None) -> Refusal:
        """Return why a job failed; what is not known to pass is looked for among its rows."""
        if not isinstance(error, dict):
            return Refusal("rejected", "the job failed without a reason")
        status, body = as_http(error)
        shown = outcome_of(self._spoken, status, body, key)
        assert isinstance(shown, Refusal), "a status of an error is no answer"
        passes = shown.code in {"rate_limited", "account"}
        return shown if passes else Refusal("rejected", shown.message)

    def _ask(
        self,
        session: Session,
        method: str,
        path: str,
        document: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply | Refusal:
        sent = {**_authorisation(session), **(headers or {})}
        url = f"{session.base_url}{path}"
        if document is None:
            return session.ask(method, url, sent)
        sent["Content-Type"] = "application/json"
        return session.ask(method, url, sent, json.dumps(document).encode())

    def _succeeded(self, reply: Reply | Refusal, session: Session) -> Reply | Refusal:
        if isinstance(reply, Refusal) or reply.succeeded:
            return reply
        return refusal_of(reply, self._spoken, session.key)


def _authorisation(session: Session) -> Mapping[str, str]:
    return {"x-goog-api-key": session.key} if session.key else {}
